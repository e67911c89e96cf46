/* Mail between islands: events stored one after the other in a growing block of memory, written by one thread
 * in one window and read by one thread in the next. Between machines, the same bytes would be sent. */
#ifndef ENGINE_MAIL_H
#define ENGINE_MAIL_H

#include "base/mem.h"
#include "engine/engine.h"

struct mail {
    unsigned char *bytes;
    size_t used, capacity;
} __attribute__((aligned(CACHE_LINE)));

static inline size_t mail_bytes_of(const struct event *event)
{
    return sizeof(struct event) + ((event->bytes + 7u) & ~7u);
}

void mail_grow(struct mail *mail, size_t need);

/* Room at the end for an event with this payload. */
static inline struct event *mail_append(struct mail *mail, uint16_t payload_bytes)
{
    size_t need = sizeof(struct event) + ((payload_bytes + 7u) & ~7u);
    if (__builtin_expect(mail->used + need > mail->capacity, 0))
        mail_grow(mail, need);
    struct event *event = (struct event *)(mail->bytes + mail->used);
    mail->used += need;
    return event;
}

#endif
