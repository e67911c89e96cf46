/* Runs the points, each in a process of its own: what one leaves in memory, or breaks, is no other's
 * business. */
#include "study/campaign/campaign.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct job {
    struct campaign_point *point; /* NULL: a free place */
    pid_t process;
    char *stats, *log; /* files */
    double asked_at;   /* to end; 0: it was not */
};

struct running {
    struct campaign *campaign;
    const struct campaign_how *how;
    struct job *jobs;
    struct progress progress;
    size_t next, ended, failed;
};

static char *file_of(const struct campaign_how *how, const struct campaign_point *point, const char *ending)
{
    struct text path = {0};
    text_add(&path, "%s/%016llx.%s", how->folder, (unsigned long long)point->digest, ending);
    return path.at;
}

static void fail(struct running *r, struct campaign_point *point, const char *what)
{
    point->state = CAMPAIGN_FAILED;
    point->wrong = campaign_keep(r->campaign, what);
    r->failed++;
    progress_fini(&r->progress);
    r->how->failed(r->campaign, point);
}

/* ---- starting ---- */

static void become_heddle(const struct campaign_how *how, const struct job *job, pid_t parent, char **words)
{
    int log = open(job->log, O_WRONLY | O_CREAT | O_TRUNC, 0666), nothing = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0); /* Ctrl-C comes to the study, which passes it on */
    if (getppid() != parent || log < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
        _exit(1);
    execv(how->program, words);
    dprintf(STDERR_FILENO, "heddle: cannot start %s: %s\n", how->program, strerror(errno));
    _exit(1);
}

/* The point's words, with those that say where the statistics go behind the command's (and its workload's)
 * name. */
static struct campaign_words command_of(const struct campaign_point *point, const char *stats,
                                        const char *threads)
{
    const char *const more[] = {"--json",    stats,  "--stats-launches", "0", "--no-progress",
                                "--threads", threads};
    size_t first = strcmp(point->words.at[0], "bench") ? 1 : 2;
    struct campaign_words words = {0};
    campaign_add_word(&words, "heddle");
    for (size_t i = 0; i < first; i++)
        campaign_add_word(&words, point->words.at[i]);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        campaign_add_word(&words, more[i]);
    for (size_t i = first; i < point->words.count; i++)
        campaign_add_word(&words, point->words.at[i]);
    campaign_add_word(&words, NULL);
    return words;
}

static void start(struct running *r, struct job *job, struct campaign_point *point)
{
    char threads[16];
    snprintf(threads, sizeof threads, "%u", r->how->threads);
    *job = (struct job){
        .point = point, .stats = file_of(r->how, point, "json"), .log = file_of(r->how, point, "log")};
    struct campaign_words words = command_of(point, job->stats, threads);
    unlink(job->stats);
    fflush(NULL);
    pid_t parent = getpid();
    job->process = fork();
    if (!job->process)
        become_heddle(r->how, job, parent, (char **)(uintptr_t)words.at);
    mem_free(words.at);
    if (job->process < 0) {
        fail(r, point, strerror(errno));
        job->point = NULL;
    }
}

/* ---- ending ---- */

/* What it said last as an error, or else last of all. */
static void last_words(const char *log, struct text *text)
{
    enum { LOG_MOST = 1 << 24 };
    static const char ours[] = "heddle: ";
    struct text all = {0};
    struct err unused;
    const char *last = NULL, *error = NULL;
    file_read(log, LOG_MOST, &all, &unused);
    for (char *at = all.at, *line; (line = strsep(&at, "\n"));) {
        if (*line)
            last = line;
        if (!strncmp(line, ours, sizeof ours - 1))
            error = line + sizeof ours - 1;
    }
    if (error || last)
        text_add(text, "%s", error ? error : last);
    text_fini(&all);
}

