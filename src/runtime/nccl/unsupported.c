/* Functions that Heddle has no meaning for: each says so once, and answers "invalid usage". And a table of
 * all functions, which does not link when a row has no function. */
#include "runtime/nccl/abi.h"
#include "runtime/cuda/exports.h"

#include <stdatomic.h>

static ncclResult_t unsupported(const char *name, _Atomic bool *said)
{
    if (!atomic_exchange(said, true))
        fprintf(stderr, "heddle: %s is not supported; it answers ncclInvalidUsage\n", name);
    return nccl_fail(NCCL_INVALID_USAGE, "%s is not supported", name);
}

#define HAVE(name)
#define LACK(name)                                                                                           \
    NCCL(name, void)                                                                                         \
    {                                                                                                        \
        static _Atomic bool said;                                                                            \
        return unsupported(#name, &said);                                                                    \
    }
#include "runtime/nccl/functions.def"
#undef HAVE
#undef LACK

/* What the functions take does not matter here: only their addresses are listed. */
#define HAVE(name) extern int name##_code(void) __asm__(#name);
#define LACK(name) HAVE(name)
#include "runtime/nccl/functions.def"
#undef HAVE
#define HAVE(name) {#name, (void *)(uintptr_t)name##_code},
EXPORT const struct export_row heddle_nccl_exports[] = {
#include "runtime/nccl/functions.def"
    {NULL, NULL}};
