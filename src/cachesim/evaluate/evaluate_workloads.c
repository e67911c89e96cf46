/* The workloads, as rows, and their traces. */
#include "cachesim/evaluate/evaluate.h"
#include "base/bits.h"
#include "base/mem.h"
#include "trace/file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

const struct evaluate_workload evaluate_workloads[WORKLOADS] = {
    {"A", 1, {"centres"}, NULL},           {"B", 1, {"centres", "prices"}, NULL},
    {"C", 4, {"centres"}, NULL},           {"D", 4, {"prices"}, NULL},
    {"E", 4, {"centres", "prices"}, NULL}, {"F", 4, {"centres", "prices", "netlist"}, NULL},
    {"G", 8, {"centres"}, NULL},           {"H", 8, {"prices"}, NULL},
    {"I", 8, {"netlist"}, NULL},           {"made", 1, {NULL}, "zipf:footprint=1MiB,skew=1.2"},
};

static const struct {
    const char *program, *role;
} roles[] = {{"centres", "streamcluster"}, {"prices", "blackscholes"}, {"netlist", "canneal"}};

const char *evaluate_program_role(const char *program)
{
    for (size_t i = 0; i < COUNT_OF(roles); i++) {
        if (!strcmp(roles[i].program, program))
            return roles[i].role;
    }
    return "";
}

uint32_t evaluate_workload_programs(const struct evaluate_workload *workload)
{
    uint32_t count = 0;
    while (count < PROGRAMS_MOST && workload->programs[count])
        count++;
    return count;
}

uint32_t evaluate_workload_traces(const struct evaluate_workload *workload)
{
    return evaluate_workload_programs(workload) * workload->threads;
}

void evaluate_trace_path(struct text *text, const char *folder, const char *program, uint32_t threads,
                         uint32_t number)
{
    text_add(text, "%s/traces/%s-%u.%u.htrace", folder, program, threads, number);
}

/* ---- those that are there ---- */

/* Accesses of the shortest trace of this program; 0: some is not there. */
static bool shortest(const char *folder, const char *program, uint32_t threads, uint64_t *accesses,
                     struct err *err)
{
    *accesses = UINT64_MAX;
    for (uint32_t i = 1; i <= threads && *accesses; i++) {
        struct text path = {0};
        evaluate_trace_path(&path, folder, program, threads, i);
        bool there = !access(path.at, F_OK);
        struct trace_file *file = there ? trace_file_open(path.at, err) : NULL;
        *accesses = file ? min_u64(*accesses, trace_file_accesses(file)) : 0;
        trace_file_close(file);
        text_fini(&path);
        if (there && !file)
            return false;
    }
    return true;
}

/* ---- those that are not ---- */

static void remove_traces(const char *folder, const char *program, uint32_t threads)
{
    for (uint32_t i = 1; i <= threads; i++) {
        struct text path = {0};
        evaluate_trace_path(&path, folder, program, threads, i);
        unlink(path.at);
        text_fini(&path);
    }
}

/* Each thread has as many as were wanted, or none is kept. */
static bool is_whole(const struct evaluation *e, const struct trace_wish *wish, struct err *err)
{
    uint64_t got = 0;
    bool good =
        !*e->r->interrupt && shortest(e->folder, wish->program, wish->threads, &got, err) &&
        (got >= wish->accesses || err_set(err, "%s: a thread made %llu accesses, not %llu", wish->program,
                                          (unsigned long long)got, (unsigned long long)wish->accesses));
    return good;
}

static bool record(const struct evaluation *e, const char *program, uint32_t threads, struct err *err)
{
    struct text output = {0};
    text_add(&output, "%s/traces/%s-%u", e->folder, program, threads);
    struct trace_wish wish = {.program = program,
                              .threads = threads,
                              .accesses = e->accesses,
                              .output = output.at,
                              .no_progress = e->r->no_progress};
    struct err why;
    bool recorded = e->record(&wish, &why), good = recorded && is_whole(e, &wish, err);
    if (!recorded)
        err_set(err, "%s/traces has no traces of %s, and they cannot be made here: %s", e->folder, program,
                why.text);
    if (!good)
        remove_traces(e->folder, program, threads);
    text_fini(&output);
    return good;
}

static bool record_unless_there(const struct evaluation *e, const char *program, uint32_t threads,
                                struct err *err)
{
    uint64_t there;
    if (!shortest(e->folder, program, threads, &there, err))
        return false;
    if (there >= e->accesses)
        return true;
    if (there)
        return err_set(err,
                       "%s/traces: those of %s with %u threads have %llu accesses, not %llu: say --accesses "
                       "%llu, or remove them to have them recorded",
                       e->folder, program, threads, (unsigned long long)there,
                       (unsigned long long)e->accesses, (unsigned long long)there);
    return record(e, program, threads, err);
}

static bool make_folder(const char *path, struct err *err)
{
    return !mkdir(path, 0777) || errno == EEXIST ||
           err_set(err, "--evaluate: cannot make the folder %s: %s", path, strerror(errno));
}

bool evaluation_record(const struct evaluation *e, struct err *err)
{
    struct text traces = {0};
    text_add(&traces, "%s/traces", e->folder);
    bool good = make_folder(e->folder, err) && make_folder(traces.at, err);
    text_fini(&traces);
    for (size_t i = 0; good && i < WORKLOADS; i++) {
        for (size_t k = 0; good && k < evaluate_workload_programs(&evaluate_workloads[i]); k++)
            good =
                record_unless_there(e, evaluate_workloads[i].programs[k], evaluate_workloads[i].threads, err);
    }
    return good;
}
