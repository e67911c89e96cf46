/* Kernels of any instruction set: their properties, launches and results. Here they run untimed, on an image
 * of memory; timing models run the same kernels one instruction at a time (exec/team.h).
 *
 *   if (kernel_prepare(kernel, err)) launch_run(&(struct launch){.kernel = kernel, ...}, &result);
 *
 * Any number of launches, on any threads, may use a kernel at a time. */
#ifndef EXEC_EXEC_H
#define EXEC_EXEC_H

#include "base/err.h"
#include "exec/image.h"

#include <pthread.h>
#include <stdio.h>

struct isa_code;
struct isa_ops;

struct kernel_facts {
    const char *name;
    uint64_t param_bytes, shared_bytes, local_bytes, const_bytes;
    uint32_t registers;           /* of a thread: an estimate, until kernel_set_registers */
    uint32_t max_threads;         /* .maxntid or .reqntid, or 0 */
    uint32_t required[3];         /* .reqntid, or 0 */
    uint32_t cluster[3];          /* .reqnctapercluster, or 0 */
    uint32_t max_cluster;         /* .maxclusterrank, or 0 */
    bool explicit_cluster;        /* the kernel or its launch has to say a size of clusters */
    uint32_t param_count;         /* and of each: */
    uint32_t ptx_version, target; /* 90, 75 */
    bool launches;                /* it may launch others (struct device_calls) */
    bool ordered; /* its result may depend on the order of blocks, so they run one after another */
    bool meets;   /* its warps say when that begins to matter (block_meets) */
};

/* Each instruction set's own begins with it. */
struct kernel {
    const struct isa_ops *isa;
    uint64_t number; /* another one for each kernel of the process */
    uint64_t object; /* where the machine is in another process: what it is of there (machine_ops.load) */
    struct kernel_facts facts;
    /* Filled when it is prepared */
    const struct isa_code *code; /* its own, without functions it calls; for models that keep time */
    uint32_t slots;              /* registers of all its code, as timing numbers them */
    uint64_t code_bytes;         /* of all its machine instructions */
    uint32_t access_count;       /* places in its code that access memory */
    uint64_t dynamic_shared_at;  /* where the launch's part of shared memory begins */
    _Atomic uint64_t block_cost; /* warp instructions of a block, in the last launch; 0: there was none */
    bool prepared, failed;
    struct err why; /* it failed */
    pthread_mutex_t lock;
};

void kernel_init(struct kernel *kernel, const struct isa_ops *isa, const char *name);
void kernel_fini(struct kernel *kernel);

/* Makes it ready to run; done once, by launch_run if not before. Fails when it holds what Heddle does not
 * know, which is named. */
bool kernel_prepare(struct kernel *kernel, struct err *err);
const struct kernel_facts *kernel_facts(struct kernel *kernel);       /* which prepares it */
void kernel_set_registers(struct kernel *kernel, uint32_t registers); /* what a cubin says */

/* Where an instruction of its own code comes from, by its number; it has been prepared. */
struct code_place;
void kernel_place(const struct kernel *kernel, uint32_t instruction, struct code_place *place);
/* The same of code that a warp of it runs: its own, or a function's. */
void kernel_place_in(const struct kernel *kernel, const struct isa_code *code, uint32_t instruction,
                     struct code_place *place);

enum fault_kind {
    FAULT_NONE,
    FAULT_ADDRESS, /* not of any range */
    FAULT_MISALIGNED,
    FAULT_INSTRUCTION, /* unknown, or not possible so */
    FAULT_ASSERT,
    FAULT_TRAP,
    FAULT_STACK,    /* overflow of a thread's stack */
    FAULT_LIMIT,    /* more instructions than allowed */
    FAULT_DEADLOCK, /* every thread waits */
    FAULT_TEXTURE,  /* no such object */
    FAULT_CLUSTER,  /* shared memory of a block that is not there */
};

