/* Runs points in the model, each in a process of its own: what one leaves in memory, or breaks, is no other's
 * business. */
#include "validate/validate.h"
#include "base/mem.h"
#include "base/progress.h"
#include "driver/driver.h"
#include "driver/facts.h"
#include "gpu/metrics.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a process tells; it fits into a pipe at once. */
struct told {
    bool good;
    char wrong[400];
    uint64_t launches;
    double model[QUANTITY_COUNT];
    struct workload_figure figures[WORKLOAD_FIGURES_MOST];
    size_t figure_count;
};

/* ---- in the process of a point ---- */

static double metric(const struct metric_source *source, const char *name)
{
    const struct metric_row *row = metric_find(source, name);
    REQUIRE(row);
    return metric_value(source, row);
}

/* All launches: counts are added up, and L1's hit rate is weighted as in what was measured. */
static void look(void *user, struct driver *driver)
{
    struct told *told = user;
    struct launch_record record;
    double *model = told->model, l1_cycles = 0, l2_hits = 0, l2_sectors = 0;
    memset(told->model, 0, sizeof told->model);
    for (size_t i = 0; driver_launch(driver, i, &record); i++) {
        struct launch_facts facts = {.blocks_per_sm = record.blocks_per_sm};
        struct metric_source source = facts_source(&facts, driver_system(driver), record.timing);
        if (!record.timing)
            continue;
        double cycles = metric(&source, "gpc__cycles_elapsed.max");
        model[QUANTITY_CYCLES] += cycles;
        model[QUANTITY_INSTRUCTIONS] += metric(&source, "smsp__inst_executed.sum");
        model[QUANTITY_DRAM_BYTES] += metric(&source, "dram__bytes.sum");
        l1_cycles += cycles * metric(&source, "l1tex__t_sector_hit_rate.pct");
        l2_hits += metric(&source, "lts__t_sectors_lookup_hit.sum");
        l2_sectors += metric(&source, "lts__t_sectors.sum");
        told->launches++;
    }
    model[QUANTITY_L1_HIT] = l1_cycles / model[QUANTITY_CYCLES];
    model[QUANTITY_L2_HIT] = l2_sectors > 0 ? 100 * l2_hits / l2_sectors : NAN;
}

static void simulate(const struct point *point, const struct validation_run *how, struct told *told)
{
    uint64_t values[WORKLOAD_OPTIONS_MOST];
    struct err err;
    struct workload_result result;
    const struct workload *workload = point_options(point->row, values);
    struct driver_options options = {.system = how->system,
                                     .settings = how->settings,
                                     .threads = how->threads,
                                     .interrupt = how->interrupt,
                                     .timing = {.on = true, .cold_caches = how->profiled}};
    told->good = workload_run_driven(workload, values, &options, look, told, &result, &err);
    if (!told->good)
        snprintf(told->wrong, sizeof told->wrong, "%.*s", (int)strcspn(err.text, "\n"), err.text);
    told->figure_count = result.figure_count;
    memcpy(told->figures, result.figures, sizeof told->figures);
}

/* ---- here ---- */

struct job {
    struct point *point; /* NULL: a free place */
    pid_t process;
    int pipe;
};

static void fail(struct point *point, const char *what)
{
    snprintf(point->wrong, sizeof point->wrong, "%s", what);
}

static void start(struct job *job, struct point *point, const struct validation_run *how)
{
    int ends[2];
    if (pipe(ends)) {
        fail(point, strerror(errno));
        return;
    }
    fflush(NULL);
    pid_t parent = getpid(), process = fork();
    if (process < 0) {
        fail(point, strerror(errno));
        close(ends[0]);
        close(ends[1]);
        return;
    }
    if (!process) {
        struct told told = {0};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        simulate(point, how, &told);
        _exit(write(ends[1], &told, sizeof told) == sizeof told ? 0 : 1);
    }
    close(ends[1]);
    *job = (struct job){.point = point, .process = process, .pipe = ends[0]};
}

