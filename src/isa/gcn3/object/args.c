#include "gcn3_object/args.h"
#include "base/bits.h"
#include "gcn3_object/object.h"

enum { LARGEST_LDS = 1 << 30 };

static uint64_t hidden_value(enum gcn3_arg_kind kind, const struct gcn3_geometry *g, uint64_t dynamic_lds)
{
    switch (kind) {
#define ARG(id, name, value)                                                                                 \
    case GCN3_ARG_##id:                                                                                      \
        return value;
#include "gcn3_object/args.def"
#undef ARG
    default:
        return 0;
    }
}

/* A place in LDS behind what is there already. */
static bool take_lds(const struct gcn3_arg *arg, uint64_t bytes, uint64_t *end, uint64_t *at)
{
    uint64_t align = arg->pointee_align;
    if (!align || align & (align - 1))
        align = 16; /* not known, so as much as any type needs */
    *at = (*end + align - 1) & ~(align - 1);
    *end = add_saturating(*at, bytes);
    return *end <= LARGEST_LDS;
}

static bool fill_explicit(const struct gcn3_kernel_info *kernel, const struct gcn3_arg_value *values,
                          uint8_t *segment, uint64_t *lds_bytes, struct err *err)
{
    for (uint32_t i = 0; i < kernel->explicit_count; i++) {
        const struct gcn3_arg *arg = &kernel->args[i];
        const struct gcn3_arg_value *value = &values[i];
        uint64_t at;
        if (arg->kind == GCN3_ARG_DYNAMIC_SHARED_POINTER) {
            if (!take_lds(arg, value->bytes, lds_bytes, &at))
                return err_set(err, "kernel %s: argument %u wants %llu bytes of LDS", kernel->name, i,
                               (unsigned long long)value->bytes);
            memcpy(segment + arg->offset, &at, min_u64(arg->bytes, sizeof at));
        } else if (value->bytes != arg->bytes || !value->value)
            return err_set(err, "kernel %s: argument %u has %u bytes, and a value of %llu was given",
                           kernel->name, i, arg->bytes, (unsigned long long)value->bytes);
        else
            memcpy(segment + arg->offset, value->value, arg->bytes);
    }
    return true;
}

bool gcn3_args_fill(const struct gcn3_kernel_info *kernel, const struct gcn3_arg_value *values,
                    const struct gcn3_geometry *geometry, void *segment, uint64_t *lds_bytes, struct err *err)
{
    memset(segment, 0, kernel->kernarg_bytes);
    *lds_bytes = kernel->group_bytes;
    if (!fill_explicit(kernel, values, segment, lds_bytes, err))
        return false;
    for (uint32_t i = kernel->explicit_count; i < kernel->arg_count; i++) {
        const struct gcn3_arg *arg = &kernel->args[i];
        uint64_t value = hidden_value(arg->kind, geometry, *lds_bytes - kernel->group_bytes);
        memcpy((uint8_t *)segment + arg->offset, &value, min_u64(arg->bytes, sizeof value));
    }
    return true;
}
