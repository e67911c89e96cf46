#include "exec/image.h"
#include "base/bits.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/treap.h"

#include <pthread.h>

enum { REMEMBERED = 256 }; /* removed ranges, for reports */
static const uint64_t near_bytes = UINT64_C(1) << 30, null_bytes = 65536;

struct image {
    pthread_rwlock_t lock;
    struct treap places;  /* of ranges */
    struct range *ranges; /* by number in the tree */
    size_t range_capacity;
    struct range spare;
    const struct heap *heap;
    struct range removed[REMEMBERED];
    size_t removed_count;
    const struct texture **textures;
    size_t texture_count, texture_capacity;
    const struct image_observer *observer; /* or NULL */
};

struct image *image_new(void)
{
    struct image *image = mem_alloc(1, sizeof *image);
    pthread_rwlock_init(&image->lock, NULL);
    return image;
}

void image_free(struct image *image)
{
    if (!image)
        return;
    pthread_rwlock_destroy(&image->lock);
    treap_fini(&image->places);
    mem_free(image->ranges);
    mem_free(image->textures);
    mem_free(image);
}

/* The last range that begins at the address or before it; the first behind it. NULL: there is none. */
static const struct range *range_up_to(const struct image *image, uint64_t at)
{
    uint32_t number = treap_up_to(&image->places, at);
    return number ? &image->ranges[number] : NULL;
}

static const struct range *range_behind(const struct image *image, uint64_t at)
{
    uint32_t number = treap_behind(&image->places, at);
    return number ? &image->ranges[number] : NULL;
}

void image_add(struct image *image, struct range range)
{
    pthread_rwlock_wrlock(&image->lock);
    uint32_t number = treap_add(&image->places, range.at, 0);
    if (image->range_capacity < image->places.capacity) {
        image->ranges =
            mem_resize(image->ranges, image->range_capacity, image->places.capacity, sizeof *image->ranges);
        image->range_capacity = image->places.capacity;
    }
    image->ranges[number] = range;
    if (image->observer)
        image->observer->added(image->observer->user, &range);
    pthread_rwlock_unlock(&image->lock);
}

bool image_remove(struct image *image, uint64_t at)
{
    pthread_rwlock_wrlock(&image->lock);
    const struct range *range = range_up_to(image, at);
    bool found = range && range->at == at;
    if (found) {
        image->removed[image->removed_count++ % REMEMBERED] = *range;
        treap_remove(&image->places, at);
        if (image->observer)
            image->observer->removed(image->observer->user, at);
    }
    pthread_rwlock_unlock(&image->lock);
    return found;
}

void image_set_spare(struct image *image, struct range range)
{
    pthread_rwlock_wrlock(&image->lock);
    image->spare = range;
    if (image->observer)
        image->observer->spare(image->observer->user, &range);
    pthread_rwlock_unlock(&image->lock);
}

bool image_in_spare(const struct image *image, uint64_t at, uint64_t bytes)
{
    struct image *shared = (struct image *)image;
    pthread_rwlock_rdlock(&shared->lock);
    uint64_t offset = at - image->spare.at;
    bool in = offset < image->spare.bytes && image->spare.bytes - offset >= bytes;
    pthread_rwlock_unlock(&shared->lock);
    return in;
}

void image_set_heap(struct image *image, const struct heap *heap)
{
    pthread_rwlock_wrlock(&image->lock);
    image->heap = heap;
    pthread_rwlock_unlock(&image->lock);
}

const struct heap *image_heap(const struct image *image)
{
    struct image *shared = (struct image *)image;
    pthread_rwlock_rdlock(&shared->lock);
    const struct heap *heap = image->heap;
    pthread_rwlock_unlock(&shared->lock);
    return heap;
}

bool image_find(const struct image *image, uint64_t at, struct range *range)
{
    struct image *shared = (struct image *)image;
    pthread_rwlock_rdlock(&shared->lock);
    const struct range *below = range_up_to(image, at);
    bool found = below && at - below->at < below->bytes;
    if (found)
        *range = *below;
    pthread_rwlock_unlock(&shared->lock);
    return found;
}

