/* A whole computer with the simulated GPU: Debian's kernel and a small userland in QEMU, the GPU as a PCI
 * device, its driver in userspace. Programs in the guest run on a machine in another process (src/serve).
 *
 *   boot_new      the window of the PCI device and shared counts: what the machine's process needs
 *   boot_run      from the start of QEMU to its end, once the machine is there
 */
#ifndef BOOT_BOOT_H
#define BOOT_BOOT_H

#include "base/err.h"
#include "serve/serve.h"

#include <stdint.h>

struct boot_options {
    const char *folder;           /* for the time of the run, with a folder of its statistics in it: */
    const char *ledger;           /* ... of this name */
    const char *machine;          /* the path of its door */
    const char *plugin, *guest;   /* files of ours */
    const char *const *libraries; /* bundle_plan's */
    const char *const *programs;
    char *const *command;    /* or NULL: a shell */
    const char *kernel;      /* or NULL */
    const char *share;       /* a folder, or NULL */
    const char *checkpoint;  /* file that is written when the guest has booted; or NULL */
    bool checkpoint_stop;    /* and that is all */
    const char *resume;      /* file that is gone on from instead of booting; or NULL */
    uint64_t memory, window; /* bytes of the guest, and of the GPU's window, powers of two */
    unsigned cpus;
    double timeout_s; /* 0: none */
    bool counts_time; /* the guest's clock is its count of instructions */
    bool timing;
    uint64_t first_line, end_line; /* launches that are kept one by one */
    const _Atomic int *interrupt;
};

/* What was done on the GPU (serve_live), and by the guest's processors. */
struct boot_work {
    uint64_t instructions;
    uint64_t gpu[7];
};

struct boot_result {
    int status, signal; /* of the command */
    bool stopped;       /* after the checkpoint, as asked for */
    bool interrupted;
    double boot_s, boot_cpu_s; /* until the guest had booted, or was resumed */
    uint64_t boot_instructions;
    double checkpoint_s;
    uint64_t checkpoint_bytes;
    double wall_s, cpu_s; /* in all */
    struct boot_work all, region;
    uint64_t regions; /* how many times the region was entered */
};

struct boot;
struct boot *boot_new(const struct boot_options *options, struct err *err);

/* For the machine's process, before that is started. */
void boot_fill_machine(struct boot *boot, struct serve_options *machine);

/* Finds and makes all that the guest needs, runs it, and waits for its end. False: err says why it did not
 * end well; result->status is the exit status. */
bool boot_run(struct boot *boot, struct boot_result *result, struct err *err);
void boot_free(struct boot *boot);

#endif
