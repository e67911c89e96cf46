#include "cli/shared_machine.h"
#include "cli/cli.h"
#include "base/text.h"
#include "serve/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The parent of a family waits for its children without a call to CUDA, and processes wait for each other at
 * barriers of their own: time goes on without one that is silent for so long. */
static const double patience_s = 0.2;

static _Noreturn void become_machine(const char *path, const struct system *system, unsigned threads)
{
    struct serve_options how = {.path = path,
                                .system = system,
                                .threads = threads,
                                .patience_s = patience_s,
                                .interrupt = &interrupted};
    struct serve_counts counts;
    struct err err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0); /* Ctrl-C is for the program: its machine is there until it has ended */
    catch_interrupts();
    _exit(serve_run(&how, &counts, &err) ? EXIT_GOOD : complain(EXIT_FAILED, &err));
}

static bool has_ended(struct shared_machine *machine)
{
    if (!waitpid(machine->process, NULL, WNOHANG))
        return false;
    machine->process = 0;
    return true;
}

bool shared_machine_start(struct shared_machine *machine, const char *path, const struct system *system,
                          unsigned threads, struct err *err)
{
    struct text description = {0};
    text_add(&description, "%s.ini", path); /* which is written when programs can attach */
    machine->process = fork();
    if (!machine->process)
        become_machine(path, system, threads);
    bool good = machine->process > 0 || err_set(err, "run: cannot start a process: %s", strerror(errno));
    while (good && access(description.at, F_OK)) {
        if (has_ended(machine))
            good = err_set(err, "run: --shared: there is no machine to share");
        else
            nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    }
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
