/* heddle caches: many caches at once, over traces or generated accesses. */
#include "cli/caches_check.h"
#include "cli/caches_record.h"
#include "cli/dealing.h"
#include "cli/over_ranks.h"
#include "cli/trace.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/unit.h"
#include "cachesim/evaluate/evaluate.h"
#include "cachesim/runs/kept.h"
#include "deal/deal.h"
#include "plugin/plugin.h"
#include "ranks/ranks.h"

/* ---- options: one row each, and a function that takes its value ---- */

static bool taken(const char *option, bool good, const struct err *why, struct err *err)
{
    return good || err_set(err, "%s: %s", option, why->text);
}

static bool take_number(const char *option, const char *value, uint64_t least, uint64_t most,
                        uint64_t *number, struct err *err)
{
    struct err why;
    if (!unit_parse(UNIT_count, value, number, &why))
        return taken(option, false, &why, err);
    return (*number >= least && *number <= most) ||
           err_set(err, "%s: expected %llu to %llu, not '%.80s'", option, (unsigned long long)least,
                   (unsigned long long)most, value);
}

static bool take_machine(struct caches_asked *asked, const char *value, struct err *err)
{
    uint64_t machine;
    struct err why;
    bool good = caches_machine_parse(value, &machine, &why);
    asked->request.spec.machine = (enum caches_machine)machine;
    return taken("--machine", good, &why, err);
}

static bool take_policy(struct caches_asked *asked, const char *value, struct err *err)
{
    uint64_t policy;
    struct err why;
    bool good = policy_parse(value, &policy, &why);
    asked->request.spec.policy = (uint32_t)policy;
    return taken("--policy", good, &why, err);
}

static bool take_quantum(struct caches_asked *asked, const char *value, struct err *err)
{
    struct err why;
    return taken("--quantum", quantum_parse(value, &asked->request.spec.quantum, &why), &why, err);
}

static bool take_tiles(struct caches_asked *asked, const char *value, struct err *err)
{
    uint64_t tiles = 0;
    bool good = take_number("--tiles", value, 1, CACHES_TILES_MOST, &tiles, err);
    asked->request.spec.tiles = (uint32_t)tiles;
    asked->request.tiles_told = true;
    return good;
}

static bool take_snoop(struct caches_asked *asked, const char *value, struct err *err)
{
    uint64_t snoop = 0;
    bool good = take_number("--snoop", value, 1, CACHES_TILES_MOST, &snoop, err);
    asked->request.spec.snoop = (uint32_t)snoop;
    asked->request.snoop_told = true;
    return good;
}

/* "SIZE[,WAYS[,LINE]]" */
static bool take_shape(struct cache_shape *shape, const char *option, const char *value, struct err *err)
{
    struct err why;
    uint64_t numbers[3] = {shape->bytes, shape->ways, shape->line_bytes};
    char *copy = mem_text(value), *next = copy;
    bool good = true;
    for (int i = 0; good && i < 3 && next; i++) {
        char *one = next;
        next = strchr(next, ',');
        if (next)
            *next++ = 0;
        good = i == 1 ? unit_parse(UNIT_count, one, &numbers[i], &why) : size_parse(one, &numbers[i], &why);
        if (good && i && numbers[i] > UINT32_MAX)
            good = err_set(&why, "'%.80s' is too large", one);
    }
    if (good && next)
        good = err_set(&why, "nothing was expected behind the bytes of a line");
    mem_free(copy);
    *shape = (struct cache_shape){numbers[0], (uint32_t)numbers[1], (uint32_t)numbers[2]};
    return good || err_set(err, "%s: expected SIZE,WAYS,LINE, such as 64KiB,16,64, not '%.80s': %.300s",
                           option, value, why.text);
}

static bool take_l1(struct caches_asked *asked, const char *value, struct err *err)
{
    return take_shape(&asked->request.spec.l1, "--l1", value, err);
}

