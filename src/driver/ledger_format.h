/* The files in which a process leaves its launches to the process that started it (`heddle run`, `heddle
 * bench`). Both are of the same build, so structures are written as they are; LEDGER_LAYOUT detects other
 * layouts.
 *
 * PID.N.sums has the sums by kernel (struct launch_process, then a struct ledger_sum each). The process maps
 * the file, so the sums survive any end of the process; only a launch that ends at that moment may be partly
 * missing. The file does not grow with the number of launches.
 *
 * PID.N.launches has the requested launches: LEDGER_LAYOUT, then entries, each a struct ledger_entry followed
 * by its data. An entry is written as a whole or not at all.
 *
 * PID.N.series has samples over time, where they were asked for: LEDGER_SERIES_LAYOUT, then for each a struct
 * series_head and what it names (system/machine.h).
 *
 * Launches that do not fit are counted in the file `losses`, whose space is allocated when the folder is
 * made. The file `system` names the system, where the process has chosen one by itself. */
#ifndef DRIVER_LEDGER_FORMAT_H
#define DRIVER_LEDGER_FORMAT_H

#include "exec/exec.h"
#include "gpu/stats.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Kinds of copies, in the order of enum copy_direction, then fills: the name in files, words for people. */
#define COPY_KINDS(K)                                                                                        \
    K(to_device, "to the device")                                                                            \
    K(to_host, "to the host")                                                                                \
    K(on_device, "on a device")                                                                              \
    K(peer, "between devices")                                                                               \
    K(staged, "between devices, by way of the host")                                                         \
    K(fill, "memset")

enum copy_kind {
#define K(name, words) COPIED_##name,
    COPY_KINDS(K)
#undef K
        COPIED_KINDS
};

/* Each number of a launch is a row. */
#define LAUNCH_NUMBERS(N)                                                                                    \
    N(launch)                                                                                                \
    N(device)                                                                                                \
    N(stream)                                                                                                \
    N(registers)                                                                                             \
    N(shared_bytes)                                                                                          \
    N(dynamic_shared_bytes)                                                                                  \
    N(blocks_per_sm)                                                                                         \
    N(result)                                                                                                \
    LAUNCH_COUNTS(N)

struct launch_numbers {
    uint64_t grid[3], block[3];
#define N(name) uint64_t name;
    LAUNCH_NUMBERS(N)
#undef N
};

/* A launch as it is compared with others; timing is NULL of one that was not timed. */
struct launch_span {
    const struct launch_numbers *numbers;
    const struct gpu_kernel_stats *timing;
};

/* Whether launch a is longer than b: in simulated time, or by instructions of threads where there is none. Of
 * equals it is the larger one, then the one submitted first, so that it is the same in every run. */
bool ledger_is_longer(struct launch_span a, struct launch_span b);

/* ---- PID.N.sums ---- */

/* Copies of one kind, and fills, in simulated time. */
struct copy_sum {
    uint64_t count, bytes;
    uint64_t busy_ps; /* in which one was under way, over all devices */
};

/* A link of the fabric, from its first end to the other, and back. */
enum { LEDGER_LINKS = 256, LEDGER_LINK_NAME = 48 };
struct link_sum {
    char name[LEDGER_LINK_NAME];
    uint64_t bytes_per_s;
    uint64_t messages[2], bytes[2], busy_ps[2];
};

/* What the file of sums begins with. */
struct launch_process {
    uint64_t bytes;   /* to the first ledger_sum; likewise there, to the next */
    uint64_t layout;  /* LEDGER_LAYOUT: both sides are of one build */
    uint64_t busy_ns; /* of the host, in which a launch was under way */
    uint64_t end_ps;  /* simulated time until the last launch or copy ended */
    struct copy_sum copies[COPIED_KINDS];
    uint64_t link_count; /* of the fabric: the first so many of its links */
    struct link_sum links[LEDGER_LINKS];
};

