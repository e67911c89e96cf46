/* Functions that Heddle has no meaning for: each says so once, and answers "not supported". A row of
 * functions.def without a function fails to link. */
#include "runtime/hip/api.h"

static int unsupported(const char *name, _Atomic bool *said)
{
    if (!*said) {
        *said = true;
        fprintf(stderr, "heddle: %s is not supported; it answers hipErrorNotSupported\n", name);
    }
    return hip_end(hipErrorNotSupported);
}

#define FUNCTION(node, name)
#define MISSING(node, name)                                                                                  \
    HIP_EXPORT int name(void);                                                                               \
    int name(void)                                                                                           \
    {                                                                                                        \
        static _Atomic bool said;                                                                            \
        return unsupported(#name, &said);                                                                    \
    }
#define MISSING_TEXT(node, name)                                                                             \
    HIP_EXPORT const char *name(void);                                                                       \
    const char *name(void)                                                                                   \
    {                                                                                                        \
        static _Atomic bool said;                                                                            \
        unsupported(#name, &said);                                                                           \
        return "not supported";                                                                              \
    }
#include "runtime/hip/functions.def"
#undef FUNCTION
#undef MISSING
#undef MISSING_TEXT

/* What the functions take does not matter here: only that each is there. */
#define FUNCTION(node, name)     extern int name##_code(void) __asm__(#name);
#define MISSING(node, name)      FUNCTION(node, name)
#define MISSING_TEXT(node, name) FUNCTION(node, name)
#include "runtime/hip/functions.def"
#undef FUNCTION

#define FUNCTION(node, name) (void *)(uintptr_t)name##_code,
static void *const all[] __attribute__((used)) = {
#include "runtime/hip/functions.def"
};
