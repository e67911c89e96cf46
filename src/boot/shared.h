/* What heddle, its machine and the plugin inside QEMU share: an unnamed file in memory. */
#ifndef BOOT_SHARED_H
#define BOOT_SHARED_H

#include <stdint.h>

enum { BOOT_CPUS_MOST = 64 };

/* Counts of the machine that a mark is to note: a copy of these words (serve_live). */
enum { BOOT_GPU_WORDS = 7 };

struct boot_cpu {
    _Alignas(64) _Atomic uint64_t instructions;
};

/* The region of interest; it may be entered several times, and sums are over all of them. */
struct boot_region {
    _Atomic uint64_t entered, left;
    _Atomic uint64_t instructions;
    _Atomic uint64_t gpu[BOOT_GPU_WORDS];
    uint64_t from_instructions, from_gpu[BOOT_GPU_WORDS]; /* the plugin's: when it was entered last */
};

struct boot_shared {
    struct boot_cpu cpus[BOOT_CPUS_MOST];
    _Atomic uint64_t gpu[BOOT_GPU_WORDS]; /* written by the machine, as it goes on */
    _Atomic uint64_t booted;              /* instructions until the guest had booted */
    struct boot_region region;
};

#endif
