#include "mailbox/ring.h"
#include "base/bits.h"

#include <string.h>

enum { SPINS = 2000 };
static const double ask_every = 0.02; /* seconds */

static bool wait_for(struct gate *gate, uint32_t passed, const struct ring_patience *patience)
{
    while (!gate_wait_for(gate, passed, SPINS, ask_every)) {
        if (!patience->go_on(patience->user))
            return false;
    }
    return true;
}

/* As many bytes as lie in one piece from there on. */
static size_t piece(uint32_t from, size_t count, uint32_t room)
{
    return min_u64(min_u64(count, room), RING_BYTES - from % RING_BYTES);
}

bool ring_write(struct ring *ring, const void *bytes, size_t count, const struct ring_patience *patience)
{
    const unsigned char *from = bytes;
    uint32_t written = gate_number(&ring->written);
    while (count) {
        uint32_t read = gate_number(&ring->read);
        uint32_t room = RING_BYTES - (written - read);
        if (!room) {
            if (!wait_for(&ring->read, read, patience))
                return false;
            continue;
        }
        size_t part = piece(written, count, room);
        memcpy(&ring->bytes[written % RING_BYTES], from, part);
        from += part, count -= part, written += (uint32_t)part;
        gate_set(&ring->written, written);
    }
    return true;
}

bool ring_read(struct ring *ring, void *bytes, size_t count, const struct ring_patience *patience)
{
    unsigned char *to = bytes;
    uint32_t read = gate_number(&ring->read);
    while (count) {
        uint32_t written = gate_number(&ring->written);
        uint32_t filled = (uint32_t)min_u64(written - read, RING_BYTES);
        if (!filled) {
            if (!wait_for(&ring->written, written, patience))
                return false;
            continue;
        }
        size_t part = piece(read, count, filled);
        memcpy(to, &ring->bytes[read % RING_BYTES], part);
        to += part, count -= part, read += (uint32_t)part;
        gate_set(&ring->read, read);
    }
    return true;
}

bool ring_is_empty(struct ring *ring)
{
    return gate_number(&ring->written) == gate_number(&ring->read);
}

void ring_wait(struct ring *ring, double seconds)
{
    uint32_t written = gate_number(&ring->written);
    if (written == gate_number(&ring->read))
        gate_wait_for(&ring->written, written, SPINS, seconds);
}
