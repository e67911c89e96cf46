/* How code of an instruction set becomes kernels again that was sent as a code object: a row for each set. */
#ifndef SERVE_ISAS_H
#define SERVE_ISAS_H

#include "exec/exec.h"

struct serve_isa {
    const char *name; /* code_object.isa */
    void *(*load)(const void *bytes, size_t count, struct err *err);
    struct kernel *(*kernel)(void *program, const char *name); /* or NULL */
    void (*unload)(void *program);
};

const struct serve_isa *serve_isa_find(const char *name); /* or NULL */

#endif
