/* heddle trace generate: what a generator makes, a trace of each core. */
#include "cli/trace.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/unit.h"
#include "base/workers.h"
#include "trace/generate.h"
#include "trace/writer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct option_row options[] = {
    {"--accesses", "N", "of each core"},
    {"--cores", "N", "how many traces to make, one of each core; 1 if not given"},
    {"--seed", "N", "of the random numbers; 1 if not given"},
    {"-o", "PREFIX", "write PREFIX.0.htrace, PREFIX.1.htrace, ...; one core: FILE.htrace, if it ends so"},
    {"--output", "PREFIX", NULL},
    {NULL, NULL, NULL},
};

enum { CORES_MOST = 1 << 16 };

struct request {
    const char *kind, *prefix;
    uint64_t accesses, cores, seed;
};

void generators_print(void)
{
    puts("\nGenerators, and their options: KIND:option=value,option=value");
    for (size_t i = 0; generate_kinds[i]; i++) {
        const struct param_group *group = generate_kinds[i]->options;
        printf("  %s: %s\n", group->path, group->help);
        for (size_t k = 0; k < group->row_count; k++) {
            const struct param_row *row = &group->rows[k];
            printf("    %-14s %-8s %-14s %s\n", row->name, row->fallback, row->range, row->help);
        }
    }
}

/* ---- the traces ---- */

/* The names sort in the order of the cores. */
static void name_of(const struct request *request, uint32_t core, struct text *name)
{
    size_t length = strlen(request->prefix);
    int digits = snprintf(NULL, 0, "%" PRIu64, request->cores - 1);
    if (request->cores == 1 && length > 7 && !strcmp(request->prefix + length - 7, ".htrace"))
        text_add(name, "%s", request->prefix);
    else
        text_add(name, "%s.%0*" PRIu32 ".htrace", request->prefix, digits, core);
}

static bool write_core(const struct request *request, uint32_t core, struct err *err)
{
    struct source *source =
        source_generate(request->kind, core, (uint32_t)request->cores, request->accesses, request->seed, err);
    if (!source)
        return false;
    struct text name = {0};
    name_of(request, core, &name);
    struct trace_writer *writer = trace_writer_new(name.at, err);
    struct trace_access *accesses = mem_alloc(TRACE_AT_ONCE, sizeof *accesses);
    bool good = writer;
    long got;
    while (good && (got = source_read(source, accesses, TRACE_AT_ONCE, err)) != 0) {
        good = got > 0 && trace_write(writer, accesses, (size_t)got, err);
        if (good && interrupted)
            good = err_set(err, "trace generate: interrupted; %s was not written", name.at);
    }
    if (good)
        good = trace_writer_close(writer, err);
    else if (writer)
        trace_writer_abandon(writer);
    mem_free(accesses);
    text_fini(&name);
    source_close(source);
    return good;
}

struct job {
    const struct request *request;
    pthread_mutex_t lock;
    uint32_t failed; /* the first core that did, or UINT32_MAX */
    struct err err;  /* of it */
};

static void do_core(void *user, uint32_t core, unsigned worker)
{
    (void)worker;
    struct job *job = user;
    struct err err;
    err_set(&err, "trace generate: interrupted; not all traces were written");
    if (!interrupted && write_core(job->request, core, &err))
        return;
    pthread_mutex_lock(&job->lock);
    if (core < job->failed) {
        job->failed = core;
        job->err = err;
    }
    pthread_mutex_unlock(&job->lock);
}

static int generate(const struct request *request)
{
    struct job *job = mem_alloc(1, sizeof *job);
    struct err err;
    job->request = request;
    job->failed = UINT32_MAX;
    pthread_mutex_init(&job->lock, NULL);
    catch_interrupts();
    struct workers *workers = workers_new((unsigned)min_u64(host_cores(), request->cores));
    workers_run(workers, (uint32_t)request->cores, do_core, job);
    workers_free(workers);
    pthread_mutex_destroy(&job->lock);
    bool good = job->failed == UINT32_MAX;
    err = job->err;
    mem_free(job);
    return good ? EXIT_GOOD : complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, &err);
}

/* ---- the command ---- */

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *request = user;
    struct err why;
    if (!row && request->kind)
        return err_set(err, "trace generate: unexpected word '%.120s'", value);
    if (!row) {
        request->kind = value;
    } else if (!strcmp(row->name, "--accesses")) {
        return cmd_trace_count_parse(row->name, value, 1, &request->accesses, err);
    } else if (!strcmp(row->name, "--cores")) {
        return (unit_parse(UNIT_count, value, &request->cores, &why) && request->cores >= 1 &&
                request->cores <= CORES_MOST) ||
               err_set(err, "--cores: expected 1 to %d, not '%.80s'", CORES_MOST, value);
    } else if (!strcmp(row->name, "--seed")) {
        return unit_parse(UNIT_count, value, &request->seed, &why) ||
               err_set(err, "--seed: %.200s", why.text);
    } else {
        request->prefix = value;
    }
    return true;
}

static int run(int count, char **words)
{
    struct err err;
    struct request request = {.cores = 1, .seed = 1};
    bool good = options_parse(options, count, words, &request, took, &err);
    if (good && !request.kind)
        good = err_set(&err, "trace generate: expected the kind of a generator, such as zipf:footprint=1MiB");
    if (good && (!request.accesses || !request.prefix))
        good = err_set(&err, "trace generate: expected %s", request.accesses ? "-o PREFIX" : "--accesses N");
    good = good && source_generate_check(request.kind, (uint32_t)request.cores, request.accesses, &err);
    return good ? generate(&request) : complain(EXIT_USAGE, &err);
}

static void complete(const char *behind)
{
    (void)behind;
    for (size_t i = 0; generate_kinds[i]; i++)
        puts(generate_kinds[i]->options->path);
}

const struct cmd cmd_trace_generate = {
    .name = "trace generate",
    .arguments = "KIND[:options] --accesses N -o PREFIX",
    .help = "write traces that a generator makes",
    .options = options,
    .run = run,
    .help_more = generators_print,
    .complete = complete,
};
