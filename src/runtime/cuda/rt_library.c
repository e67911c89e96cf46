/* Libraries: code that a program loads by itself. */
#include "runtime/cuda/library.h"

API(cudaLibraryLoadData, (library, code, options, values, count, more, more_values, more_count),
    cudaLibrary_t *library, const void *code, int *options, void **values, unsigned count, int *more,
    void **more_values, unsigned more_count)
{
    (void)options, (void)values, (void)count, (void)more, (void)more_values, (void)more_count;
    return cuda_module_load(library, code);
}

API(cudaLibraryLoadFromFile, (library, path, options, values, count, more, more_values, more_count),
    cudaLibrary_t *library, const char *path, int *options, void **values, unsigned count, int *more,
    void **more_values, unsigned more_count)
{
    (void)options, (void)values, (void)count, (void)more, (void)more_values, (void)more_count;
    return cuda_module_load_file(library, path);
}

API(cudaLibraryUnload, (library), cudaLibrary_t library)
{
    return library ? (cudaError_t)module_unload(library) : cudaErrorInvalidResourceHandle;
}

API(cudaLibraryGetKernel, (kernel, library, name), cudaKernel_t *kernel, cudaLibrary_t library,
    const char *name)
{
    return cuda_module_kernel(library, name, kernel);
}

API(cudaLibraryGetKernelCount, (count, library), unsigned *count, cudaLibrary_t library)
{
    if (!count || !library)
        return cudaErrorInvalidValue;
    *count = cuda_module_kernels(library, NULL, 0);
    return cudaSuccess;
}

API(cudaLibraryEnumerateKernels, (kernels, most, library), cudaKernel_t *kernels, unsigned most,
    cudaLibrary_t library)
{
    if (!kernels || !library)
        return cudaErrorInvalidValue;
    cuda_module_kernels(library, kernels, most);
    return cudaSuccess;
}

API(cudaLibraryGetGlobal, (address, bytes, library, name), void **address, size_t *bytes,
    cudaLibrary_t library, const char *name)
{
    return cuda_module_variable(library, name, address, bytes);
}

API(cudaLibraryGetManaged, (address, bytes, library, name), void **address, size_t *bytes,
    cudaLibrary_t library, const char *name)
{
    return cuda_module_variable(library, name, address, bytes);
}
