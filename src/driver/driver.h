/* The driver: the layer between an API (CUDA's, heddle.h) and the execution of kernels. Devices and their
 * memory, modules, streams and events, launches, faults, statistics.
 *
 *   struct driver *driver = driver_get(&err);               the process's own, made at the first call
 *   struct device *device = driver_device(driver, 0);
 *   memory_alloc(device, bytes, &address);
 *   module_load(driver, "saxpy.ptx", text, length, &module);
 *   module_function(module, "saxpy", &function);
 *   stream_launch(device_default_stream(device), function, &config, arguments);
 *   device_synchronize(device);
 *
 * Calls return an enum result (CUDA's numbers; driver/result.h), and may come from any thread.
 * driver_detail() describes the calling thread's last failed call in words.
 *
 * Addresses are the host's own. The driver owns all structs except those with visible fields; they are
 * created and destroyed by the calls here. A destroyed handle must not be used again.
 *
 * If a process has several libraries (libcudart, libcuda), one of them must hold the driver. */
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include "driver/mapping.h"
#include "driver/memory.h"
#include "driver/module.h"
#include "driver/result.h"
#include "driver/stream.h"
#include "gpu/stats.h"
#include "system/system.h"

#include <stdio.h>

struct driver;
struct device;

/* ---- the driver ---- */

struct machine_windows;

/* How long kernels take on the simulated GPU, beside what they compute. */
struct ranks;

struct timing_options {
    bool on;
    const char *attach;        /* the machine of another process at this path (src/attach); or NULL */
    uint32_t seat;             /* there, plus 1; 0: any */
    uint32_t rank, ranks;      /* of a job of MPI that the process is in; 0 ranks: of none */
    struct ranks *over_ranks;  /* that the machine is spread over (src/ranked); or NULL */
    bool plain_copies;         /* copies from and to the host take their link's time alone, and waits
                                  end at once: for set-up that is not to be measured */
    bool untimed;              /* that machine keeps no time: launches and copies have none */
    uint64_t max_cycles;       /* of a kernel: beyond, it fails as if it never ended; 0: none */
    bool cold_caches;          /* every kernel finds empty caches */
    bool share_code;           /* every SM knows the code that any has fetched: gpu_launch */
    bool profile;              /* counts for each instruction */
    bool progress;             /* shown on stderr, if that is a terminal */
    const char *checkpoint;    /* file that the run is saved to, in the middle; or NULL */
    uint64_t checkpoint_at;    /* cycles since the beginning; 0: when interrupted */
    uint64_t checkpoint_every; /* and again after so many; 0: once */
    bool checkpoint_stop;      /* the run ends there */
    const char *resume;        /* file of a checkpoint that the run goes on from; or NULL */
    uint64_t series_cycles;    /* samples over time are left in run_dir, of so many cycles each; 0: none */
    const char *write_load;    /* file that says what islands took (system/loads.h); or NULL */
    const char *placement;     /* such a file, by which ranks get their parts; or NULL */
    const char *identity;      /* lines of what must be the same in both runs; or NULL */
    bool *stopped;             /* set when the run ended as checkpoint_stop says; or NULL */
    bool islands_apart;        /* for tests: see engine_spec */
    const struct machine_windows *windows; /* told of each window of the engine; or NULL */
    bool watch_host; /* time goes on when the host makes no call for long: it may look at memory meanwhile */
    bool follow_machine; /* the host's cores are simulated beside the machine: what tasks wait for others
                            begins while the host computes */
};

/* A trace of instructions that is written. */
struct itracing_options {
    const char *folder; /* NULL: none */
    uint64_t limit;     /* bytes; 0: none */
};

enum { CHECK_SHOW = 20 }; /* findings that are shown in full, unless told */

/* The timeline of the run, as a file: what its options say (picture.h). */
struct picture_options {
    const char *path;            /* NULL: none */
    const char *detail, *window; /* or NULL */
};

