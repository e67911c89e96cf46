#include "cli/guard.h"
#include "cli/folder.h"
#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GUARD_NAME "heddle-guard"
enum { ROUNDS = 50 }; /* processes may fork while others of them are ended */

static pid_t guard;
static int line = -1; /* to the guard: a byte when all went well; its end when heddle was killed */

/* Whether the process was started with this in its environment; what cannot be read is not ours. */
static bool has_setting(const char *process, const char *setting)
{
    struct text path = {0};
    char bytes[4096];
    size_t length = strlen(setting) + 1, matched = 0;
    bool found = false, begins = true; /* at the begin of a variable */
    text_add(&path, "/proc/%s/environ", process);
    int file = open(path.at, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; file >= 0 && !found && (got = read(file, bytes, sizeof bytes)) > 0;) {
        for (ssize_t i = 0; i < got && !found; i++) {
            if (begins && bytes[i] == setting[matched])
                found = ++matched == length;
            else
                begins = false;
            if (!bytes[i])
                begins = true, matched = 0;
        }
    }
    if (file >= 0)
        close(file);
    text_fini(&path);
    return found;
}

/* Another heddle's guard, which has its own processes to end. */
static bool is_guard(const char *process)
{
    struct text path = {0};
    char name[16] = "";
    text_add(&path, "/proc/%s/comm", process);
    int file = open(path.at, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, name, sizeof name);
    if (file >= 0)
        close(file);
    text_fini(&path);
    return got > 0 && !strncmp(name, GUARD_NAME, strlen(GUARD_NAME));
}

/* False: there is none left. */
static bool kill_all(const char *setting)
{
    bool some = false;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        if (isdigit((unsigned char)entry->d_name[0]) && has_setting(entry->d_name, setting) &&
            !is_guard(entry->d_name))
            some |= !kill((pid_t)atol(entry->d_name), SIGKILL);
    }
    if (processes)
        closedir(processes);
    return some;
}

static void clean_up(const char *folder)
{
    struct text setting = {0};
    text_add(&setting, "HEDDLE_RUN_DIR=%s", folder);
    for (int i = 0; i < ROUNDS && kill_all(setting.at); i++)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    text_fini(&setting);
    folder_free(mem_text(folder));
}

static _Noreturn void watch(int from, const char *folder)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP};
    char byte;
    ssize_t got;
    prctl(PR_SET_NAME, GUARD_NAME);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    for (int i = 0; i <= STDERR_FILENO; i++) /* nobody waits for it to close them */
        close(i);
    while ((got = read(from, &byte, 1)) < 0 && errno == EINTR)
        ;
    if (!got)
        clean_up(folder);
    _exit(0);
}

void guard_start(const char *folder)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return;
    guard = fork();
    if (!guard) {
        close(ends[1]);
        watch(ends[0], folder);
    }
    close(ends[0]);
    line = ends[1];
}

void guard_end(void)
{
    if (line < 0)
        return;
    send(line, "", 1, MSG_NOSIGNAL); /* to nobody, where somebody killed it */
    close(line);
    line = -1;
    if (guard > 0)
        waitpid(guard, NULL, 0);
}
