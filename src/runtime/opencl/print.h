/* printf in kernels: they leave records in a buffer, which is printed when the kernel is done. */
#ifndef RUNTIME_OPENCL_PRINT_H
#define RUNTIME_OPENCL_PRINT_H

#include "runtime/opencl/kernel.h"

#include <stdio.h>

struct opencl_print; /* a buffer, and what it is for */

/* Gives the kernel a buffer. */
enum result opencl_print_begin(cl_kernel kernel, struct opencl_print **print, uint64_t *buffer);
/* Behind the kernel: prints what it left, and takes the buffer back. */
void opencl_print_end(struct opencl_print *print, struct stream *stream);

/* Prints the records of a buffer, which are as many bytes as its first word says. */
void opencl_print_records(const struct gcn3_object *object, const void *buffer, size_t bytes, FILE *to);

#endif
