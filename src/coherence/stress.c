#include "coherence/stress.h"
#include "base/archive.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STRESS_OUTSTANDING = 4,
    STRESS_WORDS_PER_LINE = 2, /* that values are stored in; one more counts additions */
    STRESS_ROUND = 20000,      /* unless the spec says so */
    STRESS_LINE = 64,
    STRESS_ADD_WORD = 5,
    STRESS_ROOM = 8, /* messages of a virtual network, at each agent */
    STRESS_FLIT = 8,
    STRESS_TIGHT_FLIT = 256, /* a whole message */
};

struct record {
    uint64_t word, value, began, ended;
    uint64_t since; /* loads: what was overwritten before this may not be read */
    uint64_t op;    /* enum coh_op */
};

/* What a client notes; its island's own, and read between runs only. */
struct notes {
    struct stress_spec spec;
    uint32_t agent;
    enum coh_role role;
    struct record *records;
    size_t count, room, first_open; /* stores from there on may not be done, though they were told so */
    uint64_t added;                 /* by this agent, in all lines together */
    uint64_t fences;
};

struct tester {
    struct rng rng;
    uint64_t left, next_value, asked[STRESS_OUTSTANDING]; /* the record of each, plus 1 */
    uint64_t acquired_at;
    uint64_t busy_fence;
};

static void tester_start(struct agent *agent, void *at)
{
    struct tester *tester = at;
    const struct notes *notes = agent_user(agent);
    char name[32];
    snprintf(name, sizeof name, "tester%u", notes->agent);
    rng_init(&tester->rng, notes->spec.seed, name);
}

static bool is_asked(const struct tester *tester, const struct notes *notes, uint64_t word)
{
    for (int i = 0; i < STRESS_OUTSTANDING; i++)
        if (tester->asked[i] && notes->records[tester->asked[i] - 1].word == word)
            return true;
    return false;
}

/* A copy engine is at the home of its lines. */
static uint64_t choose_line(struct tester *tester, const struct notes *notes)
{
    uint64_t line = rng_below(&tester->rng, notes->spec.lines);
    uint32_t first_home = notes->spec.cpus + (notes->spec.l1s > 0);
    if (notes->role == COH_HOME)
        line = line / notes->spec.homes * notes->spec.homes + (notes->agent - first_home);
    return line % notes->spec.lines;
}

static bool is_mine(const struct notes *notes, uint64_t line)
{
    uint32_t first_home = notes->spec.cpus + (notes->spec.l1s > 0);
    return notes->role != COH_HOME || line % notes->spec.homes == notes->agent - first_home;
}

static void ask_one(struct agent *agent, struct tester *tester, int place)
{
    struct notes *notes = agent_user(agent);
    bool is_home = notes->role == COH_HOME;
    uint64_t line = choose_line(tester, notes), kind = rng_below(&tester->rng, 16);
    uint64_t word = line * STRESS_LINE / COHERENCE_WORD + rng_below(&tester->rng, STRESS_WORDS_PER_LINE);
    bool adds = kind == 0 && !is_home, stores = kind > 0 && kind < 8;
    if (adds)
        word = line * STRESS_LINE / COHERENCE_WORD + STRESS_ADD_WORD;
    if (is_asked(tester, notes, word) || !is_mine(notes, line))
        return;
    struct record record = {.word = word,
                            .began = agent_now(agent),
                            .ended = TIME_NEVER,
                            .since = notes->role == COH_L1 ? tester->acquired_at : agent_now(agent),
                            .op = adds || stores ? COH_STORE : COH_LOAD};
    struct coherence_op op = {.id = (uint64_t)place,
                              .address = word * COHERENCE_WORD,
                              .op = is_home ? (stores ? COH_DMA_WRITE : COH_DMA_READ) : record.op,
                              .adds = adds};
    if (adds) {
        op.value = 1 + rng_below(&tester->rng, 9);
        notes->added += op.value;
        record.op = COH_NO_OP; /* sums are checked */
    } else if (stores)
        record.value = op.value = (uint64_t)(notes->agent + 1) << 48 | ++tester->next_value;
    mem_grow(notes->records, notes->count, notes->room);
    notes->records[notes->count++] = record;
    tester->asked[place] = notes->count;
    tester->left--;
    agent_ask(agent, &op);
}

static bool is_quiet(const struct tester *tester)
{
    for (int i = 0; i < STRESS_OUTSTANDING; i++)
        if (tester->asked[i])
            return false;
    return true;
}

enum { WHAT_ROUND, WHAT_MORE };

