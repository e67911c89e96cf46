/* The Locality API for CUDA, HIP and OpenCL programs: which members a unified GPU has, and where memory and
 * blocks are among them (heddle.h and docs/multi-gpu.md say more).
 *
 *   unsigned members = heddle_locality_members(0);
 *   for (unsigned i = 0; i < members; i++)
 *       heddle_locality_place_memory(buffer, i * part, part, i);
 *   heddle_locality_place_blocks(ranges, members);
 *   kernel<<<blocks, threads>>>(buffer);
 *
 * The functions look for Heddle in the process when they are called, so a program needs no library for them
 * (but libdl with an old C library). Without Heddle there is nothing to place: the device has 1 member, and
 * placing returns HEDDLE_LOCALITY_NONE. Others that return int give 0 when all is well, or the number of the
 * CUDA error that the same mistake would be; heddle_locality_error() says what was wrong
 * in the last of these calls, or nothing if it was well. */
#ifndef HEDDLE_LOCALITY_H
#define HEDDLE_LOCALITY_H

#include "heddle.h"

#include <dlfcn.h>

#define HEDDLE_LOCALITY_NONE 801 /* as cudaErrorNotSupported: Heddle is not in this process */

/* What Heddle's replacement of a vendor's library offers. */
struct heddle_locality {
    unsigned version;      /* 1 */
    int (*in_use)(void);   /* the program has used the library */
    unsigned (*members)(unsigned device);
    int (*member)(unsigned device, unsigned member, struct heddle_member *facts);
    int (*place_memory)(const void *buffer, size_t offset, size_t bytes, unsigned member);
    int (*place_blocks)(const struct heddle_blocks *ranges, size_t count);
    const char *(*error)(void);
};

/* That of the library which the program uses; NULL: none. */
static inline const struct heddle_locality *heddle_locality_find(void)
{
    static const char *const libraries[] = {"libheddle_opencl.so", "libamdhip64.so.5", "libcudart.so.13",
                                            "libcuda.so.1", "libheddle.so"};
    typedef const struct heddle_locality *find_fn(void);
    const struct heddle_locality *first = NULL;
    for (unsigned i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        find_fn *find = library ? (find_fn *)dlsym(library, "heddle_locality_of_library") : NULL;
        const struct heddle_locality *found = find ? find() : NULL;
        if (library)
            dlclose(library); /* the program has it open, too */
        if (found && found->version == 1 && found->in_use())
            return found;
        if (found && found->version == 1 && !first)
            first = found;
    }
    return first;
}

/* The members of a device, by the number that the program has for it. */
static inline unsigned heddle_locality_members(unsigned device)
{
    const struct heddle_locality *found = heddle_locality_find();
    return found ? found->members(device) : 1;
}

static inline int heddle_locality_member(unsigned device, unsigned member, struct heddle_member *facts)
{
    const struct heddle_locality *found = heddle_locality_find();
    return found ? found->member(device, member, facts) : HEDDLE_LOCALITY_NONE;
}

/* The buffer is a pointer of CUDA or HIP, or a cl_mem of OpenCL (a handle of a buffer, not of an image). */
static inline int heddle_locality_place_memory(const void *buffer, size_t offset, size_t bytes,
                                               unsigned member)
{
    const struct heddle_locality *found = heddle_locality_find();
    return found ? found->place_memory(buffer, offset, bytes, member) : HEDDLE_LOCALITY_NONE;
}

/* For the next launch of the calling thread, on whichever stream or queue. */
static inline int heddle_locality_place_blocks(const struct heddle_blocks *ranges, size_t count)
{
    const struct heddle_locality *found = heddle_locality_find();
    return found ? found->place_blocks(ranges, count) : HEDDLE_LOCALITY_NONE;
}

static inline const char *heddle_locality_error(void)
{
    const struct heddle_locality *found = heddle_locality_find();
    return found ? found->error() : "Heddle is not in this process";
}

#endif
