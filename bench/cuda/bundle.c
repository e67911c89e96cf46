/* The workloads and their code, which is part of the program: it runs without any file. */
#include "workloads/run.h"

#include <string.h>

#define CODE(symbol, file)                                                                                   \
    extern const char symbol[], symbol##_end[];                                                              \
    __asm__(".pushsection .rodata\n.balign 16\n" #symbol ":\n.incbin \"" BENCH_FOLDER "/" file               \
            "\"\n" #symbol "_end:\n.byte 0\n.popsection\n");
#define CODE_PTX(name)    CODE(name##_ptx, "cuda/" #name ".ptx")
#define CODE_GFX803(name) CODE(name##_gfx803, "opencl/" #name ".hsaco")
#define CODE_GFX906(name) CODE(name##_gfx906, "opencl/" #name ".gfx906.hsaco")
#define CODE_NONE(name)
#define WORKLOAD(name, ptx, gfx803, gfx906)                                                                  \
    extern const struct workload name##_workload;                                                            \
    CODE_##ptx(name) CODE_##gfx803(name) CODE_##gfx906(name)
#include "workloads/workloads.def"
#undef WORKLOAD

const struct workload *const workloads[] = {
#define WORKLOAD(name, ...) &name##_workload,
#include "workloads/workloads.def"
#undef WORKLOAD
    NULL,
};

const struct workload *workload_find(const char *name)
{
    for (size_t i = 0; workloads[i]; i++)
        if (!strcmp(workloads[i]->name, name))
            return workloads[i];
    return NULL;
}

/* For one target of a workload. */
struct code {
    const char *target, *from, *end;
};

enum { TARGETS = 3 };

static const struct code codes[][TARGETS] = {
#define PLACE_PTX(name)                                                                                      \
    {                                                                                                        \
        "", name##_ptx, name##_ptx_end                                                                       \
    }
#define PLACE_GFX803(name)                                                                                   \
    {                                                                                                        \
        "gfx803", name##_gfx803, name##_gfx803_end                                                           \
    }
#define PLACE_GFX906(name)                                                                                   \
    {                                                                                                        \
        "gfx906", name##_gfx906, name##_gfx906_end                                                           \
    }
#define PLACE_NONE(name)                                                                                     \
    {                                                                                                        \
        NULL, NULL, NULL                                                                                     \
    }
#define WORKLOAD(name, ptx, gfx803, gfx906) {PLACE_##ptx(name), PLACE_##gfx803(name), PLACE_##gfx906(name)},
#include "workloads/workloads.def"
#undef WORKLOAD
};

const char *workload_code(const struct workload *workload, const char *target, size_t *bytes)
{
    size_t row = 0;
    while (workloads[row] != workload)
        REQUIRE(workloads[++row]);
    for (const struct code *code = codes[row]; code < codes[row] + TARGETS; code++)
        if (code->target && !strcmp(code->target, target)) {
            *bytes = (size_t)(code->end - code->from);
            return code->from;
        }
    *bytes = 0;
    return NULL;
}
