#include "cpu/coherent/coherent.h"
#include "base/bits.h"

#include <string.h>

/* ---- what the protocol asks of a core ---- */

static bool is_dirty(void *user, uint32_t cpu, uint64_t line)
{
    const struct cpugpu *coherent = user;
    return cpu_memory_is_dirty(coherent->cores[cpu], line);
}

static void lose(void *user, uint32_t cpu, uint64_t line, bool invalidate)
{
    const struct cpugpu *coherent = user;
    cpu_memory_probe(coherent->cores[cpu], line, invalidate);
}

/* ---- requests of cores ---- */

static const enum outer_from outer_from[] = {[FOLLOW_FROM_HERE] = OUTER_FROM_CACHE,
                                             [FOLLOW_FROM_HOME] = OUTER_FROM_CACHE,
                                             [FOLLOW_FROM_MEMORY] = OUTER_FROM_MEMORY,
                                             [FOLLOW_FROM_CACHE] = OUTER_FROM_CORE};

static struct outer_reply request(struct outer *outer, uint32_t core, uint64_t line, enum outer_kind kind,
                                  uint64_t time_ps)
{
    struct cpugpu *coherent = (struct cpugpu *)outer;
    if (kind == OUTER_WRITE_BACK || kind == OUTER_DROP) {
        follow_leave(coherent->follow, core, line, kind == OUTER_WRITE_BACK, time_ps);
        return (struct outer_reply){.done_ps = time_ps};
    }
    struct follow_reply reply = follow_access(coherent->follow, core, line,
                                              kind == OUTER_READ_EXCLUSIVE ? COH_STORE : COH_LOAD, time_ps);
    return (struct outer_reply){
        .done_ps = reply.done_ps, .exclusive = reply.may_write, .from = outer_from[reply.from]};
}

/* ---- requests of GPUs ---- */

/* The bytes that memory, or the cache that gave the line, has. Memory that misses a store has something
 * older, which nobody knows any more: what it has is made to differ from the truth in every byte. */
static void fill_copy(unsigned char *copy, const unsigned char *line, bool stale)
{
    for (uint32_t i = 0; i < CPU_LINE; i++)
        copy[i] = stale ? (unsigned char)~line[i] : line[i];
}

static uint64_t number_of(const unsigned char *line)
{
    return (uint64_t)(uintptr_t)line >> CPU_LINE_SHIFT;
}

uint64_t cpugpu_reach(struct cpugpu *coherent, uint32_t gpu, const unsigned char *line, bool writes,
                      uint64_t time_ps)
{
    struct follow_reply reply = follow_access(coherent->follow, coherent->core_count + gpu, number_of(line),
                                              writes ? COH_STORE : COH_LOAD, time_ps);
    if (reply.took && reply.data)
        fill_copy(reply.data, line, reply.stale);
    return reply.done_ps;
}

unsigned char *cpugpu_gpu_copy(struct cpugpu *coherent, uint32_t gpu, const unsigned char *line)
{
    return follow_copy(coherent->follow, coherent->core_count + gpu, number_of(line));
}

uint64_t cpugpu_copy(struct cpugpu *coherent, uint64_t at, uint64_t bytes, bool writes, uint64_t bytes_per_s,
                     uint64_t time_ps)
{
    uint64_t last = (at + bytes - 1) >> CPU_LINE_SHIFT,
             step = max_u64((uint64_t)CPU_LINE * 1000000 / max_u64(bytes_per_s / 1000000, 1), 1);
    for (uint64_t line = at >> CPU_LINE_SHIFT; bytes && line <= last; line++, time_ps += step)
        follow_access(coherent->follow, follow_home_of(coherent->follow, line), line,
                      writes ? COH_DMA_WRITE : COH_DMA_READ, time_ps);
    return time_ps;
}

void cpugpu_begin_kernel(struct cpugpu *coherent, uint32_t gpu, uint64_t time_ps)
{
    if (follow_is_incoherent(coherent->follow))
        follow_leave_all(coherent->follow, coherent->core_count + gpu, time_ps);
}

/* ---- making ---- */

bool cpugpu_is_on(const struct cpu_spec *spec)
{
    return strcmp(spec->coherence.protocol, "plain") != 0;
}

