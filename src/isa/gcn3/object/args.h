/* Arguments of kernels: what the metadata says of them, and the segment of memory that they are passed in. */
#ifndef GCN3_OBJECT_ARGS_H
#define GCN3_OBJECT_ARGS_H

#include "base/err.h"

#include <stdint.h>

enum gcn3_arg_kind {
#define ARG(id, name, value) GCN3_ARG_##id,
#include "gcn3_object/args.def"
#undef ARG
    GCN3_ARG_KINDS
};

/* The names of the metadata, in lower case */
#define GCN3_SPACES(S) S(none) S(private) S(global) S(constant) S(local) S(generic) S(region)
#define GCN3_ACCESS(S) S(default) S(read_only) S(write_only) S(read_write)

enum gcn3_space {
#define S(name) GCN3_SPACE_##name,
    GCN3_SPACES(S)
#undef S
};

enum gcn3_access {
#define S(name) GCN3_ACCESS_##name,
    GCN3_ACCESS(S)
#undef S
};

struct gcn3_arg {
    char *name, *type_name; /* or NULL */
    enum gcn3_arg_kind kind;
    uint32_t offset, bytes, align, pointee_align;
    enum gcn3_space space;
    enum gcn3_access access, actual_access;
    bool is_const, is_restrict, is_volatile, is_pipe;
};

const char *gcn3_arg_kind_name(enum gcn3_arg_kind kind);

static inline bool gcn3_arg_is_hidden(const struct gcn3_arg *arg)
{
    return arg->kind >= GCN3_ARG_HIDDEN_GLOBAL_OFFSET_X;
}

/* What a launch has that hidden arguments tell a kernel of. */
struct gcn3_geometry {
    uint32_t dims;
    uint64_t offset[3];
    uint32_t grid[3], group[3]; /* in work-items; at least 1 */
    /* Addresses, or 0 */
    uint64_t printf_buffer, hostcall_buffer, multigrid_sync, heap, default_queue, completion_action, queue;
    uint32_t private_base, shared_base; /* the upper halves of the addresses of the apertures */
};

/* The value of an explicit argument. Of a pointer to LDS, the bytes that it wants there, without a value. */
struct gcn3_arg_value {
    const void *value;
    uint64_t bytes;
};

struct gcn3_kernel_info;

/* Fills the kernel's kernarg_bytes bytes at `segment`: explicit arguments, hidden ones, zeros between them.
 * `values` has one for each explicit argument. Sets the bytes of LDS that a work-group needs, static and
 * dynamic. False when a value has another size than its argument, which is named. */
bool gcn3_args_fill(const struct gcn3_kernel_info *kernel, const struct gcn3_arg_value *values,
                    const struct gcn3_geometry *geometry, void *segment, uint64_t *lds_bytes,
                    struct err *err);

#endif
