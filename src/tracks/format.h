/* A format of timelines: Perfetto's, Chrome's. For this room only. */
#ifndef TRACKS_FORMAT_H
#define TRACKS_FORMAT_H

#include "base/names.h"
#include "base/text.h"
#include "tracks/proto.h"
#include "tracks/tracks.h"

struct track {
    const char *name, *unit;
    uint32_t parent, process; /* process: at the top */
    uint32_t rank;            /* among its parent's */
    uint32_t children;
    enum track_kind kind;
};

enum interned { INTERNED_CATEGORY, INTERNED_NAME, INTERNED_KEY, INTERNED_TEXT, INTERNED_KINDS };

/* What a format has. The caller writes the bytes to the file. */
struct format_state {
    struct proto bytes;
    struct names names[INTERNED_KINDS];
    bool any; /* something stands before what comes next */
};

struct track_format {
    void (*begin)(struct format_state *state);
    void (*end)(struct format_state *state);
    void (*track)(struct format_state *state, uint32_t number, const struct track *track);
    void (*slice)(struct format_state *state, uint32_t number, const struct track *track,
                  const struct track_slice *slice);
    void (*mark)(struct format_state *state, uint32_t number, const struct track *track,
                 const struct track_slice *mark);
    void (*count)(struct format_state *state, uint32_t number, const struct track *track, uint64_t time_ps,
                  double value);
};

extern const struct track_format track_format_perfetto, track_format_chrome;

#endif
