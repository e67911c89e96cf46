/* The first process: mounts what is needed, loads modules, says that the guest has booted, and then waits for
 * the folder with its job. A checkpoint is taken while it waits, so it does the same after one. */
#include "guest/inside.h"
#include "heddle_roi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { COMPRESSED = 4 }; /* for finit_module: the kernel is to unpack the file */
static const char *const nine = "trans=virtio,version=9p2000.L,msize=512000,cache=";

static void mount_at(const char *type, const char *folder, const char *options)
{
    mkdir(folder, 0755);
    if (mount(type, folder, type, 0, options))
        inside_say("cannot mount %s: %s", folder, strerror(errno));
}

/* In the order of the file: what others need comes first. */
static void load_modules(void)
{
    char line[256];
    FILE *list = fopen("/modules/order", "r");
    while (list && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = 0;
        size_t length = strlen(line);
        bool is_plain = length > 3 && !strcmp(line + length - 3, ".ko");
        int file = open(line, O_RDONLY | O_CLOEXEC);
        if (file < 0 || (syscall(SYS_finit_module, file, "", is_plain ? 0 : COMPRESSED) && errno != EEXIST))
            inside_say("cannot load %s: %s", line, strerror(errno));
        close(file);
    }
    if (list)
        fclose(list);
}

/* The bytes of programs reach heddle as they are. */
static void make_raw(int terminal)
{
    struct termios how;
    if (!tcgetattr(terminal, &how)) {
        how.c_oflag &= ~(tcflag_t)OPOST;
        tcsetattr(terminal, TCSANOW, &how);
    }
}

/* The first serial line is for programs, the second for messages of theirs and of the kernel's. */
static void open_lines(void)
{
    int first = open("/dev/ttyS0", O_RDWR | O_NOCTTY), second = open("/dev/ttyS1", O_RDWR | O_NOCTTY);
    make_raw(first);
    make_raw(second);
    dup2(first, STDIN_FILENO);
    dup2(first, STDOUT_FILENO);
    dup2(second, STDERR_FILENO);
    if (first > STDERR_FILENO)
        close(first);
    if (second > STDERR_FILENO)
        close(second);
}

static int run(const char *const *words)
{
    int status = 0;
    pid_t child = fork();
    if (!child) {
        execv("/bin/busybox", (char *const *)(uintptr_t)words);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Its device comes when the guest has booted. */
static void wait_for_job(void)
{
    char options[128];
    snprintf(options, sizeof options, "%sloose", nine);
    mkdir(INSIDE_JOB, 0755);
    while (mount("job", INSIDE_JOB, "9p", 0, options))
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    snprintf(options, sizeof options, "%smmap", nine);
    mkdir(INSIDE_SHARE, 0755);
    if (!access(INSIDE_JOB "/shares", F_OK) && mount("share", INSIDE_SHARE, "9p", 0, options))
        inside_say("cannot mount " INSIDE_SHARE ": %s", strerror(errno));
}

/* Without a status nobody takes the end for a good one. */
static void run_job(void)
{
    int status = 0;
    pid_t child = fork();
    if (!child) {
        setsid();
        ioctl(STDIN_FILENO, TIOCSCTTY, 1);
        execl("/bin/busybox", "sh", INSIDE_JOB "/run", (char *)NULL);
        _exit(127);
    }
    for (pid_t ended; (ended = wait(&status)) != child;) {
        if (ended < 0 && errno != EINTR)
            return;
    }
    int file = open(INSIDE_JOB "/status", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dprintf(file, "%d %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    close(file);
}

int inside_init(void)
{
    mount_at("proc", "/proc", NULL);
    mount_at("sysfs", "/sys", NULL);
    mount_at("devtmpfs", "/dev", NULL);
    mount_at("tmpfs", "/run", NULL);
    mount_at("tmpfs", "/tmp", NULL);
    symlink("/proc/self/fd", "/dev/fd");
    open_lines();
    load_modules();
    if (run((const char *const[]){"busybox", "--install", "-s", "/bin", NULL}))
        inside_say("busybox cannot be installed");
    HEDDLE_MARK(HEDDLE_MARK_READY);
    wait_for_job();
    if (inside_start_gpu())
        run_job();
    sync();
    umount(INSIDE_SHARE);
    umount(INSIDE_JOB);
    int level = open("/proc/sys/kernel/printk", O_WRONLY); /* that it is switched off is no news */
    if (level >= 0 && write(level, "0", 1) == 1)
        close(level);
    reboot(RB_POWER_OFF);
    return 1;
}
