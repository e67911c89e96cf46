/* A simulated machine: the GPUs of a system on one engine, with simulated time. Tasks (kernels, copies) are
 * begun by the driver and take their time; machine_run lets time pass until one is done.
 *
 * All calls come from one thread at a time; the engine itself uses `threads`. Nothing here depends on the
 * host's time: the same tasks begun in the same order at the same simulated moments give the same bytes. */
#ifndef SYSTEM_MACHINE_H
#define SYSTEM_MACHINE_H

#include "base/address.h"
#include "base/probe.h"
#include "exec/exec.h"
#include "gpu/stats.h"
#include "system/system.h"

enum task_state { TASK_RUNNING, TASK_DONE, TASK_FAILED };

enum copy_direction {
    COPY_TO_DEVICE,
    COPY_TO_HOST,
    COPY_ON_DEVICE,
    COPY_PEER,  /* over the fabric */
    COPY_STAGED /* to another GPU, too, but by way of the host's memory */
};

/* One side of a copy: rows of bytes, and slices of rows, at the program's addresses. */
struct task_side {
    uint64_t at, pitch, slice;
    bool is_host;     /* any memory of the program's; else that of a GPU, which machine_set_memory knows */
    bool is_pageable; /* of the host's: not pinned */
};

struct task_wishes {
    uint64_t max_cycles; /* 0: no limit. Beyond: FAULT_LIMIT */
    bool cold_caches;    /* it starts with empty caches, as under ncu --cache-control all */
    bool share_code;     /* its SMs know the code that any has fetched. Not of a machine elsewhere */
    bool profile;        /* counts for each instruction */
};

/* A kernel of the same GPU, by its task's number, that another one depends on. */
enum { TASK_AFTER = 8 };
struct task_after {
    uint64_t number;
    uint32_t at_start; /* blocks may begin when all its blocks have begun; else, when all have triggered or
                          ended */
    uint32_t apart;    /* and they do not wait for its end */
};

/* The caller owns it and keeps it until it is done. */
struct task {
    /* What to do: a kernel when launch is set, or else a copy, or a fill. */
    const struct launch *launch;
    uint32_t gpu;           /* the device; homes are another matter (system_members) */
    uint32_t blocks_per_sm; /* of a kernel: that fit on an SM (occupancy) */
    uint32_t
        shared_carveout_bytes;   /* of a kernel: what it prefers shared memory of an SM to be; 0: as needed */
    uint32_t first_sm, sm_count; /* of a kernel: SMs that it may run on; 0: all */
    struct task_wishes wishes;   /* of a kernel: beside those of machine_options */
    struct task_after
        after[TASK_AFTER]; /* of a kernel: others that it begins beside, if they have not ended */
    uint32_t after_count;
    enum copy_direction direction; /* of a copy to another GPU: `gpu` is that one */
    struct task_side to, from;
    uint64_t width, height, depth; /* of what is copied, width in bytes */
    bool is_prefetch;   /* of managed memory: `width` bytes at to.at move to the device, or to the host; and
                           that is all */
    bool is_plain;      /* of a copy from or to the host: it takes its link's time alone */
    bool is_fill;       /* on a device: there is no source, but */
    uint32_t fill_word; /* what all aligned words become */
    /* What came of it */
    enum task_state state;
    uint64_t start_ps, end_ps;
    struct launch_result result; /* of a kernel: counts, and the fault if it failed */
    struct gpu_kernel_stats stats;
    /* The machine's */
    struct task *next;
    uint64_t number;       /* in the order they were begun */
    uint64_t paged;        /* of a copy that goes page by page: bytes of the pages up to this one */
    uint64_t device_place; /* of a copy that waits or is under way: a side that is a GPU's, the source before
                              the other */
    uint64_t
        bounce; /* of a machine elsewhere: where a copy's bytes are carried (mailbox/letters.h), plus 1 */
};

