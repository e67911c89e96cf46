/* libheddle: a simulated GPU system in your program.
 *
 *   struct heddle *gpu = heddle_open("h200");
 *   struct heddle_module *module = heddle_load(gpu, "saxpy.ptx");
 *   uint64_t x = heddle_alloc(gpu, 0, bytes);
 *   heddle_upload(gpu, x, mine, bytes);
 *   heddle_launch(gpu, 0, module, "saxpy", grid, block, 0, arguments);
 *   heddle_wait(gpu);
 *
 * docs/examples has whole programs, in C and in Python. Functions that return int give 0 when all is well, or
 * the number of the CUDA error that the same mistake would be; heddle_error() says what was wrong. Functions
 * may be called from any thread. Close what heddle_open returned and unload what heddle_load returned;
 * heddle_close also unloads all modules. */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header. While the first number is 0, a new second number may change or remove
 * functions, and CHANGELOG.md says what to do about it; a new third number only adds to them or mends them.
 * From 1.0.0 on, what is here stays until the first number changes. */
#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 1
#define HEDDLE_VERSION_PATCH 0
#define HEDDLE_VERSION       "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_API __attribute__((visibility("default")))

struct heddle;        /* a system with its GPUs */
struct heddle_module; /* kernels and variables */

/* The version of the library, as HEDDLE_VERSION is that of the header. */
HEDDLE_API const char *heddle_version(void);

/* The message of the last failed call of this thread. */
HEDDLE_API const char *heddle_error(void);

/* A system by its name ("h200", "a100") or by the path of a description; NULL: an H200. Returns NULL if there
 * is no such system. */
HEDDLE_API struct heddle *heddle_open(const char *system);

/* The same with settings, such as "gpu.sm_count=16" or "system.gpus=4" (a list that ends in NULL; or NULL),
 * and the number of host threads that run a kernel (0: all). Results do not depend on it. */
HEDDLE_API struct heddle *heddle_open_with(const char *system, const char *const *settings, unsigned threads);

/* The same in timing mode: kernels and copies take simulated time, on the GPUs that the system describes. */
HEDDLE_API struct heddle *heddle_open_timed(const char *system, const char *const *settings,
                                            unsigned threads);
HEDDLE_API void heddle_close(struct heddle *heddle);

/* Simulated time since it was opened, in picoseconds; 0 without timing. Time passes in calls that wait. */
HEDDLE_API uint64_t heddle_time_ps(struct heddle *heddle);

HEDDLE_API unsigned heddle_device_count(const struct heddle *heddle);

/* A property of the GPUs, by its key in the section [gpu]: "sm_count", "memory", "clock" (Hz). 0 for an
 * unknown key, and for one that is no number. */
HEDDLE_API uint64_t heddle_property(const struct heddle *heddle, const char *name);

/* Allocates zeroed memory of a device. Returns 0 when there is none left. */
HEDDLE_API uint64_t heddle_alloc(struct heddle *heddle, unsigned device, size_t bytes);
HEDDLE_API int heddle_release(struct heddle *heddle, uint64_t address);

/* These wait for kernels that were launched earlier on the same device. */
HEDDLE_API int heddle_upload(struct heddle *heddle, uint64_t to, const void *from, size_t bytes);
HEDDLE_API int heddle_download(struct heddle *heddle, void *to, uint64_t from, size_t bytes);
HEDDLE_API int heddle_copy(struct heddle *heddle, uint64_t to, uint64_t from, size_t bytes);
HEDDLE_API int heddle_fill(struct heddle *heddle, uint64_t at, int byte, size_t bytes);

/* Kernels from a file (PTX or a fatbin), or from PTX in memory, where `name` stands for the file in messages.
 * NULL if it cannot be used. */
HEDDLE_API struct heddle_module *heddle_load(struct heddle *heddle, const char *path);
HEDDLE_API struct heddle_module *heddle_load_text(struct heddle *heddle, const char *name, const char *ptx);
HEDDLE_API int heddle_unload(struct heddle *heddle, struct heddle_module *module);

