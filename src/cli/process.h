/* A program of the user's as a child process: found as a shell finds it, passed signals on to, waited for. */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 }; /* as shells have it */

/* The path of a program, to be freed. NULL: err says why not, and *status is the exit status. `command` is
 * that of heddle that asks: "run". */
char *process_find(const char *command, const char *name, int *status, struct err *err);

/* The path of a file of ours that was built with the heddle program, to be freed; NULL: it is not there. */
char *process_beside(const char *command, const char *name, struct err *err);

struct process {
    const char *command; /* of heddle */
    const char *path;
    char **words;                /* ends in NULL */
    void (*prepare)(void *user); /* in the child, before it becomes the program; or NULL */
    void *user;
    /* What came of it. */
    int status; /* as a shell gives it; also when it could not be started */
    int signal; /* that ended it, or 0 */
    double wall_s, cpu_s;
};

/* Starts it; false: err says why not. */
bool process_start(struct process *process, struct err *err);

/* Waits for the end of what was started. Signals that end or wake programs are passed on to it meanwhile. */
void process_wait(struct process *process);

/* SIGINT, SIGTERM or SIGHUP, if one came to heddle since then; it went to the program, or to nobody once that
 * had ended. 0: none did. */
int process_asked_to_end(void);
const _Atomic int *process_interrupt(void); /* the same, for who looks at it by himself */

/* Ends what was started, at once; by any thread. */
void process_kill(void);

#endif
