/* A lane's value in memory, and its conversion to a register. */
#ifndef PTX_RUN_BYTES_H
#define PTX_RUN_BYTES_H

#include "ptx_run/access.h"

static inline uint64_t widen(uint64_t value, const struct access *access)
{
    if (!access->is_signed || access->bytes == 8)
        return value;
    uint32_t unused = 64 - 8 * access->bytes;
    return (uint64_t)((int64_t)(value << unused) >> unused);
}

static inline uint64_t access_read_bytes(const char *at, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return *(const volatile uint8_t *)at;
    case 2:
        return *(const volatile uint16_t *)(const void *)at;
    case 4:
        return *(const volatile uint32_t *)(const void *)at;
    default:
        return *(const volatile uint64_t *)(const void *)at;
    }
}

static inline void access_write_bytes(char *at, uint32_t bytes, uint64_t value)
{
    switch (bytes) {
    case 1:
        *(volatile uint8_t *)at = (uint8_t)value;
        break;
    case 2:
        *(volatile uint16_t *)(void *)at = (uint16_t)value;
        break;
    case 4:
        *(volatile uint32_t *)(void *)at = (uint32_t)value;
        break;
    default:
        *(volatile uint64_t *)(void *)at = value;
    }
}

#endif
