/* The shape of GPUs beyond what is described of one: monolithic ones, and what programs see of unified ones.
 */
#include "base/bits.h"
#include "base/mem.h"
#include "system/parts.h"

#include <string.h>

enum { WALKERS_MOST = 64 }; /* that a GPU can have: as the row allows */

/* A text, so many times, with this between. */
static char *repeated(const char *text, uint64_t times, const char *between)
{
    struct text sum = {0};
    for (uint64_t i = 0; i < times; i++)
        text_add(&sum, "%s%s", i && *text ? between : "", text);
    return sum.at ? sum.at : mem_text("");
}

static void grow_sms(struct system *system, uint64_t times)
{
    system->gpu.sm_count *= times;
    system->texts.gpcs = repeated(system->dispatch.gpcs, times, " ");
    system->dispatch.gpcs = system->texts.gpcs;
    system->dispatch.block_cycles /= (double)times; /* as many dispatchers as there were GPUs */
    system->dispatch.warp_cycles /= (double)times;
}

/* Each SM and each GPC has as much of the crossbar as before. */
static void grow_memory(struct system *system, uint64_t times)
{
    uint64_t *const scaled[] = {
        &system->gpu.memory,         &system->gpu.memory_bus_bits, &system->gpu.l2_persisting_max,
        &system->l2.bytes,           &system->l2.slices,           &system->l2.islands,
        &system->l3.bytes,           &system->l3.bandwidth,        &system->dram.bandwidth,
        &system->noc.host_bandwidth, &system->tlb.l2_entries};
    for (size_t i = 0; i < sizeof scaled / sizeof *scaled; i++)
        *scaled[i] *= times;
    system->tlb.walkers = min_u64(times * system->tlb.walkers, WALKERS_MOST);
    system->texts.gpc_partitions = repeated(system->noc.gpc_partitions, times, "");
    system->noc.gpc_partitions = system->texts.gpc_partitions;
}

static void see_members(struct system *system)
{
    uint32_t members = system_members(system);
    system->device = system->gpu;
    system->device.sm_count *= members;
    system->device.memory *= members;
    system->device.memory_bus_bits *= members;
    system->device.l2 *= members;
    system->device.l2_persisting_max *= members;
}

void shape_apply(struct system *system)
{
    shape_fini(system);
    if (system->spec.monolithic > 1) {
        grow_sms(system, system->spec.monolithic);
        grow_memory(system, system->spec.monolithic);
    }
    system->gpu.l2 = system->l2.reported ? system->l2.bytes : 0;
    see_members(system);
}

static uint64_t words_in(const char *text)
{
    uint64_t count = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        text += strcspn(text, " ");
        count++;
    }
    return count;
}

bool shape_check(const struct system *system, struct err *err)
{
    uint64_t times = system->spec.monolithic, gpcs = words_in(system->dispatch.gpcs);
    if (times == 1 || gpcs <= DISPATCH_GPCS_MOST)
        return true;
    return err_set(err,
                   "system.monolithic (--monolithic): a GPU has at most %d GPCs, so %s can be %llu times as "
                   "large, not %llu times",
                   DISPATCH_GPCS_MOST, system->gpu.name,
                   (unsigned long long)(DISPATCH_GPCS_MOST / (gpcs / times)), (unsigned long long)times);
}

void shape_fini(struct system *system)
{
    mem_free(system->texts.gpcs);
    mem_free(system->texts.gpc_partitions);
    system->texts = (struct system_texts){0};
}
