/* Bytes that grow, and a cursor over bytes that may be damaged. Numbers are varints: 7 bits a byte, the lowest
 * first; signed ones are zigzag. */
#ifndef ITRACE_BYTES_H
#define ITRACE_BYTES_H

#include "base/bits.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BYTES_VARINT_MOST = 10 };

struct bytes {
    uint8_t *at;
    size_t count, capacity;
};

static inline uint8_t *bytes_room(struct bytes *bytes, size_t more)
{
    if (UNLIKELY(bytes->capacity - bytes->count < more)) {
        size_t capacity = max_u64(2 * bytes->capacity, max_u64(bytes->count + more, 64));
        bytes->at = mem_resize(bytes->at, bytes->capacity, capacity, 1);
        bytes->capacity = capacity;
    }
    return bytes->at + bytes->count;
}

static inline void bytes_put(struct bytes *bytes, uint8_t byte)
{
    *bytes_room(bytes, 1) = byte;
    bytes->count++;
}

static inline void bytes_put_all(struct bytes *bytes, const void *from, size_t count)
{
    if (count)
        memcpy(bytes_room(bytes, count), from, count);
    bytes->count += count;
}

static inline void bytes_put_varint(struct bytes *bytes, uint64_t value)
{
    uint8_t *at = bytes_room(bytes, BYTES_VARINT_MOST);
    uint8_t *from = at;
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    bytes->count += (size_t)(at - from);
}

static inline void bytes_put_signed(struct bytes *bytes, int64_t value)
{
    bytes_put_varint(bytes, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void bytes_fini(struct bytes *bytes)
{
    mem_free(bytes->at);
    *bytes = (struct bytes){0};
}

/* Beyond the end it reads zeros, and `bad` is set. */
struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

static inline uint8_t cursor_byte(struct cursor *cursor)
{
    if (UNLIKELY(cursor->at == cursor->end)) {
        cursor->bad = true;
        return 0;
    }
    return *cursor->at++;
}

static inline uint64_t cursor_varint(struct cursor *cursor)
{
    uint64_t value = cursor_byte(cursor);
    if (LIKELY(value < 0x80))
        return value;
    value &= 0x7f;
    for (unsigned shift = 7; shift < 64; shift += 7) {
        uint8_t byte = cursor_byte(cursor);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    cursor->bad = true;
    return 0;
}

static inline int64_t cursor_signed(struct cursor *cursor)
{
    uint64_t value = cursor_varint(cursor);
    return (int64_t)(value >> 1 ^ -(value & 1));
}

/* NULL when there are not so many. */
static inline const uint8_t *cursor_take(struct cursor *cursor, uint64_t count)
{
    if (count > (uint64_t)(cursor->end - cursor->at)) {
        cursor->bad = true;
        cursor->at = cursor->end;
        return NULL;
    }
    const uint8_t *at = cursor->at;
    cursor->at += count;
    return at;
}

#endif