static const struct protocol *find_protocol(struct cpugpu *coherent, const char *name, struct err *err)
{
    const struct protocol *found = protocol_find(name);
    if (found)
        return found;
    if (strpbrk(name, "./"))
        return coherent->own_protocol = protocol_read(name, err);
    err_set(err, "cpu.coherence.protocol: there is no protocol %.100s; there are plain", name);
    for (size_t i = 0; protocols[i]; i++)
        err_add(err, ", %s", protocols[i]->name);
    return NULL;
}

/* A file's graph has as many agents as there are. */
static bool read_graph(struct cpugpu *coherent, const char *path, uint32_t homes, struct err *err)
{
    struct topology_agents agents;
    if (!topology_read(path, coherent->gpu_count > 0, &agents, &coherent->own_graph, err))
        return false;
    return (agents.cpus == coherent->core_count && agents.homes == homes && coherent->gpu_count <= 1) ||
           err_set(err,
                   "%.150s: has %u CPUs and %u homes; cpu.cores and cpu.coherence.homes are %u and %u, with "
                   "%u GPUs",
                   path, agents.cpus, agents.homes, coherent->core_count, homes, coherent->gpu_count);
}

static bool find_topology(struct cpugpu *coherent, const char *name, struct follow_spec *follow,
                          struct err *err)
{
    for (unsigned i = 0; topology_names[i]; i++) {
        follow->topology.shape = i;
        if (!strcmp(topology_names[i], name))
            return true;
    }
    if (strpbrk(name, "./")) {
        follow->topology.graph = &coherent->own_graph;
        return read_graph(coherent, name, follow->homes, err);
    }
    err_set(err, "cpu.coherence.topology: there is no %.100s; there are", name);
    for (unsigned i = 0; topology_names[i]; i++)
        err_add(err, "%s %s", i ? "," : "", topology_names[i]);
    return false;
}

static struct follow_cache cache_of(uint64_t bytes, uint64_t ways, uint64_t latency_ps)
{
    return (struct follow_cache){(uint32_t)(bytes / (ways * CPU_LINE)), (uint32_t)ways, latency_ps};
}

bool cpugpu_init(struct cpugpu *coherent, const struct cpu_spec *spec, uint32_t gpus,
                 struct cpu_memory **cores, struct err *err)
{
    const struct cpu_coherence_spec *how = &spec->coherence;
    *coherent = (struct cpugpu){
        .base = {request}, .cores = cores, .core_count = (uint32_t)spec->core.cores, .gpu_count = gpus};
    struct follow_spec follow = {.protocol = find_protocol(coherent, how->protocol, err),
                                 .cpus = coherent->core_count,
                                 .gpus = gpus,
                                 .homes = (uint32_t)how->homes,
                                 .line_bytes = CPU_LINE,
                                 .cpu = {.latency_ps = how->probe},
                                 .gpu = cache_of(how->gpu_bytes, how->gpu_ways, how->gpu_latency),
                                 .home = {.latency_ps = spec->l3.latency},
                                 .memory_latency_ps = spec->memory.latency,
                                 .memory_bytes_per_s = spec->memory.bandwidth,
                                 .topology = {.latency_ps = how->link_latency,
                                              .bytes_per_s = how->link_bandwidth,
                                              .flit_bytes = (uint32_t)how->flit}};
    if (!follow.protocol || !find_topology(coherent, how->topology, &follow, err))
        return false;
    if (spec->l3.on && spec->l3.bytes / how->homes / (spec->l3.ways * CPU_LINE) == 0)
        return err_set(err, "cpu.l3.bytes: the part of each of %u homes has less than one set of %u lines",
                       (uint32_t)how->homes, (uint32_t)spec->l3.ways);
    if (spec->l3.on)
        follow.home = cache_of(spec->l3.bytes / how->homes, spec->l3.ways, spec->l3.latency);
    coherent->follow = follow_new(&follow, &(struct follow_client){is_dirty, lose, coherent}, err);
    return coherent->follow;
}

void cpugpu_fini(struct cpugpu *coherent)
{
    follow_free(coherent->follow);
    protocol_free(coherent->own_protocol);
    net_graph_fini(&coherent->own_graph);
}
