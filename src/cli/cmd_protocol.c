/* heddle protocol: coherence protocols shown, drawn and checked. */
#include "cli/cli.h"
#include "cli/protocol_drawing.h"
#include "base/bits.h"
#include "base/unit.h"
#include "cache/check/check.h"
#include "cache/check/litmus.h"
#include "coherence/stress.h"
#include "report/svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct request {
    const char *verb, *name, *svg;
    bool deep, litmus;
    uint64_t mutations, seed;
    uint64_t caches, lines, l1s;
    bool copies, own_setup;
    uint64_t accesses;
    unsigned threads;
    const char *topology;
    bool tight, one_network;
    unsigned given; /* bits: options, by row */
};

static const struct option_row options[] = {
    {"--deep", NULL, "check larger systems, too (minutes)"},
    {"--caches", "N", "check just one system, with so many caches (1 to 4)"},
    {"--l1s", "N", "... a GPU with so many L1s (0 to 2)"},
    {"--lines", "N", "... one line, or two"},
    {"--copies", NULL, "... and a copy engine"},
    {"--litmus", NULL, "run the litmus tests instead, in every way that the protocol allows"},
    {"--mutations", "N", "check about N variants instead, each with one row changed: how many are found?"},
    {"--seed", "N", "of what is random: which variants, which accesses (1 unless told)"},
    {"--topology", "NAME|FILE",
     "stress: crossbar, point-to-point, ring, mesh, torus, cluster, all (unless told) or a graph from a "
     "file"},
    {"--tight", NULL, "stress: room for one message on each link and at each agent, two misses at a time"},
    {"--one-network", NULL, "stress: no virtual networks; with --tight, that may deadlock"},
    {"--accesses", "N", "stress: so many for each topology (1 million unless told)"},
    {"--threads", "N", "stress: host threads; results are the same with any number"},
    {"--svg", "FILE", "show: draw the states of its controllers"},
    {NULL, NULL, NULL},
};

/* What a run does; options are for some of these. */
enum mode { SHOW = 1, EXPLORE = 2, LITMUS = 4, MUTATE = 8, STRESS = 16 };

static const struct {
    const char *name;
    unsigned modes;
} uses[] = {
    {"--deep", EXPLORE},         {"--caches", EXPLORE | STRESS},
    {"--l1s", EXPLORE | STRESS}, {"--lines", EXPLORE},
    {"--copies", EXPLORE},       {"--litmus", LITMUS},
    {"--mutations", MUTATE},     {"--seed", MUTATE | STRESS},
    {"--topology", STRESS},      {"--tight", STRESS},
    {"--one-network", STRESS},   {"--accesses", STRESS},
    {"--threads", STRESS},       {"--svg", SHOW},
};
_Static_assert(COUNT_OF(uses) == COUNT_OF(options) - 1, "each option is for some mode");

static bool number(const struct option_row *row, const char *value, uint64_t least, uint64_t most,
                   uint64_t *to, struct err *err)
{
    if (!unit_parse(UNIT_count, value, to, err) || *to < least || *to > most)
        return err_set(err, "%s: expected a number from %" PRIu64 " to %" PRIu64 ", not '%.40s'", row->name,
                       least, most, value);
    return true;
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *request = user;
    if (!row) {
        const char **to = request->verb ? &request->name : &request->verb;
        if (request->name)
            return err_set(err, "protocol: '%.60s' is one word too many", value);
        *to = value;
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(uses); i++)
        request->given |= !strcmp(row->name, uses[i].name) ? 1u << i : 0;
    if (!strcmp(row->name, "--deep"))
        return request->deep = true;
    if (!strcmp(row->name, "--tight"))
        return request->tight = true;
    if (!strcmp(row->name, "--one-network"))
        return request->one_network = true;
    if (!strcmp(row->name, "--copies"))
        return request->copies = request->own_setup = true;
    if (!strcmp(row->name, "--litmus"))
        return request->litmus = true;
    if (!strcmp(row->name, "--svg")) {
        request->svg = value;
        return svg_check_name("--svg", value, err);
    }
    if (!strcmp(row->name, "--topology")) {
        request->topology = value;
        return true;
    }
    if (!strcmp(row->name, "--accesses"))
        return number(row, value, 1, UINT64_MAX, &request->accesses, err);
    if (!strcmp(row->name, "--threads"))
        return options_threads(value, &request->threads, err);
    if (!strcmp(row->name, "--mutations"))
        return number(row, value, 1, 1000000, &request->mutations, err);
    if (!strcmp(row->name, "--seed"))
        return number(row, value, 0, UINT64_MAX, &request->seed, err);
    request->own_setup = true;
    return !strcmp(row->name, "--caches") ? number(row, value, 1, 4, &request->caches, err)
           : !strcmp(row->name, "--l1s")  ? number(row, value, 0, 2, &request->l1s, err)
                                          : number(row, value, 1, 2, &request->lines, err);
}

