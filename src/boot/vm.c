#include "boot/vm.h"
#include "base/host.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the command line ---- */

enum { WORDS_MOST = 96 };

struct words {
    char *at[WORDS_MOST];
    size_t count;
};

static void add(struct words *words, const char *option, const char *format, ...)
    __attribute__((format(__printf__, 3, 4)));

static void add(struct words *words, const char *option, const char *format, ...)
{
    char *value = NULL;
    va_list rest;
    words->at[words->count++] = mem_text(option);
    if (!format)
        return;
    va_start(rest, format);
    if (vasprintf(&value, format, rest) < 0)
        BUG("no memory");
    va_end(rest);
    words->at[words->count++] = value;
}

static void fill_words(const struct vm_plan *plan, struct words *words)
{
    add(words, plan->program, NULL);
    add(words, "-nodefaults", NULL);
    add(words, "-no-user-config", NULL);
    add(words, "-no-reboot", NULL);
    add(words, "-machine", "pc");
    add(words, "-accel", "tcg");
    /* without -erms, -fsrm: QEMU copies byte by byte where the processor says that strings are fast */
    add(words, "-cpu", "max,-erms,-fsrm%s", plan->counts_time ? ",-rdrand,-rdseed" : "");
    if (plan->counts_time) {
        add(words, "-icount", "shift=0,sleep=off");
        add(words, "-rtc", "base=2020-01-01,clock=vm");
    }
    add(words, "-m", "%lluM", (unsigned long long)(plan->memory >> 20));
    add(words, "-smp", "%u", plan->cpus);
    add(words, "-display", "none");
    /* the window begins at a multiple of its size */
    add(words, "-global", "i440FX-pcihost.pci-hole64-size=%llu", (unsigned long long)(2 * plan->window));
    add(words, "-kernel", "%s", plan->kernel);
    add(words, "-initrd", "%s", plan->initial);
    add(words, "-append", "console=ttyS1 quiet loglevel=3 panic=-1");
    add(words, "-chardev", "stdio,id=programs,signal=%s", plan->interactive ? "off" : "on");
    add(words, "-serial", "chardev:programs");
    add(words, "-chardev", "file,id=messages,path=/dev/fd/%d", plan->messages);
    add(words, "-serial", "chardev:messages");
    add(words, "-qmp", "unix:%s/control,server=on,wait=off", plan->folder);
    add(words, "-plugin", "%s,memory=%d,bell=%d", plan->plugin, plan->shared, plan->plugin_bell);
    add(words, "-fsdev", "local,id=job,path=%s,security_model=none", plan->job);
    if (plan->share)
        add(words, "-fsdev", "local,id=share,path=%s,security_model=none", plan->share);
    if (plan->resumes)
        add(words, "-incoming", "defer");
    words->at[words->count] = NULL;
}

static void keep_open(int file)
{
    fcntl(file, F_SETFD, fcntl(file, F_GETFD) & ~FD_CLOEXEC);
}

/* In the child. */
static _Noreturn void become(const struct vm_plan *plan, char **words, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (!plan->interactive)
        setpgid(0, 0); /* Ctrl-C is heddle's, which ends it */
    keep_open(plan->shared);
    keep_open(plan->plugin_bell);
    keep_open(plan->messages);
    execv(words[0], words);
    _exit(127);
}

/* ---- the control socket ---- */

static bool has_gone(const struct vm *vm)
{
    siginfo_t about = {0};
    return waitid(P_PID, (id_t)vm->process, &about, WEXITED | WNOHANG | WNOWAIT) || about.si_pid;
}

static bool connect_to(struct vm *vm, const char *folder, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/control", folder);
    vm->control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (connect(vm->control, (struct sockaddr *)&address, sizeof address)) {
        if (has_gone(vm))
            return err_set(err, "boot: QEMU ended at once; what it says is above");
        nanosleep(&(struct timespec){.tv_nsec = 2 * 1000 * 1000}, NULL);
    }
    return vm_do(vm, "{\"execute\": \"qmp_capabilities\"}", err);
}

/* The next line; false: QEMU has gone. */
static bool read_line(struct vm *vm)
{
    vm->answer.length = 0;
    for (;;) {
        char *end = memchr(vm->line, '\n', vm->line_bytes);
        size_t part = end ? (size_t)(end - vm->line) + 1 : vm->line_bytes;
        text_add_bytes(&vm->answer, vm->line, part);
        vm->line_bytes -= part;
        memmove(vm->line, vm->line + part, vm->line_bytes);
        if (end)
            return true;
        ssize_t got = recv(vm->control, vm->line, sizeof vm->line, 0);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        vm->line_bytes = got > 0 ? (size_t)got : 0;
    }
}

