/* The workloads and their code, which is part of the program: it runs without any file. */
#include "workloads/run.h"

#include <string.h>

#define CODE(symbol, file)                                                                                   \
    extern const char symbol[], symbol##_end[];                                                              \
    __asm__(".pushsection .rodata\n.balign 16\n" #symbol ":\n.incbin \"" BENCH_FOLDER "/" file               \
            "\"\n" #symbol "_end:\n.byte 0\n.popsection\n");
#define CODE_PTX(name)  CODE(name##_ptx, "cuda/" #name ".ptx")
#define CODE_GCN3(name) CODE(name##_gcn3, "opencl/" #name ".hsaco")
#define CODE_NONE(name)
#define WORKLOAD(name, ptx, gcn3)                                                                            \
    extern const struct workload name##_workload;                                                            \
    CODE_##ptx(name) CODE_##gcn3(name)
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

struct code {
    const char *from, *end;
};

static const struct code codes[][2] = {
#define PLACE_PTX(name)                                                                                      \
    {                                                                                                        \
        name##_ptx, name##_ptx_end                                                                           \
    }
#define PLACE_GCN3(name)                                                                                     \
    {                                                                                                        \
        name##_gcn3, name##_gcn3_end                                                                         \
    }
#define PLACE_NONE(name)                                                                                     \
    {                                                                                                        \
        NULL, NULL                                                                                           \
    }
#define WORKLOAD(name, ptx, gcn3) {[WORKLOAD_PTX] = PLACE_##ptx(name), [WORKLOAD_GCN3] = PLACE_##gcn3(name)},
#include "workloads/workloads.def"
#undef WORKLOAD
};

const char *workload_code(const struct workload *workload, enum workload_isa isa, size_t *bytes)
{
    size_t row = 0;
    while (workloads[row] != workload)
        REQUIRE(workloads[++row]);
    const struct code *code = &codes[row][isa];
    *bytes = code->from ? (size_t)(code->end - code->from) : 0;
    return code->from;
}
