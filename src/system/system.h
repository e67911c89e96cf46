/* A system: its GPUs and their parameters. A description (INI) has a section [gpu], which applies to every
 * GPU, and [system]. The defaults of the rows are an H200, so no file is needed. The values are what CUDA's
 * queries return on that GPU; comments in the folder systems have their sources. */
#ifndef SYSTEM_SYSTEM_H
#define SYSTEM_SYSTEM_H

#include "base/config.h"
#include "core/spec.h"
#include "gpu/dispatch_spec.h"
#include "gpu/spec.h"
#include "mem/spec.h"
#include "system/cluster_spec.h"
#include "system/fabric_spec.h"
#include "system/transfer.h"

#define SYSTEM_PARAMS(P, S)                                                                                  \
    P(S, count, gpus, "1", "1..64", "GPUs of the system")                                                    \
    P(S, count, nodes, "1", "1..64",                                                                         \
      "computers that these GPUs are in, as many in each; processes of MPI are spread over them")            \
    P(S, flag, unified, "no", "", "programs see all GPUs as one, whose dispatcher spreads blocks over them") \
    P(S, size, interleave, "4KiB", "4KiB..1GiB", "unified: so many bytes of memory are on each GPU in turn") \
    P(S, count, monolithic, "1", "1..64",                                                                    \
      "a GPU is one chip of so many times the SMs, L2, memory and bandwidth that are described")             \
    P(S, text, cpu, "", "", "CPU cores that programs run on in timing mode: a description of systems/cpu")   \
    P(S, choice, space, "split", "split|shared",                                                             \
      "split: GPUs have memory of their own; shared: what programs allocate on a GPU is memory of the "      \
      "host, in whose caches it may be")                                                                     \
    P(S, size, host_page, "4KiB", "4KiB..1GiB", "of the host's memory")                                      \
    P(S, time, launch_time, "2100ns", "0..1s", "what a launch takes the host", SHOWS_IN_TIME)                \
    P(S, time, call_time, "500ns", "0..1s", "what another call takes the host: copies, events, questions",   \
      SHOWS_IN_TIME)                                                                                         \
    P(S, time, wait_time, "0", "0..1s", "from the end of what a call waits for until the call returns",      \
      SHOWS_IN_TIME)

struct system_spec {
    SYSTEM_PARAMS(PARAM_FIELD, system_spec)
};

extern const struct param_group system_params;

struct system {
    struct gpu_spec gpu;
    struct sm_spec sm;
    struct l2_spec l2;
    struct dram_spec dram;
    struct noc_spec noc;
    struct l3_spec l3;
    struct tlb_spec tlb;
    struct paging_spec paging;
    struct uvm_spec uvm;
    struct transfer_spec copies;
    struct dispatch_spec dispatch;
    struct fabric_spec fabric;
    struct cluster_spec cluster;
    struct system_spec spec;
    struct gpu_spec device; /* the GPU as programs see it: all of a unified one */
    struct config config;   /* what these were made from; owns their texts */
    struct system_texts {   /* of a monolithic GPU: as often as it is described */
        char *gpcs, *gpc_partitions;
    } texts;
    uint64_t described_gpus; /* so many GPUs the description has; others may be set */
    const char *inherited;   /* says of what was not set whose it is, "inherited from h200"; NULL: its own */
    struct system_part {     /* where GPUs are of different descriptions ([gpus.NAME]): */
        struct system *system;
        uint32_t gpus; /* so many of this one */
    } * parts;
    size_t part_count;
};

extern const struct param_group mix_params;

/* The IOMMU as far as it walks for GPUs (tlb.walks_at). It is the host's, so there is one for all of them:
 * where GPUs differ, [tlb] of the file itself describes it, or else the descriptions of GPUs that ask it,
 * which agree. */
struct system_walks {
    uint64_t walkers; /* walks at a time */
    uint64_t ps;      /* that one takes */
};
struct system_walks system_walks(const struct system *system);

/* What describes the GPU of this number: the system itself, or one of its parts. */
const struct system *system_of_device(const struct system *system, uint32_t device);

/* `name` is a path (it has a slash or ends in .ini), or a name, such as "h200", of a description in `folder`;
 * NULL or "" is "h200". `folder` may be NULL: the systems that come with Heddle (base/install.h). An unknown
 * name's error lists those there are. */
bool system_load(struct system *system, const char *name, const char *folder, struct err *err);

/* The names of all descriptions in `folder` (NULL: those that come with Heddle), sorted; the caller frees
 * each, and the list. False: there is no such folder. */
bool system_names(const char *folder, char ***names, size_t *count);

/* Changes one setting, "gpu.sm_count=4" or "system.gpus=8", before anything was made of the system. */
bool system_set(struct system *system, const char *assignment, struct err *err);

/* Where a setting, "gpu.sm_count=4", shows; SHOWS_ANYWHERE for what system_set would refuse. */
enum param_shows system_shows(const char *assignment);

/* Whether there can be such a system, timed or not; once all was set. */
bool system_check(const struct system *system, struct err *err);
void system_fini(struct system *system);

/* The devices that programs see, and the GPUs that each is made of. GPUs are homes in physical addresses:
 * device d's are d * members on. */
static inline uint32_t system_devices(const struct system *system)
{
    return system->spec.unified ? 1 : (uint32_t)system->spec.gpus;
}

/* The devices of a node: those that one of its processes sees. */
static inline uint32_t system_node_devices(const struct system *system)
{
    return system_devices(system) / (uint32_t)system->spec.nodes;
}

/* Whether GPUs have no memory of their own; where that of a device is in the host's memory then. */
static inline bool system_shares_memory(const struct system *system)
{
    return system->spec.space;
}

enum { SYSTEM_SHARING_DEVICES = 8 }; /* at most */
static inline uint64_t system_shared_offset(uint32_t device)
{
    return (uint64_t)(device + 1) << 43;
}

/* Whether pages move between GPUs: the first policy is none. */
static inline bool system_moves_pages(const struct system *system)
{
    return system->paging.policy && system->spec.gpus > 1;
}

/* Whether managed memory moves between the host and GPUs: the first choice is that it does not. */
static inline bool system_moves_managed(const struct system *system)
{
    return system->paging.managed;
}

static inline uint32_t system_members(const struct system *system)
{
    return system->spec.unified ? (uint32_t)system->spec.gpus : 1;
}

#endif
