/* The functions of a stand-in library by their names, for who looks for them so: the preloaded library, which
 * puts them in the place of a program's own ones, and cuGetProcAddress. */
#ifndef RUNTIME_CUDA_EXPORTS_H
#define RUNTIME_CUDA_EXPORTS_H

#define CUDART_SONAME "libcudart.so.13"

struct export_row {
    const char *name;
    void *function;
};

/* All end in a row without a name. */
extern const struct export_row heddle_cudart_exports[], heddle_cuda_exports[], heddle_nvml_exports[],
    heddle_nccl_exports[];

/* What older versions of CUDA mean by a name; the last row has none. */
struct older_row {
    const char *name;
    void *function;
    int first, last; /* versions of CUDA */
};
extern const struct older_row heddle_cudart_older[];

#endif
