/* QEMU, as a process of ours: its command line, and its control socket (QMP). */
#ifndef BOOT_VM_H
#define BOOT_VM_H

#include "base/err.h"
#include "base/text.h"

#include <stdint.h>
#include <sys/types.h>

struct vm_plan {
    const char *program, *kernel, *initial; /* paths */
    const char *plugin;
    const char *folder;      /* for its sockets */
    const char *job, *share; /* folders for the guest; share: or NULL */
    uint64_t memory, window; /* bytes */
    unsigned cpus;
    bool counts_time;        /* the guest's clock is its count of instructions */
    bool interactive;        /* Ctrl-C is the guest's */
    bool resumes;            /* nothing runs before vm_load */
    int shared, plugin_bell; /* descriptors for the plugin */
    int messages;            /* for what the guest writes to its second serial line */
};

struct vm {
    pid_t process;
    int control;        /* -1: not yet connected */
    struct text answer; /* the last one */
    char line[4096];    /* what has come of the next */
    size_t line_bytes;
};

bool vm_start(struct vm *vm, const struct vm_plan *plan, struct err *err);

/* One command, as JSON; waits for its answer. False: it is an error, or QEMU has gone. */
bool vm_do(struct vm *vm, const char *command, struct err *err);

/* All that the guest is, to a file that this text is put before, and back from one, behind so many bytes. */
bool vm_save(struct vm *vm, const char *path, const char *head, struct err *err);
bool vm_load(struct vm *vm, const char *path, size_t head, struct err *err);

/* Ends it, kindly at first, if it has not ended; gives its status as waitpid does, and its CPU time. */
int vm_end(struct vm *vm, double *cpu_s);
double vm_cpu(const struct vm *vm); /* so far */

#endif