struct driver_options {
    const char *system;            /* name or path; NULL: h200 */
    const char *const *settings;   /* "gpu.sm_count=4", ..., NULL; or NULL: none */
    const char *home;              /* systems are in its folder systems/; NULL: as system_load finds them */
    const char *run_dir;           /* statistics of launches are left there (ledger.h); NULL: nowhere */
    uint64_t first_line, end_line; /* launches from the first to before the end are there one by one, too */
    unsigned threads;              /* of the host, for a kernel; 0: all cores */
    uint64_t instruction_limit;    /* warp instructions of a launch; 0: none */
    bool padded_bounds;            /* kernels may touch the padding between allocations, as on a GPU */
    bool of_node;          /* of a system of several nodes, only the GPUs of timing.rank's are there */
    bool keep_launches;    /* so that driver_launch can give them */
    const char *kernels;   /* only these launches are timed, or recorded (base/choice.h); NULL: all */
    const char *region;    /* and only those in this part of the program (region.h); NULL: all of it */
    const char *trace_mem; /* traces of accesses to global memory begin so (tracing.h); NULL: none */
    const char *check;     /* what is checked: "race,init" (checks/findings.h); NULL: nothing */
    uint64_t check_show;   /* findings that are shown in full */
    struct itracing_options record;
    struct picture_options picture;
    const char *live; /* a page shows the run (onlooker.h): its port, or "auto"; NULL: none */
    struct timing_options timing;
    FILE *print;                  /* where printf of kernels goes; NULL: stdout */
    const _Atomic int *interrupt; /* not 0: simulations stop where they are; or NULL */

    /* Told once for each fault of a kernel, unusable module and the like: whole lines for a human, without a
     * newline at the end. NULL: to stderr. Called from any thread, one call at a time. */
    void (*report)(void *user, const char *text);
    void *user;
};

/* The process's driver. Options come from the environment: HEDDLE_SYSTEM, HEDDLE_HOME, HEDDLE_RUN_DIR,
 * HEDDLE_THREADS, HEDDLE_INSTRUCTION_LIMIT, HEDDLE_BOUNDS (exact or padded), HEDDLE_MODE (functional or
 * timing) and what environment.c has more; reports go to stderr. NULL with a reason, the same each time, when
 * a setting is wrong. */
struct driver *driver_get(struct err *err);

/* In a process of `heddle run` over ranks: a driver that is made with these options has them, if it is timed.
 * One at a time. driver_keep_ranks: it was made (NULL: it was not); driver_give_ranks_back: it ends. */
bool driver_take_ranks(struct driver_options *options, struct err *err);
void driver_keep_ranks(struct driver *driver);
void driver_give_ranks_back(const struct driver *driver);

/* Before the first driver_get: the system where HEDDLE_SYSTEM names none. NULL: h200. */
void driver_set_default_system(const char *name);

/* To be called when the process ends (a destructor of the library, say): stops kernels that still run, as the
 * end of a process does; calls give DEINITIALIZED from then on. Nothing when driver_get was never called. */
void driver_at_exit(void);

/* Whether this process is a child of the one that made the driver. Then the driver's threads are not here,
 * and its locks may be held forever: only its constants may be used. CUDA's calls give NOT_INITIALIZED then.
 */
bool driver_is_forked(const struct driver *driver);

/* A driver of one's own: for tests, heddle.h, heddle bench. */
struct driver *driver_new(const struct driver_options *options, struct err *err);
void driver_free(struct driver *driver); /* also waits for its threads; kernels are stopped */

/* What an API's library knows, for kernels that ask (the device runtime), or launch its graphs. */
struct function_facts;
struct play;
struct driver_library {
    bool (*attribute)(const struct device *device, int attribute, int *value);
    const char *(*error_text)(int code, bool is_name);
    /* Its struct of a kernel's attributes; gives how many bytes. */
    uint32_t (*fill_function)(const struct function_facts *facts, void *to, size_t room);
    const struct play *(*graph)(uint64_t handle); /* that kernels may launch; or NULL */
};
void driver_set_library(struct driver *driver, const struct driver_library *library);

unsigned driver_device_count(const struct driver *driver);
struct device *driver_device(struct driver *driver, unsigned index); /* NULL beyond the last */
const struct system *driver_system(const struct driver *driver);
uint64_t driver_time_ps(struct driver *driver);  /* simulated, since it was made; 0 without timing */
uint64_t driver_clock_ps(struct driver *driver); /* what events record: simulated, or else the host's */

/* What the last call of this thread that failed had to say; "" when nothing. */
const char *driver_detail(void);
struct err *driver_detail_err(void); /* the same, to fill or to add to */

/* The GPUs of the system that this driver has: those of its node, from this one on; and how many nodes there
 * are. */
uint32_t driver_first_gpu(const struct driver *driver);
uint32_t driver_node(const struct driver *driver);
uint32_t driver_nodes(const struct driver *driver);
uint32_t driver_node_of_rank(const struct driver *driver, uint32_t rank); /* of the process's job of MPI */

/* ---- processes that wait for each other beside the machine: by MPI, say ----
 *
 * Time stands still while a process runs, but the others of its machine wait for it then. So one that waits
 * for a message of another looks for it, and if it has not come, calls driver_turn, which returns when it may
 * have; or, on a machine of its own or without time, soon. looks: how often, each time that others do
 * something. */
