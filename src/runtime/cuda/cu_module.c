/* The driver API: modules, libraries (the same thing), their kernels and variables; linking. */
#include "runtime/cuda/texref.h"
#include "runtime/cuda/library.h"

#include <stdio.h>
#include <string.h>

/* What a loading wrote for the program to read: into the buffers that its options name. */
static void write_log(unsigned count, const int *options, void **values)
{
    char *buffer = NULL;
    size_t room = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            buffer = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BYTES)
            room = (size_t)(uintptr_t)values[i];
    }
    if (buffer && room)
        snprintf(buffer, room, "%s", driver_detail());
}

/* A module that was read is made ready at once, so that what is wrong with it is told now. */
static CUresult ready(CUresult result, struct module **module)
{
    if (result)
        return result;
    result = module_prepare(*module, cuda_device());
    if (result) {
        module_unload(*module);
        *module = NULL;
    }
    return result;
}

/* PTX text of a later version than the driver of CUDA 13 knows: "// comments", then ".version 9.1". */
static bool is_newer(const char *text)
{
    enum { MAJOR = 9, MINOR = 0 };
    int major, minor;
    while (*text == '/' || *text == '\n' || *text == ' ') {
        size_t comment = *text == '/' ? strcspn(text, "\n") : 1;
        text += comment;
    }
    return sscanf(text, ".version %d.%d", &major, &minor) == 2 &&
           (major > MAJOR || (major == MAJOR && minor > MINOR));
}

cudaError_t cuda_module_load(struct module **module, const void *image)
{
    if (!module || !image)
        return cudaErrorInvalidValue;
    if (is_newer(image))
        return cudaErrorUnsupportedPtxVersion;
    cudaError_t error =
        cuda_is_frame(image)
            ? cuda_load_frame(module, image)
            : (cudaError_t)module_load(cuda_driver(), "the image given to CUDA", image, 0, module);
    return ready(error, module);
}

cudaError_t cuda_module_load_file(struct module **module, const char *path)
{
    if (!module || !path)
        return cudaErrorInvalidValue;
    return ready(module_load_file(cuda_driver(), path, module), module);
}

CU(cuModuleLoad, (module, path), CUmodule *module, const char *path)
{
    return cuda_module_load_file(module, path);
}

CU(cuModuleLoadData, (module, image), CUmodule *module, const void *image)
{
    return cuda_module_load(module, image);
}

CU(cuModuleLoadDataEx, (module, image, count, options, values), CUmodule *module, const void *image,
   unsigned count, int *options, void **values)
{
    CUresult result = cuda_module_load(module, image);
    if (result)
        write_log(count, options, values);
    return result;
}

CU(cuModuleLoadFatBinary, (module, image), CUmodule *module, const void *image)
{
    return cuda_module_load(module, image);
}

CU(cuModuleUnload, (module), CUmodule module)
{
    if (module)
        texref_forget(module);
    return module ? (CUresult)module_unload(module) : cudaErrorInvalidResourceHandle;
}