/* Launches of one kernel: those that were timed, or those that were not. */
struct ledger_sum {
    uint64_t bytes;
    uint64_t profile_count, name_bytes; /* of what is behind it */
    uint64_t is_timed;
    uint64_t launches, failed, interrupted;
    uint64_t error, error_launch;                   /* of the first that failed */
    struct launch_numbers longest;                  /* by ledger_is_longer */
    struct gpu_kernel_stats longest_timing, timing; /* timing: of all, as metrics_sum adds them */
#define C(name) uint64_t name;
    LAUNCH_COUNTS(C)
#undef C
};

#define LEDGER_LAYOUT                                                                                        \
    (UINT64_C(0x48656464) << 32 | sizeof(struct ledger_sum) << 12 | sizeof(struct op_profile))

struct series_head {
    uint32_t is_part, bytes; /* a struct machine_part_sample, or a struct machine_sample */
};
#define LEDGER_SERIES_LAYOUT                                                                                 \
    (UINT64_C(0x48655373) << 32 | sizeof(struct machine_part_sample) << 16 | sizeof(struct machine_sample))

/* Behind a sum: the profile by operation of the kernel, of all launches and of the longest; the kernel's
 * name; and for each operation its place in code, as ledger_place_text_add writes it. All texts end in a zero
 * byte.
 */
static inline struct op_profile *ledger_sum_profile(const struct ledger_sum *sum)
{
    return (struct op_profile *)(uintptr_t)(sum + 1);
}

static inline struct op_profile *ledger_sum_longest_profile(const struct ledger_sum *sum)
{
    return ledger_sum_profile(sum) + sum->profile_count;
}

static inline char *ledger_sum_name(const struct ledger_sum *sum)
{
    return (char *)(ledger_sum_profile(sum) + 2 * sum->profile_count);
}

static inline char *ledger_sum_places(const struct ledger_sum *sum)
{
    return ledger_sum_name(sum) + sum->name_bytes;
}

/* ---- PID.N.launches ---- */

enum ledger_kind {
    LEDGER_PLACE, /* gives a number to a place in code: its text follows, as ledger_place_text_add writes it
                   */
    LEDGER_LAUNCH,
};

struct ledger_entry {
    uint64_t bytes; /* to the next one: a multiple of 8 */
    uint32_t kind;
    uint32_t place; /* LEDGER_PLACE: its number */
};

/* LEDGER_LAUNCH. Behind it: struct gpu_kernel_stats, if it was timed; what was counted at each place where
 * warps waited; the kernel's name, which ends in a zero byte. */
struct ledger_launch {
    struct ledger_entry entry;
    struct launch_numbers numbers;
    uint64_t is_timed, interrupted, place_count, name_bytes;
};

struct ledger_counted {
    uint64_t place;
    struct op_profile counts;
};

static inline const struct gpu_kernel_stats *ledger_timing(const struct ledger_launch *launch)
{
    return launch->is_timed ? (const struct gpu_kernel_stats *)(launch + 1) : NULL;
}

static inline const struct ledger_counted *ledger_places(const struct ledger_launch *launch)
{
    return (const struct ledger_counted *)((const char *)(launch + 1) +
                                           (launch->is_timed ? sizeof(struct gpu_kernel_stats) : 0));
}

static inline const char *ledger_kernel(const struct ledger_launch *launch)
{
    return (const char *)(ledger_places(launch) + launch->place_count);
}

/* ---- losses ---- */

#define LEDGER_LOSSES "losses"
#define LEDGER_SYSTEM "system"

/* It is there when a program has joined the other ranks. */
#define LEDGER_RANKS "ranks"
#define LEDGER_LIVE  "live" /* a process has the port of --live */
#define LEDGER_DRAWN                                                                                         \
    "drawn." /* and a number: a process that draws a timeline; how many slices, and its file */
struct launch_losses {
    _Atomic uint64_t entries, sums; /* launches */
    _Atomic int error;              /* why: errno */
};

#endif