static bool take_l2(struct caches_asked *asked, const char *value, struct err *err)
{
    return take_shape(&asked->request.spec.l2, "--l2", value, err);
}

static bool take_device(struct caches_asked *asked, const char *value, struct err *err)
{
    asked->device_told = true;
    for (asked->request.device = caches_devices; asked->request.device->backend; asked->request.device++) {
        if (!strcmp(asked->request.device->backend->name, value))
            return true;
    }
    err_set(err, "--device: expected");
    for (size_t i = 0; caches_devices[i].backend; i++)
        err_add(err, "%s %s", i ? " or" : "", caches_devices[i].backend->name);
    err_add(err, ", not '%.80s'", value);
    return false;
}

static bool take_threads(struct caches_asked *asked, const char *value, struct err *err)
{
    return options_threads(value, &asked->request.host.threads, err);
}

static bool take_ranks(struct caches_asked *asked, const char *value, struct err *err)
{
    (void)asked;
    bool mine;
    return over_ranks_took(&(struct option_row){.name = "--ranks"}, value, &mine, err);
}

static bool take_hosts(struct caches_asked *asked, const char *value, struct err *err)
{
    (void)asked;
    bool mine;
    return over_ranks_took(&(struct option_row){.name = "--hosts"}, value, &mine, err);
}

static bool take_seed(struct caches_asked *asked, const char *value, struct err *err)
{
    return take_number("--seed", value, 0, UINT64_MAX, &asked->request.spec.seed, err);
}

static bool take_offset(struct caches_asked *asked, const char *value, struct err *err)
{
    return take_number("--offset", value, 0, UINT64_C(1) << 47, &asked->request.offset, err);
}

static bool take_accesses(struct caches_asked *asked, const char *value, struct err *err)
{
    return take_number("--accesses", value, 1, UINT64_C(1) << 47, &asked->request.accesses, err);
}

static bool take_batch(struct caches_asked *asked, const char *value, struct err *err)
{
    return take_number("--batch", value, 1, 1 << 24, &asked->request.batch, err);
}

static bool take_per_block(struct caches_asked *asked, const char *value, struct err *err)
{
    uint64_t many = 0;
    bool good = take_number("--per-block", value, 1, 1024, &many, err);
    asked->request.host.per_block = (uint32_t)many;
    return good;
}

#define TAKE_TEXT(name, member)                                                                              \
    static bool take_##name(struct caches_asked *asked, const char *value, struct err *err)                  \
    {                                                                                                        \
        (void)err;                                                                                           \
        asked->member = value;                                                                               \
        return true;                                                                                         \
    }
TAKE_TEXT(generate, request.generate)
TAKE_TEXT(sweep_text, request.sweep_text)
TAKE_TEXT(results, request.results)
TAKE_TEXT(json, json)
TAKE_TEXT(plot, plot)
TAKE_TEXT(evaluate, evaluate)

#define TAKE_SWITCH(name, member)                                                                            \
    static bool take_##name(struct caches_asked *asked, const char *value, struct err *err)                  \
    {                                                                                                        \
        (void)value;                                                                                         \
        (void)err;                                                                                           \
        asked->member = true;                                                                                \
        return true;                                                                                         \
    }
TAKE_SWITCH(quick, quick)
TAKE_SWITCH(resume, request.resume)
TAKE_SWITCH(per_cache, request.per_cache)
TAKE_SWITCH(compare_exact, request.compare_exact)
TAKE_SWITCH(no_progress, request.no_progress)
TAKE_SWITCH(no_overlap, request.host.no_overlap)
TAKE_SWITCH(resident, request.host.resident)

/* Plugins were loaded before: other options may name what is in them. */
static bool take_plugin(struct caches_asked *asked, const char *value, struct err *err)
{
    (void)asked, (void)value, (void)err;
    return true;
}

