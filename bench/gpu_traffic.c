/* Traffic as in a GPU, without the GPU: islands like SMs send requests over a crossbar to islands like memory
 * partitions, which answer over another. Latency, bandwidth and credits are those of real parts, and the data
 * that comes back is checked. */
#include "bench/models.h"
#include "base/mem.h"
#include "base/rng.h"

#define TRAFFIC_PARAMS(P, S)                                                                                 \
    P(S, count, sms, "132", "1..100000", "SM-like islands")                                                  \
    P(S, count, partitions, "96", "1..100000", "memory-like islands")                                        \
    P(S, freq, clock, "1980MHz", "1MHz..100GHz", "of everything")                                            \
    P(S, count, latency_cycles, "100", "0..1000000", "of both crossbars")                                    \
    P(S, rate, bandwidth, "126720MB/s", "",                                                                  \
      "of a crossbar's plug, each way (64 bytes a cycle); 0: no limit")                                      \
    P(S, count, credits, "8", "0..65535", "requests an SM may have queued at one partition; 0: no limit")    \
    P(S, count, requests, "40000", "1..1000000000000", "that each SM sends in all")                          \
    P(S, count, outstanding, "512", "1..1048576", "requests of an SM that wait for a reply, at most")        \
    P(S, count, interval_cycles, "2", "1..1000000", "between two requests of an SM, on average")             \
    P(S, real, hits, "0.7", "0..1", "share of the requests that the partition's cache answers")              \
    P(S, count, hit_cycles, "60", "1..1000000", "from a request to its reply when the cache has it")         \
    P(S, count, miss_cycles, "300", "1..1000000", "and when it has not")                                     \
    P(S, count, service_cycles, "1", "1..1000000", "between two requests that a partition takes")            \
    P(S, count, idle, "0", "0..500000", "islands beside all that on which nothing happens")

struct traffic_spec {
    TRAFFIC_PARAMS(PARAM_FIELD, traffic_spec)
    uint64_t hit_threshold;
    struct clock_domain domain;
};

PARAM_GROUP(traffic_params, "gpu-traffic", "the gpu-traffic benchmark", traffic_spec, TRAFFIC_PARAMS);

enum { PORT_REQUEST, PORT_REPLY };

struct request {
    uint64_t address;
};

struct reply {
    uint64_t address, data;
};

/* What a partition holds at an address. */
static uint64_t data_at(uint64_t address)
{
    return digest_word(address, 0x5eed);
}

static uint64_t after_cycles(struct component *self, const struct traffic_spec *spec, uint64_t cycles)
{
    uint64_t now = component_now(self);
    return clock_time(&spec->domain, clock_cycle(&spec->domain, now) + cycles);
}

/* ---- an SM ---- */

#define SM_STATS(X, S)                                                                                       \
    X(S, sent, "requests", "requests sent")                                                                  \
    X(S, replies, "messages", "replies that came back")                                                      \
    X(S, refused, "attempts", "requests that found no credit")                                               \
    X(S, latency_ps, "ps", "sum of all requests' times from sending to reply")                               \
    X(S, wrong, "messages", "replies with other data than the address holds")

struct sm {
    SM_STATS(STAT_FIELD, sm)
    struct rng rng;
    uint64_t address; /* of the next request */
};

STAT_TABLE(sm_stats, sm, SM_STATS);

static void draw_address(struct sm *sm)
{
    sm->address = rng_next(&sm->rng) & 0xfffffffffe0;
}

static void sm_start(struct component *self, void *state)
{
    struct sm *sm = state;
    rng_init(&sm->rng, component_seed(self), component_name(self));
    draw_address(sm);
    component_wake(self, 0);
}

/* Sends the next request if there is one and it may go; and sees to it that the one after is tried. */
static void sm_send(struct component *self, struct sm *sm)
{
    const struct traffic_spec *spec = component_spec(self);
    if (sm->sent == spec->requests || sm->sent - sm->replies == spec->outstanding)
        return;
    struct request request = {.address = sm->address};
    uint32_t partition = (uint32_t)((digest_word(sm->address, 1) >> 32) * spec->partitions >> 32);
    if (!port_send(component_port(self, PORT_REQUEST), (uint32_t)spec->sms + partition, 0, 0, &request,
                   sizeof request)) {
        sm->refused++;
        return;
    }
    sm->sent++;
    sm->latency_ps -= component_now(self);
    draw_address(sm);
    component_wake(self, after_cycles(self, spec, 1 + rng_below(&sm->rng, 2 * spec->interval_cycles - 1)));
}

