/* A simulated machine: the GPUs of a system on one engine, with simulated time. Tasks (kernels, copies) are
 * begun by the driver and take their time; machine_run lets time pass until one is done.
 *
 * All calls come from one thread at a time; the engine itself uses `threads`. Nothing here depends on the
 * host's time: the same tasks begun in the same order at the same simulated moments give the same bytes. */
#ifndef SYSTEM_MACHINE_H
#define SYSTEM_MACHINE_H

#include "exec/exec.h"
#include "gpu/stats.h"
#include "system/system.h"

struct machine;

enum task_state { TASK_RUNNING, TASK_DONE, TASK_FAILED };

enum copy_direction { COPY_TO_DEVICE, COPY_TO_HOST, COPY_ON_DEVICE, COPY_PEER };

/* The caller owns it and keeps it until it is done. */
struct task {
    /* What to do: a kernel when launch is set, or else a copy (the bytes are moved by the caller when it is
     * done; here it takes time) */
    const struct launch *launch;
    uint32_t gpu;
    uint32_t blocks_per_sm; /* of a kernel: that fit on an SM (occupancy) */
    uint32_t
        shared_carveout_bytes; /* of a kernel: what it prefers shared memory of an SM to be; 0: as needed */
    enum copy_direction direction;
    uint64_t copy_bytes;
    /* What came of it */
    enum task_state state;
    uint64_t start_ps, end_ps;
    struct launch_result result; /* of a kernel: counts, and the fault if it failed */
    struct kernel_stats stats;
    /* The machine's */
    struct task *next;
};

struct machine_progress {         /* shown while it runs */
    uint64_t time_ps, cycles;     /* since the oldest running kernel began */
    uint64_t blocks_done, blocks; /* of the running kernels */
    uint64_t instructions;        /* warp instructions so far, of the running kernels */
};

struct machine_options {
    unsigned threads;
    uint64_t max_cycles; /* of one kernel; 0: no limit. Beyond: FAULT_LIMIT */
    bool cold_caches;    /* every kernel starts with empty caches, as under ncu --cache-control all */
    bool profile;        /* counts for each instruction */
    const _Atomic int *interrupt;                                          /* or NULL */
    void (*progress)(void *user, const struct machine_progress *progress); /* or NULL */
    void *user;
};

struct machine *machine_new(const struct system *system, const struct machine_options *options,
                            struct err *err);
void machine_free(struct machine *machine);

/* Where the memory of a GPU is on the host: device addresses [at, at + bytes) as kernels see them. Remote:
 * the host's own memory. Call again when it changes. */
struct memory_range {
    uint64_t at, bytes;
    bool remote;
};
void machine_set_memory(struct machine *machine, uint32_t gpu, const struct memory_range *ranges,
                        uint32_t count);

/* Begins a task now. Kernels of one GPU share its SMs, in the order they were begun. */
void machine_begin(struct machine *machine, struct task *task);

/* Lets time pass until at least one task is done or failed. False: interrupted, nothing is running, or err.
 * After an interruption the running tasks' counts so far are in them. */
bool machine_run(struct machine *machine, struct err *err);

/* Lets this much time pass, if nothing happens before (the host computes, sleeps). */
bool machine_pass(struct machine *machine, uint64_t ps, struct err *err);

uint64_t machine_time(const struct machine *machine); /* ps since the beginning */

/* To be called before the host looks at or changes these bytes of device memory, between calls of
 * machine_run; kernels that do not touch them may be under way. What kernels wrote there becomes visible to
 * the host; changes: and caches forget all of it, as the host is about to change it. Takes no time. Memory of
 * the host (remote) is not told of: no cache may keep any of it beyond a kernel. */
void machine_sync_memory(struct machine *machine, uint32_t gpu, uint64_t at, uint64_t bytes, bool changes);

#endif