static void describe_freed(const struct image *image, uint64_t at, struct text *text)
{
    size_t known = min_u64(image->removed_count, REMEMBERED);
    for (size_t i = 1; i <= known; i++) {
        const struct range *range = &image->removed[(image->removed_count - i) % REMEMBERED];
        if (at - range->at < range->bytes) {
            text_add(text,
                     "%s%llu bytes into the %llu bytes of %s at 0x%llx, which were freed, or the GPU may not "
                     "access them any more",
                     text->length ? "; " : "", (unsigned long long)(at - range->at),
                     (unsigned long long)range->bytes, range->what, (unsigned long long)range->at);
            return;
        }
    }
}

void image_describe(const struct image *image, uint64_t at, struct text *text)
{
    struct image *shared = (struct image *)image;
    pthread_rwlock_rdlock(&shared->lock);
    const struct range *below = range_up_to(image, at), *above = range_behind(image, at);
    describe_freed(image, at, text);
    bool is_near =
        (below && at - (below->at + below->bytes) < near_bytes) || (above && above->at - at < near_bytes);
    if (text->length) {
    } else if (at < null_bytes) {
        text_add(text, "a null pointer");
    } else if (!is_near && !(below && at - below->at < below->bytes)) {
        text_add(text, "near nothing that was allocated on the GPU; is it a pointer of the host, or memory "
                       "of a GPU without peer access?");
    } else if (below && at - below->at < below->bytes) {
        text_add(text, "%llu bytes into the %llu bytes of %s at 0x%llx", (unsigned long long)(at - below->at),
                 (unsigned long long)below->bytes, below->what, (unsigned long long)below->at);
    } else if (below && (!above || at - (below->at + below->bytes) <= above->at - at)) {
        text_add(text, "%llu bytes behind the %llu bytes of %s at 0x%llx",
                 (unsigned long long)(at - (below->at + below->bytes)), (unsigned long long)below->bytes,
                 below->what, (unsigned long long)below->at);
    } else if (above) {
        text_add(text, "%llu bytes before the %llu bytes of %s at 0x%llx",
                 (unsigned long long)(above->at - at), (unsigned long long)above->bytes, above->what,
                 (unsigned long long)above->at);
    } else {
        text_add(text, "nothing is allocated");
    }
    pthread_rwlock_unlock(&shared->lock);
}

/* A handle is the number of the object, marked, so that a stray number is not taken for one. */
#define HANDLE_MARK UINT64_C(0x7e00000000000000)

uint64_t image_add_texture(struct image *image, const struct texture *texture)
{
    pthread_rwlock_wrlock(&image->lock);
    size_t index = 0;
    while (index < image->texture_count && image->textures[index])
        index++;
    if (index == image->texture_count) {
        mem_grow(image->textures, image->texture_count, image->texture_capacity);
        image->texture_count++;
    }
    image->textures[index] = texture;
    if (image->observer)
        image->observer->texture(image->observer->user, HANDLE_MARK + index + 1, texture);
    pthread_rwlock_unlock(&image->lock);
    return HANDLE_MARK + index + 1;
}

static bool handle_index(const struct image *image, uint64_t handle, size_t *index)
{
    *index = handle - HANDLE_MARK - 1;
    return handle > HANDLE_MARK && *index < image->texture_count;
}

void image_remove_texture(struct image *image, uint64_t handle)
{
    pthread_rwlock_wrlock(&image->lock);
    size_t index;
    if (handle_index(image, handle, &index)) {
        image->textures[index] = NULL;
        if (image->observer)
            image->observer->texture(image->observer->user, handle, NULL);
    }
    pthread_rwlock_unlock(&image->lock);
}

const struct texture *image_texture(const struct image *image, uint64_t handle)
{
    struct image *shared = (struct image *)image;
    pthread_rwlock_rdlock(&shared->lock);
    size_t index;
    const struct texture *texture = handle_index(image, handle, &index) ? image->textures[index] : NULL;
    pthread_rwlock_unlock(&shared->lock);
    return texture;
}

static void tell_all(const struct image *image)
{
    const struct image_observer *observer = image->observer;
    for (const struct range *range = range_behind(image, 0); range; range = range_behind(image, range->at))
        observer->added(observer->user, range);
    if (image->spare.bytes)
        observer->spare(observer->user, &image->spare);
    for (size_t i = 0; i < image->texture_count; i++) {
        if (image->textures[i])
            observer->texture(observer->user, HANDLE_MARK + i + 1, image->textures[i]);
    }
}

void image_observe(struct image *image, const struct image_observer *observer)
{
    pthread_rwlock_wrlock(&image->lock);
    image->observer = observer;
    if (observer)
        tell_all(image);
    pthread_rwlock_unlock(&image->lock);
}
