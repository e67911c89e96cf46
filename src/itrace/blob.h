/* Bytes that grow, and a scan over bytes that may be damaged. Numbers are varints: 7 bits a byte, the lowest
 * first; signed ones are zigzag. */
#ifndef ITRACE_BLOB_H
#define ITRACE_BLOB_H

#include "base/bits.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOB_VARINT_MOST = 10 };

struct blob {
    uint8_t *at;
    size_t count, capacity;
};

static inline uint8_t *blob_room(struct blob *bytes, size_t more)
{
    if (UNLIKELY(bytes->capacity - bytes->count < more)) {
        size_t capacity = max_u64(2 * bytes->capacity, max_u64(bytes->count + more, 64));
        bytes->at = mem_resize(bytes->at, bytes->capacity, capacity, 1);
        bytes->capacity = capacity;
    }
    return bytes->at + bytes->count;
}

static inline void blob_put(struct blob *bytes, uint8_t byte)
{
    *blob_room(bytes, 1) = byte;
    bytes->count++;
}

static inline void blob_put_all(struct blob *bytes, const void *from, size_t count)
{
    if (count)
        memcpy(blob_room(bytes, count), from, count);
    bytes->count += count;
}

/* Where there is room: gives what is behind it. */
static inline uint8_t *blob_write_varint(uint8_t *at, uint64_t value)
{
    for (; UNLIKELY(value >= 0x80); value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static inline uint8_t *blob_write_signed(uint8_t *at, int64_t value)
{
    return blob_write_varint(at, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void blob_put_varint(struct blob *bytes, uint64_t value)
{
    uint8_t *at = blob_room(bytes, BLOB_VARINT_MOST);
    bytes->count += (size_t)(blob_write_varint(at, value) - at);
}

static inline void blob_put_signed(struct blob *bytes, int64_t value)
{
    blob_put_varint(bytes, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void blob_fini(struct blob *bytes)
{
    mem_free(bytes->at);
    *bytes = (struct blob){0};
}

/* Beyond the end it reads zeros, and `bad` is set. */
struct scan {
    const uint8_t *at, *end;
    bool bad;
};

static inline uint8_t scan_byte(struct scan *scan)
{
    if (UNLIKELY(scan->at == scan->end)) {
        scan->bad = true;
        return 0;
    }
    return *scan->at++;
}

static inline uint64_t scan_varint(struct scan *scan)
{
    uint64_t value = scan_byte(scan);
    if (LIKELY(value < 0x80))
        return value;
    value &= 0x7f;
    for (unsigned shift = 7; shift < 64; shift += 7) {
        uint8_t byte = scan_byte(scan);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    scan->bad = true;
    return 0;
}

static inline int64_t scan_signed(struct scan *scan)
{
    uint64_t value = scan_varint(scan);
    return (int64_t)(value >> 1 ^ -(value & 1));
}

/* NULL when there are not so many. */
static inline const uint8_t *scan_take(struct scan *scan, uint64_t count)
{
    if (count > (uint64_t)(scan->end - scan->at)) {
        scan->bad = true;
        scan->at = scan->end;
        return NULL;
    }
    const uint8_t *at = scan->at;
    scan->at += count;
    return at;
}

#endif
