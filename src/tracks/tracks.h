/* A timeline as a file: tracks, with slices, marks and counters on them, in simulated time. The format is
 * Perfetto's own (a protobuf stream), or, where the file's name ends in .json, Chrome's trace events.
 *
 * What is added is written soon; nothing has to come in the order of its time. A slice is added when it is
 * over. One thread at a time. */
#ifndef TRACKS_TRACKS_H
#define TRACKS_TRACKS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracks;

/* What is outside of this time is left out, and what reaches beyond it is cut. */
struct tracks_window {
    uint64_t from_ps, to_ps; /* to before this one; 0: to the end */
};

/* "10us..1ms"; "10us.." and "..1ms" are open at one side. */
bool tracks_window_parse(struct tracks_window *window, const char *text, struct err *err);

struct tracks *tracks_new(const char *path, const struct tracks_window *window, struct err *err);

/* Ends the file, which has its name from then on. False: it could not be written. */
bool tracks_free(struct tracks *tracks, struct err *err);

enum track_kind {
    TRACK_PROCESS, /* at the top; it has other tracks */
    TRACK_GROUP,   /* it has other tracks, and may have slices */
    TRACK_SLICES,
    TRACK_COUNTER,
};

/* Tracks of one parent are shown in the order they were added in. The number is above 0. */
uint32_t tracks_add(struct tracks *tracks, uint32_t parent, const char *name, enum track_kind kind,
                    const char *unit);

/* A copy of the text, the same one for the same text, which stays until the end. */
const char *tracks_keep(struct tracks *tracks, const char *text);

struct track_value {
    const char *name, *text; /* text NULL: */
    uint64_t number;
};

struct track_slice {
    uint64_t begin_ps, end_ps;
    const char *name, *category;
    uint64_t flow;    /* two slices with the same number are joined by an arrow; 0: none */
    bool flow_starts; /* it goes from this one */
    const struct track_value *values;
    size_t value_count;
};

void tracks_slice(struct tracks *tracks, uint32_t track, const struct track_slice *slice);
void tracks_mark(struct tracks *tracks, uint32_t track, const struct track_slice *mark); /* at its begin */
void tracks_count(struct tracks *tracks, uint32_t track, uint64_t time_ps, double value);

uint64_t tracks_slice_count(const struct tracks *tracks); /* that were written */

#endif
