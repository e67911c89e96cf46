/* Which system runs machine code for an AMD GPU, for programs that are run without naming one. */
#ifndef DRIVER_TARGETS_H
#define DRIVER_TARGETS_H

#include <stddef.h>

/*    the target, the system; of several that a program has code for, the first here */
#define DRIVER_TARGETS(T)                                                                                    \
    T("gfx803", "r9nano")                                                                                    \
    T("gfx906", "mi60")

/* The system for one of the bundle's code objects (gcn3_object/bundle.h); NULL when none is for a GPU here.
 */
const char *targets_bundle_system(const void *bundle, size_t bytes);

/* The same of an executable file, which HIP's compiler put bundles into; NULL when it has none. */
const char *targets_file_system(const char *path);

#endif