static void take_result(struct running *r, struct job *job, int status)
{
    struct text why = {0};
    struct err err;
    if (!status)
        job->point->values = campaign_metrics_read(job->stats, job->log, &err);
    if (job->point->values) {
        job->point->state = CAMPAIGN_DONE;
    } else {
        if (WIFSIGNALED(status))
            text_add(&why, "signal %d ended it", WTERMSIG(status));
        else if (!status)
            text_add(&why, "%s", err.text);
        else
            last_words(job->log, &why);
        if (WIFEXITED(status) && status)
            text_add(&why, "%sstatus %d", why.length ? ", " : "", WEXITSTATUS(status));
        fail(r, job->point, why.at);
    }
    if (!r->how->keeps || !job->point->values)
        unlink(job->stats);
    if (!r->how->keeps || !job->point->values || !campaign_metrics_are_printed())
        unlink(job->log);
    text_fini(&why);
}

static void finish(struct running *r, struct job *job, int status)
{
    if (!status || !*r->how->interrupt) {
        take_result(r, job, status);
    } else {
        unlink(job->stats);
        unlink(job->log);
    }
    mem_free(job->stats);
    mem_free(job->log);
    job->point = NULL;
    r->ended++;
}

/* ---- all ---- */

/* A point that need not run: its result is there, or another point is the same. */
static bool is_known(struct running *r, struct campaign_point *point)
{
    struct err unused;
    if (point->same != (size_t)(point - r->campaign->points))
        return true;
    if (!r->how->resume)
        return false;
    char *stats = file_of(r->how, point, "json"), *log = file_of(r->how, point, "log");
    point->values = campaign_metrics_read(stats, log, &unused);
    mem_free(stats);
    mem_free(log);
    if (point->values)
        point->state = CAMPAIGN_DONE;
    return point->values;
}

static void start_next(struct running *r, struct job *job)
{
    while (!job->point && r->next < r->campaign->point_count && !*r->how->interrupt) {
        struct campaign_point *point = &r->campaign->points[r->next++];
        if (is_known(r, point))
            r->ended++;
        else
            start(r, job, point);
    }
}

/* Asks it to end, and after a while makes it. */
static void end(struct job *job)
{
    static const double patience = 2; /* seconds */
    if (!job->asked_at)
        kill(job->process, SIGTERM);
    else if (host_seconds() > job->asked_at + patience)
        kill(job->process, SIGKILL);
    job->asked_at = job->asked_at ? job->asked_at : host_seconds();
}

static void wait_some(struct running *r)
{
    static const struct timespec moment = {.tv_nsec = 4 * 1000 * 1000};
    bool any = false;
    for (unsigned i = 0; i < r->how->jobs; i++) {
        struct job *job = &r->jobs[i];
        int status;
        if (job->point && *r->how->interrupt)
            end(job);
        if (job->point && waitpid(job->process, &status, WNOHANG) == job->process) {
            finish(r, job, status);
            any = true;
        }
    }
    if (!any)
        nanosleep(&moment, NULL);
}

static void share_results(struct running *r)
{
    size_t bytes = campaign_metric_count() * sizeof(double);
    for (size_t i = 0; i < r->campaign->point_count; i++) {
        struct campaign_point *point = &r->campaign->points[i];
        const struct campaign_point *same = &r->campaign->points[point->same];
        if (point == same)
            continue;
        point->state = same->state;
        point->wrong = same->wrong;
        if (same->values)
            point->values = memcpy(mem_alloc(1, bytes), same->values, bytes);
    }
}

size_t campaign_run(struct campaign *campaign, const struct campaign_how *how)
{
    struct running r = {.campaign = campaign, .how = how, .jobs = mem_alloc(how->jobs, sizeof *r.jobs)};
    progress_init(&r.progress, "study", "points");
    for (bool is_busy = true; is_busy;) {
        is_busy = false;
        for (unsigned i = 0; i < how->jobs; i++) {
            start_next(&r, &r.jobs[i]);
            is_busy |= r.jobs[i].point != NULL;
        }
        if (is_busy)
            wait_some(&r);
        if (!how->no_progress)
            progress_update(&r.progress, (double)r.ended / (double)campaign->point_count, r.ended);
    }
    progress_fini(&r.progress);
    share_results(&r);
    mem_free(r.jobs);
    return r.failed;
}
