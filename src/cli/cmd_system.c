/* heddle system: a machine as a tree of its parts, and its fabric as a drawing. */
#include "cli/cli.h"
#include "cli/fabric_drawing.h"
#include "cli/timing.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/unit.h"
#include "net/routes.h"
#include "ranks/ranks.h"
#include "system/loads.h"
#include "system/fabric.h"
#include "system/spread.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct request {
    const char *svg;
    uint64_t ranks; /* 0: not asked for */
    struct timing_request system;
};

static const struct option_row options[] = {
    {"--gpus", "N", "so many of its GPUs, on their usual fabric (system.gpus=N)"},
    {"--unified", "N", "N GPUs that programs see as one"},
    {"--monolithic", "N", "one GPU with N times the SMs, L2, memory and bandwidth"},
    {"--set", "PATH.KEY=VALUE", "change it, such as fabric.topology=ring; may come several times"},
    {"--ranks", "N", "show which part of it each of N ranks has (docs/mpi.md)"},
    {"--placement", "FILE", "... by the load that a run with --write-load has measured"},
    {"--svg", "FILE", "draw the fabric"},
    {NULL, NULL, NULL},
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *request = user;
    bool taken;
    if (!row) {
        if (request->system.system)
            return err_set(err, "system: expected one name, not '%.120s' too", value);
        request->system.system = value;
        return true;
    }
    if (!strcmp(row->name, "--ranks")) {
        struct err why;
        return (unit_parse(UNIT_count, value, &request->ranks, &why) && request->ranks &&
                request->ranks <= RANKS_MOST) ||
               err_set(err, "--ranks: expected a number from 1 to %d, not '%.40s'", RANKS_MOST, value);
    }
    if (!strcmp(row->name, "--svg")) {
        request->svg = value;
        return svg_check_name("--svg", value, err);
    }
    return timing_took(&request->system, row, value, &taken, err);
}

/* ---- the tree ---- */

/* A value with its unit: 900GB/s. In text, up to 8 at a time. */
static const char *with_unit(enum unit_kind kind, uint64_t value)
{
    static char texts[8][48];
    static unsigned next;
    struct text text = {0};
    char *room = texts[next++ % 8];
    unit_print(kind, value, &text);
    snprintf(room, sizeof *texts, "%s", text.at);
    text_fini(&text);
    return room;
}

/* Bytes, rounded to three figures: 139.8GiB. */
static const char *about(uint64_t bytes)
{
    static char texts[4][32];
    static unsigned next;
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    char *room = texts[next++ % 4];
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < COUNT_OF(units); unit++)
        value /= 1024;
    snprintf(room, sizeof *texts, "%.4g%s", value, units[unit]);
    return room;
}

static void print_gpu(const struct system *system, const char *edge)
{
    const struct gpu_spec *gpu = &system->gpu;
    printf("%s%" PRIu64 " SMs at %s, each: %" PRIu64 " sub-cores, %" PRIu64 " warps of %" PRIu64
           " lanes, L1 %s%s\n",
           edge, gpu->sm_count, with_unit(UNIT_freq, gpu->clock), gpu->subcores_per_sm, gpu->warps_per_sm,
           gpu->warp_lanes, about(system->sm.l1), system->sm.l1_apart ? ", shared memory apart" : "");
    printf("%sL2 %s in %" PRIu64 " slices, lines of %s\n", edge, about(system->l2.bytes), system->l2.slices,
           with_unit(UNIT_size, system->l2.line));
    if (system->l3.bytes)
        printf("%sL3 %s\n", edge, about(system->l3.bytes));
    printf("%smemory %s at %s\n", edge, about(gpu->memory), with_unit(UNIT_rate, system->dram.bandwidth));
}

static void print_links(const struct net_graph *graph, uint32_t node, const char *edge)
{
    for (size_t i = 0; i < graph->link_count; i++) {
        struct fabric_link link;
        if (!fabric_described_link(graph, i, &link) || (link.ends[0] != node && link.ends[1] != node))
            continue;
        printf("%sto %s: %s %s, %s\n", edge, graph->nodes[link.ends[link.ends[0] == node]].name,
               with_unit(UNIT_rate, link.bytes_per_s),
               link.is_half_duplex ? "both ways together (half duplex)" : "each way",
               with_unit(UNIT_time, link.latency_ps));
    }
}

