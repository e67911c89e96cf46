/* Runs the points: each in a process of its own, several at a time, on all ranks. */
#include "study/campaign/campaign_job.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/progress.h"
#include "deal/deal.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct running {
    struct campaign *campaign;
    const struct campaign_how *how;
    struct campaign_job *jobs;
    struct progress progress;
    size_t next, ended, failed;
};

/* ---- what came of a point ---- */

static void fail(struct running *r, struct campaign_point *point, const char *what)
{
    point->state = CAMPAIGN_FAILED;
    point->wrong = campaign_keep(r->campaign, what);
    r->failed++;
    progress_fini(&r->progress);
    r->how->failed(r->campaign, point);
}

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

static void take_status(struct running *r, struct campaign_point *point, int status)
{
    char *stats = campaign_file(r->how, point, "json"), *log = campaign_file(r->how, point, "log");
    struct text why = {0};
    struct err err;
    if (!status)
        point->values = campaign_metrics_read(stats, log, &err);
    if (point->values) {
        point->state = CAMPAIGN_DONE;
    } else {
        if (WIFSIGNALED(status))
            text_add(&why, "signal %d ended it", WTERMSIG(status));
        else if (!status)
            text_add(&why, "%s", err.text);
        else
            last_words(log, &why);
        if (WIFEXITED(status) && status)
            text_add(&why, "%sstatus %d", why.length ? ", " : "", WEXITSTATUS(status));
        fail(r, point, why.at);
    }
    if (!r->how->keeps || !point->values)
        unlink(stats);
    if (!r->how->keeps || !point->values || !campaign_metrics_are_printed())
        unlink(log);
    text_fini(&why);
    mem_free(stats);
    mem_free(log);
    r->ended++;
}

/* ---- dealing: a piece is the number of a point ---- */

static struct campaign_point *point_of(const struct running *r, const struct text *piece)
{
    uint64_t number;
    REQUIRE(piece->length == sizeof number);
    memcpy(&number, piece->at, sizeof number);
    REQUIRE(number < r->campaign->point_count);
    return &r->campaign->points[number];
}

static bool is_first(const struct campaign *campaign, const struct campaign_point *point)
{
    return point->same == (size_t)(point - campaign->points);
}

/* Not one whose result is there, nor one that is the same as another. */
static bool next(void *user, struct text *piece)
{
    struct running *r = user;
    while (r->next < r->campaign->point_count) {
        uint64_t number = r->next++;
        const struct campaign_point *point = &r->campaign->points[number];
        if (point->state == CAMPAIGN_WAITS && is_first(r->campaign, point)) {
            text_add_bytes(piece, (const char *)&number, sizeof number);
            return true;
        }
        r->ended++;
    }
    return false;
}

static bool begin(void *user, unsigned place, const struct text *piece, struct err *err)
{
    struct running *r = user;
    (void)err; /* a point that cannot be started fails as others do */
    campaign_job_start(&r->jobs[place], r->how, point_of(r, piece));
    return true;
}

static enum deal_state look(void *user, unsigned place, struct text *result, struct err *err)
{
    struct running *r = user;
    (void)err;
    if (!campaign_job_ended(&r->jobs[place], r->how, result))
        return DEAL_BUSY;
    return result->length ? DEAL_ENDED : DEAL_BROKEN;
}

static void stop(void *user, unsigned place)
{
    struct running *r = user;
    campaign_job_stop(&r->jobs[place], r->how);
}

static bool take(void *user, const struct text *piece, const struct text *result, struct err *err)
{
    struct running *r = user;
    int status;
    struct campaign_point *point = point_of(r, piece);
    if (!campaign_job_unpack(r->how, point, result, &status, err))
        return false;
    take_status(r, point, status);
    return true;
}

static void show(void *user)
{
    struct running *r = user;
    if (!r->how->no_progress)
        progress_update(&r->progress, (double)r->ended / (double)r->campaign->point_count, r->ended);
}

/* ---- all ---- */

size_t campaign_resume(struct campaign *campaign, const struct campaign_how *how)
{
    size_t found = 0;
    for (size_t i = 0; i < campaign->point_count; i++) {
        struct campaign_point *point = &campaign->points[i];
        struct err unused;
        if (!is_first(campaign, point))
            continue;
        char *stats = campaign_file(how, point, "json"), *log = campaign_file(how, point, "log");
        point->values = campaign_metrics_read(stats, log, &unused);
        mem_free(stats);
        mem_free(log);
        if (point->values)
            point->state = CAMPAIGN_DONE;
        found += point->values != NULL;
    }
    return found;
}

size_t campaign_different(const struct campaign *campaign)
{
    size_t count = 0;
    for (size_t i = 0; i < campaign->point_count; i++)
        count += is_first(campaign, &campaign->points[i]);
    return count;
}

uint64_t campaign_digest(const struct campaign *campaign)
{
    uint64_t digest = digest_word(0, campaign->point_count);
    for (size_t i = 0; i < campaign->point_count; i++)
        digest = digest_word(digest, campaign->points[i].digest);
    return digest;
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

bool campaign_run(struct campaign *campaign, const struct campaign_how *how, size_t *failed, struct err *err)
{
    struct running r = {.campaign = campaign, .how = how, .jobs = mem_alloc(how->jobs, sizeof *r.jobs)};
    const struct deal_work work = {.places = how->jobs,
                                   .interrupt = how->interrupt,
                                   .next = next,
                                   .take = take,
                                   .show = show,
                                   .begin = begin,
                                   .look = look,
                                   .stop = stop};
    progress_init(&r.progress, "study", "points");
    bool good = deal_run(how->ranks, &work, &r, err);
    progress_fini(&r.progress);
    share_results(&r);
    mem_free(r.jobs);
    *failed = r.failed;
    return good;
}
