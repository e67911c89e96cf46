/* This machine, measured as the paper that many caches began with measured its own.
 *
 * A figure is a function that asks for points (a workload, a machine, where it is simulated) and puts what
 * came of them on a sheet. It is called twice: to know which points there are, and when they are measured. */
#ifndef CACHESIM_EVALUATE_H
#define CACHESIM_EVALUATE_H

#include "base/text.h"
#include "cachesim/runs/runs.h"

/* ---- workloads ---- */

enum { PROGRAMS_MOST = 3, THREADS_MOST = 8 };
enum { OFFSET = 4999 }; /* a trace that is used again starts so many accesses further in */

struct evaluate_workload {
    const char *label;
    uint32_t threads; /* of each program, which is as many traces; THREADS_MOST at most */
    const char *programs[PROGRAMS_MOST];
    const char *generate; /* in place of programs */
};

/* The first six and the next three are the paper's; the last is made. */
enum { WORKLOADS_A_TO_F = 6, WORKLOADS_G_TO_I = 3, WORKLOAD_MADE = 9, WORKLOADS = 10 };
extern const struct evaluate_workload evaluate_workloads[WORKLOADS];

uint32_t evaluate_workload_programs(const struct evaluate_workload *workload);
uint32_t evaluate_workload_traces(const struct evaluate_workload *workload);
const char *evaluate_program_role(const char *program); /* the paper's */

/* FOLDER/traces/PROGRAM-THREADS.NUMBER.htrace; numbers begin with 1. */
void evaluate_trace_path(struct text *text, const char *folder, const char *program, uint32_t threads,
                         uint32_t number);

/* A program to be recorded, which is done by whoever can start one. */
struct trace_wish {
    const char *program;
    uint32_t threads;
    uint64_t accesses;  /* of each thread */
    const char *output; /* how the names of its traces begin */
    bool no_progress;
};

/* ---- points ---- */

/*    name          text */
#define EVALUATE_HOSTS(X)                                                                                    \
    X(CPU_ONE, "CPU, 1 thread")                                                                              \
    X(CPU_ALL, "CPU, all threads")                                                                           \
    X(GPU, "GPU")                                                                                            \
    X(GPU_RESIDENT, "GPU, trace resident")                                                                   \
    X(GPU_SERIAL, "GPU, no overlap")

enum evaluate_host {
#define X(name, text) EVALUATE_##name,
    EVALUATE_HOSTS(X)
#undef X
        EVALUATE_HOST_COUNT
};

extern const char *const evaluate_hosts[EVALUATE_HOST_COUNT];

static inline bool evaluate_host_is_gpu(enum evaluate_host host)
{
    return host >= EVALUATE_GPU;
}

struct point_key {
    uint32_t workload; /* its number */
    enum caches_machine machine;
    uint32_t tiles, l1_ways; /* 0 ways: 16 */
    uint64_t quantum;        /* 0: exact */
    uint64_t accesses;       /* of each tile */
    enum evaluate_host host;
    uint32_t per_block;
};

struct evaluate_point {
    struct point_key key;
    bool is_measured;
    double seconds;                /* for all accesses, at the speed of the last three quarters of them */
    double million_per_s;          /* accesses */
    double transfer_s, l1_s, l2_s; /* of the device, likewise */
    struct caches_result result;   /* without counts of each cache */
    double imbalance;              /* of L2s: accesses of the busiest against the mean */
    uint64_t digest;               /* of the counts of all caches */
};

/* ---- sheets: what a figure shows, as a table, a drawing and JSON ---- */

enum { SHEET_NAME = CELL };

struct sheet {
    const char *name, *title, *text; /* name: of the file, too */
    const char *across, *upwards, *right;
    bool bars, logarithmic;
    uint32_t shades; /* so many series after each other have one colour; 0: one */
    struct sheet_series {
        char name[SHEET_NAME];
        bool is_right; /* belongs to the right scale */
    } * series;
    char (*columns)[SHEET_NAME];
    struct sheet_cell {
        uint32_t series, column;
        double value;
    } * cells;
    size_t series_count, series_capacity, column_count, column_capacity, cell_count, cell_capacity;
    struct text note;     /* that belongs to it */
    struct text commands; /* that repeat some of its points, one a line */
};

/* Series and columns are those that were put, in this order. */
void sheet_put(struct sheet *sheet, const char *series, const char *column, double value);
void sheet_put_right(struct sheet *sheet, const char *series, const char *column, double value);
double sheet_value(const struct sheet *sheet, size_t series, size_t column); /* or NAN: none was put */
void sheet_fini(struct sheet *sheet);
void sheet_svg(const struct sheet *sheet, FILE *f);
char *evaluate_number_of(char cell[CELL], double value); /* three digits or more; "-" for no number */

/* ---- all ---- */

struct evaluation {
    const struct caches_request *r;
    const char *folder;
    uint64_t accesses; /* of each tile, at most; 0: as many as suit it */
    bool quick;        /* a small one, which shows nothing but that it works */
    bool no_gpu;       /* measure without one */
    bool needs_gpu;    /* or fail without one */
    bool (*record)(const struct trace_wish *wish, struct err *err);
    bool has_gpu;    /* what follows is made by evaluation_run */
    char *cpu, *gpu; /* their names; gpu: or why there is none */
    unsigned cores;
    double seconds;
    struct evaluate_point *points;
    size_t point_count, point_capacity;
    struct sheet *sheets;
    size_t sheet_count, sheet_capacity;
};

/* The point of this key, which is added unless it is there; valid until the next call. */
const struct evaluate_point *evaluation_point(struct evaluation *e, const struct point_key *key);

/* Fewer where memory for all tiles would be too much. */
uint64_t evaluation_accesses(const struct evaluation *e, uint32_t tiles);

void evaluation_figures(struct evaluation *e);
void evaluation_forget_figures(struct evaluation *e);
bool evaluation_measure(struct evaluation *e, struct err *err);
void evaluation_json(const struct evaluation *e, FILE *f);
void evaluation_markdown(const struct evaluation *e, FILE *f);

/* The words that simulate this point, in the evaluation's folder. */
void evaluate_point_command(struct text *text, const struct point_key *key);
struct caches_spec evaluate_point_spec(const struct point_key *key);

/* Traces of all workloads, recorded unless they are there. */
bool evaluation_record(const struct evaluation *e, struct err *err);

/* All of it: traces, points, figures, files in the folder. */
bool evaluation_run(struct evaluation *e, struct err *err);
void evaluation_fini(struct evaluation *e);

enum { EVALUATION_ACCESSES_MOST = 1 << 26 };

#endif
