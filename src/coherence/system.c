#include "base/mem.h"
#include "coherence/agent.h"
#include "net/network.h"

#include <stdio.h>
#include <string.h>

/* What waits at an agent: operations of its client, and messages. */
enum { AGENT_OPERATIONS_MOST = 512, AGENT_WAITINGS_MOST = 4096 };

uint32_t coherence_agents(const struct coherence_spec *spec)
{
    return spec->cpus + (spec->l1s > 0) + spec->homes + spec->l1s;
}

enum coh_role coherence_role(const struct coherence_spec *spec, uint32_t agent)
{
    uint32_t caches = spec->cpus + (spec->l1s > 0);
    return agent < spec->cpus             ? COH_CACHE
           : agent < caches               ? COH_GPU_L2
           : agent < caches + spec->homes ? COH_HOME
                                          : COH_L1;
}

static bool check_spec(const struct coherence_spec *spec, struct err *err)
{
    uint32_t agents = coherence_agents(spec);
    if (agents >= AGENT_MEMORY)
        return err_set(err, "coherence: %u agents are too many (%d)", agents, AGENT_MEMORY - 1);
    if (spec->l1s && !protocol_table(spec->protocol, COH_L1))
        return err_set(err, "coherence: protocol %s has no GPU; use vi_hammer, moesi_hsc or viper",
                       spec->protocol->name);
    if (!spec->homes || spec->cpus + spec->l1s == 0)
        return err_set(err, "coherence: a home and a cache are needed");
    if (spec->line_bytes < 32 || spec->line_bytes > COHERENCE_LINE_MOST ||
        spec->line_bytes & (spec->line_bytes - 1))
        return err_set(err, "coherence: lines have 32, 64 or 128 bytes, not %u", spec->line_bytes);
    return protocol_valid(spec->protocol, err);
}

/* Shapes by role. What waits at an agent is bounded by what all others may have under way. */
static void agent_shape(struct agent *agent, const struct coherence_spec *spec)
{
    bool is_cache_home = spec->protocol->memory_apart;
    switch (agent->role) {
    case COH_CACHE:
        agent->sets = spec->cache_sets, agent->ways = spec->cache_ways;
        break;
    case COH_GPU_L2:
        agent->sets = spec->gpu_l2_sets, agent->ways = spec->gpu_l2_ways;
        break;
    case COH_L1:
        agent->sets = spec->l1_sets, agent->ways = spec->l1_ways;
        break;
    default:
        agent->sets = is_cache_home ? spec->home_sets : 0, agent->ways = is_cache_home ? spec->home_ways : 0;
        agent->has_memory = true;
    }
    uint32_t lines = agent->sets * agent->ways;
    if (agent->role == COH_HOME) /* a directory knows every line that some cache has */
        lines += (uint32_t)(spec->memory_bytes / spec->line_bytes / spec->homes) + 1;
    agent->entry_count = lines + 256;
    agent->waiting_count =
        spec->room ? AGENT_OPERATIONS_MOST + AGENT_NETWORKS_MOST * spec->room : AGENT_WAITINGS_MOST;
    agent->buckets = 64;
    while (agent->buckets < agent->entry_count)
        agent->buckets *= 2;
    agent->latency_ps = agent->role == COH_HOME ? spec->home_latency_ps : spec->cache_latency_ps;
    agent->memory_latency_ps = spec->memory_latency_ps;
    agent->stores_allocate =
        agent->role == COH_CACHE || (agent->role == COH_GPU_L2 && !spec->protocol->gpu_l2_writes_through);
}

static struct network *make_network(const struct coherence *coherence, struct engine *engine, struct err *err)
{
    const struct coherence_spec *spec = &coherence->spec;
    struct net_graph graph;
    uint32_t later[AGENT_NETWORKS_MOST];
    for (uint32_t i = 0; i < AGENT_NETWORKS_MOST; i++)
        later[i] = ((1u << AGENT_NETWORKS_MOST) - 1) & ~((2u << i) - 1);
    topology_make(&spec->topology, &coherence->places, &graph);
    struct network *network = network_new(engine, &graph,
                                          &(struct network_spec){.payload_bytes = sizeof(struct packet),
                                                                 .networks = agent_networks(spec),
                                                                 .room = spec->room,
                                                                 .waits_for = later},
                                          err);
    net_graph_fini(&graph);
    return network;
}

