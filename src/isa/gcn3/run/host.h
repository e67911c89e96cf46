/* The host's floats as MODE wants them: rounding, and denormals flushed. x86 does both itself; it is set
 * before an executor's loop and set back after it. Operands come from memory after it is set and results are
 * in memory before it is set back, so the clobbers keep the arithmetic in between. */
#ifndef GCN3_RUN_HOST_H
#define GCN3_RUN_HOST_H

#include "gcn3/gcn3.h"

#include <stdbool.h>
#include <stdint.h>

#ifndef __x86_64__
#include <fenv.h>
#endif

/* Fields of MODE for f32, and for f64 and f16. Bits of denormals: 1 keeps sources, 2 keeps results. */
static inline uint32_t gcn3_rounding(uint32_t mode, enum gcn3_type type)
{
    return (type == GCN3_TYPE_f32 ? mode : mode >> 2) & 3;
}

static inline uint32_t gcn3_denormals(uint32_t mode, enum gcn3_type type)
{
    /* f16 is computed in f32, whose denormals are not its own (lane.h flushes) */
    return type == GCN3_TYPE_f16 ? 3 : (type == GCN3_TYPE_f32 ? mode >> 4 : mode >> 6) & 3;
}

/* MODE's numbers: nearest, up, down, zero. */
#ifdef __x86_64__
enum { GCN3_HOST_USUAL = 0x1f80 };
static inline uint32_t gcn3_host_word(uint32_t rounding, bool flush_in, bool flush_out)
{
    static const uint16_t directions[] = {0, 2 << 13, 1 << 13, 3 << 13};
    return GCN3_HOST_USUAL | directions[rounding] | (uint32_t)flush_in << 6 | (uint32_t)flush_out << 15;
}
static inline __attribute__((always_inline)) void gcn3_host_set(uint32_t word)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory");
}
#else
enum { GCN3_HOST_USUAL = 0 };
static inline uint32_t gcn3_host_word(uint32_t rounding, bool flush_in, bool flush_out)
{
    return rounding | (uint32_t)flush_in << 2 | (uint32_t)flush_out << 3;
}
static inline void gcn3_host_set(uint32_t word)
{
    static const int directions[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    __asm__ volatile("" : : : "memory");
    fesetround(directions[word & 3]);
    __asm__ volatile("" : : : "memory");
}
#endif

/* For a result of type d of sources of type a; types that are no floats do not matter. */
static inline uint32_t gcn3_host_of(uint32_t mode, enum gcn3_type d, enum gcn3_type a, bool flushed)
{
    bool d_is_float = d == GCN3_TYPE_f16 || d == GCN3_TYPE_f32 || d == GCN3_TYPE_f64;
    bool a_is_float = a == GCN3_TYPE_f16 || a == GCN3_TYPE_f32 || a == GCN3_TYPE_f64;
    uint32_t in = a_is_float ? gcn3_denormals(mode, a) : 3, out = d_is_float ? gcn3_denormals(mode, d) : 3;
    return gcn3_host_word(gcn3_rounding(mode, d_is_float ? d : a), flushed || !(in & 1),
                          flushed || !(out & 2));
}

#endif