static inline void task_add_wishes(struct task *task, const struct task_wishes *more)
{
    if (!task->wishes.max_cycles)
        task->wishes.max_cycles = more->max_cycles;
    task->wishes.cold_caches |= more->cold_caches;
    task->wishes.share_code |= more->share_code;
    task->wishes.profile |= more->profile;
}

/* A copy's side that is the host's has no more than this, from the first byte to behind the last. */
#define TASK_HOST_BYTES_MOST (UINT64_C(1) << 39)

struct machine_progress {         /* shown while it runs */
    uint64_t time_ps, cycles;     /* since the oldest running kernel began */
    uint64_t blocks_done, blocks; /* of the running kernels */
    uint64_t instructions;        /* warp instructions so far, of the running kernels */
};

/* Checkpoints: a run that is saved in the middle, of a kernel even, and gone on with later, gives the same
 * bytes. To go on, the same calls must be made again from the beginning: they are answered at once, until
 * all is as it was (src/system/README.md). */
struct checkpoint_options {
    const char *write;          /* file; or NULL */
    uint64_t at_cycles;         /* of the GPUs' clock since the beginning; 0: after every_cycles */
    uint64_t every_cycles;      /* and again whenever so many have passed, to the same file; 0: once; where
                                   both are 0: when interrupted */
    bool stop;                  /* the run ends when it is written */
    const char *resume;         /* file; or NULL */
    const struct text *resumed; /* what machine_read_checkpoint gave of it, on a rank that does not lead */
    const char *note; /* lines of what must be the same in both runs, beside the system and options here */
    /* Or NULL; called when one was written, or (failure says why) could not be, and the run goes on. */
    void (*written)(void *user, uint64_t time_ps, const char *failure);
    void *user;
};

/* Told of each window of the engine: when it began, and how many islands had something to do in it. */
struct machine_windows {
    void (*call)(void *user, uint64_t time_ps, uint64_t islands);
    void *user;
};

/* What a GPU did in a span of time (machine_options.series_cycles): counters of its SMs and of its memory, by
 * name. */
#define SERIES_COUNTS(C)                                                                                     \
    C(instructions, sm.instructions)                                                                         \
    C(issue_cycles, sm.issue_cycles)                                                                         \
    C(l2_sectors, mem.l2_sectors_read)                                                                       \
    C(l2_written, mem.l2_sectors_written)                                                                    \
    C(l2_atomic, mem.l2_sectors_atomic)                                                                      \
    C(dram_read, mem.dram_bytes_read)                                                                        \
    C(dram_written, mem.dram_bytes_written)                                                                  \
    C(peer_bytes, mem.peer_bytes)                                                                            \
    C(host_bytes, mem.host_bytes)                                                                            \
    C(pages, mem.pages_received)                                                                             \
    C(faults, mem.managed_faults)

struct machine_sample {
    uint64_t time_ps, span_ps; /* its end, and how long it is */
    uint64_t gpu;
    uint64_t blocks, warps; /* on SMs, at its end */
#define C(name, counter) uint64_t name;
    SERIES_COUNTS(C)
#undef C
};

/* What a part of the machine did in the same span: a link of the fabric (by its number in machine_links), or
 * the memory of a GPU, by member, as far as pages moved. Of a part that did nothing there is no sample. */
#define PAGE_COUNTS(C)                                                                                       \
    C(pages_received)                                                                                        \
    C(page_bytes)                                                                                            \
    C(pages_dropped)                                                                                         \
    C(managed_faults)                                                                                        \
    C(managed_bytes_in)                                                                                      \
    C(managed_bytes_out)                                                                                     \
    C(managed_evictions)

enum machine_part { MACHINE_LINK, MACHINE_PAGES, MACHINE_PARTS };

struct machine_part_sample {
    uint64_t time_ps;
    uint64_t part, number;
    union {
        struct {
            uint64_t bytes[2], busy_ps[2]; /* of a link: to its second end, and back */
        };
        struct {
#define C(name) uint64_t name;
            PAGE_COUNTS(C)
#undef C
        };
    };
};

/* What passed over a link of the fabric: from its first end to the other, and back. */
struct machine_link {
    const char *name;
    uint64_t bytes_per_s;
    uint64_t messages[2], bytes[2], busy_ps[2]; /* bytes with overhead */
};

