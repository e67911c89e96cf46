/* `heddle study gputejas`: the experiments of GpuTejas (Malhotra et al., 2014), with the relaxed replay
 * beside the exact one, and the paper's figures beside ours. */
#ifndef STUDY_GPUTEJAS_GPUTEJAS_H
#define STUDY_GPUTEJAS_GPUTEJAS_H

#include "relaxed/runs/runs.h"

enum { TEJAS_PROGRAMS = 7, TEJAS_COUNTS = 7, TEJAS_EPOCHS = 3, TEJAS_MACHINES = 2, TEJAS_WAYS = 3 };

/* A program: what the paper says of it (tables II and III), and options that make ours as long. */
struct tejas_row {
    const char *name, *options, *quick;
    uint64_t instructions;
    double kips16, kips64;
    double shares[RELAXED_TIMES]; /* percent */
    double native_ms, gpgpusim_s, gputejas_s;
};
extern const struct tejas_row tejas_rows[TEJAS_PROGRAMS];
extern const unsigned tejas_threads[TEJAS_COUNTS];
extern const uint64_t tejas_epochs[TEJAS_EPOCHS];
extern const char *const tejas_machines[TEJAS_MACHINES];

struct tejas_how {
    bool quick, no_progress;
    const char *only; /* a regular expression for the names of programs; NULL: all */
    unsigned threads_most, repeats;
    const char *folder; /* for traces */
    const _Atomic int *interrupt;
};

/* With some number of threads. */
struct tejas_run {
    double seconds; /* the fastest of the repeats */
    struct relaxed_figure cycles, ipc, misses;
    struct relaxed_result result; /* the last one's */
    double error, launch_error;   /* against exact: of all cycles; of a launch's on average */
    double exact_seconds;
    double barrier_seconds; /* with barriers for phasers; 0: not run */
};

struct tejas_program {
    const struct tejas_row *row;
    uint64_t instructions, trace_bytes, exact_cycles;
    double functional_s, recording_s;
    struct tejas_run runs[TEJAS_COUNTS];
    double epoch_errors[TEJAS_EPOCHS]; /* against exact, with one thread */
    struct tejas_machine {             /* another GPU */
        double exact_ms, relaxed_ms;   /* simulated */
        double turn_ms;                /* relaxed, with blocks in turn */
        double exact_s, relaxed_s;     /* of the host */
    } machines[TEJAS_MACHINES];
};

/* How fast a trace comes to another process: files, shared memory, a socket. */
struct tejas_way {
    const char *name;
    double mb_per_s;
};

struct tejas {
    struct tejas_how how;
    size_t counts; /* of tejas_threads that this machine has cores for */
    struct tejas_program programs[TEJAS_PROGRAMS];
    size_t count;
    uint64_t way_bytes;
    struct tejas_way ways[TEJAS_WAYS];
};

bool tejas_make(struct tejas *study, const struct tejas_how *how, struct err *err);

/* transport.c: moves so many bytes from a process of its own to this one, each way. */
bool tejas_measure_ways(const char *folder, uint64_t bytes, struct tejas_way ways[TEJAS_WAYS],
                        struct err *err);

/* What figures show of a program, in percent. */
enum { TEJAS_LANES = 8 };
extern const char *const tejas_lane_names[TEJAS_LANES];
void tejas_classes(const struct tejas_program *program, double *to);
void tejas_memories(const struct tejas_program *program, double *to);
void tejas_lanes(const struct tejas_program *program, double *to);
double tejas_ipc_deviation(const struct tejas_program *program, size_t k); /* from one thread's */
double tejas_miss_deviation(const struct tejas_program *program, size_t k);

void tejas_print(const struct tejas *study, FILE *f);
/* Figures as drawings, into this folder. */
bool tejas_draw(const struct tejas *study, const char *folder, struct err *err);

#endif
