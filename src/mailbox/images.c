#include "mailbox/images.h"
#include "mailbox/letters.h"

static void post_range(const struct watched_image *watched, enum letter_kind kind, const struct range *range)
{
    struct archive body = archive_writer();
    struct letter_range letter = {watched->gpu, range->at, range->bytes, range->read_only, {0}};
    text_add(&letter.what, "%s", range->what ? range->what : "");
    letter_range_archive(&letter, &body);
    text_fini(&letter.what);
    watched->post(watched->user, kind, &body);
}

static void added(void *user, const struct range *range)
{
    post_range(user, LETTER_RANGE, range);
}

static void removed(void *user, uint64_t at)
{
    post_range(user, LETTER_RANGE_GONE, &(struct range){.at = at});
}

static void spare(void *user, const struct range *range)
{
    post_range(user, LETTER_SPARE, range);
}

static void texture(void *user, uint64_t handle, const struct texture *seen)
{
    const struct watched_image *watched = user;
    struct archive body = archive_writer();
    struct letter_texture letter = {.gpu = watched->gpu, .handle = handle};
    if (seen)
        letter.texture = *seen;
    letter_texture_archive(&letter, &body);
    watched->post(watched->user, seen ? LETTER_TEXTURE : LETTER_TEXTURE_GONE, &body);
}

void watched_image_begin(struct watched_image *watched, struct image *image, uint32_t gpu, watched_post *post,
                         void *user)
{
    *watched = (struct watched_image){.image = image,
                                      .observer = {added, removed, spare, texture, watched},
                                      .gpu = gpu,
                                      .post = post,
                                      .user = user};
    image_observe(image, &watched->observer);
}

void watched_image_end(struct watched_image *watched)
{
    if (watched->image)
        image_observe(watched->image, NULL);
    watched->image = NULL;
}
