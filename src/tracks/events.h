/* What a machine tells its listener (base/probe.h), drawn: kernels, copies, pages, blocks by SM, requests,
 * use of links. */
#ifndef TRACKS_EVENTS_H
#define TRACKS_EVENTS_H

#include "base/probe.h"
#include "tracks/tracks.h"

struct track_events;

/*    id, its name, kinds of events, what it has */
#define TRACK_DETAILS(D)                                                                                     \
    D(CALLS, "calls", 0, "host calls; kernels and copies by stream")                                         \
    D(KERNELS, "kernels",                                                                                    \
      1u << PROBE_KERNEL | 1u << PROBE_COPY | 1u << PROBE_FAULT | 1u << PROBE_PAGE | 1u << PROBE_LINK,       \
      "and kernels, copies, pages by GPU, use of links")                                                     \
    D(BLOCKS, "blocks", 1u << PROBE_BLOCK, "and blocks by SM")                                               \
    D(ALL, "all", 1u << PROBE_REQUEST | 1u << PROBE_TRANSLATION, "and memory requests")

enum track_detail {
#define D(id, name, kinds, help) TRACK_##id,
    TRACK_DETAILS(D)
#undef D
        TRACK_DETAIL_COUNT
};

bool track_detail_parse(enum track_detail *detail, const char *text, struct err *err);
uint32_t track_detail_kinds(enum track_detail detail); /* what is to be listened to */

struct track_events *track_events_new(struct tracks *tracks, uint32_t members); /* of each device */
void track_events_tell(void *user, struct probe_event *event);

/* What has not ended ends now. */
void track_events_end(struct track_events *events, uint64_t time_ps);
void track_events_free(struct track_events *events);

#endif
