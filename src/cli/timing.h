/* The options of `heddle run` and of workloads that say how a simulation in time is done. */
#ifndef CLI_TIMING_H
#define CLI_TIMING_H

#include "cli/over_ranks.h"
#include "driver/driver.h"
#include "system/system.h"

#include <stdint.h>

struct timing_request {
    const char *mode, *system, *max_cycles, *kernels, *region;
    const char *attach, *seat;
    const char *write_load, *placement, *series;
    struct picture_options picture;
    const char *live; /* a port, or "auto"; NULL: no live view */
    const char *checkpoint, *checkpoint_at, *checkpoint_every, *resume;
    bool checkpoint_stop, shared;
    bool cold_caches, no_progress, plugins;
    const char *hot_places; /* how many lines of a profile are shown; NULL: none */
    const char **settings;  /* ends in NULL; or NULL */
    size_t setting_count, setting_capacity;
    const char *dump;    /* where the whole description goes, or NULL */
    char *own;           /* the settings of the environment */
    char *gpus;          /* ... and of --gpus, --unified or --monolithic */
    char *recorded;      /* ... and of a trace */
    const char *gpus_by; /* ... which of these it was, or NULL */
    const char
        *record; /* where a trace of instructions goes, or NULL; then timing is on when asked for only */
    uint64_t record_limit;
};

#define PLUGIN_OPTION                                                                                        \
    {                                                                                                        \
        "--plugin", "FILE[,TEXT]",                                                                           \
            "load policies or listeners of your own (docs/plugins.md); may come often"                       \
    }

#define LIVE_OPTION                                                                                          \
    {                                                                                                        \
        "--live", "[PORT]",                                                                                  \
            "show the run on a page of this machine while it goes on; --live=paused: it waits there first"   \
    }

#define TIMELINE_OPTIONS                                                                                     \
    {"--timeline", "FILE",                                                                                   \
     "draw what happens when, for ui.perfetto.dev; FILE.json: as Chrome's trace events"},                    \
        {"--timeline-detail", "calls|kernels|blocks|all", "how much of it (blocks unless told)"},            \
    {                                                                                                        \
        "--timeline-window", "FROM..TO", "only this simulated time, such as 10us..1ms, 2ms.. or ..1ms"       \
    }

#define TIMING_OPTIONS                                                                                       \
    {"--mode", "MODE", "functional: what is computed; timing: how long it takes, too"},                      \
        {"--system", "NAME|FILE", "the system to simulate (h200 unless told; `heddle params gpu`)"},         \
        {"--gpus", "N", "so many of its GPUs, on their usual fabric (--set system.gpus=N)"},                 \
        {"--set", "PATH.KEY=VALUE",                                                                          \
         "change the system, such as dram.bandwidth=2TB/s; may come several times"},                         \
        PLUGIN_OPTION, {"--unified", "N", "N GPUs that programs see as one (docs/multi-gpu.md)"},            \
        {"--monolithic", "N", "one GPU with N times the SMs, L2, memory and bandwidth"},                     \
        {"--dump-config", "FILE",                                                                            \
         "write the system as it is then, with what it inherited marked, as a description"},                 \
        {"--attach", "PATH", "run on the machine of `heddle serve PATH`, beside other programs"},            \
        {"--ranks", "N", "simulate with N processes of this machine, by MPI: docs/mpi.md"}, HOSTS_OPTION,    \
        {"--write-load", "FILE", "write what it took to simulate each part of the system, for --placement"}, \
        {"--placement", "FILE", "ranks get parts that took about as long in the run that wrote this file"},  \
        {"--seat", "N", "which of its programs this is, from 1; unless told, the next one"},                 \
        TIMELINE_OPTIONS, LIVE_OPTION,                                                                       \
        {"--kernels", "LIST",                                                                                \
         "time only launches such as 3-5, counted from 0, or of kernels such as 'scale*'; others just run"}, \
        {"--max-cycles", "N", "cycles after which a kernel fails, as if it never ended; 0: no limit"},       \
        {"--series", "CYCLES", "with --stats: sample what each GPU does in each so many cycles"},            \
        {"--cold-caches", NULL, "every kernel finds empty caches, as under ncu"},                            \
        {"--checkpoint", "FILE",                                                                             \
         "save the run, in the middle of kernels even: at --checkpoint-at, or at Ctrl-C"},                   \
        {"--checkpoint-at", "CYCLES", "when: cycles of the GPU since the beginning; then the run goes on"},  \
        {"--checkpoint-every", "CYCLES", "and again whenever so many have passed, to the same file"},        \
        {"--checkpoint-stop", NULL, "or ends there"},                                                        \
        {"--resume", "FILE", "go on from a checkpoint of the same program with the same words"},             \
        {"--profile", "N", "show the N lines of each kernel where warps waited longest"},                    \
    {                                                                                                        \
        "--no-progress", NULL, "no line on the terminal that shows how far a kernel is"                      \
    }

/* What variables such as HEDDLE_SYSTEM say (docs/cuda.md); before options are taken, which win over it. */
bool timing_from_environment(struct timing_request *request, struct err *err);

/* Takes an option if it is one of these; *mine tells. */
bool timing_took(struct timing_request *request, const struct option_row *row, const char *value, bool *mine,
                 struct err *err);

/* What does not go together; once all options were taken. */
bool timing_check(const struct timing_request *request, struct err *err);

/* Samples over time, once it is known where the machine is. */
bool timing_check_series(const struct timing_request *request, struct err *err);
/* ... and whether they go anywhere: to this file of --stats or --json, or NULL. */
bool timing_keeps_series(const struct timing_request *request, const char *stats, struct err *err);
/* The same of --live and --timeline alone, which depend on where the machine is. */
bool timing_check_live(const struct timing_request *request, struct err *err);
void timing_tell_shown(const char *url); /* where the page is */
bool timing_check_picture(const struct timing_request *request, struct err *err);

/* The first option that has no meaning without time, or NULL. */
const char *timing_alone(const struct timing_request *request);

/* Timing is on when asked for, or when something is said that only it has. */
bool timing_is_on(const struct timing_request *request);

/* Says of a setting that a functional run does not show; one line on stderr at most. */
void timing_tell_unseen(const struct timing_request *request);

/* The system of a trace, and settings of it, a newline behind each; those that were asked for come behind. */
void timing_recorded(struct timing_request *request, const char *system, const char *settings);

/* The system that is asked for, checked; and written, where --dump-config says. */
bool timing_load_system(const struct timing_request *request, struct system *system, struct err *err);

/* Adds all that a result depends on, of the options here: the whole description, and what of the run is
 * timed. */
bool timing_identify(const struct timing_request *request, struct text *identity, struct err *err);

/* "3-5", "7" or "3-": from the first launch to behind the last (0: no end). timing_launch_range: of any
 * option. */
bool timing_launch_range(const char *option, const char *text, uint64_t *first, uint64_t *end,
                         struct err *err);
struct choice;
bool timing_kernels(const struct timing_request *request, struct choice *kernels, struct err *err);
uint64_t timing_checkpoint_every(const struct timing_request *request);
uint64_t timing_checkpoint_at(const struct timing_request *request);
uint64_t timing_max_cycles(const struct timing_request *request);
uint64_t timing_series(const struct timing_request *request);
uint64_t timing_seat(const struct timing_request *request);
uint64_t timing_hot_places(const struct timing_request *request);
void timing_fini(struct timing_request *request);

#endif
