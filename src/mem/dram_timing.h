/* The parameters of DRAM: bank groups, rows, and timings. Sets of timings are the rows of dram_timing.c. */
#ifndef MEM_DRAM_TIMING_H
#define MEM_DRAM_TIMING_H

#include <stdint.h>

/*    name        what must lie between */
#define DRAM_TIMES(X)                                                                                        \
    X(rcd_read)  /* opening a row, reading from it */                                                        \
    X(rcd_write) /* opening a row, writing to it */                                                          \
    X(rp)        /* closing a row, opening another of the bank */                                            \
    X(ras)       /* opening a row, closing it */                                                             \
    X(cl)        /* command to read, data */                                                                 \
    X(cwl)       /* command to write, data */                                                                \
    X(rrd_s)     /* opening a row, opening one of another bank group */                                      \
    X(rrd_l)     /* and of the same */                                                                       \
    X(faw)       /* opening a row, opening the fourth one after it */                                        \
    X(ccd_l)     /* two columns of one bank group; between groups the bus is the limit */                    \
    X(wr)        /* data written, closing the row */                                                         \
    X(wtr_s)     /* data written, command to read from another bank group */                                 \
    X(wtr_l)     /* and from the same */                                                                     \
    X(rtp)       /* command to read, closing the row */                                                      \
    X(rtw)       /* data read, data written */                                                               \
    X(refi)      /* two refreshes */                                                                         \
    X(rfc)       /* a refresh, the next row's opening */

#define DRAM_SHAPE                                                                                           \
    uint32_t groups, banks; /* bank groups, and banks of each: powers of two */                              \
    uint32_t row_bytes;     /* too */

struct dram_timing { /* in nanoseconds, as data sheets have it */
    const char *name;
    DRAM_SHAPE
#define X(name) double name;
    DRAM_TIMES(X)
#undef X
};

struct dram_times { /* in picoseconds */
    DRAM_SHAPE
#define X(name) uint64_t name;
    DRAM_TIMES(X)
#undef X
};

extern const struct dram_timing dram_timings[];
extern const uint32_t dram_timing_count;

struct dram_times dram_times_of(const struct dram_timing *timing);

#endif
