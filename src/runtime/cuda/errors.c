/* Errors of both APIs: their names, their texts, and the last one of a thread. */
#include "runtime/cuda/api.h"

static __thread cudaError_t last_error;

struct error_row {
    int code;
    const char *runtime_name, *driver_name, *text;
};

static const struct error_row rows[] = {
#define ERROR(code, name, driver_name, text) {code, "cuda" #name, driver_name, text},
#include "runtime/cuda/errors.def"
#undef ERROR
};

static const struct error_row *row_of(int code)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].code == code)
            return &rows[i];
    }
    return NULL;
}

cudaError_t runtime_end(cudaError_t error)
{
    if (error && error != cudaErrorNotReady && !common_is_called())
        last_error = error;
    return error;
}

EXPORT cudaError_t cudaGetLastError(void), cudaPeekAtLastError(void);

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

EXPORT const char *cudaGetErrorName(cudaError_t error), *cudaGetErrorString(cudaError_t error);

const char *cudaGetErrorName(cudaError_t error)
{
    const struct error_row *row = row_of(error);
    return row ? row->runtime_name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    const struct error_row *row = row_of(error);
    return row ? row->text : "unrecognized error code";
}

EXPORT CUresult cuGetErrorName(CUresult error, const char **name),
    cuGetErrorString(CUresult error, const char **text);

CUresult cuGetErrorName(CUresult error, const char **name)
{
    const struct error_row *row = row_of(error);
    *name = row ? row->driver_name : NULL;
    return *name ? cudaSuccess : cudaErrorInvalidValue;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    const struct error_row *row = row_of(error);
    *text = row ? row->text : NULL;
    return row ? cudaSuccess : cudaErrorInvalidValue;
}
