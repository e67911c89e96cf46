/* QEMU, as a process of ours: its command line, and its control socket (QMP). */
#ifndef BOOT_EMULATOR_H
#define BOOT_EMULATOR_H

#include "base/err.h"
#include "base/text.h"

#include <stdint.h>
#include <sys/types.h>

struct emulator_plan {
    const char *program, *kernel, *initial; /* paths */
    const char *plugin;
    const char *folder;      /* for its sockets */
    const char *job, *share; /* folders for the guest; share: or NULL */
    uint64_t memory, window; /* bytes */
    unsigned cpus;
    bool interactive;        /* Ctrl-C is the guest's */
    bool resumes;            /* nothing runs before emulator_load */
    int shared, plugin_bell; /* descriptors for the plugin */
    int messages;            /* for what the guest writes to its second serial line */
};

struct emulator {
    pid_t process;
    int control;        /* -1: not yet connected */
    struct text answer; /* the last one */
    char line[4096];    /* what has come of the next */
    size_t line_bytes;
};

bool emulator_start(struct emulator *emulator, const struct emulator_plan *plan, struct err *err);

/* One command, as JSON; waits for its answer. False: it is an error, or QEMU has gone. */
bool emulator_do(struct emulator *emulator, const char *command, struct err *err);

/* All that the guest is, to a file that this text is put before, and back from one, behind so many bytes. */
bool emulator_save(struct emulator *emulator, const char *path, const char *head, struct err *err);
bool emulator_load(struct emulator *emulator, const char *path, size_t head, struct err *err);

/* Ends it, kindly at first, if it has not ended; gives its status as waitpid does, and its CPU time. */
int emulator_end(struct emulator *emulator, double *cpu_s);
double emulator_cpu(const struct emulator *emulator); /* so far */

#endif
