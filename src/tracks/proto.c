#include "tracks/proto.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

enum wire { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES };
enum { VARINT_MOST = 10 };

void proto_fini(struct proto *proto)
{
    mem_free(proto->at);
    *proto = (struct proto){0};
}

static unsigned char *room(struct proto *proto, size_t bytes)
{
    if (UNLIKELY(proto->length + bytes > proto->capacity)) {
        size_t more = 2 * (proto->capacity + bytes);
        proto->at = mem_resize(proto->at, proto->capacity, more, 1);
        proto->capacity = more;
    }
    return proto->at + proto->length;
}

/* Behind the last byte. */
static unsigned char *add_varint(unsigned char *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (unsigned char)(value | 0x80);
    *to++ = (unsigned char)value;
    return to;
}

static unsigned char *add_tag(unsigned char *to, uint32_t field, enum wire wire)
{
    return add_varint(to, (uint64_t)field << 3 | (uint64_t)wire);
}

static void keep(struct proto *proto, const unsigned char *end)
{
    proto->length = (size_t)(end - proto->at);
}

void proto_number(struct proto *proto, uint32_t field, uint64_t value)
{
    unsigned char *to = room(proto, 2 * VARINT_MOST);
    keep(proto, add_varint(add_tag(to, field, WIRE_VARINT), value));
}

void proto_fixed(struct proto *proto, uint32_t field, uint64_t value)
{
    unsigned char *to = add_tag(room(proto, VARINT_MOST + sizeof value), field, WIRE_FIXED64);
    for (size_t i = 0; i < sizeof value; i++)
        *to++ = (unsigned char)(value >> 8 * i);
    keep(proto, to);
}

void proto_double(struct proto *proto, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    proto_fixed(proto, field, bits);
}

void proto_text(struct proto *proto, uint32_t field, const char *text)
{
    size_t length = strlen(text);
    unsigned char *to = room(proto, 2 * VARINT_MOST + length);
    to = add_varint(add_tag(to, field, WIRE_BYTES), length);
    memcpy(to, text, length);
    keep(proto, to + length);
}

/* Most messages are shorter than 128 bytes: their length is one byte, which is left free. */
size_t proto_begin(struct proto *proto, uint32_t field)
{
    unsigned char *to = add_tag(room(proto, VARINT_MOST + 1), field, WIRE_BYTES);
    keep(proto, to + 1);
    return proto->length;
}

void proto_end(struct proto *proto, size_t begun)
{
    unsigned char bytes[VARINT_MOST];
    size_t length = proto->length - begun, count = (size_t)(add_varint(bytes, length) - bytes);
    if (count > 1) {
        room(proto, count);
        memmove(proto->at + begun + count - 1, proto->at + begun, length);
        proto->length += count - 1;
    }
    memcpy(proto->at + begun - 1, bytes, count);
}