static struct figure *find_figure(struct point *point, const char *name)
{
    for (size_t i = 0; i < point->figure_count; i++) {
        if (!strcmp(point->figures[i].name, name))
            return &point->figures[i];
    }
    return NULL;
}

/* Figures of the model that were not measured are kept if microbenchmarks are all there is. */
static void keep_figure(struct point *point, const struct workload_figure *told, bool is_profiled)
{
    struct figure *figure = find_figure(point, told->name);
    if (!figure && !is_profiled && point->figure_count < POINT_FIGURES_MOST) {
        figure = &point->figures[point->figure_count++];
        snprintf(figure->name, sizeof figure->name, "%s", told->name);
        figure->measured = NAN;
    }
    if (figure)
        figure->model = told->value;
}

static void keep(struct point *point, const struct told *told, bool is_profiled)
{
    point->ran = told->good;
    point->launches = told->launches;
    memcpy(point->wrong, told->wrong, sizeof point->wrong);
    memcpy(point->model, told->model, sizeof point->model);
    for (size_t i = 0; i < told->figure_count; i++)
        keep_figure(point, &told->figures[i], is_profiled);
}

/* Its process has told, or has ended without. */
static void finish(struct job *job, bool interrupted, bool is_profiled)
{
    struct told told;
    size_t got = 0;
    int status = 0;
    for (ssize_t more; got < sizeof told; got += (size_t)more) {
        more = read(job->pipe, (char *)&told + got, sizeof told - got);
        if (more < 0 && errno == EINTR)
            more = 0;
        else if (more <= 0)
            break;
    }
    close(job->pipe);
    while (waitpid(job->process, &status, 0) < 0 && errno == EINTR)
        ;
    if (got == sizeof told && !interrupted)
        keep(job->point, &told, is_profiled);
    else if (!interrupted)
        snprintf(job->point->wrong, sizeof job->point->wrong, "its process ended early, with %s %d",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    job->point = NULL;
}

/* How long a point takes, more or less. */
static double weight(const struct point *point)
{
    double instructions = point->measured[QUANTITY_INSTRUCTIONS], cycles = point->measured[QUANTITY_CYCLES];
    return 50000 + (isnan(instructions) ? 0 : instructions) + (isnan(cycles) ? 0 : cycles);
}

/* Waits a moment for one of them. */
static void wait_some(struct job *jobs, const struct validation_run *how, double *done, size_t *points)
{
    enum { MOMENT_MS = 200 };
    unsigned count = how->jobs;
    struct pollfd files[VALIDATE_JOBS_MOST];
    for (unsigned i = 0; i < count; i++)
        files[i] = (struct pollfd){.fd = jobs[i].point ? jobs[i].pipe : -1, .events = POLLIN};
    int ready = poll(files, count, MOMENT_MS);
    bool interrupted = *how->interrupt;
    for (unsigned i = 0; i < count; i++) {
        if (!jobs[i].point)
            continue;
        if (interrupted)
            kill(jobs[i].process, SIGKILL);
        else if (ready <= 0 || !files[i].revents)
            continue;
        if (!interrupted) {
            *done += weight(jobs[i].point);
            ++*points;
        }
        finish(&jobs[i], interrupted, how->profiled);
    }
}

void validation_run(struct validation *validation, const struct validation_run *how)
{
    struct job places[VALIDATE_JOBS_MOST] = {{0}};
    struct progress progress;
    double all = 0, done = 0;
    size_t next = 0, ended = 0;
    for (size_t i = 0; i < validation->count; i++)
        all += weight(&validation->points[i]);
    progress_init(&progress, "validate", "points");
    for (bool busy = true; busy;) {
        busy = false;
        for (unsigned i = 0; i < how->jobs; i++) {
            if (!places[i].point && next < validation->count && !*how->interrupt)
                start(&places[i], &validation->points[next++], how);
            busy |= places[i].point || (next < validation->count && !*how->interrupt);
        }
        wait_some(places, how, &done, &ended);
        if (!how->no_progress)
            progress_update(&progress, done / all, ended);
    }
    progress_fini(&progress);
}