struct fault {
    enum fault_kind kind;
    uint64_t address;
    uint32_t block[3], thread[3];
    char text[2048]; /* the whole report: kernel, block, thread, source or PTX line, address, nearest range */
};

/* Of device-side malloc. A model that keeps time needs a part for each SM, as these run at the same time. */
struct heap;
struct heap *heap_new(struct image *image, uint64_t at, uint64_t part_bytes, uint32_t part_count);
void heap_free(struct heap *heap);
void heap_shape(const struct heap *heap, uint64_t *at, uint64_t *part_bytes, uint32_t *part_count);
uint32_t heap_parts(const struct heap *heap);
void heap_settle(struct heap *heap); /* no kernel runs: what SMs gave back of others' parts is free */
struct archive;
/* Of one part: all that is known of it; or what its SM gave back of others' (see base/archive.h). */
void heap_archive_part(struct heap *heap, uint32_t part, struct archive *archive);
void heap_archive_given(struct heap *heap, uint32_t part, struct archive *archive);

struct watch;
struct observer;

/* Blocks that are to run on one member of a unified GPU. */
struct block_place {
    uint64_t first, end; /* numbers in the grid, to before the end */
    uint32_t member;
};

/* What a kernel asks for while it runs: work that begins when it has ended (dynamic parallelism). Codes are
 * CUDA's. Called by several threads at a time. */
/* Which thread of which block asks, for which stream, and when. */
struct device_moment {
    uint64_t stream, block;
    uint32_t thread;
    uint64_t time_ps; /* in simulated time; else 0 */
};
struct device_launch {
    struct kernel *kernel;
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t arguments; /* where they are, in memory of the device */
    struct device_moment when;
};
struct device_copy {
    bool is_fill;             /* with value, a byte */
    uint64_t to, from, bytes; /* of a row */
    uint64_t rows, slices;
    uint64_t to_pitch, to_rows; /* from row to row, and rows from slice to slice; 0: tight */
    uint64_t from_pitch, from_rows;
    uint32_t value;
    struct device_moment when;
};
/* What kernels ask; the answer's bytes. */
enum device_question {
    DEVICE_ATTRIBUTE,  /* (attribute, device): 4 */
    DEVICE_LIMIT,      /* (limit): 8 */
    DEVICE_ERROR_NAME, /* (code): 8, where the text is in the device's memory */
    DEVICE_ERROR_TEXT, /* likewise */
    DEVICE_FUNCTION,   /* (kernel): a struct of the API */
    DEVICE_OCCUPANCY,  /* (kernel, threads of a block, its dynamic shared memory): 4 */
};
/* What kernels change of a graph's kernel nodes; the numbers are CUDA's. UPDATE_LIST: several, as rows in
 * memory at value_at; `bytes` says how many. */
enum device_update_field { UPDATE_NONE, UPDATE_GRID, UPDATE_PARAM, UPDATE_ENABLED, UPDATE_LIST };
enum { UPDATE_MOST = 32764 }; /* bytes: of all parameters */
struct device_update {
    uint64_t node;
    enum device_update_field field;
    uint32_t grid[3];
    bool enabled;
    uint64_t value_at, offset, bytes; /* of parameters */
};
/* As kernels write them: struct cudaGraphKernelNodeUpdate. */
struct device_update_row {
    uint64_t node;
    uint32_t field, pad;
    union {
        uint32_t grid[3];
        struct {
            uint64_t value_at, offset, bytes;
        } param;
        uint32_t enabled;
    };
};
static inline bool launch_read_update(const struct device_update_row *row, struct device_update *what)
{
    *what = (struct device_update){.node = row->node, .field = (enum device_update_field)row->field};
    if (what->field == UPDATE_PARAM) {
        what->value_at = row->param.value_at;
        what->offset = row->param.offset;
        what->bytes = row->param.bytes;
    }
    for (int i = 0; what->field == UPDATE_GRID && i < 3; i++)
        what->grid[i] = row->grid[i];
    what->enabled = what->field == UPDATE_ENABLED && row->enabled;
    return row->field >= UPDATE_GRID && row->field <= UPDATE_ENABLED;
}

