/* --cpu of `heddle run`: the program on simulated CPU cores, as QEMU runs it with our plugin. */
#ifndef CLI_RUN_CPU_H
#define CLI_RUN_CPU_H

#include "cpu/coherent/coherent.h"
#include "cpu/runs/runs.h"
#include "base/config.h"
#include "base/err.h"
#include "base/text.h"
#include "mem/hostmem.h"
#include "serve/serve.h"
#include "tracks/picture.h"

#include <pthread.h>

struct run_cpu {
    const char *name; /* of the description */
    struct config config;
    struct cpu_spec spec;
    char *emulator, *plugin;
    int shared_file;
    struct cpurun_shared *shared;
    struct cpurun *cores;
    bool is_coherent;
    struct cpugpu coherent; /* what lies below the cores' caches, if so */
    struct hostmem_caches caches;
    struct serve_options serving;
    struct serve *machine;         /* beside the cores, or NULL */
    const struct track_plan *plan; /* of a timeline, or NULL; and what is drawn by it: */
    struct track_picture *picture;
    struct err failure;       /* of the machine; "": none */
    void (*own_sigpipe)(int); /* what was to be done with it before, and is by the program */
    pthread_t thread;         /* that simulates */
    char **words;             /* what QEMU is called with */
    struct text plugin_word, environment[2];
    const char *own_preload, *own_libraries; /* LD_PRELOAD and LD_LIBRARY_PATH as heddle has them, or NULL */
};

/* Reads the description (systems/cpu/NAME.ini, or a file), and those of the settings that are for CPUs. */
bool cmd_cpu_load(struct run_cpu *cpu, const char *name, const char *const *settings, struct err *err);

/* Which library of GPUs the program names, or holds. */
enum cpu_program { CPU_PROGRAM_ALONE, CPU_PROGRAM_CUDA, CPU_PROGRAM_AMD /* OpenCL or HIP */ };
enum cpu_program cmd_cpu_program(const char *program);

/* Finds the emulator of the program. False: *status is the exit status. */
bool cmd_cpu_prepare(struct run_cpu *cpu, const char *path, int *status, struct err *err);

/* What QEMU is called with: the program's words, and variables of its environment ("NAME=VALUE", or NULL). */
void cmd_cpu_make_words(struct run_cpu *cpu, char *path, char **words, const char *preload,
                        const char *libraries);

/* The machine that the program's calls reach, in one time with the cores; if it uses a GPU. And memory below
 * the cores' caches, after that. */
bool cmd_cpu_make_machine(struct run_cpu *cpu, const struct serve_options *how, struct err *err);
bool cmd_cpu_make_memory(struct run_cpu *cpu, const struct system *system, uint32_t gpus, struct err *err);
void cmd_cpu_join_machine(struct run_cpu *cpu); /* once there are cores */
void cmd_cpu_end_machine(struct run_cpu *cpu);

void cmd_cpu_child(const struct run_cpu *cpu); /* in the child, before it becomes QEMU */
bool cmd_cpu_begin_picture(struct run_cpu *cpu,
                           struct err *err); /* once there is a machine, if there is one */
void cmd_cpu_begin(struct run_cpu *cpu);     /* once the process runs */
void cmd_cpu_end(struct run_cpu *cpu);       /* once it has ended */
void cmd_cpu_fini(struct run_cpu *cpu);

/* Whether the program was simulated as a whole. */
bool cmd_cpu_check(const struct run_cpu *cpu, const char *program, int status, struct err *err);

/* What came of it, in words and as JSON. */
void cmd_cpu_tell(const struct run_cpu *cpu, double wall_s, double cpu_s, struct text *text);
struct json_writer;
void cmd_cpu_write(const struct run_cpu *cpu, struct json_writer *json);

#endif
