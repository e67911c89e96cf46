/* What can hold a kernel up: one row a cause. bottleneck.c tells the largest ones. */
#ifndef EXPLAIN_CAUSES_H
#define EXPLAIN_CAUSES_H

#include "report/explain/bottleneck.h"

/* What causes are judged by, of one kernel. */
struct evidence {
    const struct metric_source *source;
    const struct gpu_kernel_stats *k;
    const struct metric_place *places; /* copies of a line are added up */
    size_t place_count;
    struct unit_cost costs[UNIT_COUNT];
    double dram, l2, data, issue; /* percent of what they could do */
    double imbalance;             /* percent */
    double atomic_wait;           /* ns that an atomic operation waits for others in its L2 slice */
    double occupancy;             /* percent */
    double at_work;               /* share of its cycles in which its busiest SM had a block */
    double stalls;                /* warp cycles, all reasons */
    double atomics_waited;        /* percent of warps' time that they wait for atomics on global memory */
};

/* What a cause is, and what it leaves to be seen: bits. */
enum symptom {
    IS_LANES = 1,          /* lanes without work */
    IS_BUSY = 2,           /* issue slots and arithmetic units are used up */
    IS_DATA = 4,           /* so is the data pipe of L1 and shared memory, or the way to it */
    IS_L2 = 8,             /* so are slices of L2 */
    IS_DRAM = 16,          /* so is memory */
    IS_IDLE = 32,          /* SMs have nothing to do */
    IS_OVERHEAD = 64,      /* the kernel takes time without any work of SMs */
    IS_GLOBAL_WAIT = 128,  /* warps wait for global memory, or for a place in its queue */
    IS_SHARED_WAIT = 256,  /* or for shared memory */
    IS_COMPUTE_WAIT = 512, /* or for arithmetic */
    IS_OTHER_WAIT = 1024,
};

struct cause {
    const char *words;
    uint32_t is;           /* symptoms: of two causes that are the same one, only the larger is told */
    uint32_t accounts_for; /* where this cause applies, later rows that are these are not told */
    int which;             /* the unit or stall, of rows that are alike */
    /* Percent of the kernel's time that it accounts for, or of its limit; 0: it does not apply. */
    double (*share)(const struct evidence *e, const struct cause *cause);
    /* Adds its words, and figures. */
    void (*tell)(const struct evidence *e, const struct cause *cause, struct text *text);
    /* How much of it shows at a place: it is named with the place of most. NULL: it has none. */
    double (*at_place)(const struct evidence *e, const struct cause *cause, const struct metric_place *place);
};

/* Warp cycles that were spent waiting for atomics on global memory that stand there. */
double atomics_waited_at(const struct metric_place *place);

extern const struct cause causes[];
extern const size_t cause_count;

#endif