/* ---- checking ---- */

static bool check_one(const struct protocol *protocol, const struct check_setup *setup,
                      struct check_cover *cover)
{
    struct check_result result;
    char name[64];
    check_setup_name(setup, name);
    check_run_covering(protocol, setup, cover, &result);
    printf("%-13s %-38s %10" PRIu64 " states %10" PRIu64 " steps %3u messages %7.2f s  %s\n", protocol->name,
           name, result.states, result.steps, result.messages_most, result.seconds,
           result.gave_up ? "gave up: too many states"
           : result.wrong ? "WRONG"
                          : "right");
    if (result.wrong)
        fputs(result.text.at, stdout);
    fflush(stdout);
    bool good = !result.wrong && !result.gave_up;
    check_result_fini(&result);
    return good;
}

static bool check_protocol(const struct request *request, const struct protocol *protocol)
{
    struct check_setup setups[16];
    struct check_cover cover;
    size_t count = check_setups(protocol, request->deep, setups, COUNT_OF(setups));
    bool good = true;
    if (request->own_setup) {
        setups[0] = (struct check_setup){.cpus = (unsigned)request->caches,
                                         .l1s = protocol_table(protocol, COH_L1) ? (unsigned)request->l1s : 0,
                                         .lines = (unsigned)request->lines,
                                         .dma = request->copies};
        count = 1;
    }
    check_cover_init(&cover, protocol);
    for (size_t i = 0; i < count && good; i++)
        good = check_one(protocol, &setups[i], &cover);
    /* All rows must be taken somewhere; for CPUs and a GPU only the larger systems do. */
    if (good && !request->own_setup && (request->deep || !protocol_table(protocol, COH_L1))) {
        struct text missing = {0};
        good = check_cover_missing(&cover, protocol, &missing) == 0;
        if (!good)
            printf("%-13s rows that no system takes:\n%s", protocol->name, missing.at);
        text_fini(&missing);
    }
    check_cover_fini(&cover);
    if (protocol->is_incoherent) {
        printf("%-13s is not coherent, and says so: this is no error\n", protocol->name);
        return true;
    }
    return good;
}

static bool mutate(const struct request *request, const struct protocol *protocol)
{
    struct mutation_score score;
    if (protocol->is_incoherent) {
        printf("%-13s is not coherent: there is nothing to find\n", protocol->name);
        return true;
    }
    check_mutations(protocol, request->seed, request->mutations, &score);
    uint64_t bugs = score.made - score.same;
    printf("%-13s %" PRIu64 " variants, %" PRIu64 " change nothing; of the others %" PRIu64
           " found: %.1f%%\n",
           protocol->name, score.made, score.same, score.found,
           bugs ? 100 * (double)score.found / (double)bugs : 100.0);
    if (score.survivors.at)
        printf("not found (a variant may be right, too):\n%s", score.survivors.at);
    text_fini(&score.survivors);
    return true;
}

/* ---- litmus tests ---- */

/* Threads on CPUs (C) and L1s of a GPU (G). */
static bool litmus_one(const struct protocol *protocol, const struct litmus *litmus, const char *where)
{
    uint8_t places[LITMUS_THREADS];
    struct check_setup setup = {.lines = MODEL_LINES, .litmus = litmus, .places = places};
    unsigned threads = 0, cpu = 0, l1 = 0;
    for (; threads < LITMUS_THREADS && litmus->threads[threads]; threads++)
        setup.cpus += where[threads] == 'C', setup.l1s += where[threads] == 'G';
    for (unsigned i = 0; i < threads; i++)
        places[i] = (uint8_t)(where[i] == 'C' ? cpu++ : setup.cpus + (setup.l1s > 0) + 2 + l1++);
    struct check_result result;
    check_run(protocol, &setup, &result);
    bool good = !result.wrong && !result.gave_up, seen = false, must = !setup.l1s || litmus->on_gpus;
    printf("%-13s %-10s %.*s%*s", protocol->name, litmus->name, (int)threads, where, 6 - (int)threads, "");
    for (unsigned i = 0; i < result.outcome_count; i++) {
        bool forbidden = litmus_is_forbidden(litmus, result.outcomes[i]);
        seen |= forbidden;
        printf(" %s%s", result.outcomes[i], forbidden ? "!" : "");
    }
    good &= !(seen && must);
    printf("  %s\n", result.wrong ? result.text.at
                     : !good      ? "WRONG: forbidden"
                     : seen       ? "(weak: no scopes used)"
                                  : "");
    check_result_fini(&result);
    return good;
}

