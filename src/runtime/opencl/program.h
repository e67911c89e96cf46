/* Programs: sources, objects, libraries and code objects. */
#ifndef RUNTIME_OPENCL_PROGRAM_H
#define RUNTIME_OPENCL_PROGRAM_H

#include "base/text.h"
#include "gcn3_object/object.h"
#include "runtime/opencl/objects.h"

/* The GPUs of a system are alike, so one build is for all devices of a context. */
struct _cl_program {
    struct opencl_object base;
    cl_context context;
    char *source;         /* or NULL */
    pthread_mutex_t lock; /* of the rest */
    cl_build_status status;
    cl_program_binary_type type;
    char *options; /* of the last build */
    struct text log, binary;
    struct gcn3_object *object; /* of an executable */
    struct module *module;      /* likewise, in the driver */
    unsigned kernels;           /* objects that exist: it cannot be built anew then */
};

/* Makes its binary the code that kernels come from; CL_INVALID_BINARY. With the lock held. */
cl_int opencl_program_load(cl_program program);
cl_program opencl_program_new(cl_context context);
const char *opencl_program_target(cl_program program); /* "gfx803"; or NULL */

#endif
