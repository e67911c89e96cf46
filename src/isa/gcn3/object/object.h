/* Code objects: the ELF files that hold kernels for AMD's GPUs (gfx803, gfx900, gfx906), versions 2 to 5, as
 * clang and AMD's own compilers write them.
 *
 *   struct gcn3_object *object = gcn3_object_load("fir.hsaco", bytes, count, &err);
 *   const struct gcn3_kernel_info *kernel = gcn3_object_kernel(object, "FIR");
 *   gcn3_object_place(object, where_it_will_be, memory);    loaded, relocated
 *   gcn3_args_fill(kernel, values, &geometry, segment, &lds_bytes, &err);
 *
 * An object is constant once it is loaded, and keeps nothing of the bytes it was loaded from. Any bytes are
 * safe to load. Offsets are from where the object's image begins. */
#ifndef GCN3_OBJECT_OBJECT_H
#define GCN3_OBJECT_OBJECT_H

#include "base/err.h"
#include "gcn3_object/args.h"

#include <stddef.h>
#include <stdint.h>

/* What the command processor reads of a kernel before it starts waves. */
struct gcn3_setup {
    uint32_t rsrc1, rsrc2, properties; /* as they are in the file */
    uint8_t round_f32, round_f16_f64, denorm_f32, denorm_f16_f64;
    bool dx10_clamp, ieee_mode;
    uint8_t user_sgprs;
    /* SGPRs at the start: of the user, in this order; then of the system, in this order */
    bool private_segment_buffer, dispatch_ptr, queue_ptr, kernarg_segment_ptr, dispatch_id, flat_scratch_init,
        private_segment_size;
    bool workgroup_id[3], workgroup_info, private_segment_wave_offset;
    uint8_t workitem_id; /* VGPRs at the start: 0: x; 1: x, y; 2: x, y, z */
    bool dynamic_stack;
};

struct gcn3_kernel_info {
    char *name, *symbol;
    char *language, *vec_type_hint; /* or NULL */
    uint64_t descriptor;            /* offset of the kernel descriptor, or of amd_kernel_code_t */
    uint64_t entry, code_bytes;     /* offset of its first instruction; bytes, 0: not known */
    uint32_t vgprs, sgprs;          /* as they are allocated */
    uint32_t group_bytes;           /* static LDS */
    uint32_t private_bytes;         /* of a work-item */
    uint32_t kernarg_bytes, kernarg_align;
    uint32_t required[3], hint[3]; /* work-group size, or 0 */
    uint32_t max_group_items;      /* 0: not known */
    struct gcn3_setup setup;
    bool has_metadata; /* else its arguments are not known: they are a segment of bytes */
    struct gcn3_arg *args;
    uint32_t arg_count, explicit_count; /* hidden ones are last */
};

struct gcn3_variable {
    char *name;
    uint64_t at, bytes;
};

struct gcn3_symbol { /* a function or a label */
    char *name;
    uint64_t at, bytes;
};

enum { GCN3_EXECUTE = 1, GCN3_WRITE = 2, GCN3_READ = 4 }; /* ELF's bits */

struct gcn3_segment {
    uint64_t at, bytes;
    unsigned access;
};

/* A printf in a kernel: what a record with this id in the printf buffer means. */
struct gcn3_print {
    uint32_t id, arg_count;
    uint32_t *arg_bytes;
    char *format;
};

struct gcn3_line {
    uint64_t at;
    uint32_t file, line; /* line 0: none */
    uint32_t order;      /* in the table: of two at one address, the later one holds */
};

struct gcn3_object {
    char *name;
    const char *target;            /* "gfx803" */
    uint32_t gfx;                  /* 803, 900, 906 */
    unsigned version;              /* of the file format: 2 to 6 */
    uint8_t *image;                /* as it would be loaded at address 0 */
    uint64_t image_bytes;          /* whole pages */
    struct gcn3_segment *segments; /* by address */
    uint64_t *relative;            /* where the image has 64-bit addresses of itself */
    struct gcn3_kernel_info *kernels;
    struct gcn3_variable *variables;
    struct gcn3_symbol *symbols; /* by address */
    struct gcn3_print *prints;
    struct gcn3_line *lines; /* by address; each holds until the next */
    char **files;            /* of lines */
    size_t segment_count, relative_count, kernel_count, variable_count, symbol_count, print_count, line_count,
        file_count;
};

enum { GCN3_PAGE = 4096 };

/* Whether these bytes begin as a code object does; it may still be refused. */
bool gcn3_object_is(const void *file, size_t bytes);

/* NULL with one line that says why: no code object, one for another GPU, a broken one. */
struct gcn3_object *gcn3_object_load(const char *name, const void *file, size_t bytes, struct err *err);
void gcn3_object_free(struct gcn3_object *object);

/* Writes the image_bytes bytes of the image to `memory`, as they are when it is loaded at `address`. */
void gcn3_object_place(const struct gcn3_object *object, uint64_t address, void *memory);

const struct gcn3_kernel_info *gcn3_object_kernel(const struct gcn3_object *object, const char *name);
const struct gcn3_variable *gcn3_object_variable(const struct gcn3_object *object, const char *name);
const struct gcn3_print *gcn3_object_print(const struct gcn3_object *object, uint32_t id);

/* The line of the source that this offset comes from; false when that is not known. */
bool gcn3_object_line(const struct gcn3_object *object, uint64_t at, const char **file, uint32_t *line);

#endif
