#include "exec/exec.h"
#include "base/demangle.h"
#include "isa/warp.h"

#include <stdatomic.h>

void kernel_init(struct kernel *kernel, const struct isa_ops *isa, const char *name)
{
    static _Atomic uint64_t numbers;
    kernel->isa = isa;
    kernel->number = atomic_fetch_add(&numbers, 1) + 1;
    kernel->facts.name = name;
    pthread_mutex_init(&kernel->lock, NULL);
}

void kernel_fini(struct kernel *kernel)
{
    pthread_mutex_destroy(&kernel->lock);
}

bool kernel_prepare(struct kernel *kernel, struct err *err)
{
    pthread_mutex_lock(&kernel->lock);
    if (!kernel->prepared) {
        kernel->failed = !kernel->isa->prepare(kernel, &kernel->why);
        kernel->prepared = true;
    }
    bool failed = kernel->failed;
    pthread_mutex_unlock(&kernel->lock);
    return !failed || err_set(err, "kernel %s: %s", demangled(kernel->facts.name), kernel->why.text);
}

const struct kernel_facts *kernel_facts(struct kernel *kernel)
{
    struct err unused;
    kernel_prepare(kernel, &unused);
    return &kernel->facts;
}

void kernel_set_registers(struct kernel *kernel, uint32_t registers)
{
    kernel->facts.registers = registers;
}

void kernel_place(const struct kernel *kernel, uint32_t instruction, struct code_place *place)
{
    kernel->isa->place(kernel, NULL, instruction, place);
}

void kernel_place_in(const struct kernel *kernel, const struct isa_code *code, uint32_t instruction,
                     struct code_place *place)
{
    kernel->isa->place(kernel, code, instruction, place);
}