static void print_tree(const struct system *system, const struct net_graph *graph)
{
    uint32_t gpus = (uint32_t)system->spec.gpus;
    bool host_in_fabric = net_find(graph, FABRIC_HOST) != NET_NONE;
    for (uint32_t i = 0; i < gpus; i++) {
        const struct system *own = system_of_device(system, i);
        printf("+- gpu%u: %s", i, own->gpu.name);
        if (system->spec.nodes > 1)
            printf(", of node %u", i / system_node_devices(system));
        putchar('\n');
        if (i == 0 || own != system_of_device(system, i - 1))
            print_gpu(own, "|  +- ");
        else
            printf("|  +- as gpu%u\n", i - 1);
        if (!host_in_fabric)
            printf("|  +- to the host: %s each way, %s\n", with_unit(UNIT_rate, own->noc.host_bandwidth),
                   with_unit(UNIT_time, own->noc.host_latency));
        print_links(graph, i, "|  +- ");
    }
    for (uint32_t i = gpus; i < graph->node_count; i++) {
        const struct net_node *node = &graph->nodes[i];
        if (node->is_bus) /* told of as a link */
            continue;
        printf("+- %s: %s", node->name, node->is_endpoint ? "its memory, for all GPUs" : "switch");
        printf(node->latency_ps ? ", %s\n" : "\n", with_unit(UNIT_time, node->latency_ps));
        print_links(graph, i, "|  +- ");
    }
    if (!host_in_fabric)
        puts(system->spec.nodes > 1 ? "+- host: one in each node" : "+- host");
}

static const char *in_nodes(const struct system *system)
{
    static char words[48];
    if (system->spec.nodes > 1)
        snprintf(words, sizeof words, " in %" PRIu64 " nodes", system->spec.nodes);
    return words;
}

/* ---- ways ---- */

static void print_ways(const struct net_graph *graph, const struct net_routes *routes)
{
    printf("\nfrom row to column: latency in ns / bandwidth in GB/s, of a message on its way alone\n%8s", "");
    for (uint32_t to = 0; to < graph->node_count; to++)
        if (graph->nodes[to].is_endpoint)
            printf(" %12s", graph->nodes[to].name);
    putchar('\n');
    for (uint32_t from = 0; from < graph->node_count; from++) {
        if (!graph->nodes[from].is_endpoint)
            continue;
        printf("%8s", graph->nodes[from].name);
        for (uint32_t to = 0; to < graph->node_count; to++) {
            char cell[48] = "-";
            if (!graph->nodes[to].is_endpoint)
                continue;
            if (from != to)
                snprintf(cell, sizeof cell, "%.4g / %.4g",
                         (double)net_way_latency(routes, graph, from, to) / 1e3,
                         (double)net_way_bandwidth(routes, graph, from, to, 0) / 1e9);
            printf(" %12s", cell);
        }
        putchar('\n');
    }
    if (routes->layers > 1)
        printf("%u layers of virtual channels keep the routes free of deadlock\n", routes->layers);
}

/* ---- ranks ---- */

/* How many of a home's SMs or memory islands are on this rank. */
static uint32_t parts_here(const struct memsys_ranks *ranks, const uint32_t *known, uint32_t rank,
                           uint64_t count)
{
    uint32_t here = 0;
    for (uint32_t i = 0; i < count; i++)
        here += memsys_rank_of(ranks, known, i, (uint32_t)count) == rank;
    return here;
}

static void add_homes(struct text *text, const struct system *system, const struct spread *spread,
                      uint32_t rank)
{
    uint32_t members = system_members(system);
    for (uint32_t h = 0; h < spread->homes; h++) {
        const struct memsys_ranks *ranks = &spread->home[h];
        const struct system *own = system_of_device(system, h / members);
        uint32_t sms = parts_here(ranks, ranks->sms, rank, own->gpu.sm_count),
                 islands = parts_here(ranks, ranks->memory, rank, own->l2.islands);
        if (!sms && !islands)
            continue;
        text_add(text, "%sgpu%u", text->length ? ", " : "", h);
        if (ranks->count > 1)
            text_add(text, " (%u SMs, %u memory islands%s)", sms, islands,
                     rank == ranks->first ? ", dispatcher" : "");
    }
}

/* Which part of the load each rank has, where it is known. */
static void print_rank(const struct spread *spread, uint32_t rank, const char *parts)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < spread->ranks && spread->load; i++)
        all += spread->load[i];
    printf("%4u  ", rank);
    if (spread->load)
        printf("%5.1f%%  ", all ? 100.0 * (double)spread->load[rank] / (double)all : 0);
    printf("%s%s\n", parts, rank ? "" : ", the host's memory, the program");
}

static void print_spread(const struct system *system, const struct net_graph *graph,
                         const struct spread *spread)
{
    printf("\nrank  %shas\n", spread->load ? "  load  " : "");
    for (uint32_t rank = 0; rank < spread->ranks; rank++) {
        struct text text = {0};
        add_homes(&text, system, spread, rank);
        for (uint32_t n = spread->homes; n < spread->nodes; n++)
            if (!graph->nodes[n].is_endpoint && spread->node[n] == rank)
                text_add(&text, ", %s", graph->nodes[n].name);
        print_rank(spread, rank, text.at);
        text_fini(&text);
    }
}