struct machine;

struct hostmem_caches;
struct ranks;

struct machine_options {
    unsigned threads;
    struct task_wishes wishes;                                             /* of every kernel */
    bool islands_apart;                                                    /* for tests: see engine_spec */
    const _Atomic int *interrupt;                                          /* or NULL */
    void (*progress)(void *user, const struct machine_progress *progress); /* or NULL */
    void *user;
    const struct machine_windows *windows; /* or NULL */
    const struct hostmem_caches *caches;   /* of the host's memory (mem/hostmem.h), or NULL */
    struct ranks *ranks; /* that the machine is spread over (system/over_ranks.h), or NULL. src/ranked calls
                            it on all of them alike */
    struct checkpoint_options checkpoint;
    uint64_t series_cycles; /* of the GPUs' clock: after each so many, a sample of each GPU is told; 0: none.
                               Not of a machine elsewhere, or over ranks, or that goes on from a checkpoint */
    void (*sample)(void *user, const struct machine_sample *sample);
    void (*sample_part)(void *user, const struct machine_part_sample *sample); /* after those of all GPUs */
    void *sample_user;
    bool measures;                /* how long islands take: for machine_write_load */
    const char *placement;        /* file of such a load, by which ranks get their parts; or NULL */
    const struct text *placed_by; /* its bytes; ranked_new reads them */
};

/* The virtual addresses [at, at + bytes), where they are at home, and where this process keeps their bytes.
 * Drivers whose programs look at memory themselves choose virtual addresses that are the host's own, too. */
struct memory_range {
    uint64_t at, bytes;
    struct physical_address to;
    char *host;
    uint64_t page;  /* 0, or pages of this size are at several homes in turn, from that of `to` on, */
    uint64_t homes; /* so many, and lie side by side in each. Where another range is, that counts */
};

enum memory_use {
    MEMORY_READ,       /* the host's program reads it */
    MEMORY_GIVEN_BACK, /* what was lent is the device's again */
    MEMORY_CHANGED,    /* caches forget all of it, as the host is about to change it */
    MEMORY_LENT,       /* the same, and the host changes it until it is given back; kernels do not use it */
    MEMORY_TAKEN_OVER, /* both, and of all memory: the host runs a kernel itself */
    MEMORY_DROPPED,    /* as MEMORY_CHANGED, and what it held is of no use any more */
};

/* What the program says of managed memory, where that moves on demand (HOME_MANAGED). */
enum managed_kind {
    MANAGED_NEW, /* at, bytes: it is allocated; or no more */
    MANAGED_GONE,
    MANAGED_READ_MOSTLY, /* at, bytes, on: it is advised so */
    MANAGED_PREFERRED,   /* likewise, with its place: */
    MANAGED_ACCESSED_BY,
    MANAGED_LOOKED_AT, /* it uses it, maybe, while kernels run, and makes no calls */
    MANAGED_CALLED,    /* it makes a call, and may have written to it before, while kernels run */
    MANAGED_ROOM,      /* place, bytes: of that memory, so much is free for managed pages */
};
struct managed_order {
    enum managed_kind kind;
    bool on;
    uint32_t place; /* a home; MANAGED_AT_HOST */
    struct physical_address at;
    uint64_t bytes;
};
enum { MANAGED_AT_HOST = 63 };

/* Why machine_run and machine_pass give false once and for all. */
enum machine_end {
    MACHINE_GOES_ON,
    MACHINE_BROKEN,        /* interrupted, or a failure of the model */
    MACHINE_STOPPED,       /* the checkpoint was written, and that was all */
    MACHINE_CANNOT_RESUME, /* what the program does, or the file, does not fit */
};

/* Code that kernels are of, as it can be sent to another process. */
struct code_object {
    const char *isa;   /* which instruction set's it is; it alone knows what the bytes are */
    const void *bytes; /* for isa.load of src/serve */
    size_t count;
};

