/* Kernels and variables by the addresses of the host's objects that stand for them. */
#ifndef RUNTIME_HIP_REGISTER_H
#define RUNTIME_HIP_REGISTER_H

#include "runtime/hip/module.h"

/* The system that runs the code which the program has registered; r9nano when it has registered none. */
const char *hip_registered_system(void);

/* The kernel that the host's object stands for. NULL: there is none, or its module cannot be loaded, which
 * was reported. */
struct hip_function *hip_registered_function(const void *symbol);

/* The variable that the host's one stands for, on the current device. */
int hip_symbol(const void *key, struct symbol *symbol);

#endif
