/* Many clients read, write and do atomics on a few shared lines at random. What each read gave is held
 * against what it can have been, by the times at which writes were sent and acknowledged. */
#include "check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "mem/hostmem.h"

enum {
    OPERATIONS = 1500, /* of each client */
    WORDS_LOGGED = 6,  /* words of an operation at most */
    REGION = 1 << 20,
    COUNTERS = 64, /* words at the start, that atomics add to */
    FIRST_LINE = 64,
};

struct logged { /* a word that was read or written */
    uint64_t sent, done;
    uint32_t word, value;
    uint8_t is_write, unused[7];
};

struct client_spec {
    const struct memsys *mem;
    uint32_t number, outstanding, hot_lines;
};

struct client {
    struct rng rng;
    uint64_t sent, done;
    uint64_t atomics, read_old;
    uint32_t old[OPERATIONS], old_word[OPERATIONS];
    struct {
        uint8_t kind, words;
        struct logged at[WORDS_LOGGED];
    } log[OPERATIONS];
};

static uint64_t some_line(struct client *client, const struct client_spec *spec)
{
    bool is_hot = rng_below(&client->rng, 4) != 0;
    uint64_t line =
        FIRST_LINE + rng_below(&client->rng, is_hot ? spec->hot_lines : REGION / MEM_LINE_MOST - FIRST_LINE);
    return line * MEM_LINE_MOST;
}

static uint32_t value_of(uint32_t client, uint64_t operation, uint32_t word)
{
    return (client + 1) << 24 | (uint32_t)operation << 8 | word;
}

static void note(struct client *client, uint64_t now, uint64_t address, uint32_t value, bool is_write)
{
    uint64_t n = client->sent;
    client->log[n].at[client->log[n].words++] =
        (struct logged){.sent = now, .word = (uint32_t)(address / 4), .value = value, .is_write = is_write};
}

static uint16_t make_write(struct component *self, struct client *client, const struct client_spec *spec,
                           struct memsys_request *request, unsigned char *payload)
{
    unsigned char *at = payload;
    for (uint32_t sector = 0; sector < MEM_SECTORS_MOST; sector++) {
        if (!(request->sectors >> sector & 1))
            continue;
        struct memsys_write write = {.mask = 0};
        bool whole = rng_below(&client->rng, 2);
        for (uint32_t word = 0; word < MEM_SECTOR / 4; word++) {
            if (!whole && rng_below(&client->rng, 2))
                continue;
            uint64_t address = request->line + sector * MEM_SECTOR + word * 4;
            uint32_t value = value_of(spec->number, client->sent, sector * 8 + word);
            memcpy(write.data + word * 4, &value, 4);
            write.mask |= 0xfu << word * 4;
            /* all words are written; the first of each sector are looked at */
            if (word == 0 && client->log[client->sent].words < WORDS_LOGGED)
                note(client, component_now(self), address, value, true);
        }
        memcpy(at, &write, sizeof write);
        at += sizeof write;
    }
    return (uint16_t)(at - payload);
}

static uint16_t make_atomic(struct client *client, struct memsys_request *request, unsigned char *payload)
{
    uint32_t lanes = 1 + (uint32_t)rng_below(&client->rng, 3);
    uint32_t line = (uint32_t)rng_below(&client->rng, COUNTERS / 32);
    *request = (struct memsys_request){
        .line = line * MEM_LINE_MOST, .id = request->id, .operation = 7, .sectors = 1};
    request->count = (uint8_t)(lanes | (rng_below(&client->rng, 2) ? MEM_WANTS_OLD : 0));
    for (uint32_t i = 0; i < lanes; i++) {
        struct memsys_atom atom = {.operand = 1,
                                   .offset = (uint8_t)(4 * rng_below(&client->rng, 8)),
                                   .lane = (uint8_t)i,
                                   .bytes = 4};
        memcpy(payload + i * sizeof atom, &atom, sizeof atom);
        client->old_word[client->sent] = line * 32 + atom.offset / 4; /* the last one's */
    }
    client->atomics += lanes;
    return (uint16_t)(lanes * sizeof(struct memsys_atom));
}

