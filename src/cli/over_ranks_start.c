/* --ranks N and --hosts FILE: this command is started N times by mpirun, and this process waits for it. */
#include "cli/over_ranks.h"
#include "cli/rank_hosts.h"
#include "base/bits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- options ---- */

static struct {
    int word_count;
    char **words; /* of the command; those of our options become NULL */
    const char *ranks, *hosts;
} asked;

/* Words of a user's program are not ours, even where they look alike. */
static void drop_option(const struct option_row *row, const char *value)
{
    for (int i = 1; i < asked.word_count; i++) {
        char *word = asked.words[i];
        if (word == value)
            asked.words[i] = asked.words[i - 1] = NULL;
        else if (word && word + strlen(row->name) + 1 == value)
            asked.words[i] = NULL;
    }
}

bool over_ranks_took(const struct option_row *row, const char *value, bool *mine, struct err *err)
{
    unsigned long count;
    char *end;
    bool is_count = !strcmp(row->name, "--ranks"), is_hosts = !strcmp(row->name, "--hosts");
    *mine = is_count || is_hosts;
    if (!*mine)
        return true;
    drop_option(row, value);
    if (is_hosts) {
        asked.hosts = value;
        return true;
    }
    count = strtoul(value, &end, 10);
    asked.ranks = value;
    return (*value && !*end && *value != '-' && count >= 1 && count <= RANKS_MOST) ||
           err_set(err, "--ranks: expected a number from 1 to %d, not '%.40s'", RANKS_MOST, value);
}

/* ---- a rank that --ranks has started ---- */

#define LEADER   "HEDDLE_RANKS_LEADER"
#define TERMINAL "HEDDLE_RANKS_TERMINAL"
#define WATCHED  "HEDDLE_RANKS_WATCHED"

/* The leading rank's file has its process, and then the status that it ended with by itself. */
static void note_leader(int number)
{
    const char *path = getenv(LEADER);
    FILE *file = path && !ranks_job().number ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%d\n", number);
    fclose(file);
}

static volatile pid_t watched;
static volatile sig_atomic_t watched_is_to_end;

static void end_watched(int number)
{
    watched_is_to_end = number;
    kill(watched, number);
}

/* Whatever ends a rank, this process says which one it was, and where: MPI does not, or not in one line. The
 * rank is its child, and ends with it; both end with mpirun. */
static void become_watched(void)
{
    pid_t self = getpid(), rank = fork();
    int status = 0;
    char host[64] = "";
    if (rank < 0)
        return; /* so nobody says it */
    if (!rank) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != self)
            _exit(EXIT_FAILED);
        return;
    }
    watched = rank;
    signal(SIGTERM, end_watched);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    while (waitpid(rank, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status)) {
        if (!watched_is_to_end)
            note_leader(WEXITSTATUS(status));
        _exit(WEXITSTATUS(status));
    }
    gethostname(host, sizeof host - 1);
    if (!watched_is_to_end) /* else mpirun ends them all, for another one */
        fprintf(stderr,
                "heddle: rank %u on %s was ended by signal %d (%s); --resume goes on from the last "
                "checkpoint, if there is one\n",
                ranks_job().number, host, WTERMSIG(status), strsignal(WTERMSIG(status)));
    _exit(EXIT_FAILED);
}

/* MPI gives the leading rank no terminal of its own, so it takes that of who started all. */
static void become_leader(void)
{
    const char *terminal = getenv(TERMINAL);
    note_leader(getpid());
    int screen = terminal ? open(terminal, O_WRONLY | O_NOCTTY | O_CLOEXEC) : -1;
    if (screen >= 0) {
        dup2(screen, STDERR_FILENO);
        close(screen);
    }
}

void over_ranks_introduce(int count, char **words)
{
    asked.word_count = count;
    asked.words = words;
    if (ranks_job().count == 1 || !getenv(WATCHED))
        return;
    become_watched();
    if (!ranks_job().number)
        become_leader();
    unsetenv(WATCHED);
    unsetenv(LEADER);
    unsetenv(TERMINAL);
}

/* ---- mpirun: a child of this process, to which signals are passed on ---- */

static volatile sig_atomic_t mpirun_process;
static char leader_file[4096];

static volatile sig_atomic_t signals;

