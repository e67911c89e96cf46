/* Fatbins, which nvcc embeds in programs: a list of images (PTX, machine code) for several architectures.
 * Every function takes the bytes with their length and reads nothing beyond; malformed ones are errors. */
#ifndef DRIVER_FATBIN_H
#define DRIVER_FATBIN_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define FATBIN_MAGIC         UINT32_C(0xba55ed50)
#define FATBIN_WRAPPER_MAGIC UINT32_C(0x466243b1)

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_CUBIN = 2 }; /* others are passed over */

struct fatbin_entry {
    unsigned kind;
    uint32_t arch;     /* 75 */
    bool exact;        /* only for this architecture (sm_90a) */
    bool family;       /* for those of the same major number (sm_100f) */
    const uint8_t *at; /* as it is in the file */
    size_t bytes;
    uint64_t flags;
    uint32_t packed_bytes; /* 0: not packed */
    uint64_t unpacked_bytes;
};

/* The bytes of a fatbin that its header claims: for one in memory, whose length is not known. False when it
 * is none. */
bool fatbin_length(const void *header, size_t *bytes);

/* Calls `each` for every entry; it returns false to stop. */
typedef bool fatbin_each(void *user, const struct fatbin_entry *entry);
bool fatbin_read(const void *fatbin, size_t bytes, fatbin_each *each, void *user, struct err *err);

/* Which entries suit a device of this architecture (90); `at` is NULL where there is none. */
struct fatbin_choice {
    struct fatbin_entry ptx;         /* the highest that the device can run */
    struct fatbin_entry cubin;       /* the nearest: for its counts of registers */
    uint32_t ptx_found, cubin_found; /* the lowest architecture of any PTX, the highest of any machine code */
    bool too_new; /* the PTX is for later devices: it stands in for machine code that this device could run */
};
bool fatbin_choose(const void *fatbin, size_t bytes, uint32_t arch, struct fatbin_choice *choice,
                   struct err *err);

/* The image of an entry: a copy, to be freed with mem_free, with a zero byte behind it. NULL with a reason
 * when it is broken, or more than `limit` bytes. */
char *fatbin_unpack(const struct fatbin_entry *entry, size_t limit, size_t *bytes, struct err *err);

/* Counts of registers that machine code (an ELF) has for its kernels. False when it cannot be read. */
typedef void cubin_kernel(void *user, const char *name, uint32_t registers);
bool cubin_registers(const void *cubin, size_t bytes, cubin_kernel *each, void *user);

#endif
