/* The memory that kernels may access. A simulated address is the host's own, so pinned, managed and mapped
 * memory needs no translation. But a kernel may access only ranges that were added here: every access is
 * checked against them, to the byte. */
#ifndef EXEC_IMAGE_H
#define EXEC_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap;
struct image;
struct text;
struct texture;

/* Addresses above the host's, as the generic address space has windows for them. */
#define WINDOW_SHARED       UINT64_C(0x0001000000000000)
#define WINDOW_LOCAL        UINT64_C(0x0002000000000000)
#define WINDOW_PARAM        UINT64_C(0x0004000000000000)
#define WINDOW_BYTES        UINT64_C(0x0000000001000000) /* of each, but for */
#define WINDOW_SHARED_BYTES UINT64_C(0x0000000100000000) /* which has a part for each block of a cluster */

struct range {
    uint64_t at, bytes;
    const char *what; /* "cudaMalloc", "variable x": for reports; a literal or as old as the image */
    bool read_only;   /* for kernels */
};

struct image *image_new(void);
void image_free(struct image *image);

/* Ranges do not overlap. Both may be called while kernels run: a kernel sees a new range at once, and must
 * not touch a removed one, as on a GPU. */
void image_add(struct image *image, struct range range);
bool image_remove(struct image *image, uint64_t at); /* false: there is none that begins there */

/* Memory that accesses outside of all ranges may touch; none unless set. */
void image_set_spare(struct image *image, struct range range);
bool image_in_spare(const struct image *image, uint64_t at, uint64_t bytes);

/* The heap of malloc in kernels, whose pieces are ranges, too (exec/heap.h); NULL: there is none. */
void image_set_heap(struct image *image, const struct heap *heap);
const struct heap *image_heap(const struct image *image);

/* The range that holds this address, but for the heap's; false when none does. */
bool image_find(const struct image *image, uint64_t at, struct range *range);

/* For a report: "48 bytes behind the 4096 bytes of cudaMalloc at 0x..."; also of ranges removed before. */
void image_describe(const struct image *image, uint64_t at, struct text *text);

/* Texture and surface objects: a handle that kernels can use. The texture stays the caller's. */
uint64_t image_add_texture(struct image *image, const struct texture *texture);
void image_remove_texture(struct image *image, uint64_t handle);
const struct texture *image_texture(const struct image *image, uint64_t handle); /* or NULL */

/* Someone who keeps a copy of an image, as a machine in another process does: told of what there is, and of
 * every change. One for each image; NULL: nobody any more. */
struct image_observer {
    void (*added)(void *user, const struct range *range);
    void (*removed)(void *user, uint64_t at);
    void (*spare)(void *user, const struct range *range);
    void (*texture)(void *user, uint64_t handle, const struct texture *texture); /* NULL: it has gone */
    void *user;
};
void image_observe(struct image *image, const struct image_observer *observer);

#endif
