/* How many matrix instructions of a warp a core of this machine executes a second: by the general code, which
 * computes element by element, and by tiles on each level of x86-64 that it can run. The operands are random
 * numbers near 1, and results are fed back as accumulators. */
#include "base/bits.h"
#include "base/rng.h"
#include "exec/number.h"
#include "ptx_run/matrix_tile.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const opcodes[] = {
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
    "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
};

typedef void product_fn(const struct matrix_form *form, const struct matrix_plan *plan, void *const d[],
                        const void *const a[], const void *const b[], const void *const c[]);

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct operand {
    uint64_t lanes[MATRIX_REGISTERS][WARP_LANES];
    void *at[MATRIX_REGISTERS];
};

static uint64_t number_near_one(enum matrix_type type, struct rng *rng)
{
    float x = (float)rng_below(rng, 1 << 20) * 0x1p-19f - 1.0f;
    switch (type) {
    case MATRIX_f16:
        return f16_f32(x) | (uint32_t)f16_f32(x * 0.7f) << 16;
    case MATRIX_bf16:
        return bf16_f32(x) | (uint32_t)bf16_f32(x * 0.7f) << 16;
    case MATRIX_tf32:
    case MATRIX_f32:
        return bits_f32(x);
    case MATRIX_f64:
        return bits_f64((double)x);
    case MATRIX_e4m3:
        return rng_next(rng) & 0xbfbfbfbf;
    case MATRIX_e5m2:
        return rng_next(rng) & 0xbbbbbbbb;
    default:
        return rng_next(rng) & UINT32_MAX;
    }
}

static void fill(const struct matrix_operand *o, struct operand *operand, struct rng *rng)
{
    for (unsigned r = 0; r < MATRIX_REGISTERS; r++) {
        operand->at[r] = operand->lanes[r];
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            if (o->type == MATRIX_f64)
                operand->lanes[r][lane] = number_near_one(o->type, rng);
            else
                ((uint32_t *)operand->at[r])[lane] = (uint32_t)number_near_one(o->type, rng);
    }
}

/* Million instructions a second, from at least a tenth of one. */
static double rate(const struct matrix_form *form, const struct matrix_plan *plan, product_fn *product)
{
    struct operand a, b, c, d;
    struct rng rng;
    rng_init(&rng, 1, "products");
    fill(&form->a, &a, &rng);
    fill(&form->b, &b, &rng);
    fill(&form->c, &c, &rng);
    fill(&form->d, &d, &rng);
    bool chained = form->c.type == form->d.type;
    unsigned count = 0, step = 1000;
    double begin = seconds(), end;
    do {
        for (unsigned i = 0; i < step; i++)
            product(form, plan, d.at, (const void *const *)a.at, (const void *const *)b.at,
                    (const void *const *)(chained && i % 8 ? d.at : c.at));
        count += step;
        end = seconds();
    } while (end - begin < 0.1);
    return count / (end - begin) / 1e6;
}

int main(void)
{
    static const char *const levels[] = {"any host", "AVX2", "AVX-512"};
    printf("million instructions a second on one core\n%-60s %9s", "", "general");
    for (int level = 0; level < ALU_LEVELS; level++)
        if (matrix_level_at(level))
            printf(" %9s", levels[level]);
    printf(" %9s\n", "ratio");
    for (size_t i = 0; i < COUNT_OF(opcodes); i++) {
        struct matrix_form form;
        struct matrix_plan plan;
        if (!matrix_parse(opcodes[i], &form))
            return 1;
        matrix_plan(&form, matrix_model(90), &plan);
        double general = rate(&form, &plan, matrix_mma_general), last = 0;
        printf("%-60s %9.2f", opcodes[i], general);
        for (int level = 0; level < ALU_LEVELS; level++)
            if (matrix_level_at(level)) {
                plan.level = matrix_level_at(level);
                last = rate(&form, &plan, matrix_mma);
                printf(" %9.2f", last);
            }
        printf(" %8.1fx\n", last / general);
    }
    return 0;
}
