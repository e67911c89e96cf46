#include "serve/isas.h"
#include "ptx_run/object.h"
#include "ptxas/ptxas.h"

static void *load_ptx(const void *bytes, size_t count, struct err *err)
{
    struct archive archive = archive_reader(bytes, count);
    struct ptx_object object = {0};
    struct program *program = NULL;
    ptx_object_archive(&object, &archive);
    if (archive_at_end(&archive))
        program = ptx_object_link(&object, &ptxas, err);
    else
        err_set(err, "this is no code object of PTX");
    ptx_object_fini(&object);
    return program;
}

static struct kernel *find_ptx(void *program, const char *name)
{
    return program_kernel(program, name);
}

static void unload_ptx(void *program)
{
    program_free(program);
}

static const struct serve_isa isas[] = {{"ptx", load_ptx, find_ptx, unload_ptx}};

const struct serve_isa *serve_isa_find(const char *name)
{
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (!strcmp(isas[i].name, name))
            return &isas[i];
    }
    return NULL;
}