/*    option            value                    help, and what takes it */
#define OPTIONS(X)                                                                                           \
    X("--machine", "NAME", "which caches there are: see below (l1 unless told)", machine)                    \
    X("--tiles", "N", "tiles: a core with its caches each (one of each trace unless told)", tiles)           \
    X("--l1", "SIZE,WAYS,LINE", "64KiB,16,64 unless told", l1)                                               \
    X("--l2", "SIZE,WAYS,LINE", "of each tile, 512KiB,16,64 unless told", l2)                                \
    X("--policy", "NAME", "which line leaves: see below (lru unless told)", policy)                          \
    X("--plugin", "FILE[,TEXT]", "load policies of your own (docs/plugins.md); may come often", plugin)      \
    X("--snoop", "GROUP", "so many neighbouring tiles share an address space and snoop on each other",       \
      snoop)                                                                                                 \
    X("--quantum", "N|exact", "others feel what a tile does after N of its accesses; exact unless told",     \
      quantum)                                                                                               \
    X("--compare-exact", NULL, "with --quantum N: how far its counts are from exact ones", compare_exact)    \
    X("--generate", "KIND[:OPTIONS]", "made accesses in place of traces, such as zipf:footprint=64MiB",      \
      generate)                                                                                              \
    X("--accesses", "N", "of each tile, at most", accesses)                                                  \
    X("--offset", "N", "a trace that is used again starts N accesses further in", offset)                    \
    X("--seed", "N", "of generators and of the policy random (1 unless told)", seed)                         \
    X("--sweep", "KEY=VALUES,...", "all combinations in one pass: l1.size=16KiB..1MiB,l1.ways=1..16",        \
      sweep_text)                                                                                            \
    X("--results", "FILE", "keep the counts of a sweep's configurations there, as they come", results)       \
    X("--resume", NULL, "with --results: do not simulate again what is there already", resume)               \
    X("--plot", "FILE", "write the sweep's miss rates as a drawing (SVG)", plot)                             \
    X("--json", "FILE", "write configuration and counts, of each cache and in all", json)                    \
    X("--per-cache", NULL, "print the counts of each cache, too", per_cache)                                 \
    X("--device", "cpu|cuda", "where they are simulated (cpu unless told); counts are the same", device)     \
    X("--threads", "N|all", "threads (all unless told); counts are the same", threads)                       \
    X("--ranks", "N", "share a sweep among N processes of this machine, by MPI; counts are the same", ranks) \
    X("--hosts", "FILE", "with --ranks: on the machines that FILE names (docs/mpi.md)", hosts)               \
    X("--batch", "N", "accesses of a tile that are simulated at a time; counts are the same", batch)         \
    X("--no-overlap", NULL, "cuda: transfers and kernels one after the other", no_overlap)                   \
    X("--resident", NULL, "cuda: all accesses are transferred before any is simulated", resident)            \
    X("--per-block", "N", "cuda: tiles of a block of threads", per_block)                                    \
    X("--evaluate", "FOLDER",                                                                                \
      "measure this machine on all of the evaluation's workloads: tables and plots in FOLDER", evaluate)     \
    X("--quick", NULL, "with --evaluate: a small one, which tells nothing but that it works", quick)         \
    X("--no-progress", NULL, "no line on the terminal that shows how far it is", no_progress)

static const struct option_row options[] = {
#define X(option, value, help, take) {option, value, help},
    OPTIONS(X)
#undef X
        {NULL, NULL, NULL},
};

static bool (*const takers[])(struct caches_asked *asked, const char *value, struct err *err) = {
#define X(option, value, help, take) take_##take,
    OPTIONS(X)
#undef X
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct caches_asked *asked = user;
    struct caches_request *r = &asked->request;
    if (row)
        return takers[row - options](asked, value, err);
    mem_grow(r->traces, r->trace_count, r->trace_capacity);
    r->traces[r->trace_count++] = value;
    return true;
}

static bool took_plugin(void *user, const struct option_row *row, const char *value, struct err *err)
{
    (void)user;
    return !row || strcmp(row->name, "--plugin") != 0 || plugin_load(value, err);
}

