#include "driver/closed.h"

#include <stddef.h>
#include <string.h>

#define AS_SOURCE "use kernels that come as source"

static const struct closed_library rows[] = {
    {"libcublas", "cuBLAS", AS_SOURCE ", such as CUTLASS"},
    {"libcudnn", "cuDNN", AS_SOURCE ", such as CUTLASS"},
    {"libnccl", "NCCL", "let the program load libnccl.so.2 by that name, which Heddle provides"},
    {"libcufft", "cuFFT", AS_SOURCE},
    {"libcusparse", "cuSPARSE", AS_SOURCE},
    {"libcusolver", "cuSOLVER", AS_SOURCE},
    {"libcurand", "cuRAND", "use its device functions, which come as source (curand_kernel.h)"},
    {"libcutensor", "cuTENSOR", AS_SOURCE ", such as CUTLASS"},
    {"libnpp", "NPP", AS_SOURCE},
    {"libnvjpeg", "nvJPEG", AS_SOURCE},
};

const struct closed_library *closed_find(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strncmp(file, rows[i].file, strlen(rows[i].file)))
            return &rows[i];
    }
    return NULL;
}