CU_ANY(cuModuleGetLoadingMode, (mode), int *mode)
{
    enum { EAGER = 1, LAZY = 2 };
    if (mode)
        *mode = LAZY;
    return mode ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cuda_module_kernel(struct module *module, const char *name, struct function **function)
{
    struct function_facts facts;
    if (!function || !name)
        return cudaErrorInvalidValue;
    if (!module)
        return cudaErrorInvalidResourceHandle;
    cudaError_t error = module_function(module, name, function);
    if (!error && function_facts(*function, cuda_device(), &facts))
        error = cudaErrorSymbolNotFound;
    if (!error)
        cuda_keep_function(*function);
    return error;
}

unsigned cuda_module_kernels(struct module *module, struct function **functions, unsigned most)
{
    unsigned count = 0;
    struct function *function;
    while ((function = module_function_at(module, cuda_device(), count)) && (!functions || count < most)) {
        if (functions) {
            functions[count] = function;
            cuda_keep_function(function);
        }
        count++;
    }
    return count;
}

cudaError_t cuda_module_variable(struct module *module, const char *name, void **address, size_t *bytes)
{
    struct symbol symbol;
    if (!module || !name)
        return module ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    cudaError_t error = module_variable(module, cuda_device(), name, &symbol);
    if (!error && address)
        *address = (void *)(uintptr_t)symbol.address;
    if (!error && bytes)
        *bytes = symbol.bytes;
    return error;
}

CU(cuModuleGetFunction, (function, module, name), CUfunction *function, CUmodule module, const char *name)
{
    return cuda_module_kernel(module, name, function);
}

CU(cuModuleGetFunctionCount, (count, module), unsigned *count, CUmodule module)
{
    if (!count || !module)
        return cudaErrorInvalidValue;
    *count = cuda_module_kernels(module, NULL, 0);
    return cudaSuccess;
}

CU(cuModuleEnumerateFunctions, (functions, most, module), CUfunction *functions, unsigned most,
   CUmodule module)
{
    if (!functions || !module)
        return cudaErrorInvalidValue;
    cuda_module_kernels(module, functions, most);
    return cudaSuccess;
}

CU(cuModuleGetGlobal_v2, (address, bytes, module, name), CUdeviceptr *address, size_t *bytes, CUmodule module,
   const char *name)
{
    if (!address && !bytes)
        return cudaErrorInvalidValue;
    return cuda_module_variable(module, name, (void **)address, bytes);
}

/* ---- libraries: modules that belong to no context, as all do here ---- */

CU_ANY(cuLibraryLoadData, (library, code, options, values, count, more, more_values, more_count),
       CUlibrary *library, const void *code, int *options, void **values, unsigned count, int *more,
       void **more_values, unsigned more_count)
{
    (void)more, (void)more_values, (void)more_count;
    if (!library || !code)
        return cudaErrorInvalidValue;
    CUresult result = module_load(cuda_driver(), "the library given to CUDA", code, 0, library);
    if (result)
        write_log(count, options, values);
    return result;
}

CU_ANY(cuLibraryLoadFromFile, (library, path, options, values, count, more, more_values, more_count),
       CUlibrary *library, const char *path, int *options, void **values, unsigned count, int *more,
       void **more_values, unsigned more_count)
{
    (void)more, (void)more_values, (void)more_count;
    if (!library || !path)
        return cudaErrorInvalidValue;
    CUresult result = module_load_file(cuda_driver(), path, library);
    if (result)
        write_log(count, options, values);
    return result;
}

CU_ANY(cuLibraryUnload, (library), CUlibrary library)
{
    return library ? (CUresult)module_unload(library) : cudaErrorInvalidResourceHandle;
}

CU(cuLibraryGetKernel, (kernel, library, name), CUkernel *kernel, CUlibrary library, const char *name)
{
    return cuda_module_kernel(library, name, kernel);
}

CU(cuLibraryGetKernelCount, (count, library), unsigned *count, CUlibrary library)
{
    return cuModuleGetFunctionCount(count, library);
}

CU(cuLibraryEnumerateKernels, (kernels, most, library), CUkernel *kernels, unsigned most, CUlibrary library)
{
    return cuModuleEnumerateFunctions(kernels, most, library);
}

CU(cuLibraryGetModule, (module, library), CUmodule *module, CUlibrary library)
{
    if (!module || !library)
        return cudaErrorInvalidValue;
    *module = library;
    return cudaSuccess;
}

CU(cuLibraryGetGlobal, (address, bytes, library, name), CUdeviceptr *address, size_t *bytes,
   CUlibrary library, const char *name)
{
    return cuda_module_variable(library, name, (void **)address, bytes);
}

CU(cuLibraryGetManaged, (address, bytes, library, name), CUdeviceptr *address, size_t *bytes,
   CUlibrary library, const char *name)
{
    return cuda_module_variable(library, name, (void **)address, bytes);
}

CU(cuKernelGetFunction, (function, kernel), CUfunction *function, CUkernel kernel)
{
    if (!function || !kernel)
        return kernel ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *function = kernel;
    return cudaSuccess;
}

CU(cuKernelGetLibrary, (library, kernel), CUlibrary *library, CUkernel kernel)
{
    if (!library || !kernel)
        return kernel ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *library = function_module(kernel);
    return cudaSuccess;
}

CU(cuKernelGetName, (name, kernel), const char **name, CUkernel kernel)
{
    if (!name || !kernel)
        return kernel ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *name = function_name(kernel);
    return cudaSuccess;
}

CU(cuFuncGetName, (name, function), const char **name, CUfunction function)
{
    return cuKernelGetName(name, function);
}

CU(cuFuncGetModule, (module, function), CUmodule *module, CUfunction function)
{
    return cuKernelGetLibrary(module, function);
}
