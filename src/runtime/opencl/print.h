/* printf in kernels: they leave records in a buffer, which is printed when the kernel is done. */
#ifndef RUNTIME_OPENCL_PRINT_H
#define RUNTIME_OPENCL_PRINT_H

#include "runtime/opencl/kernel.h"

#include <stdio.h>

struct opencl_print {
    cl_program program; /* of the formats */
    uint64_t buffer;    /* of the device; 0: none */
};

/* Gives the kernel a buffer. */
enum result opencl_print_begin(struct opencl_print *print, cl_kernel kernel, struct stream *stream,
                               uint64_t *buffer);
/* Behind the kernel: prints and frees it. */
void opencl_print_end(struct opencl_print *print, struct stream *stream);

/* Prints the records of a buffer, which are as many bytes as its first word says. */
void opencl_print_records(const struct gcn3_object *object, const void *buffer, size_t bytes, FILE *to);

#endif