static bool litmus_all(const struct protocol *protocol)
{
    bool good = true, has_gpu = protocol_table(protocol, COH_L1) != NULL;
    for (const struct litmus *litmus = litmus_tests; litmus->name; litmus++) {
        good &= litmus_one(protocol, litmus, "CCCC");
        if (has_gpu) {
            good &= litmus_one(protocol, litmus, "GGGG");
            good &= litmus_one(protocol, litmus, "CGGC");
            good &= litmus_one(protocol, litmus, "GCCG");
        }
    }
    return good || protocol->is_incoherent;
}

/* ---- random accesses in time ---- */

static bool is_file(const char *topology)
{
    return topology && strpbrk(topology, "./");
}

/* `topology` is that of a shape; TOPOLOGY_COUNT: the file's. */
static bool stress_one(const struct request *request, const struct protocol *protocol, enum topology topology)
{
    bool has_gpu = protocol_table(protocol, COH_L1) != NULL;
    struct topology_agents agents;
    struct net_graph graph = {0};
    struct stress_spec spec = {.protocol = protocol,
                               .topology = topology,
                               .cpus = request->own_setup ? (uint32_t)request->caches : 4,
                               .l1s = !has_gpu             ? 0
                                      : request->own_setup ? (uint32_t)request->l1s
                                                           : 4,
                               .homes = 2,
                               .lines = 24,
                               .accesses = request->accesses,
                               .tight = request->tight,
                               .one_network = request->one_network,
                               .seed = request->seed,
                               .threads = request->threads,
                               .interrupt = &interrupted};
    struct stress_result result = {0};
    struct err err;
    bool good = true;
    if (topology == TOPOLOGY_COUNT) {
        good = topology_read(request->topology, has_gpu, &agents, &graph, &err);
        spec.graph = &graph, spec.cpus = agents.cpus, spec.homes = agents.homes;
        spec.l1s = agents.count - agents.first_home - agents.homes;
    }
    good = good && stress_run(&spec, &result, &err);
    net_graph_fini(&graph);
    printf("%-13s %-15s %12" PRIu64 " accesses (%" PRIu64 " loads, %" PRIu64 " stores, %" PRIu64
           " additions; %" PRIu64 " by copy engines), %" PRIu64 " fences: %s\n",
           protocol->name, spec.graph ? request->topology : topology_names[topology], result.accesses,
           result.loads, result.stores, result.adds, result.copies, result.fences, good ? "right" : err.text);
    fflush(stdout);
    return good;
}

static bool stress(const struct request *request, const struct protocol *protocol)
{
    bool good = true;
    if (is_file(request->topology))
        return stress_one(request, protocol, TOPOLOGY_COUNT) != protocol->is_incoherent;
    for (int i = 0; i < TOPOLOGY_COUNT && !interrupted; i++)
        if (!request->topology || !strcmp(request->topology, "all") ||
            !strcmp(request->topology, topology_names[i]))
            good &= stress_one(request, protocol, i) != protocol->is_incoherent;
    return good;
}

/* A name of a topology, or a file that holds one. */
static bool topology_exists(const struct request *request, struct err *err)
{
    const char *name = request->topology;
    for (int i = 0; name && i < TOPOLOGY_COUNT; i++)
        if (!strcmp(name, topology_names[i]))
            return true;
    if (is_file(name)) {
        struct topology_agents agents;
        struct net_graph graph;
        if (request->own_setup)
            return err_set(err, "--caches and --l1s do not go with a topology from a file: [agents] says how "
                                "many there are");
        if (!topology_read(name, true, &agents, &graph, err))
            return false;
        net_graph_fini(&graph);
        return true;
    }
    return !name || !strcmp(name, "all") ||
           err_set(
               err,
               "--topology: expected crossbar, point-to-point, ring, mesh, torus, cluster, all or a file, "
               "not '%.40s'",
               name);
}

/* ---- the command ---- */