static void sm_wake(struct component *self, void *state)
{
    sm_send(self, state);
}

static void sm_ready(struct component *self, void *state, struct port *port, uint32_t plug)
{
    (void)port, (void)state, (void)plug;
    component_wake(self, after_cycles(self, component_spec(self), 1));
}

static void sm_arrive(struct component *self, void *state, struct port *port)
{
    struct sm *sm = state;
    const struct traffic_spec *spec = component_spec(self);
    struct reply reply;
    memcpy(&reply, port_head(port)->payload, sizeof reply);
    port_pop(port);
    sm->wrong += reply.data != data_at(reply.address);
    sm->latency_ps += component_now(self);
    if (sm->sent - sm->replies++ == spec->outstanding)
        component_wake(self, after_cycles(self, spec, 1));
}

static bool sm_waits(const struct component *self, const void *state, struct text *text)
{
    const struct sm *sm = state;
    (void)self;
    if (sm->sent > sm->replies)
        text_add(text, "%llu replies", (unsigned long long)(sm->sent - sm->replies));
    return sm->sent > sm->replies;
}

static const struct component_ops sm_ops = {.type = "sm",
                                            .start = sm_start,
                                            .arrive = sm_arrive,
                                            .ready = sm_ready,
                                            .wake = sm_wake,
                                            .waits = sm_waits,
                                            .stats = &sm_stats};

/* ---- a memory partition ---- */

enum { IN_SERVICE = 512 }; /* requests a partition works on at once */

#define PARTITION_STATS(X, S)                                                                                \
    X(S, requests, "messages", "requests taken")                                                             \
    X(S, hits, "messages", "of them, answered by the cache")                                                 \
    X(S, queued, "messages", "sum over requests of those that waited behind it")

struct partition {
    PARTITION_STATS(STAT_FIELD, partition)
    struct rng rng;
    uint64_t free_at; /* when the next request can be taken */
    uint32_t in_service;
    uint32_t held_first, held; /* replies that found no credit */
    struct held_reply {
        struct reply reply;
        uint64_t to;
    } ring[IN_SERVICE];
};

STAT_TABLE(partition_stats, partition, PARTITION_STATS);

struct service {
    uint64_t address, sm;
};

static void partition_start(struct component *self, void *state)
{
    struct partition *partition = state;
    rng_init(&partition->rng, component_seed(self), component_name(self));
}

static void partition_take(struct component *self, struct partition *partition)
{
    const struct traffic_spec *spec = component_spec(self);
    struct port *port = component_port(self, PORT_REQUEST);
    const struct event *head = port_head(port);
    if (!head || partition->in_service == IN_SERVICE)
        return;
    if (component_now(self) < partition->free_at) {
        component_wake(self, partition->free_at);
        return;
    }
    struct request request;
    memcpy(&request, head->payload, sizeof request);
    struct service service = {.address = request.address, .sm = head->from};
    port_pop(port);
    bool hit = rng_chance(&partition->rng, spec->hit_threshold);
    partition->requests++;
    partition->hits += hit;
    partition->queued += port_fill(port);
    partition->in_service++;
    partition->free_at = after_cycles(self, spec, spec->service_cycles);
    uint64_t done = after_cycles(self, spec, hit ? spec->hit_cycles : spec->miss_cycles);
    component_schedule(self, done - component_now(self), 0, &service, sizeof service);
    if (port_fill(port))
        component_wake(self, partition->free_at);
}

static void partition_arrive(struct component *self, void *state, struct port *port)
{
    (void)port;
    partition_take(self, state);
}

static void partition_wake(struct component *self, void *state)
{
    partition_take(self, state);
}

static bool answer(struct component *self, struct partition *partition, const struct held_reply *held)
{
    if (!port_send(component_port(self, PORT_REPLY), (uint32_t)held->to, 0, 0, &held->reply,
                   sizeof held->reply))
        return false;
    if (partition->in_service-- == IN_SERVICE)
        partition_take(self, partition);
    return true;
}

