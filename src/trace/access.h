/* An access to memory, as traces have it. */
#ifndef TRACE_ACCESS_H
#define TRACE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Packed into two words: traces have billions of them. */
struct trace_access {
    uint64_t address;
    uint64_t rest; /* instruction count of the core: 47 bits; bytes: 16; writes: the lowest */
};

#define TRACE_INSTRUCTIONS_MOST ((UINT64_C(1) << 47) - 1)

static inline struct trace_access trace_access(uint64_t address, uint64_t instruction, uint32_t bytes,
                                               bool writes)
{
    struct trace_access access = {address, instruction << 17 | (uint64_t)(bytes & 0xffff) << 1 | writes};
    return access;
}

static inline uint64_t trace_instruction(struct trace_access access)
{
    return access.rest >> 17;
}

static inline uint32_t trace_bytes(struct trace_access access)
{
    return access.rest >> 1 & 0xffff;
}

static inline bool trace_writes(struct trace_access access)
{
    return access.rest & 1;
}

#endif