static bool print_ranks(const struct request *request, const struct system *system,
                        const struct net_graph *graph, struct err *err)
{
    struct spread spread;
    struct loads load = {0};
    const char *path = request->system.placement;
    bool good = !path || spread_loads_read_file(&load, path, system, graph, err);
    if (good && (good = spread_make(&spread, system, graph, NULL, (uint32_t)request->ranks,
                                    path ? &load : NULL, err))) {
        print_spread(system, graph, &spread);
        spread_fini(&spread);
    }
    spread_loads_fini(&load);
    return good;
}

static const char *name_of(const struct request *request)
{
    return request->system.system ? request->system.system : "h200";
}

static const char *seen_as(const struct system *system)
{
    static char words[64];
    if (system->spec.monolithic > 1)
        snprintf(words, sizeof words, " of %" PRIu64 " times the parts", system->spec.monolithic);
    return system->spec.monolithic > 1                     ? words
           : system->spec.unified && system->spec.gpus > 1 ? " that programs see as one"
                                                           : "";
}

static bool show(const struct request *request, const struct system *system, struct err *err)
{
    struct net_graph graph = {0};
    struct net_routes routes = {0};
    uint64_t gpus = system->spec.gpus, sms = 0, memory = 0;
    for (uint32_t i = 0; i < gpus; i++) {
        sms += system_of_device(system, i)->gpu.sm_count;
        memory += system_of_device(system, i)->gpu.memory;
    }
    bool good = request->ranks || !request->system.placement ||
                err_set(err, "--placement: expected --ranks N with it");
    good =
        good && (gpus == 1 || (fabric_graph(system, &graph, err) && net_routes_find(&routes, &graph, err)));
    if (good && gpus == 1)
        net_add_node(&graph, &(struct net_node){.name = "gpu0", .is_endpoint = true});
    if (good) {
        printf("%s: %" PRIu64 " GPU%s%s%s, %" PRIu64 " SMs, %s of memory\n", name_of(request), gpus,
               gpus == 1 ? "" : "s", seen_as(system), in_nodes(system), sms, about(memory));
        print_tree(system, &graph);
        if (gpus > 1)
            print_ways(&graph, &routes);
        good = (!request->ranks || print_ranks(request, system, gpus > 1 ? &graph : NULL, err)) &&
               (!request->svg || drawing_of_fabric(&graph, request->svg, err));
    }
    net_routes_fini(&routes);
    net_graph_fini(&graph);
    return good;
}

/* ---- those there are ---- */

static void print_topology(const struct system *system)
{
    struct text word = {0};
    for (size_t i = 0; i < fabric_params.row_count; i++) {
        const struct param_row *row = &fabric_params.rows[i];
        if (!strcmp(row->name, "topology"))
            param_print(row, (const char *)&system->fabric + row->offset, &word);
    }
    puts(strcmp(word.at, "graph") ? word.at : "links and switches of its own");
    text_fini(&word);
}

static void print_one(const char *name)
{
    struct system system;
    struct err err;
    if (!system_load(&system, name, NULL, &err)) {
        printf("  %-12s %s\n", name, err.text);
        return;
    }
    uint64_t gpus = system.spec.gpus;
    printf("  %-12s ", name);
    if (gpus > 1)
        printf("%" PRIu64 " x ", gpus);
    printf("%s, %" PRIu64 " SMs, %s%s", system.gpu.name, system.gpu.sm_count, about(system.gpu.memory),
           gpus > 1 ? " each; fabric: " : "\n");
    if (gpus > 1)
        print_topology(&system);
    system_fini(&system);
}

static void print_name(const char *name)
{
    puts(name);
}

static void each_name(void (*each)(const char *name))
{
    char **names;
    size_t count;
    system_names(NULL, &names, &count);
    for (size_t i = 0; i < count; i++) {
        each(names[i]);
        mem_free(names[i]);
    }
    mem_free(names);
}

static int list(void)
{
    puts("Systems that come with Heddle (docs/descriptions.md says how to write others):");
    each_name(print_one);
    puts("\n`heddle system NAME` shows one.");
    return EXIT_GOOD;
}

static void complete(const char *behind)
{
    if (!*behind)
        each_name(print_name);
}

static int run(int count, char **words)
{
    struct err err;
    struct system system;
    struct request request = {0};
    if (!count)
        return list();
    bool good = options_parse(options, count, words, &request, took, &err) &&
                timing_load_system(&request.system, &system, &err);
    if (good) {
        good = show(&request, &system, &err);
        system_fini(&system);
    }
    timing_fini(&request.system);
    return good ? EXIT_GOOD : complain(EXIT_USAGE, &err);
}

const struct cmd cmd_system = {
    .name = "system",
    .arguments = "[NAME|FILE] [--gpus N] [--set PATH.KEY=VALUE] [--svg FILE]",
    .help = "show a system: its GPUs, its fabric, and the ways between them",
    .more = "Prints the machine as a tree, and for systems of several GPUs the latency and the bandwidth of\n"
            "the way between each two. docs/multi-gpu.md says how fabrics are described. Without any word,\n"
            "lists the systems that come with Heddle; with options alone, shows the h200.",
    .options = options,
    .complete = complete,
    .run = run,
};
