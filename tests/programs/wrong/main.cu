/* Wrong uses of CUDA, and what each gives: a line `NAME CODE LAST AFTER` for each: the code of the wrong call, what
 * cudaGetLastError says then, and what cudaDeviceSynchronize gives after that (the context is lost if not 0). A use that
 * ends its process or does not end is told (`NAME signal 11`, `NAME hang`), and the others still run. With names as
 * arguments, only these; --apart runs each in a process of its own. --list names all. h200.txt is what a real H200 printed. */
#include "kit.h"

#include "arrays.h"
#include "capture.h"
#include "conditions.h"
#include "copies.h"
#include "device.h"
#include "driver.h"
#include "driver_graphs.h"
#include "driver_mapping.h"
#include "driver_memory.h"
#include "faults.h"
#include "graphs.h"
#include "launches.h"
#include "manual.h"
#include "memory.h"
#include "nodes.h"
#include "pools.h"
#include "streams.h"
#include "textures.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 20000 };

struct result {
    int code, last, after;
};

static bool apart;
static int wanted_count;
static char **wanted;

static bool is_wanted(const struct use *use)
{
    for (int i = 0; i < wanted_count; i++) {
        if (!strcmp(wanted[i], use->name))
            return true;
    }
    return !wanted_count;
}

/* Runs uses from this one on, until one needs another process, or loses the context. */
static void run_some(struct use *use, int to)
{
    if (!use->fresh)
        cudaFree(0);
    for (bool is_first = true; use; use = use->next) {
        if (!is_wanted(use))
            continue;
        if (!is_first && (use->fresh || apart))
            break;
        struct result result;
        result.code = use->run();
        result.last = cudaGetLastError();
        result.after = cudaDeviceSynchronize();
        cudaGetLastError();
        fflush(stdout);
        if (write(to, &result, sizeof result) != sizeof result || result.after || use->fresh)
            break;
        is_first = false;
    }
}

/* The next result of a process; false: it has no more. */
static bool next_result(int from, struct result *result, bool *hangs)
{
    struct pollfd ready = {from, POLLIN, 0};
    *hangs = poll(&ready, 1, LIMIT_MS) == 0;
    return !*hangs && read(from, result, sizeof *result) == sizeof *result;
}

static struct use *next_wanted(struct use *use)
{
    while (use && !is_wanted(use))
        use = use->next;
    return use;
}

/* Starts a process at this use; gives the first use that it did not run. */
static struct use *run_process(struct use *use)
{
    int ends[2], status;
    if (pipe(ends))
        return 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        close(ends[0]);
        run_some(use, ends[1]);
        fflush(stdout);
        _exit(0);
    }
    close(ends[1]);
    struct result result;
    bool hangs, any = false;
    while (use && next_result(ends[0], &result, &hangs)) {
        printf("%s %d %d %d\n", use->name, result.code, result.last, result.after);
        use = next_wanted(use->next);
        any = true;
    }
    if (use && hangs)
        kill(child, SIGKILL);
    waitpid(child, &status, 0);
    close(ends[0]);
    if (use && (hangs || WIFSIGNALED(status) || !any)) {
        if (hangs)
            printf("%s hang\n", use->name);
        else
            printf("%s %s %d\n", use->name, WIFSIGNALED(status) ? "signal" : "exit",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        use = next_wanted(use->next);
    }
    return use;
}

int main(int count, char **words)
{
    apart = count > 1 && !strcmp(words[1], "--apart");
    wanted = words + 1 + apart;
    wanted_count = count - 1 - apart;
    if (count == 2 && !strcmp(words[1], "--list")) {
        for (struct use *use = first_use; use; use = use->next)
            printf("%s\n", use->name);
        return 0;
    }
    struct use *use = next_wanted(first_use);
    while (use)
        use = run_process(use);
    return 0;
}
