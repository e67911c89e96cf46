#include "mailbox/mailbox.h"
#include "base/mem.h"

#define LONGEST_BODY (UINT64_C(1) << 40)

struct head {
    uint64_t kind, bytes;
};

const char *letter_name(enum letter_kind kind)
{
    static const char *const names[] = {
#define L(name) #name,
        LETTER_KINDS(L)
#undef L
    };
    return names[kind];
}

bool letter_send(struct ring *ring, enum letter_kind kind, struct archive *body,
                 const struct ring_patience *patience)
{
    struct head head = {kind, body->text.length};
    bool good = ring_write(ring, &head, sizeof head, patience) &&
                ring_write(ring, body->text.at, body->text.length, patience);
    text_fini(&body->text);
    return good;
}

bool letter_receive(struct ring *ring, enum letter_kind *kind, struct text *body,
                    const struct ring_patience *patience)
{
    struct head head;
    if (!ring_read(ring, &head, sizeof head, patience) || head.kind >= LETTER_KIND_COUNT ||
        head.bytes > LONGEST_BODY)
        return false;
    *kind = (enum letter_kind)head.kind;
    body->length = 0;
    /* in parts: a length that nothing follows takes no memory */
    for (uint64_t part; head.bytes; head.bytes -= part) {
        static _Thread_local char buffer[65536];
        part = head.bytes < sizeof buffer ? head.bytes : sizeof buffer;
        if (!ring_read(ring, buffer, part, patience))
            return false;
        text_add_bytes(body, buffer, part);
    }
    return true;
}
