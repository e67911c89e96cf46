#include "cli/over_ranks.h"
#include "base/bits.h"
#include "base/host.h"
#include "base/mem.h"
#include "driver/ledger_format.h"
#include "ranked/ranked.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ranks *joined;
static bool leads; /* followers wait for what is to be done */

struct ranks *over_ranks(void)
{
    return joined;
}

bool over_ranks_join(struct ranks **ranks, struct err *err)
{
    if (!joined && ranks_job().count > 1 && !(joined = ranks_start(err)))
        return false;
    *ranks = joined;
    return true;
}

int over_ranks_leave(int status)
{
    if (!joined)
        return status;
    fflush(NULL);
    if (status != EXIT_GOOD)
        ranks_kill(joined, status);
    if (leads)
        ranked_dismiss(joined);
    ranks_end(joined);
    joined = NULL;
    return status;
}

/* Signals are for the leading rank, which writes what it knows and dismisses the others. If it does not,
 * soon, they end by themselves. */
static void end_soon(int number)
{
    enum { SECONDS = 10 };
    interrupted = number;
    alarm(SECONDS);
}

static int follow(struct err *err)
{
    signal(SIGINT, end_soon);
    signal(SIGTERM, end_soon);
    signal(SIGHUP, end_soon);
    return ranked_follow(joined, err) ? EXIT_GOOD : complain(EXIT_FAILED, err);
}

static bool check_timing(bool timing, struct err *err)
{
    return timing || ranks_job().count == 1 ||
           err_set(err, "ranks share simulated time: they need --mode timing");
}

bool over_ranks_simulate(bool timing, bool *follows, int *status, struct err *err)
{
    struct ranks *ranks = NULL;
    *follows = false;
    if (!check_timing(timing, err) || !over_ranks_join(&ranks, err))
        return false;
    if (!ranks)
        return true;
    leads = !ranks_number(ranks);
    *follows = !leads;
    *status = leads ? EXIT_GOOD : follow(err);
    return true;
}

bool over_ranks_run(bool timing, bool *follows, int *status, struct err *err)
{
    struct ranks *ranks;
    *follows = ranks_job().number;
    if (!check_timing(timing, err) || (*follows && !over_ranks_join(&ranks, err)))
        return false;
    if (*follows)
        *status = follow(err);
    return true;
}

void over_ranks_before(void)
{
    struct text path = {0};
    unsetenv("HEDDLE_RANKS");
    if (ranks_job().count == 1)
        return;
    ranks_add_transport(&path);
    setenv("HEDDLE_RANKS", "yes", 1);
    setenv("HEDDLE_TRANSPORT", path.at, 1);
    text_fini(&path);
}

bool over_ranks_after(const char *folder, struct err *err)
{
    struct ranks *ranks;
    struct text path = {0};
    text_add(&path, "%s/" LEDGER_RANKS, folder);
    bool has_joined = ranks_job().count == 1 || !access(path.at, R_OK);
    text_fini(&path);
    if (has_joined) /* the program, and it has dismissed the others */
        return true;
    leads = true;
    return over_ranks_join(&ranks, err);
}

/* Most errors are known to all ranks, and the leading one ends them all when it has told them. */
void over_ranks_tell(struct text *line)
{
    enum { LEAD_SECONDS = 2 };
    uint32_t number = ranks_job().number;
    char host[64] = "";
    if (ranks_job().count == 1 || !number)
        return;
    sleep(LEAD_SECONDS + number); /* of several the first tells, and ends the rest */
    if (interrupted)              /* so it has */
        _exit(EXIT_FAILED);
    gethostname(host, sizeof host - 1);
    text_add(line, "rank %u on %s: ", number, host);
}

/* The words of this command, without the option that brought us here. */
static char **own_words(size_t *count)
{
    FILE *file = fopen("/proc/self/cmdline", "r");
    char **words = NULL, *word = NULL;
    size_t capacity = 0, room = 0;
    *count = 0;
    while (file && getdelim(&word, &room, 0, file) > 0) {
        bool is_ours = !strcmp(word, "--ranks"), with_value = !strncmp(word, "--ranks=", 8);
        if (is_ours)
            (void)!getdelim(&word, &room, 0, file);
        if (is_ours || with_value)
            continue;
        mem_grow(words, *count, capacity);
        words[(*count)++] = mem_text(word);
    }
    free(word);
    if (file)
        fclose(file);
    return words;
}