/* The address of a module's variable on a device; 0 when there is none. */
HEDDLE_API uint64_t heddle_variable(struct heddle *heddle, unsigned device, struct heddle_module *module,
                                    const char *name);

/* Starts a kernel, and does not wait for it. arguments[i] points to the value of parameter i. */
HEDDLE_API int heddle_launch(struct heddle *heddle, unsigned device, struct heddle_module *module,
                             const char *kernel, const uint32_t grid[3], const uint32_t block[3],
                             uint32_t shared_bytes, void *const *arguments);

/* ---- the Locality API ----
 *
 * Programs see a unified GPU ("system.gpus=4", "system.unified=yes") as one device; its members are the GPUs it
 * is made of. Each has SMs and memory of its own, and reaches the memory of others over the fabric. Pages of
 * memory ("system.interleave") are at the members in turn, and blocks run anywhere, unless these calls say
 * otherwise. heddle_locality.h offers the same to CUDA, HIP and OpenCL programs. */
struct heddle_member {
    uint32_t sm_count, first_sm;         /* the number that its first SM has among all */
    uint64_t memory_bytes, placed_bytes; /* placed: of its memory, by heddle_place_memory */
};

/* Blocks `first` to before `end`, as they are numbered in the grid: x first, then y, then z. */
struct heddle_blocks {
    uint64_t first, end;
    uint32_t member;
};

/* The members of a device, from 0 on: 1 for a GPU that is not unified; 0 when there is no such device. */
HEDDLE_API unsigned heddle_member_count(struct heddle *heddle, unsigned device);
HEDDLE_API int heddle_member(struct heddle *heddle, unsigned device, unsigned member,
                             struct heddle_member *facts);

/* Places the pages that begin in this range, which must be in one allocation, in the memory of a member. Waits
 * for the device first. Contents stay as they are; the place ends when the memory is freed. */
HEDDLE_API int heddle_place_memory(struct heddle *heddle, uint64_t at, size_t bytes, unsigned member);

/* Says on which members blocks of this thread's next launch run; those in no range run anywhere. No ranges:
 * forgets what was said. */
HEDDLE_API int heddle_place_blocks(struct heddle *heddle, const struct heddle_blocks *ranges, size_t count);

/* From now on a launch fails with 702 (cudaErrorLaunchTimeout) after `most` warp instructions or, in timing
 * mode, cycles; heddle_error() then says where its threads are. 0: no limit, the default. */
HEDDLE_API void heddle_limit(struct heddle *heddle, uint64_t most);

/* Waits for all kernels on all devices. A kernel's fault is returned here, and by every later call for its
 * device; heddle_error() is the whole report, with the kernel, the thread and the address. */
HEDDLE_API int heddle_wait(struct heddle *heddle);

/* Launches that have ended, counted from 0 in the order they were submitted, and their statistics:
 * "warp_instructions", "thread_instructions", "branches", "registers", ... (heddle_statistic_name lists them;
 * NULL after the last). 0 for an unknown name. */
HEDDLE_API size_t heddle_launch_count(struct heddle *heddle);
HEDDLE_API const char *heddle_launch_kernel(struct heddle *heddle, size_t launch);
HEDDLE_API uint64_t heddle_statistic(struct heddle *heddle, size_t launch, const char *name);
HEDDLE_API const char *heddle_statistic_name(size_t index);

/* A metric of a launch by the name that NVIDIA's profiler gives it: "gpc__cycles_elapsed.max",
 * "lts__t_sector_hit_rate.pct" (docs/statistics.md has all; heddle_metric_name lists them, NULL after the
 * last). NaN if it is not known; most are known in timing mode only. */
HEDDLE_API double heddle_metric(struct heddle *heddle, size_t launch, const char *name);
HEDDLE_API const char *heddle_metric_name(size_t index);

/* What bounds a timed launch, in one line of text, which is valid until this thread's next call of this
 * function; NULL if the launch was not timed. */
HEDDLE_API const char *heddle_bottleneck(struct heddle *heddle, size_t launch);