/* 0: it has not begun; *status is -1 unless it has ended. */
static pid_t leader_process(int *status)
{
    char text[64] = "", *at = text, *end;
    int file = open(leader_file, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    pid_t process = length > 0 ? (pid_t)strtol(text, &at, 10) : 0;
    long ended = strtol(at, &end, 10);
    *status = end > at ? (int)ended : -1;
    return process;
}

/* The first signal goes to the leading rank, which ends the others when it has written what it knows. Another
 * ends all. */
static void pass_on(int number)
{
    int status;
    pid_t leader = signals++ ? 0 : leader_process(&status);
    if (leader <= 0 || kill(leader, number))
        kill(-mpirun_process, SIGTERM);
}

struct words {
    const char **list;
    size_t count, capacity;
};

static void add_word(struct words *words, const char *word)
{
    mem_grow(words->list, words->count, words->capacity);
    words->list[words->count++] = word;
}

/* Ranks of other machines get our variables only if mpirun is told to. */
static void add_variables(struct words *words)
{
    static const char ours[] = "HEDDLE_";
    for (char **at = environ; *at; at++) {
        if (strncmp(*at, ours, sizeof ours - 1) != 0)
            continue;
        struct text name = {0};
        text_add(&name, "%.*s", (int)strcspn(*at, "="), *at);
        add_word(words, "-x");
        add_word(words, name.at); /* lives as long as the process, which becomes another */
    }
}

/* Whether `mpirun` is MPICH's, which has other options than Open MPI's. */
static bool is_mpich(void)
{
    char line[256];
    bool found = false;
    FILE *pipe = popen("mpirun --version 2>/dev/null", "r");
    while (pipe && fgets(line, sizeof line, pipe))
        found |= !strncmp(line, "HYDRA", 5);
    if (pipe)
        pclose(pipe);
    return found;
}

static void add_options(struct words *words, bool mpich, const struct rank_hosts *hosts)
{
    static const char *const of_open_mpi[] = {"-q", "--oversubscribe", "--bind-to", "none"};
    struct text list = {0};
    for (size_t i = 0; i < COUNT_OF(of_open_mpi) && !mpich; i++)
        add_word(words, of_open_mpi[i]);
    if (!geteuid() && !mpich)
        add_word(words, "--allow-run-as-root");
    if (hosts->count) {
        rank_hosts_add(hosts, &list);
        add_word(words, mpich ? "-hosts" : "--host");
        add_word(words, list.at);
    }
    if (hosts->count && !mpich) /* which gives them all */
        add_variables(words);
}

/* In the child. Ctrl-C is for the process that waits for it; so the terminal cannot be read, either. */
static _Noreturn void become_mpirun(const char *self, bool mpich, const struct rank_hosts *hosts)
{
    struct words words = {0};
    int none = isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY) : -1;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* if somebody kills who waits for it, it ends with all ranks */
    if (none >= 0)
        dup2(none, STDIN_FILENO);
    setenv(WATCHED, "yes", 1);
    setenv(LEADER, leader_file, 1);
    if (isatty(STDERR_FILENO))
        setenv(TERMINAL, ttyname(STDERR_FILENO), 1);
    add_word(&words, "mpirun");
    add_options(&words, mpich, hosts);
    add_word(&words, "-n");
    add_word(&words, asked.ranks);
    add_word(&words, self);
    for (int i = 1; i < asked.word_count; i++)
        if (asked.words[i])
            add_word(&words, asked.words[i]);
    add_word(&words, NULL);
    execvp(words.list[0], (char **)(uintptr_t)words.list);
    fprintf(stderr, "heddle: --ranks: cannot start mpirun: %s%s\n", strerror(errno),
            errno == ENOENT ? " (install openmpi-bin)" : "");
    _exit(EXIT_FAILED);
}

/* What mpirun starts processes of other machines with. */
static const char *remote_shell(bool mpich)
{
    const char *told = getenv(mpich ? "HYDRA_LAUNCHER_EXEC" : "OMPI_MCA_plm_rsh_agent");
    return told && *told ? told : "ssh";
}

/* A rank that fails has said so, and one that is killed has been named. If neither has, a machine is gone, or
 * mpirun is. */
static void say_what_is_lost(int status, const char *self, bool mpich, struct rank_hosts *hosts)
{
    int ended;
    bool has_said = WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_USAGE;
    struct err err;
    leader_process(&ended);
    if (has_said || signals || (WIFEXITED(status) && WEXITSTATUS(status) == ended))
        return;
    if (!hosts->count || rank_hosts_check(hosts, self, remote_shell(mpich), &err))
        err_set(&err, "--ranks: mpirun has ended with %s %d", WIFEXITED(status) ? "status" : "signal",
                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    err_add(&err, "; --resume goes on from the last checkpoint, if there is one");
    complain(EXIT_FAILED, &err);
}

static _Noreturn void run_mpirun(const char *self, bool mpich, struct rank_hosts *hosts)
{
    const char *folder = getenv("TMPDIR");
    snprintf(leader_file, sizeof leader_file, "%s/heddle-ranks-XXXXXX",
             folder && *folder ? folder : P_tmpdir);
    int status = 0, file = mkstemp(leader_file);
    if (file >= 0)
        close(file);
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        become_mpirun(self, mpich, hosts);
    mpirun_process = child;
    signal(SIGINT, pass_on);
    signal(SIGTERM, pass_on);
    signal(SIGHUP, pass_on);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    say_what_is_lost(status, self, mpich, hosts);
    unlink(leader_file);
    exit(child < 0 ? EXIT_FAILED : WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status));
}

bool over_ranks_are_asked(void)
{
    return asked.ranks && strtoul(asked.ranks, NULL, 10) > 1;
}

bool over_ranks_begin(struct err *err)
{
    char self[4096] = "heddle";
    struct rank_hosts hosts = {0};
    unsigned long count = asked.ranks ? strtoul(asked.ranks, NULL, 10) : 0;
    if (asked.hosts && !count)
        return err_set(err, "--hosts needs --ranks N");
    if (ranks_job().count > 1)
        return !count || ranks_job().count == count ||
               err_set(err, "--ranks %lu, but %u ranks were started", count, ranks_job().count);
    bool mpich = count > 1 && is_mpich();
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0)
        self[length] = 0;
    if (asked.hosts && (!rank_hosts_read(&hosts, asked.hosts, err) ||
                        !rank_hosts_check(&hosts, self, remote_shell(mpich), err))) {
        rank_hosts_fini(&hosts);
        return false;
    }
    if (count > 1)
        run_mpirun(self, mpich, &hosts);
    rank_hosts_fini(&hosts);
    return true;
}
