/* The workloads and their PTX, which is part of the program: it runs without any file. */
#include "workloads/run.h"

#include <string.h>

#define WORKLOAD(name)                                                                                       \
    extern const struct workload name##_workload;                                                            \
    extern const char name##_ptx[], name##_ptx_end[];                                                        \
    __asm__(".pushsection .rodata\n" #name "_ptx:\n.incbin \"" WORKLOADS_FOLDER "/" #name ".ptx\"\n" #name   \
            "_ptx_end:\n.byte 0\n.popsection\n");
#include "workloads/workloads.def"
#undef WORKLOAD

const struct workload *const workloads[] = {
#define WORKLOAD(name) &name##_workload,
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

const char *workload_ptx(const struct workload *workload, size_t *bytes)
{
#define WORKLOAD(name)                                                                                       \
    if (workload == &name##_workload) {                                                                      \
        *bytes = (size_t)(name##_ptx_end - name##_ptx);                                                      \
        return name##_ptx;                                                                                   \
    }
#include "workloads/workloads.def"
#undef WORKLOAD
    BUG("%s is not bundled", workload->name);
}
