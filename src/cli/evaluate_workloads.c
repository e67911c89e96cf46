/* The workloads, as rows, and their traces. */
#include "cli/cli.h"
#include "cli/evaluate.h"
#include "cli/recording.h"
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

const char *program_role(const char *program)
{
    for (size_t i = 0; i < COUNT_OF(roles); i++) {
        if (!strcmp(roles[i].program, program))
            return roles[i].role;
    }
    return "";
}

uint32_t workload_programs(const struct evaluate_workload *workload)
{
    uint32_t count = 0;
    while (count < PROGRAMS_MOST && workload->programs[count])
        count++;
    return count;
}

uint32_t workload_traces(const struct evaluate_workload *workload)
{
    return workload_programs(workload) * workload->threads;
}

void trace_path(struct text *text, const char *folder, const char *program, uint32_t threads, uint32_t number)
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
        trace_path(&path, folder, program, threads, i);
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

static char *decimal(uint64_t number)
{
    struct text text = {0};
    text_add(&text, "%llu", (unsigned long long)number);
    return text.at;
}

static void remove_traces(const char *folder, const char *program, uint32_t threads)
{
    for (uint32_t i = 1; i <= threads; i++) {
        struct text path = {0};
        trace_path(&path, folder, program, threads, i);
        unlink(path.at);
        text_fini(&path);
    }
}

/* Each thread has as many, or none is kept. */
static bool is_whole(const struct recording *recording, const char *folder, const char *program,
                     uint32_t threads, uint64_t wanted, struct err *err)
{
    uint64_t got = 0;
    bool good = !interrupted && !recording->process.signal && shortest(folder, program, threads, &got, err) &&
                (got >= wanted || err_set(err, "%s: a thread made %llu accesses, not %llu", program,
                                          (unsigned long long)got, (unsigned long long)wanted));
    if (recording->process.signal)
        err_set(err, "%s was ended by signal %d while it was recorded", program, recording->process.signal);
    if (!good)
        remove_traces(folder, program, threads);
    return good;
}

/* The program goes on for as long as accesses are wanted. */
static bool record(const struct caches_request *r, const char *folder, const char *program, uint32_t threads,
                   uint64_t accesses, struct err *err)
{
    struct text name = {0}, output = {0};
    struct err why;
    text_add(&name, "threads/%s", program);
    text_add(&output, "%s/traces/%s-%u", folder, program, threads);
    char *path = process_beside("caches", name.at, &why), *count = decimal(threads);
    char *words[] = {path, (char *)"--threads", count, (char *)"--rounds", (char *)"16777216", NULL};
    struct record_request request = {.record = {.accesses = accesses,
                                                .skip_threads = threads + 1,
                                                .range_count = 1,
                                                .ranges = {{1, UINT32_MAX}}},
                                     .output = output.at,
                                     .words = words,
                                     .no_progress = r->no_progress};
    struct recording recording = {.request = &request};
    bool good = path && recording_run(&recording, &why);
    if (!good)
        err_set(err, "%s/traces has no traces of %s, and they cannot be made here: %s", folder, program,
                why.text);
    catch_interrupts(); /* meanwhile they went to the program */
    interrupted = interrupted ? interrupted : process_asked_to_end();
    good = good && is_whole(&recording, folder, program, threads, accesses, err);
    recording_fini(&recording);
    mem_free(path);
    mem_free(count);
    text_fini(&name);
    text_fini(&output);
    return good;
}

static bool record_unless_there(const struct caches_request *r, const char *folder, const char *program,
                                uint32_t threads, uint64_t accesses, struct err *err)
{
    uint64_t there;
    if (!shortest(folder, program, threads, &there, err))
        return false;
    if (there >= accesses)
        return true;
    if (there)
        return err_set(err,
                       "%s/traces: those of %s with %u threads have %llu accesses, not %llu: say --accesses "
                       "%llu, or remove them to have them recorded",
                       folder, program, threads, (unsigned long long)there, (unsigned long long)accesses,
                       (unsigned long long)there);
    return record(r, folder, program, threads, accesses, err);
}

static bool make_folder(const char *path, struct err *err)
{
    return !mkdir(path, 0777) || errno == EEXIST ||
           err_set(err, "--evaluate: cannot make the folder %s: %s", path, strerror(errno));
}

bool evaluate_record(const struct caches_request *r, const char *folder, uint64_t accesses, struct err *err)
{
    struct text traces = {0};
    text_add(&traces, "%s/traces", folder);
    bool good = make_folder(folder, err) && make_folder(traces.at, err);
    text_fini(&traces);
    for (size_t i = 0; good && i < WORKLOADS; i++) {
        for (size_t k = 0; good && k < workload_programs(&evaluate_workloads[i]); k++)
            good = record_unless_there(r, folder, evaluate_workloads[i].programs[k],
                                       evaluate_workloads[i].threads, accesses, err);
    }
    return good;
}