void driver_turn(struct driver *driver, uint32_t looks);
void driver_message(struct driver *driver); /* this process has done something that others may wait for */
/* Before and behind a call that waits for others, and cannot look. */
void driver_set_away(struct driver *driver, bool away);
/* Whether other processes of the run share memory of GPUs with this one: all have one machine, or no time. */
bool driver_has_company(const struct driver *driver);
void driver_pass(struct driver *driver, uint64_t ps); /* the host works for so long */

/* Gives a text to the report callback. */
void driver_report(struct driver *driver, const char *text);
bool driver_reported(const char *text); /* whether this is the last report of this thread */

/* ---- devices ---- */

struct driver *device_driver(const struct device *device);
unsigned device_index(const struct device *device);
bool device_is_busy(struct device *device); /* a command of it has not ended; no simulated time passes */
const struct gpu_spec *device_spec(const struct device *device);
struct image *device_image(struct device *device); /* of exec: for textures */

/* Waits for all work of the device; its error, sticky or not. */
/* The host, which has a time of its own, has come to this one: the machine's follows. And the machine's time
 * now. Picoseconds; nothing, and 0, in functional mode. */
void driver_host_reached(struct driver *driver, uint64_t time_ps);
uint64_t driver_host_leaves(struct driver *driver); /* what it has submitted begins; gives the time */
uint64_t driver_time(struct driver *driver);

enum result device_synchronize(struct device *device);

/* The sticky error: once a kernel faulted, every call for the device gives it, until device_reset. */
enum result device_error(struct device *device);

/* As cudaDeviceReset: frees all memory, streams, events and arrays of the device, unloads its copies of
 * modules (which stay registered and are loaded again at the next use), clears the sticky error. */
enum result device_reset(struct device *device);

/*    id, CUDA's number, where it starts, and the most that can be set */
#define DEVICE_LIMITS(L)                                                                                     \
    L(STACK_SIZE, 0, 1024, 524272)             /* bytes of a thread */                                       \
    L(PRINTF_FIFO_SIZE, 1, 8650752, INT64_MAX) /* printf beyond it is written early, not lost */             \
    L(MALLOC_HEAP_SIZE, 2, 8388608, INT64_MAX) /* cannot change once a kernel with malloc ran */             \
    L(RUNTIME_SYNC_DEPTH, 3, 0, 0)             /* not there any more */                                      \
    L(RUNTIME_PENDING_LAUNCHES, 4, 2048, INT64_MAX)                                                          \
    L(L2_FETCH_GRANULARITY, 5, 64, 128)                                                                      \
    L(PERSISTING_L2_SIZE, 6, 0, INT64_MAX) /* starts at three tenths of what there can be */                 \
    L(SHARED_MEMORY_SIZE, 7, 0, INT64_MAX) /* starts at what a block can have */

enum device_limit { /* CUDA's numbers */
#define L(id, number, start, most) LIMIT_##id = number,
                    DEVICE_LIMITS(L)
#undef L
                        LIMIT_COUNT
};
enum result device_limit_get(struct device *device, int limit, uint64_t *value);
enum result device_limit_set(struct device *device, int limit, uint64_t value);

/* Peer access: kernels of `device` may touch memory of `peer`. */
bool device_can_access_peer(const struct device *device, const struct device *peer);
enum result device_enable_peer(struct device *device, struct device *peer);
enum result device_disable_peer(struct device *device, struct device *peer);

/* ---- statistics ---- */

/* A launch that has ended. `launch` counts submissions, from 0 in each process. */
struct launch_record {
    uint64_t launch;
    const char *kernel; /* lives as long as the driver */
    unsigned device;
    uint64_t stream; /* 0: the default stream; others by their order of creation */
    uint32_t grid[3], block[3];
    uint32_t registers, blocks_per_sm;
    uint64_t shared_bytes, dynamic_shared_bytes; /* shared: static */
    enum result result;
    double wall_seconds; /* of the host */
#define C(name) uint64_t name;
    LAUNCH_COUNTS(C)
#undef C
    struct gpu_kernel_stats *timing; /* NULL: it was not timed. The driver's */
    const struct code_place *const
        *places;                 /* of timing->profile, by operation, if launches are kept. The driver's */
    struct kernel *timed_kernel; /* for the ledger */
    bool interrupted;            /* before its end */
};

/* The launches that have ended, by their numbers; needs options.keep_launches. False beyond the last. */
size_t driver_launch_count(struct driver *driver);
bool driver_launch(struct driver *driver, size_t index, struct launch_record *record);

#endif
