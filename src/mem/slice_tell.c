/* What slices report to listeners (base/probe.h). */
#include "mem/partition.h"

static struct probe_event event_of(const struct here *here, uint32_t slice, const struct head *head)
{
    return (struct probe_event){.kind = PROBE_REQUEST,
                                .phase = PROBE_PASSES,
                                .time_ps = here->now,
                                .id = head->origin,
                                .gpu = here->shape->home,
                                .place = here->spec->global[slice],
                                .address = head->request.line};
}

void slice_tell_pass(const struct here *here, uint32_t slice, const struct head *head, const char *what)
{
    struct probe_event event = event_of(here, slice, head);
    event.stop = "l2";
    event.what = what;
    probe_tell(here->shape->probe, event);
}

void slice_tell_dram(const struct here *here, uint32_t slice, const struct head *head, const char *what,
                     unsigned char *data, uint32_t bytes)
{
    struct probe_event event = event_of(here, slice, head);
    event.stop = "dram";
    event.what = what;
    event.data = data;
    event.data_bytes = bytes;
    probe_tell(here->shape->probe, event);
}

void slice_tell_fill(const struct here *here, uint32_t slice, uint32_t entry, uint32_t sectors,
                     uint64_t offset, unsigned char *line)
{
    const struct cache *cache = &here->spec->caches[slice];
    struct head head = {.request.line = physical_at(here->shape->home, offset).packed, .origin = PROBE_NO_ID};
    uint32_t waiter = cache_miss_at(cache, entry)->first;
    for (; waiter != MSHR_NONE; waiter = mshr_waiter(cache->misses, waiter)->next) {
        const struct head *waits = &here->spec->works[mshr_waiter(cache->misses, waiter)->who].head;
        if (waits->request.sectors & sectors) {
            head.origin = waits->origin;
            break;
        }
    }
    slice_tell_dram(here, slice, &head, "read", line, UINT32_C(1) << here->shape->line_shift);
}
