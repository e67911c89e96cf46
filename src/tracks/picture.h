/* What a machine does, and simulated CPU cores beside it, as one file: for whoever has the machine, where
 * that is not the program's process. */
#ifndef TRACKS_PICTURE_H
#define TRACKS_PICTURE_H

#include "tracks/events.h"

struct track_plan {
    const char *path;
    const char *note; /* file that gets a line when the picture is whole; or NULL */
    enum track_detail detail;
    struct tracks_window window;
};

struct track_picture;

/* members: of each device. NULL: the file cannot be written. */
struct track_picture *track_picture_new(const struct track_plan *plan, uint32_t members, struct err *err);

/* What the machine is to tell; its kinds may be 0. */
struct probe track_picture_probe(struct track_picture *picture);

/* A thread had a core; spans of a core come in their order. */
void track_picture_core(struct track_picture *picture, uint32_t core, uint32_t thread, uint64_t begin_ps,
                        uint64_t end_ps);

/* Ends it and frees it. False: the file could not be written whole. */
bool track_picture_end(struct track_picture *picture, uint64_t time_ps, struct err *err);

#endif
