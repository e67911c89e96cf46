#include "cli/shared_machine.h"
#include "cli/cli.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In the child, which tells why it could not become the machine; later it can only complain. */
static _Noreturn void become_machine(const struct serve_options *asked, int tell)
{
    struct serve_options how = *asked;
    how.interrupt = &interrupted;
    struct serve_counts counts;
    struct err err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0); /* Ctrl-C is for the program: its machine is there until it has ended */
    catch_interrupts();
    signal(SIGPIPE, SIG_IGN);
    bool good = serve_run(&how, &counts, &err);
    if (good && *counts.no_picture.text)
        complain(EXIT_FAILED, &counts.no_picture);
    if (!good && write(tell, err.text, sizeof err.text) < 0)
        complain(EXIT_FAILED, &err);
    _exit(good ? EXIT_GOOD : EXIT_FAILED);
}

static bool has_ended(struct shared_machine *machine)
{
    if (!waitpid(machine->process, NULL, WNOHANG))
        return false;
    machine->process = 0;
    return true;
}

static bool tell_why(const char *command, int from, struct err *err)
{
    struct err why = {.text = "the machine has ended"};
    ssize_t told = read(from, why.text, sizeof why.text);
    return err_set(err, "%s: %.250s", command, told < 0 ? strerror(errno) : why.text);
}

bool shared_machine_start(struct shared_machine *machine, const char *command,
                          const struct serve_options *how, struct err *err)
{
    struct text description = {0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return err_set(err, "%s: cannot start a process: %s", command, strerror(errno));
    text_add(&description, "%s.ini", how->path); /* which is written when programs can attach */
    machine->process = fork();
    if (!machine->process) {
        close(ends[0]);
        become_machine(how, ends[1]);
    }
    close(ends[1]);
    bool good =
        machine->process > 0 || err_set(err, "%s: cannot start a process: %s", command, strerror(errno));
    while (good && access(description.at, F_OK)) {
        if (has_ended(machine))
            good = tell_why(command, ends[0], err);
        else
            nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    }
    close(ends[0]);
    text_fini(&description);
    return good;
}

void shared_machine_end(struct shared_machine *machine)
{
    if (machine->process <= 0)
        return;
    kill(machine->process, SIGTERM);
    while (waitpid(machine->process, NULL, 0) < 0 && errno == EINTR)
        ;
    machine->process = 0;
}
