/* An image of kernels' memory, as letters: of what it has, and of every change. The other side keeps a copy
 * of it. */
#ifndef MAILBOX_IMAGES_H
#define MAILBOX_IMAGES_H

#include "exec/image.h"
#include "mailbox/mailbox.h"

/* Of any thread, at any time: RANGE, RANGE_GONE, SPARE, TEXTURE or TEXTURE_GONE. It frees the body. */
typedef void watched_post(void *user, enum letter_kind kind, struct archive *body);

struct watched_image {   /* of a GPU; it must not move */
    struct image *image; /* NULL: none is watched */
    struct image_observer observer;
    uint32_t gpu;
    watched_post *post;
    void *user;
};

void watched_image_begin(struct watched_image *watched, struct image *image, uint32_t gpu, watched_post *post,
                         void *user);
void watched_image_end(struct watched_image *watched);

#endif
