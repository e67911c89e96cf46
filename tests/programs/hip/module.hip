/* Code objects that a program loads itself: module.hip FILE, where the file holds what module_code.hip becomes. */
#include "../check.h"

#include <hip/hip_runtime.h>
#include <vector>

static std::vector<char> contents(const char *path)
{
    std::vector<char> bytes(1 << 20);
    FILE *file = fopen(path, "rb");
    CHECK(file);
    bytes.resize(file ? fread(bytes.data(), 1, bytes.size(), file) : 0);
    return bytes;
}

static void look(hipModule_t module)
{
    hipFunction_t function, none;
    void *variable = nullptr;
    size_t bytes = 0;
    int value = 0;
    GOOD(hipModuleGetFunction(&function, module, "scale"));
    GIVES(hipErrorNotFound, hipModuleGetFunction(&none, module, "no_such_kernel"));
    GOOD(hipModuleGetGlobal(&variable, &bytes, module, "offset"));
    CHECK(bytes == sizeof(int));
    GIVES(hipErrorNotFound, hipModuleGetGlobal(&variable, &bytes, module, "no_such_variable"));
    GOOD(hipMemcpy(&value, variable, sizeof value, hipMemcpyDeviceToHost));
    CHECK(value == 100);
    GOOD(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    CHECK(value == 1024);
}

static void start(hipModule_t module)
{
    const int n = 1000;
    std::vector<int> numbers(n);
    hipFunction_t function;
    int *device, wrong = 0;
    GOOD(hipModuleGetFunction(&function, module, "scale"));
    for (int i = 0; i < n; i++)
        numbers[i] = i;
    GOOD(hipMalloc((void **)&device, n * sizeof(int)));
    GOOD(hipMemcpy(device, numbers.data(), n * sizeof(int), hipMemcpyHostToDevice));
    int count = n, factor = 3;
    void *pointers[] = {&device, &count, &factor};
    GOOD(hipModuleLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, nullptr, pointers, nullptr));
    struct {
        int *numbers;
        int count, factor;
    } packed = {device, n, 2};
    size_t bytes = sizeof packed;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    GOOD(hipModuleLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
    GOOD(hipMemcpy(numbers.data(), device, n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += numbers[i] != (i * 3 + 100) * 2 + 100;
    CHECK(!wrong);
}

int main(int count, char **words)
{
    hipModule_t module;
    if (count < 2)
        return fprintf(stderr, "module: expected a file with code\n"), 2;
    std::vector<char> code = contents(words[1]), broken(code.begin(), code.begin() + 100);
    GOOD(hipModuleLoad(&module, words[1]));
    look(module);
    GOOD(hipModuleUnload(module));
    GIVES(hipErrorInvalidHandle, hipModuleUnload(module));
    GIVES(hipErrorFileNotFound, hipModuleLoad(&module, "no/such/file"));
    GIVES(hipErrorInvalidImage, hipModuleLoadData(&module, "neither a bundle nor a code object, as anyone can see"));
    GOOD(hipModuleLoadData(&module, code.data()));
    look(module);
    if (count < 3)
        start(module);
    return check_end("module");
}
