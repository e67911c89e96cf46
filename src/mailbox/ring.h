/* A ring of bytes in memory that two processes share: one writes, the other reads, each from one thread at a
 * time. As a pipe, but without a call of the kernel while both sides keep up. */
#ifndef MAILBOX_RING_H
#define MAILBOX_RING_H

#include "base/gate.h"

#include <stddef.h>

enum { RING_BYTES = 1 << 20 };

struct ring {
    struct gate written, read; /* bytes so far, modulo 2^32 */
    unsigned char bytes[RING_BYTES];
};

/* Asked now and then while a side waits for the other; false: it waits in vain. */
struct ring_patience {
    bool (*go_on)(void *user);
    void *user;
};

/* False: patience ended. */
bool ring_write(struct ring *ring, const void *bytes, size_t count, const struct ring_patience *patience);
bool ring_read(struct ring *ring, void *bytes, size_t count, const struct ring_patience *patience);

bool ring_is_empty(struct ring *ring);

/* Returns when there is something to read, or after so long. */
void ring_wait(struct ring *ring, double seconds);

#endif