static void client_send(struct component *self, struct client *client)
{
    const struct client_spec *spec = component_spec(self);
    struct {
        struct memsys_request request;
        unsigned char payload[MEM_PAYLOAD_MOST];
    } message;
    memset(&message, 0, sizeof message);
    uint64_t n = client->sent;
    uint8_t kind = (uint8_t)rng_below(&client->rng, 3);
    uint16_t bytes = 0;
    message.request = (struct memsys_request){.line = some_line(client, spec),
                                              .id = (uint32_t)n,
                                              .sectors = (uint8_t)(1 + rng_below(&client->rng, 15)),
                                              .policy = (uint8_t)rng_below(&client->rng, 4)};
    client->log[n].kind = kind;
    if (kind == MEM_WRITE)
        bytes = make_write(self, client, spec, &message.request, message.payload);
    else if (kind == MEM_ATOMIC)
        bytes = make_atomic(client, &message.request, message.payload);
    else {
        for (uint32_t sector = 0; sector < MEM_SECTORS_MOST; sector++) {
            if (message.request.sectors >> sector & 1)
                note(client, component_now(self), message.request.line + sector * MEM_SECTOR, 0, false);
        }
    }
    assert_true(port_send(component_port(self, 0),
                          memsys_target(spec->mem, spec->number, message.request.line), 0, kind, &message,
                          (uint16_t)(sizeof message.request + bytes)));
    client->sent++;
}

static void client_wake(struct component *self, void *state)
{
    struct client *client = state;
    const struct client_spec *spec = component_spec(self);
    if (client->sent < OPERATIONS && client->sent - client->done < spec->outstanding)
        client_send(self, client);
    if (client->sent < OPERATIONS)
        component_wake(self, component_now(self) + 1 + rng_below(&client->rng, 3000));
}

static void client_start(struct component *self, void *state)
{
    struct client *client = state;
    rng_init(&client->rng, component_seed(self), component_name(self));
    component_wake(self, 0);
}

static void client_arrive(struct component *self, void *state, struct port *port)
{
    struct client *client = state;
    const struct event *event = port_head(port);
    struct memsys_reply reply;
    memcpy(&reply, event->payload, sizeof reply);
    const unsigned char *data = event->payload + sizeof reply;
    uint32_t words = client->log[reply.id].words;
    assert_int_equal(memsys_kinds[event->kind].way, MEM_TO_REQUESTER);
    assert_int_equal(event->bytes,
                     sizeof reply + memsys_payload_bytes(event->kind, reply.sectors, reply.count));
    if (client->log[reply.id].kind == MEM_READ) {
        assert_int_equal(event->kind, MEM_DATA);
        for (uint32_t i = 0; i < words; i++)
            memcpy(&client->log[reply.id].at[i].value, data + i * MEM_SECTOR, 4);
    } else if (client->log[reply.id].kind == MEM_ATOMIC && event->kind == MEM_OLD) {
        struct memsys_old old;
        memcpy(&old, data + (reply.count - 1) * sizeof old, sizeof old);
        client->old[reply.id] = (uint32_t)old.value + 1;
        client->read_old++;
    } else {
        assert_int_equal(event->kind, MEM_DONE);
    }
    for (uint32_t i = 0; i < words; i++)
        client->log[reply.id].at[i].done = component_now(self);
    client->done++;
    port_pop(port);
}

static bool client_waits(const struct component *self, const void *state, struct text *text)
{
    const struct client *client = state;
    (void)self;
    if (client->done < client->sent)
        text_add(text, "%llu replies", (unsigned long long)(client->sent - client->done));
    return client->done < client->sent;
}

static const struct component_ops client_ops = {.type = "client",
                                                .start = client_start,
                                                .wake = client_wake,
                                                .arrive = client_arrive,
                                                .waits = client_waits};

static uint64_t add_atomic(uint8_t operation, void *at, uint64_t operand, uint64_t compare)
{
    (void)compare;
    assert_int_equal(operation, 7);
    uint32_t old, sum;
    memcpy(&old, at, 4);
    sum = old + (uint32_t)operand;
    memcpy(at, &sum, 4);
    return old;
}

/* ---- a system of them ---- */

struct system {
    struct engine *engine;
    struct hostmem *host;
    struct memsys *mem;
    struct client_spec *specs;
    struct component **clients;
    uint32_t count;
    char *memory;
};

static void fill_defaults(const struct param_group *group, void *spec)
{
    for (size_t i = 0; i < group->row_count; i++)
        must(
            param_parse(&group->rows[i], group->rows[i].fallback, (char *)spec + group->rows[i].offset, err));
}

struct choice {
    uint32_t clients, outstanding, hot_lines;
    uint32_t partitions;
    bool copies;
    uint32_t dram;
};