/* ---- the command ---- */

typedef void write_form(const struct caches_request *r, const struct configurations *all, FILE *stream);

static bool write_file(const char *path, write_form *form, const struct caches_request *r,
                       const struct configurations *all, struct err *err)
{
    struct file_writer writer;
    if (!path)
        return true;
    if (!file_open(&writer, path, err))
        return false;
    form(r, all, writer.stream);
    return file_close(&writer, err);
}

static bool is_stdout(const char *path)
{
    return path && (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"));
}

static void tell_left_out(const struct configurations *all)
{
    const char *line = all->left_out_why.length ? all->left_out_why.at : "";
    for (size_t length; (length = strcspn(line, "\n")); line += length + 1)
        fprintf(stderr, "heddle: left out: %.*s\n", (int)length, line);
}

/* Rank 0 alone writes. */
static void leave_files(struct caches_asked *asked)
{
    asked->json = asked->plot = asked->request.results = NULL;
    asked->request.resume = false;
    asked->request.no_progress = true;
}

/* All that can be wrong before the time is spent. */
static bool prepare(struct caches_asked *asked, struct configurations *all, struct kept **kept,
                    uint64_t *digest, struct err *err)
{
    struct caches_request *r = &asked->request;
    struct text identity = {0};
    if (!r->host.threads)
        r->host.threads = deal_cores(r->ranks);
    bool good = cmd_caches_check_asked(asked, err) && caches_prepare(r, all, err);
    if (good && (r->ranks || r->results)) {
        r->build = dealing_build();
        good = caches_identity(r, &identity, err);
        plugin_identify(&identity);
    }
    if (good && r->results)
        good = (*kept = kept_open(r, &identity, all, err)) != NULL;
    for (size_t i = 0; good && r->ranks && i < all->count; i++)
        configuration_name(&all->at[i], &identity);
    *digest = digest_bytes(0, identity.at, identity.length);
    text_fini(&identity);
    return good;
}

static int write_all(const struct caches_asked *asked, const struct configurations *all)
{
    const struct caches_request *r = &asked->request;
    struct err err;
    /* a reader of the JSON gets nothing else */
    FILE *out = is_stdout(asked->json) || is_stdout(asked->plot) ? stderr : stdout;
    (r->sweep_text ? sweep_print : caches_print)(r, all, out);
    return write_file(asked->json, caches_json, r, all, &err) &&
                   write_file(asked->plot, sweep_svg, r, all, &err)
               ? EXIT_GOOD
               : complain(EXIT_FAILED, &err);
}

static int count(const struct caches_asked *asked, struct kept *kept, struct configurations *all)
{
    const struct caches_request *r = &asked->request;
    struct err err;
    if (r->resume)
        fprintf(stderr, "heddle: caches: %zu of %zu configurations are in %s already\n", all->known,
                all->count, r->results);
    bool good = r->ranks || kept ? caches_deal(r, kept, all, &err) : caches_simulate(r, all, &err);
    if (ranks_number(r->ranks))
        return good ? EXIT_GOOD : dealing_complain(r->ranks, EXIT_FAILED, &err);
    if (interrupted) {
        err_set(&err,
                kept ? "interrupted: the counts so far are in %s; go on with --resume"
                     : "interrupted: the counts of a part are no result, and none was written",
                r->results);
        return complain(EXIT_SIGNAL + interrupted, &err);
    }
    return good ? write_all(asked, all) : complain(EXIT_FAILED, &err);
}

static int simulate(struct caches_asked *asked, bool good, const struct err *why)
{
    struct ranks *ranks = asked->request.ranks;
    struct configurations all = {0};
    struct kept *kept = NULL;
    struct err mine = *why, err;
    uint64_t digest = 0;
    if (ranks_number(ranks))
        leave_files(asked);
    if (good)
        good = prepare(asked, &all, &kept, &digest, &mine);
    if (!ranks_number(ranks))
        tell_left_out(&all);
    int status = deal_agree(ranks, good, &mine, digest, &err) ? count(asked, kept, &all)
                                                              : dealing_complain(ranks, EXIT_USAGE, &err);
    kept_close(kept);
    configurations_fini(&all);
    return status;
}

static int evaluate(struct caches_asked *asked)
{
    struct caches_request *r = &asked->request;
    struct err err;
    if (!cmd_caches_check_evaluate(asked, &err))
        return complain(EXIT_USAGE, &err);
    if (!r->host.threads)
        r->host.threads = host_cores();
    struct evaluation e = {.r = r,
                           .folder = asked->evaluate,
                           .accesses = r->accesses,
                           .quick = asked->quick,
                           .no_gpu = asked->device_told && r->device->backend != &caches_cuda,
                           .needs_gpu = asked->device_told && r->device != caches_devices,
                           .record = cmd_caches_record};
    bool good = evaluation_run(&e, &err);
    int status = EXIT_GOOD;
    if (interrupted) {
        err_set(&err, "interrupted: what was measured so far is no result, and was not written");
        status = complain(EXIT_SIGNAL + interrupted, &err);
    } else if (!good) {
        status = complain(EXIT_FAILED, &err);
    } else {
        printf("%zu points, %zu figures in %.1f s: %s/evaluation.md\n", e.point_count, e.sheet_count,
               e.seconds, e.folder);
    }
    evaluation_fini(&e);
    return status;
}

static bool can_be_dealt(const struct caches_asked *asked, struct err *err)
{
    return !asked->request.ranks || (asked->request.sweep_text && !asked->evaluate) ||
           err_set(err,
                   "caches: without --sweep it does not run over several ranks: start it without mpirun");
}

static int run(int count_words, char **words)
{
    struct err err = {{0}};
    struct caches_asked asked = {
        .request = {.spec = {.l1 = {64 << 10, 16, 64}, .l2 = {512 << 10, 16, 64}, .seed = 1},
                    .device = caches_devices,
                    .interrupt = &interrupted},
    };
    catch_interrupts();
    if (!dealing_join(&asked.request.ranks, &err))
        return complain(EXIT_FAILED, &err);
    struct ranks *ranks = asked.request.ranks;
    bool good = options_parse(options, count_words, words, NULL, took_plugin, &err) &&
                options_parse(options, count_words, words, &asked, took, &err) && over_ranks_begin(&err) &&
                can_be_dealt(&asked, &err);
    int status = good && asked.evaluate ? evaluate(&asked) : simulate(&asked, good, &err);
    sweep_fini(&asked.request.sweep);
    mem_free(asked.request.traces);
    return dealing_leave(ranks, status);
}

static void help_more(void)
{
#define X(name, text, help) printf("  %-26s %s\n", text, help);
    puts("\nMachines:");
    CACHES_MACHINES(X)
    puts("\nPolicies:");
    REPLACE_POLICIES(X)
#undef X
    puts("\nKeys of --sweep; values are A..B (by doubling), or A:B:C:");
    for (const struct sweep_key *key = sweep_keys; key->name; key++)
        printf("  %-26s %s\n", key->name, key->help);
    generators_print();
}

const struct cmd cmd_caches = {
    .name = "caches",
    .arguments = "[options] TRACE... | --generate KIND --accesses N",
    .help = "simulate many caches over traces of many cores, exactly",
    .more =
        "Counts hits, misses, evictions, write-backs and invalidations of tiles with an L1 each and an\n"
        "L2 each or shared. One trace is one core; with more tiles than traces they are used again, each\n"
        "round in an address space of its own. Traces that are given together share one, and their\n"
        "caches snoop on each other, unless --snoop says otherwise. docs/caches.md tells more.",
    .options = options,
    .over_ranks = true,
    .run = run,
    .help_more = help_more,
};
