/* A system: its GPUs and their parameters. A description (INI) has a section [gpu], which applies to every
 * GPU, and [system]. The defaults of the rows are an H200, so no file is needed. The values are what CUDA's
 * queries return on that GPU; comments in the folder systems have their sources. */
#ifndef SYSTEM_SYSTEM_H
#define SYSTEM_SYSTEM_H

#include "base/config.h"
#include "core/spec.h"
#include "gpu/dispatch_spec.h"
#include "gpu/spec.h"
#include "mem/spec.h"
#include "system/fabric_spec.h"

#define SYSTEM_PARAMS(P, S)                                                                                  \
    P(S, count, gpus, "1", "1..64", "GPUs of the system")                                                    \
    P(S, size, host_page, "4KiB", "4KiB..1GiB", "of the host's memory")                                      \
    P(S, time, launch_time, "2100ns", "0..1s", "what a launch takes the host", SHOWS_IN_TIME)                \
    P(S, time, call_time, "500ns", "0..1s", "what another call takes the host: copies, events, questions",   \
      SHOWS_IN_TIME)

struct system_spec {
    SYSTEM_PARAMS(PARAM_FIELD, system_spec)
};

extern const struct param_group system_params;

struct system {
    struct gpu_spec gpu;
    struct sm_spec sm;
    struct l2_spec l2;
    struct dram_spec dram;
    struct noc_spec noc;
    struct l3_spec l3;
    struct tlb_spec tlb;
    struct dispatch_spec dispatch;
    struct fabric_spec fabric;
    struct system_spec spec;
    struct config config;  /* what both were made from; owns their texts */
    const char *inherited; /* says of what was not set whose it is, "inherited from h200"; NULL: its own */
};

/* `name` is a path (it has a slash or ends in .ini), or a name, such as "h200", of a description in `folder`;
 * NULL or "" is "h200". `folder` may be NULL: the systems that come with Heddle (base/install.h). An unknown
 * name's error lists those there are. */
bool system_load(struct system *system, const char *name, const char *folder, struct err *err);

/* Changes one setting, "gpu.sm_count=4" or "system.gpus=8", before anything was made of the system. */
bool system_set(struct system *system, const char *assignment, struct err *err);

/* Where a setting, "gpu.sm_count=4", shows; SHOWS_ANYWHERE for what system_set would refuse. */
enum param_shows system_shows(const char *assignment);

/* Whether there can be such a system, timed or not; once all was set. */
bool system_check(const struct system *system, struct err *err);
void system_fini(struct system *system);

#endif