/* The narrow interface between whoever runs a program (src/driver) and the machine it runs on. The machine is
 * in the same process (machine_new), or in another one (src/attach). */
struct machine_ops {
    void (*fini)(struct machine *machine);

    /* All memory that there is. The virtual and the physical address of a range have the same offset in their
     * page of 4 KiB. A page that two ranges share belongs to the first by address. No byte is of two ranges,
     * but for those of pages at several homes, where another range counts. Call again when it changes. */
    void (*set_memory)(struct machine *machine, const struct memory_range *ranges, uint32_t count);

    /* To be called before the host looks at or changes these bytes of device memory itself, between calls of
     * machine_run; kernels that do not touch them may be under way. What kernels wrote there becomes visible
     * to the host. Takes no time. Memory at home at the host need not be told of: no cache keeps any of it
     * beyond a kernel. */
    void (*sync_memory)(struct machine *machine, uint64_t at, uint64_t bytes, enum memory_use use);

    /* Where managed memory moves, else NULL. */
    void (*manage)(struct machine *machine, const struct managed_order *order);

    /* These three are for a machine in another process, or in several, else NULL. `load` sends code there and
     * gives its number, which becomes `kernel.object` of the kernels in it; `unload` says that none of them
     * will be launched again. The machine keeps a copy of the image of each GPU's kernels. */
    uint64_t (*load)(struct machine *machine, const struct code_object *object);
    void (*unload)(struct machine *machine, uint64_t object);
    void (*set_image)(struct machine *machine, uint32_t gpu, struct image *image);

    /* The heap of malloc in kernels of this GPU; NULL: it ends. */
    void (*set_heap)(struct machine *machine, uint32_t gpu, struct heap *heap);
    void (*set_limit)(struct machine *machine, uint64_t max_cycles); /* of one kernel; 0: none */

    /* From now on this tool is told of what happens, and one thread runs the machine; with no kinds, nobody
     * is. False: this machine cannot. */
    bool (*listen)(struct machine *machine, const struct probe *probe, struct err *err);

    /* Begins a task now. Kernels of one GPU share its SMs, in the order they were begun. */
    void (*begin)(struct machine *machine, struct task *task);

    /* Lets so much time pass (the host computes, sleeps), if nothing happens before; UINT64_MAX: until at
     * least one task is done or failed. False: interrupted, nothing is running, or err. After an interruption
     * the running tasks' counts so far are in them. */
    bool (*pass)(struct machine *machine, uint64_t ps, struct err *err);

    /* Writes what was measured (system/loads.h), or gives why not. NULL: this machine measures nothing. */
    bool (*write_load)(struct machine *machine, const char *path, struct err *err);

    size_t (*links)(const struct machine *machine, struct machine_link *links, size_t most); /* or NULL */
    uint64_t (*time)(const struct machine *machine); /* ps since the beginning */
    enum machine_end (*end)(const struct machine *machine);

    /* How it stands with the checkpoints that were asked for. */
    bool (*has_written)(const struct machine *machine);
    bool (*is_replaying)(const struct machine *machine); /* it has not come to where it goes on from */

    /* When interrupted between calls: writes the checkpoint that was asked for, if it was to be written then.
     */
    bool (*interrupted)(struct machine *machine, struct err *err);
};

struct machine {
    const struct machine_ops *ops;
};

/* The machine in this process. */
struct machine *machine_new(const struct system *system, const struct machine_options *options,
                            struct err *err);

/* Of such a one: memory of GPUs at these virtual addresses, piece by piece. Lines of a piece may be on
 * several ranks (memsys_line_rank); where they are kept is the same on all. */
struct memsys;
struct machine_piece {
    const struct memsys *mem;
    uint64_t offset, bytes; /* in its memory */
    char *host;
};
typedef void machine_piece_fn(void *user, const struct machine_piece *piece);
void machine_each_piece(struct machine *machine, uint64_t at, uint64_t bytes, machine_piece_fn *call,
                        void *user);

/* Of such a one: the counts so far of tasks that run are in them. */
void machine_look(struct machine *machine);

