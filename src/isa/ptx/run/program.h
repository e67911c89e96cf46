/* PTX modules linked into a program, whose kernels can be launched (exec/exec.h).
 *
 *   struct program *program = program_new(modules, count, &ptxas, place, context, err);
 *   struct kernel *kernel = program_kernel(program, "saxpy");
 *   if (kernel_prepare(kernel, err)) launch_run(&(struct launch){.kernel = kernel, ...}, &result); */
#ifndef PTX_RUN_PROGRAM_H
#define PTX_RUN_PROGRAM_H

#include "exec/exec.h"
#include "ptx/assembler.h"

/* Whether some kernel with this opcode ("ld.global.u32") could run. */
bool program_knows(const char *opcode);

/* Where variables of the program live: gives zeroed memory for one, which outlives the program and is in the
 * image. The name is NULL for what has none. */
typedef uint64_t program_place_fn(void *context, const struct ptx_variable *variable, uint64_t bytes,
                                  uint64_t alignment);

struct program;

/* Links modules; they become the program's, also when it fails. Variables are placed and initialized. */
struct program *program_new(struct ptx_module **modules, size_t count, const struct ptx_assembler *assembler,
                            program_place_fn *place, void *context, struct err *err);
void program_free(struct program *program);
void program_set_timed(
    struct program *program); /* before its kernels are prepared: for models that keep time */

struct kernel *program_kernel(const struct program *program, const char *name); /* or NULL */
struct kernel *program_kernel_at(const struct program *program, size_t index);  /* or NULL beyond the last */

struct symbol {
    const char *name;
    uint64_t address, bytes;
    enum ptx_space space; /* PTX_GLOBAL or PTX_CONST */
    bool managed;
};
bool program_symbol(const struct program *program, const char *name, struct symbol *symbol);

/* Of its kernels: where a parameter lies in the argument block; what a function pointer to it holds. */
void ptx_kernel_param(const struct kernel *kernel, uint32_t index, uint64_t *offset, uint64_t *bytes);
uint64_t ptx_kernel_address(const struct kernel *kernel);
struct kernel *ptx_kernel_at(const struct kernel *kernel,
                             uint64_t pointer); /* of the same program; or NULL */

#endif
