#include "serve/isas.h"
#include "gcn3_run/program.h"
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

/* The address of the image, which the program has placed there; then the file. */
static void *load_gcn3(const void *bytes, size_t count, struct err *err)
{
    uint64_t address = 0;
    if (count < sizeof address) {
        err_set(err, "this is no code object of an AMD GPU");
        return NULL;
    }
    memcpy(&address, bytes, sizeof address);
    struct gcn3_object *object =
        gcn3_object_load("a code object", (const char *)bytes + sizeof address, count - sizeof address, err);
    return object ? gcn3_program_new(object, address) : NULL;
}

static struct kernel *find_gcn3(void *program, const char *name)
{
    return gcn3_program_kernel(program, name);
}

static void unload_gcn3(void *program)
{
    gcn3_program_free(program);
}

static const struct serve_isa isas[] = {{"ptx", load_ptx, find_ptx, unload_ptx},
                                        {"gcn3", load_gcn3, find_gcn3, unload_gcn3}};

const struct serve_isa *serve_isa_find(const char *name)
{
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (!strcmp(isas[i].name, name))
            return &isas[i];
    }
    return NULL;
}
