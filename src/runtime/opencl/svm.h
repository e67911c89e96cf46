/* Coarse-grained shared virtual memory: memory of the context's first device, at addresses that the host
 * uses, too, while it has them mapped. Maps move the bytes over the link, as those of buffers do
 * (driver/lend.h). */
#ifndef RUNTIME_OPENCL_SVM_H
#define RUNTIME_OPENCL_SVM_H

#include "runtime/opencl/transfer.h"

struct opencl_svm {
    struct opencl_svm *next;
    cl_context context;
    struct device *home;
    uint64_t address, bytes;
    void *mirror; /* the host's end of maps, as large; NULL before the first one */
    struct opencl_svm_map *maps;
};

/* A copy of what is known of the allocation that this byte is in; false where there is none. */
bool opencl_svm_find(cl_context context, const void *pointer, struct opencl_svm *found);
/* Whether some allocation has all of these bytes. */
bool opencl_svm_holds(cl_context context, const void *pointer, uint64_t bytes);

/* The side of a copy that is this memory of the program's: whether the host has it mapped. */
bool opencl_svm_is_mapped(uint64_t address);

/* These bytes become the host's, or are its no more; writes: it may change them, or has. */
enum result opencl_svm_pass(struct stream *stream, uint64_t address, uint64_t bytes, bool to_host, bool moves,
                            bool writes);

/* A map and its end. mem: that must stay until it is submitted; or NULL. */
cl_int opencl_svm_map(const struct opencl_call *call, cl_mem mem, uint64_t address, uint64_t bytes,
                      cl_map_flags flags);
cl_int opencl_svm_unmap(const struct opencl_call *call, cl_mem mem, uint64_t address);

/* CL_INVALID_VALUE for flags that do not go together. */
cl_int opencl_check_map_flags(cl_map_flags flags);

/* The context ends: what it has still goes. */
void opencl_svm_end_all(cl_context context);

#endif