static void tester_goes_on(struct agent *agent, struct tester *tester)
{
    struct notes *notes = agent_user(agent);
    if (tester->busy_fence)
        return;
    if (notes->role == COH_L1 && tester->left && rng_below(&tester->rng, 24) == 0) {
        tester->busy_fence = 1; /* of a whole L1: what was asked before goes on */
        notes->fences++;
        agent_ask(agent,
                  &(struct coherence_op){.id = STRESS_OUTSTANDING + agent_now(agent),
                                         .op = rng_below(&tester->rng, 2) ? COH_ACQUIRE : COH_RELEASE});
        return;
    }
    for (int i = 0; i < STRESS_OUTSTANDING && tester->left; i++)
        if (!tester->asked[i])
            ask_one(agent, tester, i);
    if (tester->left && is_quiet(tester)) /* all places that were drawn were busy */
        agent_later(agent, 100, WHAT_MORE);
}

static void tester_event(struct agent *agent, void *at, uint64_t what)
{
    struct tester *tester = at;
    struct notes *notes = agent_user(agent);
    if (what == WHAT_ROUND) {
        tester->left = notes->spec.round ? notes->spec.round : STRESS_ROUND;
        if (notes->role == COH_L1) {
            tester->busy_fence = 1;
            agent_ask(agent,
                      &(struct coherence_op){.id = STRESS_OUTSTANDING + agent_now(agent), .op = COH_ACQUIRE});
            return;
        }
    }
    tester_goes_on(agent, tester);
}

static void tester_done(struct agent *agent, void *at, const struct coherence_op *op)
{
    struct tester *tester = at;
    struct notes *notes = agent_user(agent);
    if (op->op == COH_ACQUIRE) {
        tester->acquired_at = op->id - STRESS_OUTSTANDING; /* when it was asked for */
        tester->busy_fence = 0;
    } else if (op->op == COH_RELEASE) {
        uint64_t asked_at = op->id - STRESS_OUTSTANDING;
        for (size_t i = notes->first_open; i < notes->count; i++)
            if (notes->records[i].op == COH_STORE && notes->records[i].ended == TIME_NEVER &&
                notes->records[i].began < asked_at)
                notes->records[i].ended = agent_now(agent);
        notes->first_open = notes->count > 4 * STRESS_OUTSTANDING ? notes->count - 4 * STRESS_OUTSTANDING : 0;
        tester->busy_fence = 0;
    } else {
        struct record *record = &notes->records[tester->asked[op->id] - 1];
        if (record->op == COH_LOAD)
            record->value = op->value;
        /* Stores of an L1 may be under way still. */
        if (record->op != COH_STORE || notes->role != COH_L1)
            record->ended = agent_now(agent);
        tester->asked[op->id] = 0;
    }
    tester_goes_on(agent, tester);
}

static void tester_archive(struct agent *agent, void *at, struct archive *archive)
{
    const struct tester *tester = at;
    struct notes *notes = agent_user(agent);
    ARCHIVE_LIST(archive, notes->records, notes->count, notes->room);
    ARCHIVE_VALUE(archive, notes->first_open);
    ARCHIVE_VALUE(archive, notes->added);
    ARCHIVE_VALUE(archive, notes->fences);
    uint64_t words = notes->spec.lines * STRESS_LINE / COHERENCE_WORD;
    for (size_t i = 0; i < notes->count; i++)
        archive_check(archive, notes->records[i].word < words);
    for (int i = 0; i < STRESS_OUTSTANDING; i++)
        archive_check(archive, tester->asked[i] <= notes->count);
}

static const struct coherence_client tester_client = {sizeof(struct tester), tester_start, tester_event,
                                                      tester_done, tester_archive};

/* ---- what was read ---- */

struct bench {
    struct notes *notes;
    uint32_t agents;
    uint64_t *initial; /* by word */
    uint64_t words;
    bool in_round; /* its operations are under way */
};

static int by_end(const void *a, const void *b)
{
    const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;
    return (x->ended > y->ended) - (x->ended < y->ended);
}

static int by_value(const void *a, const void *b)
{
    const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;
    return (x->value > y->value) - (x->value < y->value);
}

static struct record *store_of(struct record **stores, size_t count, uint64_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (stores[middle]->value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && stores[low]->value == value ? stores[low] : NULL;
}

/* The latest beginning of a store that ended before a time. `latest` is the greatest so far, in the order of
 * ends. */
static uint64_t latest_before(struct record **ended, const uint64_t *latest, size_t count, uint64_t time)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ended[middle]->ended < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? latest[low - 1] : 0;
}

struct word_log {
    struct record **stores, **loads;
    size_t store_count, store_room, load_count, load_room;
};

