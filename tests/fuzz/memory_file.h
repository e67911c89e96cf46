/* A file in memory that has a path. */
#ifndef FUZZ_MEMORY_FILE_H
#define FUZZ_MEMORY_FILE_H

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct memory_file {
    int descriptor;
    char path[64];
};

static inline void memory_file_write(struct memory_file *file, const void *bytes, size_t count)
{
    if (!file->path[0]) {
        file->descriptor = memfd_create("fuzz", 0);
        snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->descriptor);
    }
    REQUIRE(file->descriptor >= 0 && !ftruncate(file->descriptor, 0));
    REQUIRE(pwrite(file->descriptor, bytes, count, 0) == (ssize_t)count);
}

#endif
