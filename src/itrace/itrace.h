/* A trace of instructions: what a program had its GPUs do, and every instruction of every warp. It is a
 * folder:
 *
 *   index    all but the instructions: the program's calls, its kernels with their code, its launches
 *   blocks   the instructions of blocks, in chunks that can be read in any order (chunk.h)
 *
 * The index is written last: a folder without it is not whole. Addresses are the program's own. */
#ifndef ITRACE_ITRACE_H
#define ITRACE_ITRACE_H

#include "base/err.h"
#include "exec/exec.h"
#include "exec/place.h"
#include "isa/warp.h"

#include <stdbool.h>
#include <stdint.h>

/* What the host did, a row each: its name and what is known of it. Streams are numbered by CALL_STREAM, from
 * 0 on; commands of a stream from 1 on. */
#define ITRACE_CALLS(C)                                                                                      \
    C(TIME, "call", "kind more") /* enum itrace_time: a call takes time; so many more do */                  \
    C(STREAM, "stream", "device id flags priority") /* a stream is used for the first time */                \
    C(LAUNCH, "launch", "stream launch")            /* into the stream: a kernel, */                         \
    C(COPY, "copy",                                                                                          \
      "stream gpu direction to to_pitch to_slice to_is_host from from_pitch from_slice from_is_host width "  \
      "height depth")                                                                                        \
    C(FILL, "fill", "stream gpu to to_pitch to_slice word width height depth")                               \
    C(PREFETCH, "prefetch", "stream gpu direction to bytes")                                                 \
    C(COMMAND, "command", "stream holds")                 /* what takes no time, */                          \
    C(AFTER, "after", "stream other number")              /* a wait for another stream's command */          \
    C(WAIT, "wait", "stream number")                      /* the host waits for a command */                 \
    C(TOUCH, "touch", "at bytes use")                     /* enum memory_use, by the host, */                \
    C(TOUCH_BY, "touch_by", "at bytes use stream number") /* or by a command */                              \
    C(MANAGE, "manage", "kind on place at bytes")         /* struct managed_order */                         \
    C(GONE, "gone", "at bytes home_and_offset")           /* memory in no arena, that was there, */          \
    C(RANGE, "range", "at bytes home_and_offset")         /* or is now; its physical address, packed */      \
    C(FILLED, "filled", "at bytes")                       /* managed memory that is not zero now */          \
    C(WROTE, "wrote", "at bytes")                         /* managed memory that the program changed */      \
    C(THREAD, "thread", "number") /* the next calls are of this thread of the program; the first is 0 */     \
    C(LENDS, "lends",                                                                                        \
      "at bytes") /* memory that programs and GPUs use in turns; its copies are not recorded */

enum itrace_call_kind {
#define C(id, name, fields) CALL_##id,
    ITRACE_CALLS(C)
#undef C
        CALL_KINDS
};

enum itrace_time {
    TIME_CALL,
    TIME_LAUNCH,
    TIME_QUESTION, /* whether work is done */
    TIME_COPY,     /* of the next copy, which takes longer */
    TIME_WAIT,     /* none itself: the end of the next wait is noticed later */
};

/* What a side of a copy is: ..._is_host. */
enum itrace_side {
    SIDE_GPU,
    SIDE_HOST,
    SIDE_PAGEABLE, /* the host's, and not pinned */
    SIDE_PLAIN,    /* the host's, of a copy that takes its link's time alone */
};

enum { ITRACE_FIELDS_MOST = 14 };

struct itrace_call {
    uint32_t kind;
    uint64_t field[ITRACE_FIELDS_MOST];
};

const char *itrace_call_name(uint32_t kind);
const char *itrace_call_fields(uint32_t kind); /* their names, with blanks between them */
uint32_t itrace_call_field_count(uint32_t kind);

/* A function of a kernel. */
struct itrace_code {
    struct isa_code code; /* its arrays are the trace's */
    uint32_t register_count, step_count;
    struct code_place *places; /* by instruction; texts are the trace's */
};

struct itrace_kernel {
    struct kernel_facts facts; /* its name is the trace's */
    uint64_t number;           /* struct kernel's: where its code is, for instruction caches */
    uint32_t slots;
    uint64_t code_bytes, dynamic_shared_at;
    struct itrace_code *codes; /* its own is the first */
    uint32_t code_count, code_capacity;
};

struct itrace_chunk {
    uint64_t at, bytes, raw_bytes; /* in the file; inflated */
    uint64_t first_block, block_count;
};

