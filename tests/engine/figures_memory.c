/* Figures of the memory system with its defaults, beside those of an H200: latencies, bandwidths, and what a
 * request costs the host. Not a test: run it by hand, with settings such as l2.hit_cycles=20. */
#include "base/config.h"
#include "base/mem.h"
#include "base/rng.h"
#include "mem/hostmem.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SMS = 132, SM_CYCLES = 40 };
static const uint64_t clock_hz = 1980000000;

enum pattern { CHASE, RANDOM, READ, WRITE, COPY, REREAD, REWRITE, RECOPY };

struct client_spec {
    const struct memsys *mem;
    uint32_t number, clients, outstanding;
    enum pattern pattern;
    uint64_t footprint, lines; /* in lines; lines: to ask for, per client */
};

struct client {
    uint64_t sent, done, latency_ps, by_hit[3];
    uint64_t sent_at[4096];
    uint64_t shortest, longest;
};

/* Lines of a stream: all clients walk through memory together. */
static uint64_t line_of(const struct client_spec *spec, uint64_t n)
{
    if (spec->pattern == CHASE) /* all, in an order without order: footprints are no multiples of the prime */
        return n % spec->footprint * 1000003 % spec->footprint;
    if (spec->pattern == RANDOM)
        return rng_next(&(struct rng){n * SMS + spec->number}) % spec->footprint;
    if (spec->pattern >= REREAD) /* its own part of the footprint */
        n %= spec->footprint / spec->clients / 16 * 16;
    return (n / 16 * spec->clients + spec->number) * 16 + n % 16; /* 2 KiB at a time */
}

static bool send_one(struct component *self, struct client *client)
{
    const struct client_spec *spec = component_spec(self);
    if (client->sent == spec->lines || client->sent - client->done >= spec->outstanding)
        return false;
    uint64_t n = client->sent;
    bool copies = spec->pattern == COPY || spec->pattern == RECOPY;
    bool writes = spec->pattern == WRITE || spec->pattern == REWRITE || (copies && n % 2);
    uint64_t line = copies ? line_of(spec, n / 2) + (n % 2) * spec->footprint : line_of(spec, n);
    struct {
        struct memsys_request request;
        struct memsys_write write[MEM_SECTORS_MOST];
    } message = {.request = {.line = line * MEM_LINE_MOST, .id = (uint32_t)(n % 4096), .sectors = 15}};
    if (spec->pattern <= RANDOM)
        message.request.sectors = 1;
    for (int i = 0; writes && i < MEM_SECTORS_MOST; i++)
        message.write[i] = (struct memsys_write){.mask = UINT32_MAX};
    client->sent_at[n % 4096] = component_now(self);
    client->sent++;
    port_send(component_port(self, 0), memsys_target(spec->mem, spec->number, message.request.line), 0,
              writes ? MEM_WRITE : MEM_READ, &message,
              (uint16_t)(sizeof message.request + (writes ? sizeof message.write : 0)));
    return true;
}

static void client_wake(struct component *self, void *state)
{
    if (send_one(self, state))
        component_wake(self, component_now(self) + 1010);
}

static void client_event(struct component *self, void *state, const struct event *event)
{
    (void)state, (void)event;
    component_wake(self, component_now(self) + 1); /* once more */
}

static void client_start(struct component *self, void *state)
{
    struct client *client = state;
    client->shortest = UINT64_MAX;
    component_wake(self, 0);
}

static void client_arrive(struct component *self, void *state, struct port *port)
{
    struct client *client = state;
    struct memsys_reply reply;
    memcpy(&reply, port_head(port)->payload, sizeof reply);
    port_pop(port);
    uint64_t took = component_now(self) - client->sent_at[reply.id];
    client->latency_ps += took;
    client->shortest = took < client->shortest ? took : client->shortest;
    client->longest = took > client->longest ? took : client->longest;
    client->by_hit[reply.hit]++;
    client->done++;
    component_wake(self, component_now(self) + 1);
}

static const struct component_ops client_ops = {.type = "client",
                                                .start = client_start,
                                                .event = client_event,
                                                .wake = client_wake,
                                                .arrive = client_arrive};

static uint64_t no_atomic(uint8_t operation, void *at, uint64_t operand, uint64_t compare)
{
    (void)operation, (void)at, (void)operand, (void)compare;
    return 0;
}

