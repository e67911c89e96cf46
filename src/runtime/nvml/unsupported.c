/* Functions whose answer nobody knows: they say "not supported", as NVIDIA's library does where a GPU lacks
 * something. And a table of all functions, which does not link when a row has no function. */
#include "runtime/nvml/abi.h"
#include "runtime/cuda/exports.h"

#define HAVE(name)
#define LACK(name)                                                                                           \
    NVML(name, void)                                                                                         \
    {                                                                                                        \
        return nvml_ready() ? NVML_NOT_SUPPORTED : NVML_UNINITIALIZED;                                       \
    }
#include "runtime/nvml/functions.def"
#undef HAVE
#undef LACK

/* What the functions take does not matter here: only their addresses are listed. */
#define HAVE(name) extern int name##_code(void) __asm__(#name);
#define LACK(name) HAVE(name)
#include "runtime/nvml/functions.def"
#undef HAVE
#define HAVE(name) {#name, (void *)(uintptr_t)name##_code},
EXPORT const struct export_row heddle_nvml_exports[] = {
#include "runtime/nvml/functions.def"
    {NULL, NULL}};
