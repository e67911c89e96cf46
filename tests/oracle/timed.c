#include "timed.h"
#include "base/bits.h"
#include "base/mem.h"
#include "system/machine.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARENA = 64 << 20 };

struct timed {
    struct system system;
    struct machine *machine; /* NULL: one for each kernel, as they are cut */
    char *arena;
    size_t used;
    uint64_t cuts;
};

static struct machine *new_machine(struct timed *timed, const struct machine_options *options,
                                   struct err *err)
{
    struct memory_range range = {.at = (uintptr_t)timed->arena, .bytes = ARENA, .host = (char *)timed->arena};
    struct machine *machine = machine_new(&timed->system, options, err);
    if (machine)
        machine_set_memory(machine, &range, 1);
    return machine;
}

static struct timed *make(struct err *err)
{
    struct timed *timed = mem_alloc(1, sizeof *timed);
    if (!system_load(&timed->system, "", NULL, err) || !system_set(&timed->system, "gpu.sm_count=3", err))
        return NULL;
    timed->arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return timed;
}

enum { MAX_CYCLES = 60000000 };

struct timed *timed_new(unsigned threads, struct err *err)
{
    struct timed *timed = make(err);
    if (timed)
        timed->machine = new_machine(
            timed, &(struct machine_options){.threads = threads, .wishes = {.max_cycles = MAX_CYCLES}}, err);
    return timed && timed->machine ? timed : NULL;
}

struct timed *timed_new_cut(struct err *err)
{
    struct timed *timed = make(err);
    return timed && system_set(&timed->system, "l2.bytes=6MiB", err) ? timed : NULL;
}

void timed_free(struct timed *timed)
{
    machine_free(timed->machine);
    system_fini(&timed->system);
    munmap(timed->arena, ARENA);
    mem_free(timed);
}

void *timed_alloc(struct timed *timed, size_t bytes)
{
    void *memory = timed->arena + timed->used;
    timed->used += (bytes + 511) / 512 * 512;
    REQUIRE(timed->used <= ARENA);
    if (timed->machine)
        machine_sync_memory(timed->machine, (uintptr_t)memory, bytes, MEMORY_CHANGED);
    memset(memory, 0, bytes);
    return memory;
}

void timed_reset(struct timed *timed)
{
    timed->used = 0;
}

static bool run_on(struct machine *machine, const struct launch *launch, struct launch_result *result,
                   uint64_t *cycles, uint64_t *digest, struct err *err)
{
    struct task task = {.launch = launch, .blocks_per_sm = 4};
    machine_begin(machine, &task);
    while (task.state == TASK_RUNNING)
        if (!machine_run(machine, err) && task.state == TASK_RUNNING)
            return false;
    machine_sync_memory(machine, 0, UINT64_MAX, MEMORY_READ);
    *result = task.result;
    *cycles = task.stats.cycles;
    *digest = digest_word(*digest, task.stats.cycles);
    *digest = digest_bytes(*digest, &task.stats.sm, sizeof task.stats.sm);
    *digest = digest_bytes(*digest, &task.stats.mem, sizeof task.stats.mem);
    gpu_kernel_stats_fini(&task.stats);
    return task.state == TASK_DONE || err_set(err, "%s", task.result.fault.text);
}

/* With a machine of its own, from the memory as it was; the digest is of what it left there, too. */
static bool run_alone(struct timed *timed, const char *before, const struct machine_options *options,
                      const struct launch *launch, struct launch_result *result, uint64_t *cycles,
                      uint64_t *digest, struct err *err)
{
    memcpy(timed->arena, before, timed->used);
    struct machine *machine = new_machine(timed, options, err);
    *digest = 0;
    bool good = machine && run_on(machine, launch, result, cycles, digest, err);
    *digest = digest_bytes(*digest, timed->arena, timed->used);
    machine_free(machine);
    return good;
}

/* The cut is at another place for each kernel. */
static bool run_cut(struct timed *timed, const struct launch *launch, struct launch_result *result,
                    uint64_t *digest, struct err *err)
{
    char *before = mem_alloc(timed->used, 1), path[64];
    uint64_t cycles = 0, straight = 0, written = 0, resumed = 0, share = ++timed->cuts * 37 % 100;
    memcpy(before, timed->arena, timed->used);
    snprintf(path, sizeof path, "oracle-%d.cut", (int)getpid());
    struct machine_options options = {.threads = 1, .wishes = {.max_cycles = MAX_CYCLES}};
    bool good = run_alone(timed, before, &options, launch, result, &cycles, &straight, err);
    options.checkpoint.write = path;
    options.checkpoint.at_cycles = 1 + cycles * share / 100;
    good = good && run_alone(timed, before, &options, launch, result, &cycles, &written, err);
    options.checkpoint = (struct checkpoint_options){.resume = path};
    options.threads = 2;
    good = good && run_alone(timed, before, &options, launch, result, &cycles, &resumed, err);
    if (good && (straight != written || straight != resumed))
        good = err_set(err, "cut at %llu%%: %s counted differently", (unsigned long long)share,
                       straight != written ? "the run that was cut" : "the run from the checkpoint on");
    *digest = digest_word(*digest, resumed);
    unlink(path);
    mem_free(before);
    return good;
}

bool timed_run(struct timed *timed, const struct launch *launch, struct launch_result *result,
               uint64_t *digest, struct err *err)
{
    uint64_t cycles;
    return timed->machine ? run_on(timed->machine, launch, result, &cycles, digest, err)
                          : run_cut(timed, launch, result, digest, err);
}