static void fail(const struct err *err)
{
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

struct figures {
    double cycles, bytes_per_cycle, latency_cycles, shortest, longest;
    double seconds, by_hit[3];
    uint64_t requests, events;
    struct memsys_counters counters;
};

/* `times` runs, one after the other; the figures are those of the last. */
static struct figures measure(const struct config *config, struct client_spec base, unsigned threads,
                              unsigned times)
{
    struct err err = {.text = ""};
    struct l2_spec l2;
    struct dram_spec dram;
    struct noc_spec noc;
    config_fill(config, &l2_params, "l2", &l2);
    config_fill(config, &dram_params, "dram", &dram);
    config_fill(config, &noc_params, "noc", &noc);
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1, .payload_bytes = MEM_PAYLOAD_MOST});
    struct hostmem *host = hostmem_new(engine, 1, false, no_atomic, NULL);
    struct memsys_config memsys_config = {.host = host,
                                          .l2 = &l2,
                                          .dram = &dram,
                                          .noc = &noc,
                                          .sm_clock = clock_hz,
                                          .clients = SMS,
                                          .clients_of_sms = SMS,
                                          .atomic = no_atomic};
    struct memsys *mem = memsys_new(engine, "gpu[0]", &memsys_config, &err);
    if (!mem)
        fail(&err);
    const uint64_t bytes = UINT64_C(5) << 29;
    char *memory = mem_alloc(1, bytes);
    memsys_set_ranges(mem, &(struct home_range){.bytes = bytes, .host = memory}, 1);
    struct client_spec specs[SMS];
    struct component *clients[SMS];
    uint64_t total = base.lines;
    for (uint32_t i = 0; i < SMS; i++) {
        char name[32];
        snprintf(name, sizeof name, "sm[%u]", i);
        specs[i] = base;
        specs[i].mem = mem;
        specs[i].number = i;
        specs[i].lines = i < base.clients ? total : 0;
        clients[i] = engine_component(engine, engine_island(engine, name), name, &client_ops, &specs[i],
                                      sizeof(struct client), "requests,replies");
        if (!memsys_attach(mem, i, component_port(clients[i], 0), component_port(clients[i], 1), &err))
            fail(&err);
    }
    if (!memsys_ready(mem, &err) || !engine_ready(engine, &err))
        fail(&err);
    struct figures figures = {0};
    for (unsigned time_number = 0; time_number < times; time_number++) {
        struct memsys_counters before;
        memsys_count(mem, &before);
        uint64_t from = engine_time(engine), events = engine_events(engine);
        struct timespec begin, end;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        if (engine_run(engine, &(struct engine_run){.until = TIME_NEVER, .threads = threads}, &err) !=
            ENGINE_FINISHED)
            fail(&err);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        double ps = (double)(engine_time(engine) - from), cycle_ps = 1e12 / (double)clock_hz;
        figures = (struct figures){.cycles = ps / cycle_ps, .shortest = 1e30};
        figures.seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
        figures.events = engine_events(engine) - events;
        for (uint32_t i = 0; i < base.clients; i++) {
            struct client *client = component_state(clients[i]);
            figures.latency_cycles += (double)client->latency_ps / cycle_ps;
            figures.requests += client->done;
            for (int h = 0; h < 3; h++)
                figures.by_hit[h] += (double)client->by_hit[h];
            if ((double)client->shortest / cycle_ps < figures.shortest)
                figures.shortest = (double)client->shortest / cycle_ps;
            if ((double)client->longest / cycle_ps > figures.longest)
                figures.longest = (double)client->longest / cycle_ps;
            *client = (struct client){.shortest = UINT64_MAX};
        }
        figures.latency_cycles /= (double)figures.requests;
        figures.bytes_per_cycle =
            (double)figures.requests * (base.pattern <= RANDOM ? MEM_SECTOR : MEM_LINE_MOST) / figures.cycles;
        memsys_count(mem, &figures.counters);
        for (size_t i = 0; i < sizeof before / 8; i++)
            ((uint64_t *)&figures.counters)[i] -= ((uint64_t *)&before)[i];
        for (uint32_t i = 0; time_number + 1 < times && i < base.clients; i++)
            engine_post(engine, clients[i], engine_time(engine), 0, NULL, 0);
    }
    engine_free(engine);
    memsys_free(mem);
    hostmem_free(host);
    mem_free(memory);
    return figures;
}

static void show(const char *what, const struct figures *f, const char *real)
{
    double hits = f->by_hit[0] + f->by_hit[1] + f->by_hit[2];
    printf(
        "%-34s %7.1f cycles (%.0f..%.0f)  %7.1f B/cycle %6.0f GB/s  near %3.0f%% far %3.0f%% dram %3.0f%%  "
        "rows hit %3.0f%%  dram busy %2.0f%% written %.0f GB/s  %5.0f ns/request %4.1f events  [%s]\n",
        what, f->latency_cycles + SM_CYCLES, f->shortest + SM_CYCLES, f->longest + SM_CYCLES,
        f->bytes_per_cycle, f->bytes_per_cycle * (double)clock_hz / 1e9, 100 * f->by_hit[0] / hits,
        100 * f->by_hit[1] / hits, 100 * f->by_hit[2] / hits,
        100.0 * (double)f->counters.dram_row_hits /
            (double)(f->counters.dram_row_hits + f->counters.dram_row_misses + 1),
        100.0 * (double)f->counters.dram_busy_ps / (188.0 * f->cycles * 1e12 / (double)clock_hz),
        (double)f->counters.dram_bytes_written / f->cycles * (double)clock_hz / 1e9,
        f->seconds * 1e9 / (double)f->requests, (double)f->events / (double)f->requests, real);
    fflush(stdout);
}