static bool check_word(uint64_t word, struct word_log *log, uint64_t initial, uint64_t final, struct err *err)
{
    size_t count = log->store_count;
    struct record **ended = mem_alloc(count + 1, sizeof *ended);
    uint64_t *latest = mem_alloc(count + 1, sizeof *latest);
    bool good = true;
    if (count) {
        memcpy(ended, log->stores, count * sizeof *ended);
        qsort(ended, count, sizeof *ended, by_end);
        qsort(log->stores, count, sizeof *log->stores, by_value);
    }
    for (size_t i = 0; i < count; i++)
        latest[i] = i && latest[i - 1] > ended[i]->began ? latest[i - 1] : ended[i]->began;
    struct record at_end = {
        .word = word, .value = final, .began = TIME_NEVER - 1, .ended = TIME_NEVER, .since = TIME_NEVER - 1};
    for (size_t i = 0; i <= log->load_count && good; i++) {
        const struct record *load = i < log->load_count ? log->loads[i] : &at_end;
        struct record first = {.value = initial, .began = 0, .ended = 0};
        const struct record *store =
            load->value == initial ? &first : store_of(log->stores, count, load->value);
        if (!store)
            good = err_set(err, "word %llu: 0x%llx was read, which nobody wrote", (unsigned long long)word,
                           (unsigned long long)load->value);
        else if (store->began > load->ended)
            good = err_set(err, "word %llu: 0x%llx was read before it was written", (unsigned long long)word,
                           (unsigned long long)load->value);
        else if (latest_before(ended, latest, count, load->since) > store->ended)
            good = err_set(
                err,
                "word %llu: 0x%llx was read at %llu ps by a load begun at %llu, though it was overwritten",
                (unsigned long long)word, (unsigned long long)load->value, (unsigned long long)load->ended,
                (unsigned long long)load->began);
    }
    mem_free(ended);
    mem_free(latest);
    return good;
}

static bool check_round(struct bench *bench, const struct coherence *coherence, struct stress_result *result,
                        struct err *err)
{
    struct word_log *logs = mem_alloc(bench->words, sizeof *logs);
    uint64_t added = 0, sum = 0;
    bool good = true;
    for (uint32_t i = 0; i < bench->agents; i++) {
        struct notes *notes = &bench->notes[i];
        added += notes->added;
        for (size_t j = 0; j < notes->count; j++) {
            struct record *record = &notes->records[j];
            struct word_log *log = &logs[record->word];
            if (record->ended == TIME_NEVER && (record->op != COH_STORE || notes->role != COH_L1) && good)
                good = err_set(err, "word %llu: an access of agent %u never ended",
                               (unsigned long long)record->word, i);
            result->accesses++;
            result->copies += notes->role == COH_HOME;
            if (record->op == COH_STORE) {
                mem_grow(log->stores, log->store_count, log->store_room);
                log->stores[log->store_count++] = record;
                result->stores++;
            } else if (record->op == COH_LOAD) {
                mem_grow(log->loads, log->load_count, log->load_room);
                log->loads[log->load_count++] = record;
                result->loads++;
            } else
                result->adds++;
        }
    }
    for (uint64_t word = 0; word < bench->words; word++) {
        uint64_t final = coherence_read(coherence, word * COHERENCE_WORD);
        if (word % (STRESS_LINE / COHERENCE_WORD) == STRESS_ADD_WORD)
            sum += final;
        else
            good = good && check_word(word, &logs[word], bench->initial[word], final, err);
        bench->initial[word] = final;
        mem_free(logs[word].stores);
        mem_free(logs[word].loads);
    }
    for (uint32_t i = 0; i < bench->agents; i++)
        bench->notes[i].count = bench->notes[i].first_open = 0;
    mem_free(logs);
    if (good && sum != added)
        return err_set(err, "additions are lost: %llu were added, %llu are there", (unsigned long long)added,
                       (unsigned long long)sum);
    return good;
}

static void begin_round(struct engine *engine, struct coherence *coherence, struct bench *bench)
{
    for (uint32_t i = 0; i < bench->agents; i++)
        if (bench->notes[i].role != COH_GPU_L2)
            coherence_post(coherence, engine, i, WHAT_ROUND);
    bench->in_round = true;
}

static bool run_rounds(struct engine *engine, struct coherence *coherence, struct bench *bench,
                       const struct stress_spec *spec, struct stress_result *result, struct err *err)
{
    struct engine_run run = {.until = spec->until_ps ? spec->until_ps : TIME_NEVER,
                             .threads = spec->threads,
                             .interrupt = spec->interrupt};
    while (bench->in_round || result->accesses < spec->accesses) {
        if (!bench->in_round)
            begin_round(engine, coherence, bench);
        enum engine_outcome outcome = engine_run(engine, &run, err);
        if (outcome == ENGINE_UNTIL)
            return true;
        if (outcome == ENGINE_INTERRUPTED)
            return err_set(err, "interrupted");
        if (outcome != ENGINE_FINISHED || !check_round(bench, coherence, result, err))
            return false;
        bench->in_round = false;
    }
    return true;
}

/* ---- checkpoints ---- */

