/* The data structures of a machine; for this room only. */
#ifndef SYSTEM_PARTS_H
#define SYSTEM_PARTS_H

#include "gpu/gpu.h"
#include "mem/dma.h"
#include "mem/gateway.h"
#include "mem/hostmem.h"
#include "net/network.h"
#include "system/machine.h"

/* system.c: what a GPU of it is made from. */
struct gpu_config system_gpu(const struct system *system);

struct gpu_slot {
    struct gpu *gpu;
    struct task *kernels[SM_KERNELS]; /* by slot of the GPU */
    struct heap *heap;                /* what machine_set_heap said */
    bool stopped; /* by a fault: it is made anew when no GPU is at work, and kernels wait for that */
};

/* The machine of this process; machine.h has what all machines have. */
struct local_machine {
    struct machine base;
    const struct system *system;
    struct machine_options options;
    struct engine *engine;
    struct zone *apart; /* islands' memory, where they are apart; or NULL */
    struct hostmem *host;
    struct network *fabric;      /* NULL: there is one GPU */
    struct probe probe;          /* who listens; its address is in all parts */
    struct space *space;         /* the program's page table */
    struct memory_range *ranges; /* what machine_set_memory said */
    uint32_t range_count;
    struct gpu_slot *gpus;
    uint32_t gpu_count;
    struct task *waiting; /* kernels that no slot was free for; and copies, which take turns */
    uint64_t now;
    uint64_t running;
    bool broken;              /* a run was interrupted: nothing can begin any more */
    struct journal *journal;  /* NULL: no checkpoint is wanted */
    struct archive *resuming; /* the file to go on from, while its journal is gone through */
    uint64_t checkpoint_ps;   /* when one is to be written; TIME_NEVER */
    bool is_written;
    enum machine_end end;
};

/* checkpoint.c. The file to go on from is opened, and the journal is begun, for a machine that was just made;
 * it ends with the machine. */
bool checkpoint_init(struct local_machine *machine, struct err *err);
void checkpoint_fini(struct local_machine *machine);

/* Writes one, of how things stand now. */
bool checkpoint_write(struct local_machine *machine, struct err *err);

/* The state that the file has, when all of its journal was gone through. */
bool checkpoint_load(struct local_machine *machine, struct err *err);

/* Of memory that is at home there, as the program sees it. */
static inline bool range_is_of(const struct memory_range *range, uint32_t home)
{
    return physical_home(range->to) == home;
}

/* Where the bytes at these virtual addresses are kept; NULL: they are not all of one range. */
static inline char *machine_bytes(const struct local_machine *machine, uint64_t at, uint64_t bytes)
{
    for (uint32_t i = 0; i < machine->range_count; i++) {
        const struct memory_range *range = &machine->ranges[i];
        if (at - range->at < range->bytes && bytes <= range->bytes - (at - range->at))
            return range->host + (at - range->at);
    }
    return NULL;
}

/* What all GPUs' own memory holds, and what of it kernels were given by malloc: written, or read. */
void machine_archive_memory(struct local_machine *machine, struct archive *archive);

#endif
