#include "study/campaign/campaign_job.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "ranks/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a result begins with. The files' bytes are behind it if another rank than 0 ran the point: those of
 * rank 0 are where they belong. */
struct result {
    int32_t status;
    uint32_t has_files;
    uint64_t stats_bytes, log_bytes;
};

char *campaign_file(const struct campaign_how *how, const struct campaign_point *point, const char *ending)
{
    struct text path = {0};
    text_add(&path, "%s/%016llx.%s", how->folder, (unsigned long long)point->digest, ending);
    return path.at;
}

/* ---- starting ---- */

static void become_heddle(const struct campaign_how *how, const struct campaign_job *job, pid_t parent,
                          char **words)
{
    int log = open(job->log, O_WRONLY | O_CREAT | O_TRUNC, 0666), nothing = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0); /* Ctrl-C comes to the study, which passes it on */
    if (getppid() != parent || log < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
        _exit(1);
    ranks_forget_job();
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

void campaign_job_start(struct campaign_job *job, const struct campaign_how *how,
                        const struct campaign_point *point)
{
    char threads[16];
    snprintf(threads, sizeof threads, "%u", how->threads);
    *job = (struct campaign_job){
        .point = point, .stats = campaign_file(how, point, "json"), .log = campaign_file(how, point, "log")};
    struct campaign_words words = command_of(point, job->stats, threads);
    unlink(job->stats);
    fflush(NULL);
    pid_t parent = getpid();
    job->process = fork();
    job->why = errno;
    if (!job->process)
        become_heddle(how, job, parent, (char **)(uintptr_t)words.at);
    mem_free(words.at);
}

void campaign_job_stop(struct campaign_job *job, const struct campaign_how *how)
{
    /* seconds; mpirun gives a rank one, all in all */
    const double patience = ranks_count(how->ranks) > 1 ? 0.4 : 2;
    if (job->process < 0)
        return;
    if (!job->asked_at)
        kill(job->process, SIGTERM);
    else if (host_seconds() > job->asked_at + patience)
        kill(job->process, SIGKILL);
    job->asked_at = job->asked_at ? job->asked_at : host_seconds();
}

/* ---- what came of it ---- */

enum { FILE_MOST = 1 << 24 };

/* Of a log that is longer, only so much is looked at anyway. */
static uint64_t add_file(const char *path, size_t most, struct text *text)
{
    size_t before = text->length;
    struct err unused;
    file_read(path, most, text, &unused);
    return text->length - before;
}

static void pack(const struct campaign_job *job, bool with_files, int status, struct text *text)
{
    static const size_t stats_most = (size_t)1 << 30;
    struct result result = {.status = status, .has_files = with_files};
    text_add_bytes(text, (const char *)&result, sizeof result);
    if (!with_files)
        return;
    result.stats_bytes = add_file(job->stats, stats_most, text);
    result.log_bytes = add_file(job->log, FILE_MOST, text);
    memcpy(text->at, &result, sizeof result);
}

/* As if it had said why and had failed. */
static int write_why(const struct campaign_job *job)
{
    FILE *log = fopen(job->log, "w");
    if (log) {
        fprintf(log, "heddle: cannot start a process: %s\n", strerror(job->why));
        fclose(log);
    }
    return W_EXITCODE(1, 0);
}

bool campaign_job_ended(struct campaign_job *job, const struct campaign_how *how, struct text *result)
{
    int status;
    if (job->process < 0)
        status = write_why(job);
    else if (waitpid(job->process, &status, WNOHANG) != job->process)
        return false;
    bool was_made = status && (*how->interrupt || job->asked_at), is_far = ranks_number(how->ranks);
    if (!was_made)
        pack(job, is_far, status, result);
    if (was_made || is_far) {
        unlink(job->stats);
        unlink(job->log);
    }
    mem_free(job->stats);
    mem_free(job->log);
    return true;
}

/* None is written for an empty one. */
static bool write_file(const struct campaign_how *how, const struct campaign_point *point, const char *ending,
                       const char *bytes, size_t count, struct err *err)
{
    struct file_writer writer;
    char *path = campaign_file(how, point, ending);
    bool good = !count || file_open(&writer, path, err);
    if (good && count) {
        fwrite(bytes, 1, count, writer.stream);
        good = file_close(&writer, err);
    }
    mem_free(path);
    return good;
}

bool campaign_job_unpack(const struct campaign_how *how, const struct campaign_point *point,
                         const struct text *bytes, int *status, struct err *err)
{
    struct result result;
    REQUIRE(bytes->length >= sizeof result);
    memcpy(&result, bytes->at, sizeof result);
    const char *stats = bytes->at + sizeof result, *log = stats + result.stats_bytes;
    *status = result.status;
    /* whoever resumes takes a point for done when its statistics are there: they come last */
    return !result.has_files || (write_file(how, point, "log", log, result.log_bytes, err) &&
                                 write_file(how, point, "json", stats, result.stats_bytes, err));
}
