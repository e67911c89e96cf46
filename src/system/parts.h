/* The data structures of a machine; for this room only. */
#ifndef SYSTEM_PARTS_H
#define SYSTEM_PARTS_H

#include "base/index.h"
#include "gpu/gpu.h"
#include "mem/dma.h"
#include "mem/gateway.h"
#include "mem/hostmem.h"
#include "net/network.h"
#include "paging/areas.h"
#include "system/machine.h"
#include "system/homes.h"
#include "system/spread.h"

/* system.c: what a GPU of it is made from. */
struct gpu_config system_gpu(const struct system *system);

/* shape.c: makes GPUs monolithic, and what programs see of unified ones. */
void shape_apply(struct system *system);
bool shape_check(const struct system *system, struct err *err);
void shape_fini(struct system *system);

struct gpu_slot {
    struct gpu *gpu;
    struct task *kernels[SM_KERNELS]; /* by slot of the GPU */
    struct heap *heap;                /* what machine_set_heap said */
    bool stopped; /* by a fault: it is made anew when no GPU is at work, and kernels wait for that */
};

/* Physical addresses. */
struct page_ranges {
    struct page_range *list;
    size_t count, capacity;
};

/* Likewise, pages of managed memory. */
struct managed_pages {
    uint64_t *list;
    size_t count, capacity;
};

/* The machine of this process; machine.h has what all machines have. */
struct local_machine {
    struct machine base;
    const struct system *system;
    struct machine_options options;
    struct engine *engine;
    struct zone *apart; /* islands' memory, where they are apart; or NULL */
    struct hostmem *host;
    struct spread spread;   /* over ranks; empty where there is one */
    struct series *series;  /* samples over time (system/series.h), or NULL */
    struct asides *asides;  /* what they tell the leading one; NULL where there is one */
    struct network *fabric; /* NULL: there is one GPU */
    struct passed_traffic { /* over its links, before the machine was made anew: both ways of each */
        struct net_traffic *list;
        size_t count, capacity;
    } passed;
    struct spent { /* by island, before the machine was made anew: ns of this rank */
        uint64_t *ns;
        uint32_t count;
    } spent;
    struct probe probe;      /* who listens; its address is in all parts */
    struct space *space;     /* the program's page table */
    struct homes memory;     /* what machine_set_memory said */
    struct areas areas;      /* what machine_manage said */
    struct page_ranges lent; /* what the host has on loan */
    struct managed_sums {    /* of managed pages that GPUs held when nothing ran any more: */
        struct index pages;  /* by physical address */
        uint64_t *list;      /* checksums of their bytes; 0: none */
        size_t capacity;
    } sums;
    struct managed_copy { /* over ranks (system/managed_apart.h) */
        char *at;         /* of managed memory, by offset, for GPUs of this rank; NULL: there is none */
        uint64_t bytes;
        uint64_t first, last; /* of what is being cleared */
        bool was_used;        /* when GPUs were asked last what they wrote */
        struct index written; /* on the leading rank: pages that GPUs wrote to, by offset */
    } copy;
    struct gpu_slot *gpus;       /* devices, as tasks name them */
    uint32_t gpu_count, members; /* of each, which are homes */
    struct task *waiting;        /* kernels that no slot was free for; and copies, which take turns */
    uint64_t now;
    uint64_t begun; /* tasks */
    uint64_t running;
    bool broken;              /* a run was interrupted: nothing can begin any more */
    struct journal *journal;  /* NULL: no checkpoint is wanted */
    struct archive *resuming; /* the file to go on from, while its journal is gone through */
    uint64_t checkpoint_ps;   /* when one is to be written; TIME_NEVER */
    bool is_written;
    uint64_t window_ps;     /* when the last window began that was told */
    bool wishes_checkpoint; /* somebody who looks on wants one now; */
    _Atomic int halt; /* then the engine stops for it, or as options.interrupt says: where windows are told */
    bool leads_heaps; /* the leading rank's heaps are the newest, as the host ran kernels itself */
    enum machine_end end;
};

/* Of a machine that machine_new made. */
static inline struct local_machine *machine_local(const struct machine *machine)
{
    return (struct local_machine *)(uintptr_t)machine;
}

/* As far as it has come, also inside a run. */
static inline uint64_t machine_shown_ps(const struct local_machine *machine)
{
    return machine->window_ps > machine->now ? machine->window_ps : machine->now;
}

/* build.c. Makes the parts of a machine that has its memory, and frees them: once more after a fault. */
bool machine_build(struct local_machine *machine, struct err *err);
void machine_take_apart(struct local_machine *machine);

/* machine.c. Tells all homes, and the page table, where memory is. */
void machine_place_memory(struct local_machine *machine);

/* machine.c. Writes a checkpoint as things stand. False: that was all. */
bool machine_save(struct local_machine *machine, struct err *err);

/* checkpoint.c. The file to go on from is opened, and the journal is begun, for a machine that was just made;
 * it ends with the machine. */
bool checkpoint_init(struct local_machine *machine, struct err *err);
void checkpoint_fini(struct local_machine *machine);

/* Writes one, of how things stand now. */
bool checkpoint_write(struct local_machine *machine, struct err *err);

/* One was written: when the next is due, if there are to be more. */
void checkpoint_next(struct local_machine *machine);

/* The state that the file has, when all of its journal was gone through. */
bool checkpoint_load(struct local_machine *machine, struct err *err);

/* Homes are what physical addresses name: the memory of each member of each device. */
static inline uint32_t machine_homes(const struct local_machine *machine)
{
    return machine->gpu_count * machine->members;
}

static inline struct memsys *machine_home_mem(const struct local_machine *machine, uint32_t home)
{
    return gpu_mem(machine->gpus[home / machine->members].gpu, home % machine->members);
}

/* Of a device: its members' follow each other. */
static inline uint32_t machine_first_home(const struct local_machine *machine, uint32_t gpu)
{
    return gpu * machine->members;
}

/* Time passes while the host waits in the middle of something; what ends meanwhile is told later. After
 * ENGINE_FAILED the machine is broken. */
enum engine_outcome machine_let_pass(struct local_machine *machine, uint64_t until);

/* What all GPUs' own memory holds, and what of it kernels were given by malloc: written, or read. */
void machine_archive_memory(struct local_machine *machine, struct archive *archive);

#endif