static const struct experiment {
    const char *name;
    enum pattern pattern;
    uint32_t clients, outstanding;
    double mib;      /* footprint, where one is walked through again and again */
    uint64_t lines;  /* of each client; 0: all of the footprint */
    unsigned rounds; /* the last is looked at */
    const char *real;
} experiments[] = {
    {"chase 4 MiB", CHASE, 1, 1, 4, 0, 2, "280 cycles"},
    {"chase 16 MiB", CHASE, 1, 1, 16, 0, 2, "280 cycles"},
    {"chase 24 MiB", CHASE, 1, 1, 24, 0, 2, "318 cycles"},
    {"chase 32 MiB", CHASE, 1, 1, 32, 0, 2, "488 cycles"},
    {"chase 48 MiB", CHASE, 1, 1, 48, 0, 2, "515 cycles"},
    {"chase 64 MiB", CHASE, 1, 1, 64, 0, 2, "654 cycles"},
    {"chase 256 MiB", CHASE, 1, 1, 256, 200000, 1, "657 cycles"},
    {"read 64 in flight", READ, SMS, 64, 2048, 12000, 1, ""},
    {"read 128 in flight", READ, SMS, 128, 2048, 12000, 1, "4458 GB/s"},
    {"read 256 in flight", READ, SMS, 256, 2048, 12000, 1, "4458 GB/s"},
    {"write", WRITE, SMS, 256, 2048, 24000, 2, "4283 GB/s"},
    {"copy", COPY, SMS, 256, 1024, 24000, 2, "4274 GB/s"},
    {"random sectors", RANDOM, SMS, 256, 2048, 8000, 1, "700 B/cycle"},
    {"L2 random sectors", RANDOM, SMS, 192, 8, 12000, 2, "2014 B/cycle"},
    {"L2 write 16 MiB", REWRITE, SMS, 128, 16, 8000, 2, "2000 B/cycle"},
    {"L2 copy 16 MiB", RECOPY, SMS, 192, 8, 16000, 2, "2950 B/cycle"},
    {"one SM L2 write", REWRITE, 1, 128, 4, 60000, 2, "31.8 B/cycle"},
    {"L2 4 MiB", REREAD, SMS, 192, 4, 8000, 2, "3899 B/cycle"},
    {"L2 16 MiB", REREAD, SMS, 192, 16, 8000, 2, "4058 B/cycle"},
    {"L2 32 MiB", REREAD, SMS, 192, 32, 8000, 2, "4328 B/cycle"},
    {"L2 48 MiB", REREAD, SMS, 192, 48, 8000, 2, "4381 B/cycle"},
    {"L2 64 MiB", REREAD, SMS, 192, 64, 8000, 2, "2306 B/cycle"},
    {"one SM L2 4 MiB", REREAD, 1, 192, 4, 60000, 2, "101 B/cycle"},
};

int main(int argc, char **argv)
{
    static const struct param_group *const groups[] = {&l2_params, &dram_params, &noc_params, NULL};
    struct config config;
    struct err err = {.text = ""};
    unsigned threads = 1;
    const char *only = "";
    config_init(&config, groups);
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "threads=", 8))
            threads = (unsigned)atoi(argv[i] + 8);
        else if (!strncmp(argv[i], "only=", 5))
            only = argv[i] + 5;
        else if (!config_set(&config, argv[i], &err))
            fail(&err);
    }
    for (size_t i = 0; i < sizeof experiments / sizeof *experiments; i++) {
        const struct experiment *it = &experiments[i];
        if (strncmp(it->name, only, strlen(only)))
            continue;
        uint64_t footprint = (uint64_t)(it->mib * 1048576 / MEM_LINE_MOST);
        struct client_spec spec = {.clients = it->clients,
                                   .outstanding = it->outstanding,
                                   .pattern = it->pattern,
                                   .footprint = footprint,
                                   .lines = it->lines ? it->lines : footprint};
        struct figures f = measure(&config, spec, it->clients > 1 ? threads : 1, it->rounds);
        show(it->name, &f, it->real);
    }
    config_fini(&config);
    return 0;
}
