/* Modules: a code object, as the driver holds it, and what its metadata says of its kernels. */
#ifndef RUNTIME_HIP_MODULE_H
#define RUNTIME_HIP_MODULE_H

#include "gcn3_object/object.h"
#include "runtime/hip/api.h"

struct hip_module {
    struct module *module;
    struct gcn3_object *object;
    struct hip_function *functions; /* one for each kernel of the object */
};

struct hip_function {
    struct function *function;
    const struct gcn3_kernel_info *info;
};

/* A code object, or a bundle that has one for the current device. bytes 0: not known; what its headers say is
 * trusted then. `name` stands for it in messages. On failure driver_detail() says why. */
int hip_module_new(const char *name, const void *image, size_t bytes, struct hip_module **module);
int hip_module_free(struct hip_module *module);
struct hip_function *hip_module_function(struct hip_module *module, const char *name); /* or NULL */

/* Whether a program was given this handle, and has not given it back. */
bool hip_module_known(struct hip_module *module);
bool hip_function_known(struct hip_function *function);

#endif