enum { DEVICE_ANSWER_MOST = 256 };
struct device_answer {
    uint32_t bytes;
    char at[DEVICE_ANSWER_MOST];
};
struct device_calls {
    uint64_t (*room)(void *user, uint32_t sm, uint64_t bytes); /* for arguments; 0: there is none left */
    void (*prepare)(void *user, const struct device_launch *what);
    int (*start)(void *user, uint64_t arguments,
                 const struct device_moment *when); /* what was prepared with these */
    int (*start_graph)(void *user, uint64_t graph, const struct device_moment *when);
    int (*move)(void *user, const struct device_copy *what);
    uint64_t (*new_handle)(void *user, uint32_t sm, bool is_event);
    int (*last_error)(void *user, const struct device_moment *when, bool clears);
    uint32_t (*device)(void *user, uint32_t *count); /* its number, of so many */
    int (*ask)(void *user, enum device_question what, const struct kernel *kernel, const uint64_t asked[2],
               struct device_answer *answer);
    /* value: of parameters; NULL: it is to be read from memory */
    int (*update)(void *user, const struct device_update *what, const void *value,
                  const struct device_moment *when);
};

struct launch {
    struct kernel *kernel;
    struct image *image;
    struct heap *heap;  /* or NULL: device-side malloc gives NULL */
    const void *params; /* kernel_facts.param_bytes of them */
    uint32_t grid[3], block[3];
    uint32_t cluster[3];              /* blocks; 0: no clusters */
    uint32_t dimensions;              /* that the program gave; 0: all three */
    uint32_t shared_bytes;            /* dynamic */
    unsigned threads;                 /* of the host; at least 1 */
    uint32_t resident_blocks;         /* how many blocks the GPU holds at a time; 0: all */
    uint32_t sm_count;                /* for %nsmid, %smid */
    uint64_t stack_bytes;             /* of a thread */
    uint64_t instruction_limit;       /* warp instructions; 0: none */
    bool cooperative;                 /* all blocks are resident: grid-wide barriers work */
    const struct block_place *places; /* by their first blocks; those in none run anywhere. For time only */
    uint32_t place_count;
    const struct device_calls *calls; /* of a kernel that launches others; or NULL */
    void *calls_user;
    uint64_t graph;               /* that kernels may launch, and that it is a part of; or 0 */
    FILE *print;                  /* where printf of kernels goes */
    const _Atomic int *interrupt; /* stops when not 0; or NULL */
    struct watch *watch;          /* is told of accesses to global memory (exec/watch.h); or NULL */
    struct observer *observer;    /* is told of every instruction (exec/observer.h); or NULL */
    /* Called by one of the threads, and not by models that keep time; each may be NULL. Now and then: how
     * many blocks have begun, and about how many warp instructions were run. Once, when for stuck_seconds all
     * threads of some blocks only waited for others: where they are. */
    void (*show)(void *user, uint64_t begun, uint64_t instructions);
    void (*stuck)(void *user, const char *text);
    double stuck_seconds;
    void *user;
};

/* Counts are sums over all blocks, the same for every number of threads. */
#define LAUNCH_COUNTS(C)                                                                                     \
    C(warp_instructions)                                                                                     \
    C(thread_instructions)                                                                                   \
    C(thread_instructions_pred_on)                                                                           \
    C(branches)                                                                                              \
    C(divergent_branches)                                                                                    \
    C(warps)                                                                                                 \
    C(threads)

struct launch_result {
#define C(name) uint64_t name;
    LAUNCH_COUNTS(C)
#undef C
    struct fault fault;
};

/* True when the kernel ran to its end; false with result->fault set. A kernel that cannot be prepared is a
 * FAULT_INSTRUCTION. */
bool launch_run(const struct launch *launch, struct launch_result *result);

#endif
