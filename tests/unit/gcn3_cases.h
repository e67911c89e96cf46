/* Reads the cases that tests/oracle/gcn3 writes: an instruction, a state of a wave before it, and what it
 * must change. The README there has the file's format. Nothing is executed here. */
#ifndef TESTS_UNIT_GCN3_CASES_H
#define TESTS_UNIT_GCN3_CASES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum gcn3_space { GCN3_SGPR, GCN3_VGPR, GCN3_SPECIAL, GCN3_LDS, GCN3_MEMORY, GCN3_SPACES };

enum gcn3_special {
    GCN3_VCC,
    GCN3_EXEC,
    GCN3_M0,
    GCN3_SCC,
    GCN3_MODE,
    GCN3_FLAT_SCRATCH,
    GCN3_PC,
    GCN3_SHARED_BASE,  /* high half of an address in the flat aperture of LDS */
    GCN3_PRIVATE_BASE, /* the same of scratch */
    GCN3_SCRATCH_BASE, /* address where the flat scratch of all waves begins */
    GCN3_LDS_SIZE,     /* in bytes */
    GCN3_SPECIALS
};

/* How an expected value is compared. A NaN equals any NaN, except with GCN3_BITS. */
enum gcn3_compare { GCN3_BITS, GCN3_F16, GCN3_F32, GCN3_F64, GCN3_F16X2, GCN3_IGNORED = 255 };
/* Flags: +0 equals -0; the tolerance is in ulps of 1.0; the upper 16 bits of the register are not compared.
 */
enum { GCN3_ANY_ZERO = 1, GCN3_ABSOLUTE = 2, GCN3_LOW_HALF = 4 };

/* Some registers or bytes. `data` points into the file. */
struct gcn3_item {
    enum gcn3_space space;
    enum gcn3_compare compare;
    unsigned flags, width; /* width: dwords of a VGPR's value, from `index` on */
    unsigned index;        /* register number, or an enum gcn3_special */
    unsigned count;        /* values of a VGPR: lane l has value l % count; words of SGPRs; bytes of memory */
    unsigned ulps;
    uint64_t where; /* VGPR: mask of the lanes that this is about; LDS and memory: address */
    const unsigned char *data;
};

struct gcn3_case {
    unsigned gfx; /* 8: gfx803, 9: gfx900, 96: gfx906 */
    unsigned word_count;
    uint32_t words[4];
    char text[256];
    unsigned before, after; /* how many items follow, in this order */
    const unsigned char *items, *end;
};

struct gcn3_cases {
    unsigned char *bytes, *at, *end;
    unsigned count, read;
};

bool gcn3_cases_open(struct gcn3_cases *cases, const char *path, struct err *err);
void gcn3_cases_close(struct gcn3_cases *cases);

/* The next case; false at the end, or when the file is broken, which `err` then says (its text is empty
 * otherwise). */
bool gcn3_cases_next(struct gcn3_cases *cases, struct gcn3_case *one, struct err *err);

/* Reads one item and moves `at` behind it. `at` begins at one->items. */
bool gcn3_case_item(const struct gcn3_case *one, const unsigned char **at, struct gcn3_item *item,
                    struct err *err);

/* The value of a VGPR's lane, of an SGPR (lane: its place from index on), or of a special register. */
uint64_t gcn3_item_value(const struct gcn3_item *item, unsigned lane);

/* Whether a result fits what is expected. */
bool gcn3_item_fits(const struct gcn3_item *item, uint64_t expected, uint64_t result);

#endif
