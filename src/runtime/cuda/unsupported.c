/* Functions that Heddle has no meaning for: each says so once, and answers "operation not supported". And the
 * tables of all functions by name, which the build fails to link when a row has no function. */
#include "runtime/cuda/api.h"
#include "runtime/cuda/exports.h"

static int unsupported(const char *name, _Atomic bool *said)
{
    if (!*said) {
        *said = true;
        fprintf(stderr, "heddle: %s is not supported; it answers cudaErrorNotSupported\n", name);
    }
    return cudaErrorNotSupported;
}

#define PLAIN(name)
#define PTSZ(name)
#define PTDS(name)
#define NO_PLAIN(name)                                                                                       \
    EXPORT int name(void);                                                                                   \
    int name(void)                                                                                           \
    {                                                                                                        \
        static _Atomic bool said;                                                                            \
        return NO_END(unsupported(#name, &said));                                                            \
    }
#define NO_PTSZ(name) NO_PLAIN(name) NO_PLAIN(name##_ptsz)
#define NO_PTDS(name) NO_PLAIN(name) NO_PLAIN(name##_ptds)
#define NO_END(error) runtime_end(error)
#include "runtime/cuda/exports.def"
#undef NO_END
#define NO_END(error) (error)
#include "runtime/cuda/cuda.def"
#undef PLAIN
#undef PTSZ
#undef PTDS
#undef NO_PLAIN
#undef NO_PTSZ
#undef NO_PTDS

/* What the functions take does not matter here: only their addresses are listed. */
#define DECLARE(name)  extern int name##_code(void) __asm__(#name);
#define PLAIN(name)    DECLARE(name)
#define PTSZ(name)     DECLARE(name) DECLARE(name##_ptsz)
#define PTDS(name)     DECLARE(name) DECLARE(name##_ptds)
#define NO_PLAIN(name) PLAIN(name)
#define NO_PTSZ(name)  PTSZ(name)
#define NO_PTDS(name)  PTDS(name)
#include "runtime/cuda/exports.def"
#include "runtime/cuda/cuda.def"
#undef PLAIN
#undef PTSZ
#undef PTDS

#define ROW(name)   {#name, (void *)(uintptr_t)name##_code},
#define PLAIN(name) ROW(name)
#define PTSZ(name)  ROW(name) ROW(name##_ptsz)
#define PTDS(name)  ROW(name) ROW(name##_ptds)
EXPORT const struct export_row heddle_cudart_exports[] = {
#include "runtime/cuda/exports.def"
    {NULL, NULL}};
const struct export_row heddle_cuda_exports[] = {
#include "runtime/cuda/cuda.def"
    {NULL, NULL}};