static bool agent_make(struct coherence *coherence, struct engine *engine, uint32_t id, struct err *err)
{
    static const char *const names[] = {"cache", "home", "l1", "gpu_l2"};
    struct agent *agent = &coherence->agents[id];
    char name[32];
    coh_controller_init(&agent->controller, coherence->spec.protocol,
                        protocol_table(coherence->spec.protocol, agent->role));
    agent_shape(agent, &coherence->spec);
    agent_layout(agent);
    snprintf(name, sizeof name, "%s[%u]", names[agent->role], id);
    struct island *island = engine_island(engine, name);
    struct agent **self = mem_alloc(1, sizeof *self); /* the component's spec: kept until coherence_free */
    *self = agent;
    agent->self = self;
    agent->component =
        engine_component(engine, island, name, &agent_ops, self, agent->state_bytes, "network");
    agent->state = component_state(agent->component);
    return network_attach(coherence->network, id, island, component_port(agent->component, 0), err);
}

struct coherence *coherence_new(struct engine *engine, const struct coherence_spec *spec,
                                const struct coherence_client *const *clients, void *const *users,
                                struct err *err)
{
    if (!check_spec(spec, err))
        return NULL;
    struct coherence *coherence = mem_alloc(1, sizeof *coherence);
    uint32_t count = coherence_agents(spec), caches = spec->cpus + (spec->l1s > 0);
    coherence->spec = *spec;
    coherence->places = (struct topology_agents){
        .count = count, .cpus = spec->cpus, .homes = spec->homes, .first_home = caches};
    coherence->agents = mem_alloc(count, sizeof *coherence->agents);
    coherence->network = make_network(coherence, engine, err);
    bool good = coherence->network != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        coherence->agents[i] = (struct agent){.coherence = coherence,
                                              .client = clients ? clients[i] : NULL,
                                              .user = users ? users[i] : NULL,
                                              .role = coherence_role(spec, i),
                                              .id = i};
        good = agent_make(coherence, engine, i, err);
    }
    good = good && network_ready(coherence->network, err);
    if (good)
        return coherence;
    coherence_free(coherence);
    return NULL;
}

void coherence_free(struct coherence *coherence)
{
    if (!coherence)
        return;
    for (uint32_t i = 0; i < coherence->places.count; i++)
        mem_free(coherence->agents[i].self);
    if (coherence->network)
        network_free(coherence->network);
    mem_free(coherence->agents);
    mem_free(coherence);
}

/* ---- after a run ---- */

static const struct entry *holder_of(const struct coherence *coherence, uint64_t line)
{
    for (uint32_t i = 0; i < coherence->places.first_home; i++) {
        const struct agent *agent = &coherence->agents[i];
        const struct entry *entry = entry_find(agent, line);
        uint8_t flags = entry ? agent->controller.table->states[entry->state.state].flags : 0;
        if (flags & COH_OWNS || (flags & COH_WRITE))
            return entry;
    }
    return NULL;
}

uint64_t coherence_read(const struct coherence *coherence, uint64_t address)
{
    uint64_t line = address / coherence->spec.line_bytes, word;
    size_t offset = address % coherence->spec.line_bytes / COHERENCE_WORD * COHERENCE_WORD;
    const struct agent *home =
        &coherence->agents[coherence->places.first_home + line % coherence->spec.homes];
    const struct entry *entry = holder_of(coherence, line);
    if (!entry)
        entry = entry_find(home, line);
    memcpy(&word, (entry ? entry->data : entry_memory(home, line)) + offset, sizeof word);
    return word;
}

struct coherence_counters coherence_count(const struct coherence *coherence, enum coh_role role)
{
    struct coherence_counters sum = {0};
    for (uint32_t i = 0; i < coherence->places.count; i++) {
        if (coherence->agents[i].role != role)
            continue;
#define COHERENCE_ADD(name, help) sum.name += coherence->agents[i].state->counters.name;
        COHERENCE_COUNTERS(COHERENCE_ADD)
    }
    return sum;
}

uint32_t coherence_payload_bytes(void)
{
    return sizeof(struct packet);
}

void coherence_post(struct coherence *coherence, struct engine *engine, uint32_t agent, uint64_t what)
{
    engine_post(engine, coherence->agents[agent].component, engine_time(engine), AGENT_CLIENT_EVENT, &what,
                sizeof what);
}
