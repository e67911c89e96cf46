/* The launches of a driver. Each is counted when submitted, and summed by kernel when it ends. heddle.h keeps
 * all of them; `heddle run --stats` keeps some.
 *
 * A process that `heddle run` or `heddle bench` started leaves two files in their folder.
 *
 * PID.N.sums has the sums by kernel (struct launch_process, then a struct launch_sum each). The process
 * shares its memory with the file, so the sums survive whatever ends the process; only the launch that ends
 * at that moment may be missing in part. The file does not grow with the number of launches.
 *
 * PID.N.launches has the launches that are asked for, a line of JSON each: the numbers of struct
 * launch_numbers by their names, and what gpu/metrics_line.h and gpu/place_line.h write of those that were
 * timed.
 *
 * Launches that do not fit are counted in the file `losses`, whose room is taken when the folder is made. */
#ifndef DRIVER_LEDGER_H
#define DRIVER_LEDGER_H

#include "base/err.h"
#include "base/names.h"
#include "base/text.h"
#include "exec/exec.h"
#include "gpu/place_line.h"
#include "gpu/stats.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct launch_record;

/* Kinds of copies, in the order of enum copy_direction, then fills: the name in files, words for people. */
#define COPY_KINDS(K)                                                                                        \
    K(to_device, "to the device")                                                                            \
    K(to_host, "to the host")                                                                                \
    K(on_device, "on a device")                                                                              \
    K(peer, "between devices")                                                                               \
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

/* ---- files ---- */

/* Copies of one kind, and fills, in simulated time. */
struct copy_sum {
    uint64_t count, bytes;
    uint64_t busy_ps; /* in which one was under way, over all devices */
};

/* What the file of sums begins with. */
struct launch_process {
    uint64_t bytes;   /* to the first launch_sum; likewise there, to the next */
    uint64_t layout;  /* LEDGER_LAYOUT: both sides are of one build */
    uint64_t busy_ns; /* of the host, in which a launch was under way */
    uint64_t end_ps;  /* simulated time until the last launch or copy ended */
    struct copy_sum copies[COPIED_KINDS];
};

/* Launches of one kernel: those that were timed, or those that were not. */
struct launch_sum {
    uint64_t bytes;
    uint64_t profile_count, name_bytes; /* of what is behind it */
    uint64_t is_timed;
    uint64_t launches, failed, interrupted;
    uint64_t error, error_launch;               /* of the first that failed */
    struct launch_numbers longest;              /* launch: in simulated time, or by instructions of threads */
    struct kernel_stats longest_timing, timing; /* timing: of all, as metrics_sum adds them */
#define C(name) uint64_t name;
    LAUNCH_COUNTS(C)
#undef C
};

#define LEDGER_LAYOUT                                                                                        \
    (UINT64_C(0x48656464) << 32 | sizeof(struct launch_sum) << 12 | sizeof(struct op_profile))

/* Behind a sum: the profile by operation of the kernel, of all launches and of the longest; the kernel's
 * name; and for each operation its place in code, as place_line_add writes it. All texts end in a zero byte.
 */
static inline struct op_profile *launch_sum_profile(const struct launch_sum *sum)
{
    return (struct op_profile *)(uintptr_t)(sum + 1);
}

static inline struct op_profile *launch_sum_longest_profile(const struct launch_sum *sum)
{
    return launch_sum_profile(sum) + sum->profile_count;
}

static inline char *launch_sum_name(const struct launch_sum *sum)
{
    return (char *)(launch_sum_profile(sum) + 2 * sum->profile_count);
}

static inline char *launch_sum_places(const struct launch_sum *sum)
{
    return launch_sum_name(sum) + sum->name_bytes;
}

#define LEDGER_LOSSES "losses"
struct launch_losses {
    _Atomic uint64_t lines, sums; /* launches */
    _Atomic int error;            /* why: errno */
};

/* ---- the ledger ---- */

struct ledger_folder; /* what is written to; ledger_files.c */

struct ledger {
    pthread_mutex_t lock;
    _Atomic uint64_t submitted;
    struct names kernels;          /* names that outlive their modules */
    struct launch_record *records; /* when kept, with the places that their profiles name: */
    size_t count, capacity;
    struct place_list places;
    struct kernel_places *kernel_places;
    size_t kernel_places_count, kernel_places_capacity;
    struct ledger_folder *folder; /* NULL: nothing is written */
};

/* Launches from the first to before `end` get a line in the folder, if there is one. */
void ledger_init(struct ledger *ledger, const char *folder, uint64_t first, uint64_t end);
void ledger_fini(struct ledger *ledger);
const char *ledger_name(struct ledger *ledger, const char *kernel); /* the same text, for ever */

/* A copy or fill in simulated time. */
struct copy_record {
    enum copy_kind kind;
    unsigned device;
    uint64_t bytes, start_ps, end_ps;
};
void ledger_add_copy(struct ledger *ledger, const struct copy_record *copy);

/* A launch begins at this time of the host. */
void ledger_begin(struct ledger *ledger, double now_s);

/* And has ended. Takes the record's timing. */
void ledger_add(struct ledger *ledger, const struct launch_record *record, bool keep, double now_s);

/* ---- ledger_files.c; with the lock held ---- */

struct ledger_folder *ledger_folder_new(const char *path, uint64_t first, uint64_t end);
void ledger_folder_free(struct ledger_folder *folder);
void ledger_folder_begin(struct ledger_folder *folder, double now_s);
void ledger_folder_add(struct ledger_folder *folder, const struct launch_record *record, double now_s);
void ledger_folder_add_copy(struct ledger_folder *folder, const struct copy_record *copy);

#endif
