/* Tracks of one name, side by side: a slice goes to the first one that is free. For this room and who uses
 * it. */
#ifndef TRACKS_LANES_H
#define TRACKS_LANES_H

#include "tracks/tracks.h"

struct tracks_lane {
    uint32_t track;
    uint64_t free_ps; /* from this time on; UINT64_MAX: a slice is under way */
};

struct tracks_lanes {
    uint32_t parent;
    const char *name;
    struct tracks_lane *list;
    size_t count, capacity;
};

void tracks_lanes_init(struct tracks_lanes *lanes, uint32_t parent, const char *name); /* a kept one */
void tracks_lanes_fini(struct tracks_lanes *lanes);

/* A slice begins: the lane that it has until tracks_lanes_end. */
uint32_t tracks_lanes_begin(struct tracks_lanes *lanes, struct tracks *tracks, uint64_t time_ps);
uint32_t tracks_lanes_track(const struct tracks_lanes *lanes, uint32_t lane);
void tracks_lanes_end(struct tracks_lanes *lanes, uint32_t lane, uint64_t time_ps);

#endif