static struct system memsys_init(const struct choice *choice, uint64_t seed)
{
    struct system system = {.count = choice->clients};
    struct l2_spec l2;
    struct dram_spec dram;
    struct noc_spec noc;
    fill_defaults(&l2_params, &l2);
    fill_defaults(&dram_params, &dram);
    fill_defaults(&noc_params, &noc);
    l2.bytes = 64 << 10; /* small, so that lines leave */
    l2.slices = 8;
    l2.islands = 2;
    l2.ways = 4;
    l2.misses = l2.requests = 8; /* few, so that requests find no room */
    l2.partitions = choice->partitions;
    l2.copies = choice->copies;
    dram.model = choice->dram;
    dram.bandwidth = UINT64_C(100000000000);
    system.engine = engine_new(&(struct engine_spec){.seed = seed, .payload_bytes = MEM_PAYLOAD_MOST});
    system.host = hostmem_new(system.engine, 1, false, add_atomic, NULL);
    struct memsys_config config = {.host = system.host,
                                   .l2 = &l2,
                                   .dram = &dram,
                                   .noc = &noc,
                                   .sm_clock = 1980000000,
                                   .clients = choice->clients,
                                   .clients_of_sms = choice->clients - 1,
                                   .atomic = add_atomic};
    must(system.mem = memsys_new(system.engine, "gpu[0]", &config, err));
    system.memory = mem_alloc(REGION, 1);
    memsys_set_ranges(system.mem, &(struct home_range){.bytes = REGION, .host = system.memory}, 1);
    system.specs = mem_alloc(choice->clients, sizeof *system.specs);
    system.clients = mem_alloc(choice->clients, sizeof(struct component *));
    for (uint32_t i = 0; i < choice->clients; i++) {
        char name[32];
        snprintf(name, sizeof name, "client[%u]", i);
        system.specs[i] = (struct client_spec){system.mem, i, choice->outstanding, choice->hot_lines};
        struct component *client =
            engine_component(system.engine, engine_island(system.engine, name), name, &client_ops,
                             &system.specs[i], sizeof(struct client), "requests,replies");
        must(memsys_attach(system.mem, i, component_port(client, 0), component_port(client, 1), err));
        system.clients[i] = client;
    }
    must(memsys_ready(system.mem, err));
    must(engine_ready(system.engine, err));
    return system;
}

static void memsys_fini(struct system *system)
{
    engine_free(system->engine);
    memsys_free(system->mem);
    hostmem_free(system->host);
    mem_free(system->specs);
    mem_free(system->clients);
    mem_free(system->memory);
}

/* ---- what may be ---- */

static int by_word(const void *a, const void *b)
{
    const struct logged *x = a, *y = b;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    return x->sent < y->sent ? -1 : x->sent > y->sent;
}

/* All that happened to words, ordered by word. The client is in the value of a write; of a read it is in
 * `unused`. */
static struct logged *all_logged(const struct system *system, size_t *count)
{
    struct logged *all = mem_alloc((size_t)system->count * OPERATIONS * WORDS_LOGGED, sizeof *all);
    *count = 0;
    for (uint32_t i = 0; i < system->count; i++) {
        const struct client *client = component_state(system->clients[i]);
        for (uint32_t n = 0; n < OPERATIONS; n++) {
            for (uint32_t w = 0; w < client->log[n].words; w++) {
                all[*count] = client->log[n].at[w];
                all[(*count)++].unused[0] = (uint8_t)i;
            }
        }
    }
    qsort(all, *count, sizeof *all, by_word);
    return all;
}

/* The write that this value is of; NULL for what was there at first. */
static const struct logged *write_of(const struct logged *from, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (from[i].is_write && from[i].value == value)
            return &from[i];
    }
    assert_int_equal(value, 0);
    return NULL;
}

/* `old` was surely done when `young` was sent. */
static bool is_before(const struct logged *old, const struct logged *young)
{
    return young && (!old || old->done < young->sent);
}

/* A read at `sent`..`done` by a client gave the value of `write`. */
static void check_read(const struct logged *of_word, size_t count, const struct logged *read)
{
    const struct logged *write = write_of(of_word, count, read->value);
    assert_true(!write || write->sent < read->done);
    for (size_t i = 0; i < count; i++) {
        const struct logged *other = &of_word[i];
        if (other == write || other == read)
            continue;
        bool own = other->unused[0] == read->unused[0];
        if (other->is_write && (other->done < read->sent || (own && other->sent < read->sent)))
            assert_false(is_before(write, other)); /* it is older than what the read must see */
        if (!other->is_write && own && other->sent < read->sent)
            assert_false(is_before(write, write_of(of_word, count, other->value))); /* or than what it saw */
    }
    if (write && write->unused[0] == read->unused[0])
        assert_true(write->sent < read->sent); /* not what its client wrote later */
}