/* What happens in the simulated machine, in timing mode: tasks begin, pass stops on their way, and end. */
enum heddle_event_kind {
    HEDDLE_KERNEL,      /* a launch on a GPU */
    HEDDLE_BLOCK,       /* a block on an SM */
    HEDDLE_REQUEST,     /* a memory request, from an "sm" and back to it, or of a copy from the "dma" engine and back;
                         * it passes "l1" (hits end there), "l2", "dram", "fabric" (to another GPU, and back), "host" */
    HEDDLE_COPY,        /* a copy or fill */
    HEDDLE_TRANSLATION, /* an SM waits for a page's translation; it passes the GPU's "tlb", as a "hit" or a "walk" */
    HEDDLE_FAULT,       /* a kernel fails, as `what` tells */
    HEDDLE_PAGE,        /* a page of managed or migrating memory moves to `gpu`, from `place` */
    HEDDLE_LINK         /* a message passes a link of the fabric, whose name `what` is */
};
enum heddle_event_phase { HEDDLE_BEGINS, HEDDLE_PASSES, HEDDLE_ENDS };

/* The id of a task is the same at all its stops, and free for others after its end.
 * - HEDDLE_KERNEL, HEDDLE_FAULT: the launch's number; HEDDLE_COPY: the copy's; HEDDLE_BLOCK: the block's in its grid
 * - HEDDLE_TRANSLATION: the page; each SM (`place`) waits for it on its own
 * - HEDDLE_PAGE: its address. `what` is "move", "copy" (a second one), "drop" (one of several), "first" (of a new page)
 * - HEDDLE_LINK: the link's number; `place` 0: from its first end, 1: from its second. It passes, and that is all.
 * - HEDDLE_REQUEST: who asks, on whichever GPU the request is: the number of its GPU in the upper 16 bits, of its SM in
 *   the next 16 (of copies: that of the DMA engine, which is beyond all SMs), then its own number there.
 *   A request that meets an earlier one for the same bytes in a cache waits for that, and does not pass the stops
 *   behind. A line of a copy to the host ends as it leaves for there. UINT64_MAX: a line of a copy from the host, which
 *   has no number, as nobody answers it.
 *
 * `data` are bytes that pass. "dram" and "host" read: the whole line, or, of copies and the host, the 32-byte sectors
 * asked for. Messages, where they leave an "sm", cross the "fabric" or reach the "host": of "data", the sectors; of
 * "write", for each sector, a mask of its bytes (4 bytes) and its 32 bytes; of "atomic", for each lane, the operand and
 * what to compare with (8 bytes each) and 8 bytes that must stay as they are; of "old", for each lane, the value (8
 * bytes) and 8 that must stay. */
struct heddle_event {
    uint32_t kind, phase;
    uint64_t time_ps;
    uint64_t id;
    uint32_t gpu;        /* where it is now; UINT32_MAX: at the host's memory */
    uint32_t place;      /* there: SM, or slice of the L2; on the fabric, the other GPU */
    const char *stop;    /* "gpu", "sm", "l1", "l2", "dram", "fabric", "host", "dma", "tlb" */
    const char *what;    /* "read", "write", "atomic" and the answers "data", "done", "old"; "hit", "miss", "forwarded" (to
                          * the line's home), "walk"; a kernel's name; a fault's text */
    uint64_t address;    /* of a request's line, and of a page: its home in the upper 16 bits (255: the host), its offset there */
    uint64_t bytes;      /* of a copy, a page; of a message on a link, on the wire */
    unsigned char *data; /* that passes here: change it, and the machine goes on with that; or NULL */
    uint32_t data_bytes;
    uint64_t busy_ps; /* how long the message keeps the link busy */
};

/* From now on `call` is told of these kinds (1 << HEDDLE_KERNEL | ...; 0: of nothing any more), in the order in which
 * they happen in simulated time. It must not call this library. Results stay the same unless data is changed; one thread
 * runs the machine meanwhile. Over ranks (docs/timing.md) data can only be looked at. */
HEDDLE_API int heddle_listen(struct heddle *heddle, unsigned kinds,
                             void (*call)(void *user, struct heddle_event *event), void *user);

#ifdef __cplusplus
}
#endif

#endif
