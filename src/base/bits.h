/* Small arithmetic that every room needs. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdint.h>
#include <string.h>

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Of a function with loops over lanes: compiled for newer hosts, too; the best that the machine has is taken
 * when the program is loaded. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__ &&         \
    !defined __SANITIZE_THREAD__
#define FOR_EACH_HOST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_HOST
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* a + b, or the largest number where that would wrap. */
static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t rotate_left(uint64_t x, int by)
{
    return x << by | x >> (-by & 63);
}

/* Numbers in bytes, at any alignment, in the order of bytes that the host has. */
static inline uint16_t unaligned_u16(const void *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t unaligned_u32(const void *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t unaligned_u64(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* One step of the digest that results are compared by; good mixing, no security. */
static inline uint64_t digest_word(uint64_t digest, uint64_t word)
{
    return rotate_left(digest ^ word, 29) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (; count >= 8; at += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        digest = digest_word(digest, word);
    }
    if (count) {
        uint64_t word = 0;
        memcpy(&word, at, count);
        digest = digest_word(digest, word + ((uint64_t)count << 56));
    }
    return digest;
}

#endif
