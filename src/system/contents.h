/* The contents of memory in a checkpoint. Only pages that were touched and are not zero are written. For this
 * room only. */
#ifndef SYSTEM_CONTENTS_H
#define SYSTEM_CONTENTS_H

#include "base/archive.h"

struct contents_range {
    char *at;
    uint64_t bytes;
};

/* Writes what the ranges hold, or makes them hold what was written. */
void contents_archive(const struct contents_range *ranges, size_t count, struct archive *archive);

/* Reading: passes over what was written of so many ranges. */
void contents_skip(size_t count, struct archive *archive);

#endif
