/* How busy links of the fabric are, over time: a counter for each of their directions. For this room only. */
#ifndef TRACKS_USAGE_H
#define TRACKS_USAGE_H

#include "base/names.h"
#include "base/probe.h"
#include "tracks/tracks.h"

struct track_usage {
    struct tracks *tracks;
    uint32_t process;
    struct link_use {
        uint32_t track;
        uint64_t part, busy_ps, next_busy_ps; /* of this part of time, and of the ones behind it */
        bool is_zero;                         /* as it was drawn last */
    } * links;
    size_t count, capacity;
    struct names names; /* of links, with the direction */
};

void usage_init(struct track_usage *usage, struct tracks *tracks);
void usage_fini(struct track_usage *usage);
void usage_note(struct track_usage *usage, const struct probe_event *event);
void usage_end(struct track_usage *usage, uint64_t time_ps);

#endif
