/* CPU cores and GPUs in one coherent memory: what lies below the cores' private caches (cpu/outer.h), and how
 * GPUs reach lines of the host's memory, both through the tables of one protocol (src/coherence/follow).
 *
 * Bytes: the program's own memory has what its CPU code stored last, as QEMU executed it. A GPU's loads get
 * the bytes of its copy of the line, which came with a message of the protocol: from the cache of a core that
 * had changed the line, or from memory. Where memory misses a store, the copy has wrong bytes on purpose: a
 * protocol that does not probe shows in what kernels compute. */
#ifndef CPU_COHERENT_H
#define CPU_COHERENT_H

#include "coherence/follow/follow.h"
#include "cpu/memory.h"
#include "cpu/outer.h"
#include "cpu/spec.h"

struct cpugpu {
    struct outer base;
    struct cpu_memory **cores; /* by number */
    struct follow *follow;
    struct protocol *own_protocol; /* that was read from a file, or NULL */
    struct net_graph own_graph;    /* the same */
    uint32_t core_count, gpu_count;
};

/* Whether a description says that there is a protocol: else cpu/shared.h is what lies below. */
bool cpugpu_is_on(const struct cpu_spec *spec);

/* The cores may come later, but before the first request. */
bool cpugpu_init(struct cpugpu *coherent, const struct cpu_spec *spec, uint32_t gpus,
                 struct cpu_memory **cores, struct err *err);
void cpugpu_fini(struct cpugpu *coherent);

/* A GPU reads or writes a line, or part of it, at this address of the program. Gives when it is done. What it
 * reads is in its copy. What it writes is written to memory itself, and to its copy if it has one (not NULL).
 */
uint64_t cpugpu_reach(struct cpugpu *coherent, uint32_t gpu, const unsigned char *line, bool writes,
                      uint64_t time_ps);
unsigned char *cpugpu_gpu_copy(struct cpugpu *coherent, uint32_t gpu, const unsigned char *line);

/* A copy engine reads or writes these bytes of the program, so many in a second. Gives when it is done with
 * them. */
uint64_t cpugpu_copy(struct cpugpu *coherent, uint64_t at, uint64_t bytes, bool writes, uint64_t bytes_per_s,
                     uint64_t time_ps);

/* A kernel begins: caches of the GPU that nobody keeps coherent are emptied. */
void cpugpu_begin_kernel(struct cpugpu *coherent, uint32_t gpu, uint64_t time_ps);

#endif
