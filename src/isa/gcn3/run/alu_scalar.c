/* The executors of scalar rows. */
#include "gcn3_run/alu.h"
#include "gcn3_run/lane.h"

typedef char value_nil;
typedef uint32_t value_b32, value_u32;
typedef int32_t value_i32;
typedef uint64_t value_b64, value_u64;
typedef int64_t value_i64;
/* A result of 32 bits leaves the upper half 0. */
typedef uint8_t raw_nil;
typedef uint32_t raw_b32, raw_u32, raw_i32;
typedef uint64_t raw_b64, raw_u64, raw_i64;

#define UNUSED __attribute__((unused))
#define INST(...)
#define LANES(...)
#define FLUSHED(...)
#define APPROXIMATES(...)
#define EXACT(...)
#define CARRIES(...)
#define COMPARES(...)
#define CLASSIFIES(...)
#define BY_HAND(...)
#define SCALAR(id, text, format, gfx8, gfx9, unit, td, ta, tb, tc, flags, ...)                               \
    static void gcn3_do_##id(struct gcn3_scalar *s)                                                          \
    {                                                                                                        \
        UNUSED value_##ta a = (value_##ta)s->a;                                                              \
        UNUSED value_##tb b = (value_##tb)s->b;                                                              \
        UNUSED value_##td d = (value_##td)s->d;                                                              \
        UNUSED uint64_t exec = s->exec;                                                                      \
        bool scc = s->scc;                                                                                   \
        __VA_ARGS__;                                                                                         \
        s->d = (raw_##td)d;                                                                                  \
        s->exec = exec;                                                                                      \
        s->scc = scc;                                                                                        \
    }
#include "gcn3/gcn3.def"

#define LANES(...)
#define FLUSHED(...)
#define APPROXIMATES(...)
#define EXACT(...)
#define CARRIES(...)
#define COMPARES(...)
#define CLASSIFIES(...)
#define BY_HAND(...)
#define SCALAR(id, ...) [GCN3_##id] = gcn3_do_##id,
static gcn3_scalar_fn *const scalar_fns[GCN3_OP_COUNT] = {
#include "gcn3/gcn3.def"
};
#undef INST

gcn3_scalar_fn *gcn3_scalar_executor(enum gcn3_op op)
{
    return scalar_fns[op];
}