/* Events that come between are not of interest. */
bool vm_do(struct vm *vm, const char *command, struct err *err)
{
    size_t length = strlen(command);
    if (send(vm->control, command, length, MSG_NOSIGNAL) != (ssize_t)length)
        return err_set(err, "boot: QEMU has gone");
    do {
        if (!read_line(vm))
            return err_set(err, "boot: QEMU has gone");
    } while (strncmp(vm->answer.at, "{\"return\"", 9) && strncmp(vm->answer.at, "{\"error\"", 8));
    if (!strncmp(vm->answer.at, "{\"return\"", 9))
        return true;
    const char *why = strstr(vm->answer.at, "\"desc\": \"");
    why = why ? why + 9 : vm->answer.at;
    return err_set(err, "boot: QEMU refuses: %.*s", (int)strcspn(why, "\"\r\n"), why);
}

bool vm_start(struct vm *vm, const struct vm_plan *plan, struct err *err)
{
    struct words words = {0};
    *vm = (struct vm){.control = -1};
    fill_words(plan, &words);
    pid_t parent = getpid();
    vm->process = fork();
    if (!vm->process)
        become(plan, words.at, parent);
    for (size_t i = 0; i < words.count; i++)
        mem_free(words.at[i]);
    if (vm->process < 0)
        return err_set(err, "boot: cannot start a process: %s", strerror(errno));
    return connect_to(vm, plan->folder, err);
}

/* ---- checkpoints ---- */

/* The shell command that QEMU's data goes through, inside a string of JSON. */
static void add_shell_path(struct text *text, const char *path)
{
    text_add(text, "'");
    for (; *path; path++)
        text_add(text, *path == '\'' ? "'\\\\''" : *path == '"' || *path == '\\' ? "\\%c" : "%c", *path);
    text_add(text, "'");
}

static bool wait_for_migration(struct vm *vm, struct err *err)
{
    for (;;) {
        if (!vm_do(vm, "{\"execute\": \"query-migrate\"}", err))
            return false;
        if (strstr(vm->answer.at, "\"status\": \"completed\""))
            return true;
        if (strstr(vm->answer.at, "\"status\": \"failed\""))
            return err_set(err, "boot: QEMU cannot move its state");
        nanosleep(&(struct timespec){.tv_nsec = 5 * 1000 * 1000}, NULL);
    }
}

bool vm_save(struct vm *vm, const char *path, const char *head, struct err *err)
{
    struct text command = {0};
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good = (file >= 0 && write(file, head, strlen(head)) == (ssize_t)strlen(head)) ||
                err_set(err, "boot: cannot write %.200s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    text_add(&command, "{\"execute\": \"migrate\", \"arguments\": {\"uri\": \"exec:cat >>");
    add_shell_path(&command, path);
    text_add(&command, "\"}}");
    good = good && vm_do(vm, "{\"execute\": \"stop\"}", err) &&
           vm_do(vm,
                 "{\"execute\": \"migrate-set-parameters\", \"arguments\": {\"max-bandwidth\": "
                 "1099511627776}}",
                 err) &&
           vm_do(vm, command.at, err) && wait_for_migration(vm, err);
    text_fini(&command);
    return good && vm_do(vm, "{\"execute\": \"cont\"}", err);
}

bool vm_load(struct vm *vm, const char *path, size_t head, struct err *err)
{
    struct text command = {0};
    text_add(&command, "{\"execute\": \"migrate-incoming\", \"arguments\": {\"uri\": \"exec:tail -c +%zu ",
             head + 1);
    add_shell_path(&command, path);
    text_add(&command, "\"}}");
    struct err why;
    bool good = vm_do(vm, command.at, &why) && wait_for_migration(vm, &why) &&
                vm_do(vm, "{\"execute\": \"cont\"}", &why);
    text_fini(&command);
    return good ||
           err_set(err, "boot: cannot resume %.200s: QEMU does not take it; the file may be damaged", path);
}

/* ---- its end ---- */

double vm_cpu(const struct vm *vm)
{
    clockid_t clock;
    struct timespec now = {0};
    if (!clock_getcpuclockid(vm->process, &clock))
        clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int vm_end(struct vm *vm, double *cpu_s)
{
    static const double kind_s = 2;
    struct rusage used = {0};
    int status = 0;
    double began = host_seconds();
    static const char quit[] = "{\"execute\": \"quit\"}";
    bool asked = vm->process > 0 && vm->control >= 0 && !has_gone(vm) &&
                 send(vm->control, quit, strlen(quit), MSG_NOSIGNAL) > 0;
    if (vm->process > 0 && !asked && !has_gone(vm))
        kill(vm->process, SIGTERM);
    text_fini(&vm->answer);
    if (vm->process <= 0)
        return 0;
    while (!has_gone(vm) && host_seconds() - began < kind_s)
        nanosleep(&(struct timespec){.tv_nsec = 5 * 1000 * 1000}, NULL);
    if (!has_gone(vm))
        kill(vm->process, SIGKILL);
    while (wait4(vm->process, &status, 0, &used) < 0 && errno == EINTR)
        ;
    if (vm->control >= 0)
        close(vm->control);
    *cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
             1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    return status;
}