/* Why the instructions of a launch may be others when it takes another time: a bit each. */
#define ITRACE_DOUBTS(D)                                                                                     \
    D(ORDER, "uses what atomic operations return, or watches memory that others write")                      \
    D(CLOCK, "reads the clock")                                                                              \
    D(HEAP, "allocates memory")                                                                              \
    D(SLEEP, "sleeps")                                                                                       \
    D(RACE, "has threads that read what others write at the same time")                                      \
    D(WRITES, "has threads that write to the same place at the same time")

enum itrace_doubt {
#define D(id, text) DOUBT_##id,
    ITRACE_DOUBTS(D)
#undef D
        DOUBT_COUNT
};

const char *itrace_doubt_text(uint32_t doubt);

struct itrace_launch {
    uint64_t number; /* of all launches of the program */
    uint32_t kernel, device;
    uint32_t grid[3], block[3], dimensions;
    uint32_t cluster[3]; /* blocks of each; 0: there are none */
    uint32_t shared_bytes, carveout_bytes;
    int64_t max_dynamic; /* as of function_copy */
    uint32_t carveout, cache;
    bool cooperative, recorded;
    uint64_t workspace; /* of a cooperative launch: where kernels saw that of the grid's barrier */
    uint32_t doubts;    /* a bit for each of enum itrace_doubt */
    struct launch_result counts;
    struct itrace_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    struct block_place *places;
    uint32_t place_count;
};

static inline uint64_t itrace_launch_blocks(const struct itrace_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

static inline uint32_t itrace_launch_cluster(const struct itrace_launch *launch) /* blocks of each */
{
    uint32_t blocks = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    return blocks ? blocks : 1;
}

static inline uint32_t itrace_launch_threads(const struct itrace_launch *launch) /* of a block */
{
    return launch->block[0] * launch->block[1] * launch->block[2];
}

static inline uint64_t itrace_launch_bytes(const struct itrace_launch *launch) /* in the file of blocks */
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < launch->chunk_count; i++)
        bytes += launch->chunks[i].bytes;
    return bytes;
}

/* Where memory of a device begins, wherever it can: addresses are a part of a trace. Linux puts programs
 * at 0x555555554000 and up to 1 TiB above, so the first devices are below, and the others below them. */
#define ITRACE_DEVICE_AT    UINT64_C(0x500000000000)
#define ITRACE_DEVICE_APART UINT64_C(0x10000000000)

static inline uint64_t itrace_device_at(uint64_t device)
{
    return (device < 5 ? ITRACE_DEVICE_AT : UINT64_C(0x0c0000000000)) + device * ITRACE_DEVICE_APART;
}

struct itrace_arena { /* addresses of memory that the program used: of GPUs, and of the host */
    uint64_t base, bytes;
};

enum { ITRACE_OPERATIONS = 255 };

/* Atomic operations: numbers in the trace, which tells their names. */
struct itrace_operations {
    const char *names[ITRACE_OPERATIONS]; /* the trace's */
    uint32_t count;
    uint8_t own[UINT8_MAX + 1]; /* by number: a row of exec/atomics.h; UINT8_MAX: not known here */
};

struct itrace {
    char *command, *system, *isa, *why_cut; /* why_cut: NULL, or why it ends before the program did */
    char *settings;                         /* of the system, as of --set; a newline behind each */
    uint32_t lanes;
    uint64_t digest; /* of the index that was read */
    struct itrace_operations operations;
    struct itrace_kernel *kernels;
    size_t kernel_count, kernel_capacity;
    struct itrace_launch *launches;
    size_t launch_count, launch_capacity;
    struct itrace_call *calls;
    size_t call_count, call_capacity;
    struct itrace_arena *arenas; /* the host's first, managed memory's, then those of devices */
    size_t arena_count, arena_capacity;
    char **texts; /* of places and names */
    size_t text_count, text_capacity;
};

struct itrace *itrace_new(void);
void itrace_free(struct itrace *trace);
uint64_t itrace_threads(const struct itrace *trace);             /* of the program that made calls */
const char *itrace_text(struct itrace *trace, const char *text); /* the trace's own copy; NULL stays NULL */

/* ---- the index as a file (index.c) ---- */

bool itrace_write_index(const struct itrace *trace, const char *folder, struct err *err);
struct itrace *itrace_read_index(const char *folder, struct err *err);

/* For tests: the same in memory. */
struct blob;
void itrace_encode_index(const struct itrace *trace, struct blob *bytes);
struct itrace *itrace_decode_index(const void *bytes, size_t count, const char *name, struct err *err);

#endif
