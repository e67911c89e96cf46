/* A memory system with clients that send what the test says, when it says so, and note what comes back when.
 */
#ifndef TESTS_ENGINE_MEMORY_H
#define TESTS_ENGINE_MEMORY_H

#include "check.h"
#include "base/mem.h"
#include "mem/map.h"
#include "mem/hostmem.h"

enum { MOST_SENT = 64, CLIENTS = 4, MEMORY_BYTES = 1 << 20 };

/* The host's memory. */
#define REMOTE_AT ((uint64_t)HOME_HOST << PHYSICAL_HOME_SHIFT)

struct sent {
    uint64_t at;
    uint8_t kind;
    uint16_t bytes;
    struct memsys_request request;
    unsigned char payload[MEM_PAYLOAD_MOST];
};

struct script {
    const struct memsys *mem;
    uint32_t number, count;
    struct sent sent[MOST_SENT];
};

struct scripted {
    uint32_t next, unused;
    struct {
        uint64_t at;
        uint8_t kind, hit, unused[6];
        unsigned char data[MEM_LINE_MOST]; /* what follows the reply */
    } reply[MOST_SENT];
};

static void scripted_wake(struct component *self, void *state)
{
    struct scripted *client = state;
    const struct script *script = component_spec(self);
    for (; client->next < script->count; client->next++) {
        const struct sent *it = &script->sent[client->next];
        if (it->at > component_now(self)) {
            component_wake(self, it->at);
            return;
        }
        struct {
            struct memsys_request request;
            unsigned char payload[MEM_PAYLOAD_MOST];
        } message = {.request = it->request};
        memcpy(message.payload, it->payload, it->bytes);
        message.request.id = client->next;
        assert_true(port_send(component_port(self, 0),
                              memsys_target(script->mem, script->number, it->request.line), 0, it->kind,
                              &message, (uint16_t)(sizeof message.request + it->bytes)));
    }
}

static void scripted_start(struct component *self, void *state)
{
    (void)state;
    component_wake(self, 0);
}

static void scripted_event(struct component *self, void *state, const struct event *event)
{
    (void)event;
    scripted_wake(self, state);
}

static void scripted_arrive(struct component *self, void *state, struct port *port)
{
    struct scripted *client = state;
    const struct event *event = port_head(port);
    struct memsys_reply reply;
    memcpy(&reply, event->payload, sizeof reply);
    assert_true(reply.id < MOST_SENT && !client->reply[reply.id].at);
    client->reply[reply.id].at = component_now(self);
    client->reply[reply.id].kind = event->kind;
    client->reply[reply.id].hit = reply.hit;
    memcpy(client->reply[reply.id].data, event->payload + sizeof reply, event->bytes - sizeof reply);
    port_pop(port);
}

static const struct component_ops scripted_ops = {.type = "scripted",
                                                  .start = scripted_start,
                                                  .event = scripted_event,
                                                  .wake = scripted_wake,
                                                  .arrive = scripted_arrive};

static inline uint64_t add_words(uint8_t operation, void *at, uint64_t operand, uint64_t compare)
{
    (void)operation, (void)compare;
    uint32_t old, sum;
    memcpy(&old, at, 4);
    sum = old + (uint32_t)operand;
    memcpy(at, &sum, 4);
    return old;
}

struct system {
    struct l2_spec l2;
    struct dram_spec dram;
    struct noc_spec noc;
    uint32_t gpcs;
    uint8_t gpc_of[CLIENTS];
    struct engine *engine;
    struct hostmem *host;
    struct memsys *mem;
    struct script scripts[CLIENTS];
    struct component *clients[CLIENTS];
    char *memory, *remote;
};

static inline void fill_defaults(const struct param_group *group, void *spec)
{
    for (size_t i = 0; i < group->row_count; i++)
        must(
            param_parse(&group->rows[i], group->rows[i].fallback, (char *)spec + group->rows[i].offset, err));
}