static bool read_count(const char *text, unsigned long *count, struct err *err)
{
    char *end;
    *count = strtoul(text, &end, 10);
    return (*text && !*end && *text != '-' && *count >= 1 && *count <= RANKS_MOST) ||
           err_set(err, "--ranks: expected a number from 1 to %d, not '%.40s'", RANKS_MOST, text);
}

/* ---- mpirun: a child of this process, to which signals are passed on ---- */

#define LEADER   "HEDDLE_RANKS_LEADER" /* the file that the leading rank writes its process to */
#define TERMINAL "HEDDLE_RANKS_TERMINAL"

static volatile sig_atomic_t mpirun_process;
static char leader_file[4096];

static pid_t leader_process(void)
{
    char text[32] = "";
    int file = open(leader_file, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    return length > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

/* The first signal goes to the leading rank, which ends the others when it has written what it knows. Another
 * ends all. */
static void pass_on(int number)
{
    static volatile sig_atomic_t signals;
    pid_t leader = signals++ ? 0 : leader_process();
    if (leader <= 0 || kill(leader, number))
        kill(-mpirun_process, SIGTERM);
}

/* The leading rank says who it is. MPI gives it no terminal of its own, so it takes that of who started all.
 */
void over_ranks_introduce(void)
{
    const char *path = getenv(LEADER), *terminal = getenv(TERMINAL);
    if (ranks_job().number || !path)
        return;
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%d", (int)getpid());
        fclose(file);
    }
    int screen = terminal ? open(terminal, O_WRONLY | O_NOCTTY | O_CLOEXEC) : -1;
    if (screen >= 0) {
        dup2(screen, STDERR_FILENO);
        close(screen);
    }
    unsetenv(LEADER);
    unsetenv(TERMINAL);
}

static const char **mpirun_words(const char *count, const char *self)
{
    static const char *const first[] = {"mpirun", "-q", "--oversubscribe", "--bind-to", "none"};
    size_t own_count, total = 0;
    char **own = own_words(&own_count);
    const char **words = mem_alloc(own_count + COUNT_OF(first) + 8, sizeof *words);
    for (; total < COUNT_OF(first); total++)
        words[total] = first[total];
    if (!geteuid())
        words[total++] = "--allow-run-as-root";
    words[total++] = "-n";
    words[total++] = count;
    words[total++] = self;
    for (size_t i = 1; i < own_count; i++)
        words[total++] = own[i];
    words[total] = NULL;
    mem_free(own);
    return words;
}

/* In the child. Ctrl-C is for the process that waits for it; so the terminal cannot be read, either. */
static _Noreturn void become_mpirun(const char **words)
{
    int none = isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY) : -1;
    setpgid(0, 0);
    if (none >= 0)
        dup2(none, STDIN_FILENO);
    setenv(LEADER, leader_file, 1);
    if (isatty(STDERR_FILENO))
        setenv(TERMINAL, ttyname(STDERR_FILENO), 1);
    execvp(words[0], (char **)(uintptr_t)words);
    fprintf(stderr, "heddle: --ranks: cannot start mpirun: %s%s\n", strerror(errno),
            errno == ENOENT ? " (install openmpi-bin)" : "");
    _exit(EXIT_FAILED);
}

static _Noreturn void run_mpirun(const char *count)
{
    char self[4096] = "heddle";
    const char *folder = getenv("TMPDIR");
    snprintf(leader_file, sizeof leader_file, "%s/heddle-ranks-XXXXXX",
             folder && *folder ? folder : P_tmpdir);
    int status = 0, file = mkstemp(leader_file);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0)
        self[length] = 0;
    if (file >= 0)
        close(file);
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        become_mpirun(mpirun_words(count, self));
    mpirun_process = child;
    signal(SIGINT, pass_on);
    signal(SIGTERM, pass_on);
    signal(SIGHUP, pass_on);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    unlink(leader_file);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SIGNAL + SIGKILL)
        fputs("heddle: a rank was killed; --resume goes on from the last checkpoint, if there is one\n",
              stderr);
    exit(child < 0 ? EXIT_FAILED : WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status));
}

bool over_ranks_start(const char *ranks, struct err *err)
{
    unsigned long count;
    if (!read_count(ranks, &count, err))
        return false;
    if (ranks_job().count > 1)
        return ranks_job().count == count ||
               err_set(err, "--ranks %lu, but %u ranks were started", count, ranks_job().count);
    if (count > 1)
        run_mpirun(ranks);
    return true;
}
