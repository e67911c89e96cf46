#include "cli/process.h"
#include "base/install.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- finding ---- */

static char *joined(const char *folder, size_t length, const char *name)
{
    struct text path = {0};
    text_add(&path, "%.*s/%s", (int)length, folder, name);
    return path.at;
}

/* A name without a slash is looked for in the folders of PATH, and among the programs that come with Heddle.
 */
static char *look_for(const char *name)
{
    const char *path = getenv("PATH");
    struct stat info;
    if (strchr(name, '/'))
        return mem_text(name);
    for (const char *at = path ? path : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
        char *tried = joined(at, strcspn(at, ":"), name);
        if (!access(tried, X_OK) && !stat(tried, &info) && S_ISREG(info.st_mode))
            return tried;
        mem_free(tried);
    }
    struct text part = {0}, own = {0};
    text_add(&part, "hetero/%s", name);
    bool found = install_add_part(&own, part.at) && !access(own.at, X_OK);
    text_fini(&part);
    if (!found)
        text_fini(&own);
    return found ? own.at : NULL;
}

char *process_find(const char *command, const char *name, int *status, struct err *err)
{
    struct stat info;
    char *path = look_for(name);
    int failure = EXIT_NOT_FOUND;
    if (!path && !access(name, F_OK)) {
        err_set(err, "%s: there is no command %s; for the file in this folder say ./%s", command, name, name);
    } else if (!path || stat(path, &info)) {
        err_set(err, "%s: cannot find the program %.200s%s%s", command, name, path ? ": " : "",
                path ? strerror(errno) : "");
    } else if (!S_ISREG(info.st_mode) || access(path, X_OK)) {
        err_set(err, "%s: cannot run %.200s: it is %s", command, name,
                S_ISDIR(info.st_mode) ? "a folder" : "not executable (chmod +x makes it so)");
        failure = EXIT_CANNOT_RUN;
    } else {
        return path;
    }
    *status = failure;
    mem_free(path);
    return NULL;
}

char *process_beside(const char *command, const char *name, struct err *err)
{
    struct text path = {0};
    if (!install_add_part(&path, name)) {
        err_set(err, "%s: cannot tell where heddle is: %s", command, strerror(errno));
        return NULL;
    }
    if (!access(path.at, R_OK))
        return path.at;
    err_set(err, "%s: %s is missing; build Heddle as a whole (./heddle does)", command, path.at);
    text_fini(&path);
    return NULL;
}

/* ---- running ---- */

/* What ends or wakes a program; the terminal's own go to the program, too, and are not sent a second time. */
static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };
static volatile pid_t program;
static _Atomic int asked_to_end;
static double start;

static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (number == SIGINT || number == SIGTERM || number == SIGHUP)
        asked_to_end = number;
    if (program > 0 && info->si_code <= 0) /* sent by a process, not by the terminal */
        kill(program, number);
}

/* In the child: becomes the program, which dies with its parent, or tells the parent why it cannot. */
static _Noreturn void become_program(const struct process *process, pid_t parent, int tell)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_CANNOT_RUN);
    if (process->prepare)
        process->prepare(process->user);
    execv(process->path, process->words);
    int why = errno;
    _exit(write(tell, &why, sizeof why) == sizeof why ? EXIT_CANNOT_RUN : EXIT_NOT_FOUND);
}

bool process_start(struct process *process, struct err *err)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART}, old[PASSED_ON];
    sigset_t all, mask;
    int ends[2], why = 0;
    process->status = EXIT_CANNOT_RUN;
    asked_to_end = 0;
    start = host_seconds();
    if (pipe2(ends, O_CLOEXEC)) /* closed by itself once the program runs */
        return err_set(err, "%s: cannot start a process: %s", process->command, strerror(errno));
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask); /* until it is known whom to pass signals on to */
    for (int i = 0; i < PASSED_ON; i++)
        sigaction(passed_on[i], &action, &old[i]);
    pid_t parent = getpid(), child = fork();
    if (!child) {
        for (int i = 0; i < PASSED_ON; i++)
            sigaction(passed_on[i], &old[i], NULL);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        become_program(process, parent, ends[1]);
    }
    program = child;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    ssize_t told;
    while ((told = read(ends[0], &why, sizeof why)) < 0 && errno == EINTR)
        ;
    bool failed = told == sizeof why;
    close(ends[0]);
    if (child < 0)
        return err_set(err, "%s: cannot start a process: %s", process->command, strerror(errno));
    if (failed) {
        program = 0;
        waitpid(child, NULL, 0);
        process->status = why == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
        return err_set(err, "%s: cannot run %.200s: %s", process->command, process->path,
                       why == ENOEXEC  ? "it is no program that this machine knows"
                       : why == ENOENT ? "the interpreter or loader that it names is missing"
                                       : strerror(why));
    }
    return true;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

void process_wait(struct process *process)
{
    int status;
    struct rusage usage;
    siginfo_t ended;
    while (waitid(P_PID, (id_t)program, &ended, WEXITED | WNOWAIT) < 0) {
        if (errno != EINTR)
            BUG("waitid: %s", strerror(errno));
    }
    pid_t child = program;
    program = 0; /* as long as it is not taken note of, its number is nobody else's */
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            BUG("waitpid: %s", strerror(errno));
    }
    process->wall_s = host_seconds() - start;
    getrusage(RUSAGE_CHILDREN, &usage);
    process->cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    process->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    process->status = process->signal ? 128 + process->signal : WEXITSTATUS(status);
}

int process_asked_to_end(void)
{
    return asked_to_end;
}

const _Atomic int *process_interrupt(void)
{
    return &asked_to_end;
}

void process_kill(void)
{
    if (program > 0)
        kill(program, SIGKILL);
}
