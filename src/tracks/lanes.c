#include "tracks/lanes.h"
#include "base/mem.h"

void tracks_lanes_init(struct tracks_lanes *lanes, uint32_t parent, const char *name)
{
    *lanes = (struct tracks_lanes){.parent = parent, .name = name};
}

void tracks_lanes_fini(struct tracks_lanes *lanes)
{
    mem_free(lanes->list);
}

uint32_t tracks_lanes_begin(struct tracks_lanes *lanes, struct tracks *tracks, uint64_t time_ps)
{
    size_t lane = 0;
    while (lane < lanes->count && lanes->list[lane].free_ps > time_ps)
        lane++;
    if (lane == lanes->count) {
        mem_grow(lanes->list, lanes->count, lanes->capacity);
        lanes->list[lanes->count++].track =
            tracks_add(tracks, lanes->parent, lanes->name, TRACK_SLICES, NULL);
    }
    lanes->list[lane].free_ps = UINT64_MAX;
    return (uint32_t)lane;
}

uint32_t tracks_lanes_track(const struct tracks_lanes *lanes, uint32_t lane)
{
    return lanes->list[lane].track;
}

void tracks_lanes_end(struct tracks_lanes *lanes, uint32_t lane, uint64_t time_ps)
{
    lanes->list[lane].free_ps = time_ps;
}