static void check_words(const struct system *system)
{
    size_t count;
    struct logged *all = all_logged(system, &count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && all[end].word == all[i].word;)
            end++;
        for (size_t n = i; n < end; n++) {
            if (!all[n].is_write)
                check_read(all + i, end - i, &all[n]);
        }
        struct logged last = {.sent = TIME_NEVER, .done = TIME_NEVER, .unused = {255}};
        memcpy(&last.value, system->memory + (size_t)all[i].word * 4, 4);
        check_read(all + i, end - i, &last);
    }
    mem_free(all);
}

static void check_atomics(const struct system *system)
{
    uint64_t sum = 0, done = 0;
    bool *seen = mem_alloc(COUNTERS * 65536, sizeof *seen);
    for (uint32_t i = 0; i < COUNTERS; i++) {
        uint32_t counter;
        memcpy(&counter, system->memory + i * 4, 4);
        sum += counter;
    }
    for (uint32_t i = 0; i < system->count; i++) {
        const struct client *client = component_state(system->clients[i]);
        done += client->atomics;
        assert_int_equal(client->done, OPERATIONS);
        assert_true(client->read_old > 0);
        for (uint32_t n = 0; n < OPERATIONS; n++) {
            if (!client->old[n])
                continue;
            bool *it = &seen[client->old_word[n] * 65536 + client->old[n]];
            assert_false(*it); /* no two saw the same */
            *it = true;
        }
    }
    assert_int_equal(sum, done);
    mem_free(seen);
}

static const struct choice choices[] = {
    {.clients = 2, .outstanding = 1, .hot_lines = 2, .partitions = 1, .dram = 2},
    {.clients = 12, .outstanding = 16, .hot_lines = 40, .partitions = 1, .dram = 0},
    {.clients = 12, .outstanding = 16, .hot_lines = 40, .partitions = 2, .copies = false, .dram = 1},
    {.clients = 12, .outstanding = 64, .hot_lines = 3, .partitions = 2, .copies = true, .dram = 0},
    {.clients = 13, .outstanding = 32, .hot_lines = 40, .partitions = 2, .copies = true, .dram = 0},
    {.clients = 30, .outstanding = 100, .hot_lines = 1000, .partitions = 2, .copies = true, .dram = 0},
    {.clients = 12, .outstanding = 32, .hot_lines = 300, .partitions = 2, .copies = true, .dram = 1},
    {.clients = 12, .outstanding = 4, .hot_lines = 10, .partitions = 2, .copies = true, .dram = 2},
};

static void reads_give_what_they_can_have_been(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 3 * sizeof choices / sizeof *choices; trial++) {
        struct system system = memsys_init(&choices[trial / 3], trial);
        struct err err = {.text = ""};
        if (run_to(system.engine, TIME_NEVER, 1, &err) != ENGINE_FINISHED)
            fail_msg("%s", err.text);
        memsys_flush(system.mem, false);
        check_words(&system);
        check_atomics(&system);
        struct memsys_counters counters;
        memsys_count(system.mem, &counters);
        assert_true(counters.dram_bytes_read > 0 && counters.l2_evictions > 0);
        memsys_fini(&system);
    }
}

static void any_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    const unsigned threads[] = {1, 2, 5};
    for (uint64_t trial = 0; trial < sizeof choices / sizeof *choices; trial++) {
        uint64_t events[3], digests[3], watches[3];
        for (int i = 0; i < 3; i++) {
            struct system system = memsys_init(&choices[trial], 77);
            engine_watch(system.engine);
            struct err err = {.text = ""};
            assert_int_equal(run_to(system.engine, TIME_NEVER, threads[i], &err), ENGINE_FINISHED);
            events[i] = engine_events(system.engine);
            digests[i] = engine_state_digest(system.engine);
            watches[i] = engine_watch_digest(system.engine);
            memsys_fini(&system);
            assert_int_equal(events[i], events[0]);
            assert_int_equal(digests[i], digests[0]);
            assert_int_equal(watches[i], watches[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_give_what_they_can_have_been),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
