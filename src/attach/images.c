/* Images of kernels' memory: the machine keeps copies, and hears of every change. */
#include "attach/parts.h"

static void post_range(struct observed *observed, enum letter_kind kind, const struct range *range)
{
    struct archive body = archive_writer();
    struct letter_range letter = {observed->gpu, range->at, range->bytes, range->read_only, {0}};
    text_add(&letter.what, "%s", range->what ? range->what : "");
    letter_range_archive(&letter, &body);
    text_fini(&letter.what);
    attach_post(observed->attach, kind, &body);
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
    const struct observed *observed = user;
    struct archive body = archive_writer();
    struct letter_texture letter = {.gpu = observed->gpu, .handle = handle};
    if (seen)
        letter.texture = *seen;
    letter_texture_archive(&letter, &body);
    attach_post(observed->attach, seen ? LETTER_TEXTURE : LETTER_TEXTURE_GONE, &body);
}

void attach_set_image(struct machine *machine, uint32_t gpu, struct image *image)
{
    struct attach *attach = (struct attach *)machine;
    struct observed *observed = &attach->observed[gpu];
    *observed = (struct observed){
        .image = image, .observer = {added, removed, spare, texture, observed}, .attach = attach, .gpu = gpu};
    image_observe(image, &observed->observer);
}

void attach_forget_images(struct attach *attach)
{
    for (uint32_t i = 0; i < attach->seat.gpu_count; i++) {
        if (attach->observed[i].image)
            image_observe(attach->observed[i].image, NULL);
    }
}
