/* Reads the cases that tests/oracle/gcn3 writes: an instruction, a state of a wave before it, and what it
 * must change. The README there has the file's format. Nothing is executed here. */
#ifndef TESTS_UNIT_GCN3_CASES_H
#define TESTS_UNIT_GCN3_CASES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum case_space { CASE_SGPR, CASE_VGPR, CASE_SPECIAL, CASE_LDS, CASE_MEMORY, CASE_SPACES };

enum case_special {
    CASE_VCC,
    CASE_EXEC,
    CASE_M0,
    CASE_SCC,
    CASE_MODE,
    CASE_FLAT_SCRATCH,
    CASE_PC,
    CASE_SHARED_BASE,  /* high half of an address in the flat aperture of LDS */
    CASE_PRIVATE_BASE, /* the same of scratch */
    CASE_SCRATCH_BASE, /* address where the flat scratch of all waves begins */
    CASE_LDS_SIZE,     /* in bytes */
    CASE_SPECIALS
};

/* How an expected value is compared. A NaN equals any NaN, except with CASE_BITS. */
enum case_compare { CASE_BITS, CASE_F16, CASE_F32, CASE_F64, CASE_F16X2, CASE_IGNORED = 255 };
/* Flags: +0 equals -0; the tolerance is in ulps of 1.0; the upper 16 bits of the register are not compared.
 */
enum { CASE_ANY_ZERO = 1, CASE_ABSOLUTE = 2, CASE_LOW_HALF = 4 };

/* Some registers or bytes. `data` points into the file. */
struct case_item {
    enum case_space space;
    enum case_compare compare;
    unsigned flags, width; /* width: dwords of a VGPR's value, from `index` on */
    unsigned index;        /* register number, or an enum case_special */
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
bool case_item_read(const struct gcn3_case *one, const unsigned char **at, struct case_item *item,
                    struct err *err);

/* The value of a VGPR's lane, of an SGPR (lane: its place from index on), or of a special register. */
uint64_t case_item_value(const struct case_item *item, unsigned lane);

/* Whether a result fits what is expected. */
bool case_item_fits(const struct case_item *item, uint64_t expected, uint64_t result);

#endif
