/* Kernels with the arguments that were set, and what an argument is for a launch. A kernel has no references
 * to the objects among its arguments, as OpenCL wants it; a launch has. */
#ifndef RUNTIME_OPENCL_KERNEL_H
#define RUNTIME_OPENCL_KERNEL_H

#include "runtime/opencl/program.h"

struct opencl_arg {
    bool is_set;
    void *value; /* a copy; NULL: of an object, or of bytes of local memory */
    uint64_t bytes;
    cl_mem mem;         /* or NULL */
    cl_sampler sampler; /* or NULL */
    uint64_t svm;       /* an address of shared virtual memory; or 0 */
};

struct _cl_kernel {
    struct opencl_object base;
    cl_program program;
    const struct gcn3_kernel_info *info; /* of the program's */
    struct function *function;
    pthread_mutex_t lock; /* of the arguments */
    struct opencl_arg *args;
};

/* Copies of all arguments, with references to their objects. */
struct opencl_arg *opencl_args_copy(cl_kernel kernel);
void opencl_args_free(struct opencl_arg *args, uint32_t count);

/* Local memory of a work-group: the kernel's own, and that of its arguments. */
uint64_t opencl_kernel_local_bytes(cl_kernel kernel);

/* Whether the kernel has something to print. */
bool opencl_kernel_prints(cl_kernel kernel);

#endif
