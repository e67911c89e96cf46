/* Kernels of AMD's code objects, ready to run.
 *
 *   struct gcn3_program *program = gcn3_program_new(object, address, &err);     takes the object
 *   struct kernel *kernel = gcn3_program_kernel(program, "vecadd");
 *
 * The object's image must be in memory at the address (gcn3_object_place) and in the launch's image. A
 * launch's parameters are the kernarg segment (gcn3_args_fill). */
#ifndef GCN3_RUN_PROGRAM_H
#define GCN3_RUN_PROGRAM_H

#include "exec/exec.h"
#include "gcn3_object/object.h"

struct gcn3_program;

struct gcn3_program *gcn3_program_new(struct gcn3_object *object, uint64_t address);
void gcn3_program_free(struct gcn3_program *program);
const struct gcn3_object *gcn3_program_object(const struct gcn3_program *program);

struct kernel *gcn3_program_kernel(struct gcn3_program *program, const char *name); /* or NULL */
struct kernel *gcn3_program_kernel_at(struct gcn3_program *program,
                                      size_t number); /* NULL: behind the last */
const struct gcn3_kernel_info *gcn3_kernel_info(const struct kernel *kernel);

/* The address of the buffer for host calls: a hidden argument. */
extern const uint64_t gcn3_hostcall_buffer;

/* The upper halves of the addresses where flat instructions find LDS and private memory: hidden arguments. */
extern const uint32_t gcn3_shared_base, gcn3_private_base;

extern const struct isa_ops gcn3_isa;

#endif
