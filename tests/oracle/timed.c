#include "timed.h"
#include "base/bits.h"
#include "base/mem.h"
#include "system/machine.h"

#include <string.h>
#include <sys/mman.h>

enum { ARENA = 64 << 20 };

struct timed {
    struct system system;
    struct machine *machine;
    char *arena;
    size_t used;
};

struct timed *timed_new(unsigned threads, struct err *err)
{
    struct timed *timed = mem_alloc(1, sizeof *timed);
    struct machine_options options = {.threads = threads, .max_cycles = 60000000};
    struct memory_range range = {.bytes = ARENA};
    if (!system_load(&timed->system, "", NULL, err) || !system_set(&timed->system, "gpu.sm_count=3", err))
        return NULL;
    timed->machine = machine_new(&timed->system, &options, err);
    timed->arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    range.at = (uintptr_t)timed->arena;
    if (timed->machine)
        machine_set_memory(timed->machine, 0, &range, 1);
    return timed->machine ? timed : NULL;
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
    machine_sync_memory(timed->machine, 0, (uintptr_t)memory, bytes, true);
    memset(memory, 0, bytes);
    return memory;
}

void timed_reset(struct timed *timed)
{
    timed->used = 0;
}

bool timed_run(struct timed *timed, const struct launch *launch, struct launch_result *result,
               uint64_t *digest, struct err *err)
{
    struct task task = {.launch = launch, .blocks_per_sm = 4};
    machine_begin(timed->machine, &task);
    while (task.state == TASK_RUNNING)
        if (!machine_run(timed->machine, err) && task.state == TASK_RUNNING)
            return false;
    machine_sync_memory(timed->machine, 0, 0, UINT64_MAX, false);
    *result = task.result;
    *digest = digest_word(*digest, task.stats.cycles);
    *digest = digest_bytes(*digest, &task.stats.sm, sizeof task.stats.sm);
    *digest = digest_bytes(*digest, &task.stats.mem, sizeof task.stats.mem);
    kernel_stats_fini(&task.stats);
    return task.state == TASK_DONE || err_set(err, "%s", task.result.fault.text);
}
