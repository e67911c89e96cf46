/* PHOLD, the standard of the parallel simulation field: a fixed population of events; each, when handled,
 * makes one other, after lookahead + an exponentially distributed time, on its own island or (remote) on any
 * other. */
#include "bench/models.h"
#include "base/mem.h"
#include "base/rng.h"

#define PHOLD_PARAMS(P, S)                                                                                   \
    P(S, count, islands, "1024", "1..500000", "islands, of one component each")                              \
    P(S, count, population, "16", "1..1000000", "events of each island at the start")                        \
    P(S, real, remote, "0.25", "0..1", "share of the events that go to another island")                      \
    P(S, time, lookahead, "1ns", "1ps..1s", "latency between islands, and the least delay of all events")    \
    P(S, time, mean, "1ns", "0..1s", "mean of the random time on top of it")                                 \
    P(S, time, time, "2us", "1ps..1000s", "how long is simulated")

struct phold_spec {
    PHOLD_PARAMS(PARAM_FIELD, phold_spec)
    uint64_t remote_threshold; /* of 2^32 */
};

#define PHOLD_STATS(X, S)                                                                                    \
    X(S, local, "events", "events that stayed on their island")                                              \
    X(S, arrived, "events", "events that came from another island")

struct phold {
    PHOLD_STATS(STAT_FIELD, phold)
    struct rng rng;
};

PARAM_GROUP(phold_params, "phold", "the PHOLD benchmark", phold_spec, PHOLD_PARAMS);
STAT_TABLE(phold_stats, phold, PHOLD_STATS);

static void make_next(struct component *self, struct phold *state, uint64_t hops)
{
    const struct phold_spec *spec = component_spec(self);
    uint64_t drawn = rng_next(&state->rng); /* its upper half makes the delay, its lower half the choice */
    uint64_t wait = rng_exponential_of(drawn, spec->mean);
    if ((uint32_t)drawn < spec->remote_threshold) {
        struct port *port = component_port(self, 0);
        uint32_t to = (uint32_t)rng_below(&state->rng, spec->islands - 1);
        to += to >= port_plug(port);
        port_send(port, to, wait, 0, &hops, sizeof hops);
    } else {
        component_schedule(self, spec->lookahead + wait, 0, &hops, sizeof hops);
    }
}

static uint64_t hops_of(const struct event *event)
{
    uint64_t hops;
    memcpy(&hops, event->payload, sizeof hops);
    return hops;
}

static void phold_start(struct component *self, void *state)
{
    struct phold *phold = state;
    const struct phold_spec *spec = component_spec(self);
    rng_init(&phold->rng, component_seed(self), component_name(self));
    for (uint64_t i = 0; i < spec->population; i++)
        make_next(self, phold, 0);
}

static void phold_event(struct component *self, void *state, const struct event *event)
{
    struct phold *phold = state;
    phold->local++;
    make_next(self, phold, hops_of(event) + 1);
}

static void phold_arrive(struct component *self, void *state, struct port *port)
{
    struct phold *phold = state;
    uint64_t hops = hops_of(port_head(port));
    port_pop(port);
    phold->arrived++;
    make_next(self, phold, hops + 1);
}

static const struct component_ops phold_ops = {.type = "phold",
                                               .start = phold_start,
                                               .event = phold_event,
                                               .arrive = phold_arrive,
                                               .stats = &phold_stats};

static bool phold_build(struct bench_model *model, const struct config *config, struct err *err)
{
    struct phold_spec *spec = model->specs = mem_alloc(1, sizeof *spec);
    config_fill(config, &phold_params, "phold", spec);
    spec->remote_threshold = spec->islands > 1 ? (uint64_t)(spec->remote * 4294967296.0) : 0;
    model->until = spec->time;
    struct link *link = NULL;
    if (spec->islands > 1)
        link = engine_link(model->engine, "net", &(struct link_spec){.latency_ps = spec->lookahead});
    for (uint64_t i = 0; i < spec->islands; i++) {
        char name[32];
        snprintf(name, sizeof name, "lp[%llu]", (unsigned long long)i);
        struct island *island = engine_island(model->engine, name);
        struct component *lp = engine_component(model->engine, island, name, &phold_ops, spec,
                                                sizeof(struct phold), link ? "net" : "");
        if (link && !link_plug(link, component_port(lp, 0), err))
            return false;
    }
    return true;
}

static const struct param_group *const groups[] = {&phold_params, NULL};
static const struct component_ops *const types[] = {&phold_ops, NULL};

const struct bench bench_phold = {.name = "phold",
                                  .help = "PHOLD, the standard of the parallel simulation field",
                                  .groups = groups,
                                  .types = types,
                                  .build = phold_build};