/* Of such a one, between calls: all kernels that run fail now, as after a fault. */
void machine_stop_kernels(struct machine *machine, const char *why);

/* Of such a one, on a rank that does not lead: the watch of kernels of this GPU, which has so many SMs. What
 * it sees is told to the watch that the leading rank's launch has. */
struct watch *machine_watch_afar(struct machine *machine, uint32_t gpu, uint32_t sms);

/* Of such a one, on the leading rank: a listener has changed data that it was told of. On several ranks that
 * is too late: it is told of what happened a while ago. */
bool machine_was_altered(const struct machine *machine);

/* What is in the file, for other ranks. */
bool machine_read_checkpoint(const char *path, struct text *bytes, struct err *err);

/* Whether the file is a checkpoint, whole, and of a run with this note. */
bool machine_check_checkpoint(const char *path, const char *note, struct err *err);

/* ---- machine_ops, called ---- */

static inline void machine_free(struct machine *machine)
{
    if (machine)
        machine->ops->fini(machine);
}

static inline void machine_set_memory(struct machine *machine, const struct memory_range *ranges,
                                      uint32_t count)
{
    machine->ops->set_memory(machine, ranges, count);
}

static inline void machine_sync_memory(struct machine *machine, uint64_t at, uint64_t bytes,
                                       enum memory_use use)
{
    machine->ops->sync_memory(machine, at, bytes, use);
}

static inline void machine_manage(struct machine *machine, const struct managed_order *order)
{
    if (machine->ops->manage)
        machine->ops->manage(machine, order);
}

/* Whether machine_load, machine_unload and machine_set_image are to be called. */
static inline bool machine_wants_code(const struct machine *machine)
{
    return machine->ops->load;
}

static inline uint64_t machine_load(struct machine *machine, const struct code_object *object)
{
    return machine->ops->load(machine, object);
}

static inline void machine_unload(struct machine *machine, uint64_t object)
{
    machine->ops->unload(machine, object);
}

static inline void machine_set_image(struct machine *machine, uint32_t gpu, struct image *image)
{
    machine->ops->set_image(machine, gpu, image);
}

static inline void machine_set_heap(struct machine *machine, uint32_t gpu, struct heap *heap)
{
    machine->ops->set_heap(machine, gpu, heap);
}

static inline void machine_set_limit(struct machine *machine, uint64_t max_cycles)
{
    machine->ops->set_limit(machine, max_cycles);
}

static inline bool machine_listen(struct machine *machine, const struct probe *probe, struct err *err)
{
    return machine->ops->listen(machine, probe, err);
}

static inline void machine_begin(struct machine *machine, struct task *task)
{
    machine->ops->begin(machine, task);
}

static inline bool machine_pass(struct machine *machine, uint64_t ps, struct err *err)
{
    return machine->ops->pass(machine, ps, err);
}

static inline bool machine_run(struct machine *machine, struct err *err)
{
    return machine->ops->pass(machine, UINT64_MAX, err);
}

/* The first `most` of its links; gives how many there are. 0: no fabric, or another process has it. */
static inline size_t machine_links(const struct machine *machine, struct machine_link *links, size_t most)
{
    return machine->ops->links ? machine->ops->links(machine, links, most) : 0;
}

static inline bool machine_write_load(struct machine *machine, const char *path, struct err *err)
{
    return machine->ops->write_load ? machine->ops->write_load(machine, path, err)
                                    : err_set(err, "this machine measures no load");
}

static inline uint64_t machine_time(const struct machine *machine)
{
    return machine->ops->time(machine);
}

static inline enum machine_end machine_end(const struct machine *machine)
{
    return machine->ops->end(machine);
}

static inline bool machine_has_written(const struct machine *machine)
{
    return machine->ops->has_written(machine);
}

static inline bool machine_is_replaying(const struct machine *machine)
{
    return machine->ops->is_replaying(machine);
}

static inline bool machine_interrupted(struct machine *machine, struct err *err)
{
    return machine->ops->interrupted(machine, err);
}

#endif