/* All clocks are 1 GHz, so that a cycle is 1000 ps; small; every SM as near as every other. */
static inline void system_defaults(struct system *system)
{
    *system = (struct system){0};
    fill_defaults(&l2_params, &system->l2);
    fill_defaults(&dram_params, &system->dram);
    fill_defaults(&noc_params, &system->noc);
    system->l2.clock = 1000000000;
    system->l2.bytes = 128 << 10;
    system->l2.slices = 4;
    system->l2.islands = 2;
    system->l2.hit_cycles = system->l2.atomic_cycles = 20;
    system->l2.request_cycles = 1;
    system->l2.bytes_per_cycle = system->l2.write_bytes_per_cycle = 32;
    system->l2.atomic_sector_cycles = system->l2.partial_write_cycles = 1;
    system->l2.atomic_same_cycles = 1;
    system->l2.cross_cycles = 100;
    system->l2.cross_bytes_per_cycle = 1000; /* as if in no time */
    system->l2.fill_sectors = 1;
    system->noc.latency_cycles = 50;
    system->noc.spread_cycles = 0;
    system->noc.request_bytes_per_cycle = system->noc.reply_bytes_per_cycle = 0;
    system->dram.model = 2; /* fixed */
    system->dram.latency = 300000;
}

static inline void memsys_init(struct system *system)
{
    system->engine = engine_new(&(struct engine_spec){.payload_bytes = MEM_PAYLOAD_MOST});
    system->host = hostmem_new(system->engine, 1, false, add_words, NULL);
    struct memsys_config config = {.host = system->host,
                                   .l2 = &system->l2,
                                   .dram = &system->dram,
                                   .noc = &system->noc,
                                   .sm_clock = 1000000000,
                                   .clients = CLIENTS,
                                   .clients_of_sms = CLIENTS,
                                   .gpcs = system->gpcs,
                                   .gpc_of = system->gpc_of,
                                   .atomic = add_words};
    must(system->mem = memsys_new(system->engine, "gpu[0]", &config, err));
    system->memory = mem_alloc(MEMORY_BYTES, 1);
    system->remote = mem_alloc(MEMORY_BYTES, 1);
    memsys_set_ranges(system->mem, &(struct home_range){.bytes = MEMORY_BYTES, .host = system->memory}, 1);
    hostmem_set(system->host, &(struct home_range){.bytes = 1000, .host = system->remote}, 1);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "client[%u]", i);
        system->scripts[i].mem = system->mem;
        system->scripts[i].number = i;
        struct component *client =
            engine_component(system->engine, engine_island(system->engine, name), name, &scripted_ops,
                             &system->scripts[i], sizeof(struct scripted), "requests,replies");
        must(memsys_attach(system->mem, i, component_port(client, 0), component_port(client, 1), err));
        system->clients[i] = client;
    }
    must(memsys_ready(system->mem, err));
    must(engine_ready(system->engine, err));
}

/* All that was added since the last run happens. */
static inline void system_run(struct system *system)
{
    struct err err = {.text = ""};
    if (run_to(system->engine, TIME_NEVER, 1, &err) != ENGINE_FINISHED)
        fail_msg("%s", err.text);
}

static inline void memsys_fini(struct system *system)
{
    engine_free(system->engine);
    memsys_free(system->mem);
    hostmem_free(system->host);
    mem_free(system->memory);
    mem_free(system->remote);
}

/* A request of a client; between runs, too, then at the engine's time or later. Returns its number. */
static inline uint32_t system_send(struct system *system, uint32_t client, uint64_t at, uint8_t kind,
                                   uint64_t line, uint8_t sectors, const void *payload, uint16_t bytes)
{
    struct script *script = &system->scripts[client];
    struct sent *it = &script->sent[script->count];
    it->at = at;
    it->kind = kind;
    it->bytes = bytes;
    it->request = (struct memsys_request){.line = line, .sectors = sectors};
    if (bytes)
        memcpy(it->payload, payload, bytes);
    if (system->engine && engine_events(system->engine))
        engine_post(system->engine, system->clients[client], at, 0, NULL, 0);
    return script->count++;
}

static inline const struct scripted *system_client(const struct system *system, uint32_t client)
{
    return component_state(system->clients[client]);
}

/* How long it took until the reply to a request. */
static inline uint64_t system_took(const struct system *system, uint32_t client, uint32_t number)
{
    assert_true(system_client(system, client)->reply[number].at != 0);
    return system_client(system, client)->reply[number].at - system->scripts[client].sent[number].at;
}

/* The n-th line whose home is on the side of clients 0 and 1, or on that of clients 2 and 3. */
static inline uint64_t some_line(const struct system *system, uint32_t side, uint32_t n)
{
    struct map map = map_make((uint32_t)system->l2.slices, (uint32_t)system->l2.partitions);
    for (uint64_t line = 0;; line++) {
        if (map_place(&map, line).slice / (system->l2.slices / system->l2.partitions) == side && !n--)
            return line * MEM_LINE_MOST;
    }
}

#endif