static bool show(const struct request *request, const struct protocol *protocol, struct err *err)
{
    struct text text = {0};
    if (request->svg)
        return drawing_of_protocol(protocol, request->svg, err);
    protocol_print(protocol, &text);
    fputs(text.at, stdout);
    text_fini(&text);
    return true;
}

static int list(void)
{
    printf("coherence protocols: `heddle protocol show NAME`, `heddle protocol check NAME`\n");
    for (size_t i = 0; protocols[i]; i++)
        printf("  %-13s %s\n", protocols[i]->name, protocols[i]->help);
    return EXIT_GOOD;
}

static bool check(const struct request *request, const struct protocol *protocol)
{
    return !strcmp(request->verb, "stress") ? stress(request, protocol)
           : request->mutations             ? mutate(request, protocol)
           : request->litmus                ? litmus_all(protocol)
                                            : check_protocol(request, protocol);
}

static unsigned mode_of(const struct request *request)
{
    return !strcmp(request->verb, "show")     ? SHOW
           : !strcmp(request->verb, "stress") ? STRESS
           : request->litmus                  ? LITMUS
           : request->mutations               ? MUTATE
                                              : EXPLORE;
}

/* Options that this does not look at are refused. */
static bool options_fit(const struct request *request, struct err *err)
{
    unsigned mode = request->verb ? mode_of(request) : 0;
    for (size_t i = 0; i < COUNT_OF(uses); i++)
        if (request->given & (1u << i) && !(uses[i].modes & mode))
            return err_set(err, "%s is no option of 'heddle protocol%s%s%s'", uses[i].name,
                           request->verb ? " " : "", request->verb ? request->verb : "",
                           mode == LITMUS   ? " --litmus"
                           : mode == MUTATE ? " --mutations"
                                            : "");
    return true;
}

static int run(int count, char **words)
{
    struct err err;
    struct request request = {
        .caches = 2, .l1s = 1, .lines = 1, .seed = 1, .accesses = 1000000, .threads = 1};
    if (!options_parse(options, count, words, &request, took, &err))
        return complain(EXIT_USAGE, &err);
    bool checks = request.verb && (!strcmp(request.verb, "check") || !strcmp(request.verb, "stress"));
    if (request.verb && !checks && strcmp(request.verb, "show"))
        return complain_unknown("what to do with a protocol", request.verb, NULL, "heddle protocol --help");
    if (!options_fit(&request, &err) || !topology_exists(&request, &err))
        return complain(EXIT_USAGE, &err);
    if (!request.verb)
        return list();
    if (!strcmp(request.verb, "stress"))
        catch_interrupts();
    if (!request.name) {
        err_set(&err, "protocol %s: expected the name of a protocol, or a file%s", request.verb,
                checks ? ", or 'all'" : "");
        return complain(EXIT_USAGE, &err);
    }
    bool good = true;
    if (checks && !strcmp(request.name, "all")) {
        for (size_t i = 0; protocols[i]; i++)
            good &= check(&request, protocols[i]);
        return good ? EXIT_GOOD : EXIT_FAILED;
    }
    const struct protocol *protocol = protocol_find(request.name);
    struct protocol *own = NULL;
    if (!protocol && strpbrk(request.name, "./"))
        protocol = own = protocol_read(request.name, &err);
    else if (!protocol) {
        struct nearest nearest;
        nearest_init(&nearest, request.name);
        for (size_t i = 0; protocols[i]; i++)
            nearest_try(&nearest, protocols[i]->name);
        return complain_unknown("protocol", request.name, nearest.best, "heddle protocol");
    }
    if (!protocol)
        return complain(EXIT_FAILED, &err);
    bool shown = checks || show(&request, protocol, &err);
    good = shown && (!checks || check(&request, protocol));
    protocol_free(own);
    return good ? EXIT_GOOD : shown ? EXIT_FAILED : complain(EXIT_FAILED, &err);
}

const struct cmd cmd_protocol = {
    .name = "protocol",
    .arguments = "[show|check|stress NAME|FILE]",
    .help = "show and check coherence protocols",
    .more =
        "Without words, lists the protocols. `show` prints the tables of one, as text; `check` and `stress`\n"
        "read such a file, too: to try a protocol of your own, change a copy. `check` explores every state "
        "that\n"
        "small systems can reach, and prints the shortest way to the first one that is wrong. `stress` runs\n"
        "random accesses through a timed system, and checks every value that is read. `all`: all protocols.",
    .options = options,
    .run = run,
};