static const struct archive_kind checkpoint = {
    .magic = "HEDDLEST", .name = "checkpoint of Heddle's random tester", .version = {1}};

static void archive_all(struct archive *archive, struct engine *engine, struct bench *bench,
                        struct stress_result *result)
{
    archive_expect(archive, bench->words);
    ARCHIVE_VALUE(archive, *result);
    archive_bytes(archive, bench->initial, bench->words * sizeof *bench->initial);
    bench->in_round = archive_number(archive, bench->in_round, 1);
    engine_archive(engine, archive);
}

static bool load_checkpoint(const char *path, struct engine *engine, struct bench *bench,
                            struct stress_result *result, struct err *err)
{
    struct archive archive;
    if (!archive_open(&archive, path, &checkpoint, NULL, err))
        return false;
    archive_all(&archive, engine, bench, result);
    bool good =
        archive_at_end(&archive) || err_set(err, "%s is damaged, or of another system or tester", path);
    archive_close(&archive);
    return good;
}

static bool save_checkpoint(const char *path, struct engine *engine, struct bench *bench,
                            struct stress_result *result, struct err *err)
{
    struct archive archive;
    if (!archive_create(&archive, path, &checkpoint, "", err))
        return false;
    archive_all(&archive, engine, bench, result);
    return archive_commit(&archive, err);
}

static bool run_all(struct engine *engine, struct coherence *coherence, struct bench *bench,
                    const struct stress_spec *spec, struct stress_result *result, struct err *err)
{
    return engine_ready(engine, err) &&
           (!spec->load || load_checkpoint(spec->load, engine, bench, result, err)) &&
           run_rounds(engine, coherence, bench, spec, result, err) &&
           (!spec->save || save_checkpoint(spec->save, engine, bench, result, err));
}

bool stress_run(const struct stress_spec *spec, struct stress_result *result, struct err *err)
{
    struct coherence_spec system = {.protocol = spec->protocol,
                                    .cpus = spec->cpus,
                                    .l1s = spec->l1s,
                                    .homes = spec->homes,
                                    .line_bytes = STRESS_LINE,
                                    .memory_bytes = (uint64_t)spec->lines * STRESS_LINE,
                                    .cache_sets = 2,
                                    .cache_ways = 2,
                                    .gpu_l2_sets = 4,
                                    .gpu_l2_ways = 2,
                                    .l1_sets = 2,
                                    .l1_ways = 2,
                                    .home_sets = 4,
                                    .home_ways = 2,
                                    .cache_latency_ps = 1000,
                                    .home_latency_ps = 3000,
                                    .memory_latency_ps = 20000,
                                    .room = spec->tight ? 1 : STRESS_ROOM,
                                    .mshrs = spec->tight ? 2 : 0,
                                    .jitter = true,
                                    .one_network = spec->one_network,
                                    .topology = {.shape = spec->topology,
                                                 .latency_ps = 4000,
                                                 .bytes_per_s = UINT64_C(32000000000),
                                                 .flit_bytes = spec->tight ? STRESS_TIGHT_FLIT : STRESS_FLIT,
                                                 .credits = spec->tight,
                                                 .graph = spec->graph}};
    struct bench bench = {.agents = coherence_agents(&system),
                          .words = (uint64_t)spec->lines * STRESS_LINE / COHERENCE_WORD};
    *result = (struct stress_result){0};
    struct engine *engine =
        engine_new(&(struct engine_spec){.seed = spec->seed, .payload_bytes = coherence_payload_bytes()});
    const struct coherence_client **clients = mem_alloc(bench.agents, sizeof *clients);
    void **users = mem_alloc(bench.agents, sizeof *users);
    bench.notes = mem_alloc(bench.agents, sizeof *bench.notes);
    bench.initial = mem_alloc(bench.words, sizeof *bench.initial);
    for (uint32_t i = 0; i < bench.agents; i++) {
        bench.notes[i] = (struct notes){.spec = *spec, .agent = i, .role = coherence_role(&system, i)};
        clients[i] = bench.notes[i].role == COH_GPU_L2 ? NULL : &tester_client;
        users[i] = &bench.notes[i];
    }
    struct coherence *coherence = coherence_new(engine, &system, clients, users, err);
    bool good = coherence && run_all(engine, coherence, &bench, spec, result, err);
    if (coherence) {
        result->counters = coherence_count(coherence, COH_CACHE);
        result->time_ps = engine_time(engine);
        result->events = engine_events(engine);
        result->digest = engine_state_digest(engine);
    }
    for (uint32_t i = 0; i < bench.agents; i++) {
        result->fences += bench.notes[i].fences;
        mem_free(bench.notes[i].records);
    }
    engine_free(engine);
    coherence_free(coherence);
    mem_free(clients);
    mem_free(users);
    mem_free(bench.notes);
    mem_free(bench.initial);
    return good;
}
