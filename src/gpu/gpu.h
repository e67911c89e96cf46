/* One GPU: its SMs, its memory, and the dispatcher that assigns blocks to SMs.
 *
 * A unified GPU is several of them, its members, behind one dispatcher: each has its own SMs and its own
 * memory, a home of its own. What SMs want of another member's memory goes over the fabric.
 *
 * A kernel is put into a slot and started by an event of the dispatcher. After its last block has ended, the
 * dispatcher stops the engine's run at the kernel's end time, and gpu_take_ended returns its slot. */
#ifndef GPU_GPU_H
#define GPU_GPU_H

#include "core/sm.h"
#include "gpu/dispatch_spec.h"
#include "gpu/spec.h"
#include "gpu/stats.h"

struct gpu_config {
    uint32_t number;           /* of its first member's memory in physical addresses; the others' follow */
    uint32_t members;          /* 0 is 1 */
    bool has_peers;            /* gpu_attach_fabric will follow */
    uint32_t host_node;        /* of the fabric: the host; or NO_HOST */
    struct hostmem *host;      /* the machine's */
    const struct space *space; /* of the process; changes between runs alone */
    const struct probe *probe; /* who listens; NULL: nobody */
    const struct gpu_spec *gpu;
    const struct sm_spec *sm;
    const struct l2_spec *l2;
    const struct dram_spec *dram;
    const struct noc_spec *noc;
    const struct l3_spec *l3;
    const struct tlb_spec *tlb;
    const struct paging_spec *paging; /* or NULL: pages do not move */
    const struct dispatch_spec *dispatch;
    const struct memsys_ranks *ranks; /* by member: which it is on (ranks/ranks.h); or NULL: rank 0 */
};

struct gpu;

/* Whether there can be such a GPU; what a row alone allows was checked when it was read. */
bool gpu_check(const struct gpu_config *config, struct err *err);
struct gpu *gpu_new(struct engine *engine, const char *path, const struct gpu_config *config,
                    struct err *err);
void gpu_free(struct gpu *gpu); /* after the engine */

struct gpu_launch {
    const struct launch *launch;
    uint32_t blocks_per_sm; /* that fit on an SM when nothing else is there */
    uint32_t shared_carveout_bytes;
    /* Slots of kernels that it may run beside as soon as all their blocks have triggered or ended; where they
     * have another bit, too: as soon as all blocks were handed out, or (apart): as these, and it does not
     * wait for their end. */
    uint32_t after, after_start, after_apart;
    uint32_t first_sm, sm_count; /* that it may run on; 0, or more than there are: all */
    bool cold_caches, profile;
    bool share_code; /* what SMs fetched since the launch before is in the caches of all, as if many launches
                        had come in between, on all SMs */
};

/* Begins a kernel at this time (engine_time or later). Gives its slot; SM_KERNELS when all are taken. */
uint32_t gpu_begin(struct gpu *gpu, const struct gpu_launch *launch, uint64_t time);

enum gpu_ended { GPU_NONE, GPU_ENDED, GPU_FAILED };

/* A kernel that has ended or failed at `now` or before, if any; its results, and the slot is free. */
enum gpu_ended gpu_take_ended(struct gpu *gpu, uint64_t now, uint32_t *slot, struct launch_result *result,
                              struct gpu_kernel_stats *stats);

/* When the first of those whose last block has ended ends; TIME_NEVER. */
uint64_t gpu_next_end(const struct gpu *gpu);

/* Where the warps of a block of it are. */
struct text;
void gpu_where(const struct gpu *gpu, uint32_t slot, struct text *text);

/* What a kernel has done so far; the kernel goes on. */
void gpu_look(struct gpu *gpu, uint32_t slot, struct launch_result *result, struct gpu_kernel_stats *stats);

/* Ends all kernels that run, wherever their blocks are. No other can begin: the GPU is to be made anew, but
 * not before other GPUs of the engine are done. */
void gpu_abandon(struct gpu *gpu);

/* What it does: SMs' counters of the kernels that run, the memory's since it was made, and blocks and warps
 * on SMs now. Between runs. */
struct gpu_activity {
    struct sm_counters sm;
    struct memsys_counters mem;
    uint64_t blocks, warps;
};
void gpu_look_at_activity(struct gpu *gpu, struct gpu_activity *activity);

struct gpu_progress {
    uint64_t blocks, blocks_done, instructions, since_ps;
};
void gpu_progress(const struct gpu *gpu, struct gpu_progress *progress);

/* What it does now, between windows: an SM (false: there is none of this number), and a kernel (false: none
 * is in this slot). */
struct gpu_kernel_view {
    uint64_t blocks, begun, ended, start_ps, instructions;
    bool has_started;
};
bool gpu_look_at_sm(const struct gpu *gpu, uint32_t number, struct sm_view *view);
bool gpu_look_at_kernel(const struct gpu *gpu, uint32_t slot, struct gpu_kernel_view *view);
struct sm *gpu_sm_of(const struct gpu *gpu, const struct component *component); /* or NULL */

/* When nothing is left to happen and kernels run: lets threads go on that wait for others in vain, or faults.
 */
void gpu_unlock(struct gpu *gpu, uint64_t time);

/* The network of GPUs, before the engine is ready. */
struct network;
bool gpu_attach_fabric(struct gpu *gpu, struct network *fabric, struct err *err);

struct memsys *gpu_mem(const struct gpu *gpu, uint32_t member); /* its memory (mem/memsys.h) */

/* Where a member's own memory is on the host; the page table may have changed, too. Between runs. */
void gpu_set_memory(struct gpu *gpu, uint32_t member, const struct home_range *ranges, uint32_t count);
struct space_block gpu_workspaces(const struct gpu *gpu); /* that kernels touch, beside programs' memory */

/* Between runs: what is dirty in the L2s is written to memory, and they forget all of it. And the L1s forget
 * all data, be it whose it may. */
void gpu_drop_memory(struct gpu *gpu);
void gpu_forget_data(struct gpu *gpu);

/* Writes what it has besides its components, or reads it into a GPU that was just made and has the same
 * memory; before the engine is. `launches`: what is in each slot, or NULL. */
void gpu_archive(struct gpu *gpu, const struct launch *const launches[SM_KERNELS], struct archive *archive);

/* Where there are ranks: that of the dispatcher; and what it knows of kernels, which that rank writes between
 * runs, and others read. */
uint32_t gpu_leading_rank(const struct gpu *gpu);
uint32_t gpu_sm_rank(const struct gpu *gpu, uint32_t sm); /* by number among all members' */
void gpu_archive_shared(struct gpu *gpu, struct archive *archive);

/* What kernels print goes there, in its order, instead of to their files. */
typedef void gpu_print_fn(void *user, const struct launch *launch, const char *text, size_t bytes);
void gpu_on_print(struct gpu *gpu, gpu_print_fn *print, void *user);

#endif
