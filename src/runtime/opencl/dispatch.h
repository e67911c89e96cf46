/* The loader's table of our functions. */
#ifndef RUNTIME_OPENCL_DISPATCH_H
#define RUNTIME_OPENCL_DISPATCH_H

#include "runtime/opencl/objects.h"

extern const cl_icd_dispatch opencl_dispatch;

#endif