/* The memory has answered: the reply goes out, behind those that wait for room. */
static void partition_event(struct component *self, void *state, const struct event *event)
{
    struct partition *partition = state;
    struct service service;
    memcpy(&service, event->payload, sizeof service);
    struct held_reply reply = {.reply = {.address = service.address, .data = data_at(service.address)},
                               .to = service.sm};
    if (partition->held || !answer(self, partition, &reply))
        partition->ring[(partition->held_first + partition->held++) % IN_SERVICE] = reply;
}

static void partition_ready(struct component *self, void *state, struct port *port, uint32_t plug)
{
    struct partition *partition = state;
    (void)port, (void)plug;
    while (partition->held && answer(self, partition, &partition->ring[partition->held_first])) {
        partition->held_first = (partition->held_first + 1) % IN_SERVICE;
        partition->held--;
    }
}

static const struct component_ops partition_ops = {.type = "partition",
                                                   .start = partition_start,
                                                   .event = partition_event,
                                                   .arrive = partition_arrive,
                                                   .ready = partition_ready,
                                                   .wake = partition_wake,
                                                   .stats = &partition_stats};

static bool add(struct bench_model *model, struct link *links[2], const char *kind, uint64_t index,
                const struct component_ops *ops, size_t state_bytes, struct err *err)
{
    char name[48];
    snprintf(name, sizeof name, "%s[%llu]", kind, (unsigned long long)index);
    struct island *island = engine_island(model->engine, name);
    struct component *component =
        engine_component(model->engine, island, name, ops, model->specs, state_bytes, "request,reply");
    return link_plug(links[0], component_port(component, PORT_REQUEST), err) &&
           link_plug(links[1], component_port(component, PORT_REPLY), err);
}

/* ---- islands that do nothing: they are to cost nothing ---- */

static const struct component_ops idle_ops = {.type = "idle"};

static bool add_idle(struct bench_model *model, const struct link_spec *wire, uint64_t count, struct err *err)
{
    struct link *link = count > 1 ? engine_link(model->engine, "idle", wire) : NULL;
    for (uint64_t i = 0; i < count; i++) {
        char name[48];
        snprintf(name, sizeof name, "idle[%llu]", (unsigned long long)i);
        struct island *island = engine_island(model->engine, name);
        struct component *idle = engine_component(model->engine, island, name, &idle_ops, NULL, 0, "port");
        if (link && !link_plug(link, component_port(idle, 0), err))
            return false;
    }
    return true;
}

static bool traffic_build(struct bench_model *model, const struct config *config, struct err *err)
{
    struct traffic_spec *spec = model->specs = mem_alloc(1, sizeof *spec);
    config_fill(config, &traffic_params, "gpu-traffic", spec);
    spec->hit_threshold = rng_share(spec->hits);
    clock_init(&spec->domain, spec->clock);
    struct link_spec crossbar = {.latency_ps = clock_time(&spec->domain, spec->latency_cycles),
                                 .bytes_per_s = spec->bandwidth,
                                 .overhead_bytes = 16,
                                 .credits = (uint32_t)spec->credits};
    struct link *links[2] = {engine_link(model->engine, "requests", &crossbar),
                             engine_link(model->engine, "replies", &crossbar)};
    for (uint64_t i = 0; i < spec->sms; i++) {
        if (!add(model, links, "sm", i, &sm_ops, sizeof(struct sm), err))
            return false;
    }
    for (uint64_t i = 0; i < spec->partitions; i++) {
        if (!add(model, links, "partition", i, &partition_ops, sizeof(struct partition), err))
            return false;
    }
    return add_idle(model, &(struct link_spec){.latency_ps = crossbar.latency_ps}, spec->idle, err);
}

static double traffic_share(const struct bench_model *model)
{
    const struct traffic_spec *spec = model->specs;
    return (double)engine_stat_sum(model->engine, &sm_ops, offsetof(struct sm, replies)) /
           ((double)spec->sms * (double)spec->requests);
}

static const struct param_group *const groups[] = {&traffic_params, NULL};
static const struct component_ops *const types[] = {&sm_ops, &partition_ops, NULL};

const struct bench bench_gpu_traffic = {.name = "gpu-traffic",
                                        .help =
                                            "requests and replies between 132 SMs and 96 memory partitions",
                                        .groups = groups,
                                        .types = types,
                                        .build = traffic_build,
                                        .share = traffic_share};
