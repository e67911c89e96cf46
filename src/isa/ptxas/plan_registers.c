/* How many registers a thread needs: the largest number that are live at one time. Literals, parameters and
 * predicates need none; values that are uniform for all lanes have separate registers. */
#include "ptxas/lives.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

/* 32 registers let an SM hold all the threads it can: ptxas gives up much before it uses more. A function
 * that calls others leaves the first 24 to them. */
enum { NONE_USED = 4, FULL = 32, FITS_FULL = 29, WITH_CALLS = 24, MOST = 255 };

/* What the code of an instruction that becomes many needs for itself, also on its rare path. */
static const struct scratch {
    const char *opcode;
    int32_t registers;
} scratches[] = {
    {"div.rn.f32", 8}, {"div.rn.f64", 16}, {"div.rn.ftz.f32", 8}, {"rcp.rn.f32", 5},
    {"rcp.rn.f64", 8}, {"sqrt.rn.f32", 2}, {"sqrt.rn.f64", 14},   {"div.u64", 10},
    {"div.s64", 12},   {"rem.u64", 10},    {"rem.s64", 12},       {"div.u32", 3},
    {"rem.u32", 3},    {"div.s32", 4},     {"rem.s32", 4},        {"rsqrt.approx.f64", 8},
};

struct pressure {
    const struct lives *lives;
    bool *live; /* by register */
    uint32_t *touched, count, capacity;
    uint32_t inst;
    int32_t now, most;
};

static void set_live(struct pressure *p, uint32_t index, bool live)
{
    if (p->live[index] == live)
        return;
    p->live[index] = live;
    p->now += live ? p->lives->size[index] : -(int32_t)p->lives->size[index];
    mem_grow(p->touched, p->count, p->capacity);
    p->touched[p->count++] = index;
}

static void see_written(void *context, uint32_t index, bool written)
{
    struct pressure *p = context;
    if (written && lives_kills(p->lives, p->inst, index))
        set_live(p, index, false);
}

static void see_read(void *context, uint32_t index, bool written)
{
    struct pressure *p = context;
    if (!written || !lives_kills(p->lives, p->inst, index))
        set_live(p, index, true);
}

static void see_result(void *context, uint32_t index, bool written)
{
    struct pressure *p = context;
    if (written)
        set_live(p, index, true); /* also what nobody reads has its place for a moment */
}

static void add_out(struct pressure *p, uint32_t block)
{
    const struct lives *lives = p->lives;
    for (uint32_t r = 0; r < lives->plan->f->register_count; r++)
        if (lives->bit[r] != LIVES_LOCAL && lives_out(lives, block, r))
            set_live(p, r, true);
}

static int32_t scratch_of(const struct plan *plan, uint32_t inst)
{
    if (plan->dead[inst] || !plan->steps[inst][0] || !plan->steps[inst][1])
        return 0;
    for (size_t i = 0; i < COUNT_OF(scratches); i++)
        if (!strcmp(plan->f->insts[inst].opcode, scratches[i].opcode))
            return scratches[i].registers;
    return 0;
}

static void walk_block(struct pressure *p, uint32_t b)
{
    const struct flow_block *block = &p->lives->plan->flow->blocks[b];
    add_out(p, b);
    p->most = p->now > p->most ? p->now : p->most;
    for (p->inst = block->first + block->count; p->inst-- > block->first;) {
        lives_each(p->lives, p->inst, see_result, p);
        int32_t now = p->now + scratch_of(p->lives->plan, p->inst);
        p->most = now > p->most ? now : p->most;
        lives_each(p->lives, p->inst, see_written, p);
        lives_each(p->lives, p->inst, see_read, p);
        p->most = p->now > p->most ? p->now : p->most;
    }
    while (p->count)
        p->live[p->touched[--p->count]] = false;
    p->now = 0;
}

/* Pairs and vectors have to be aligned, addresses and parameters pass through registers on their way: what
 * comes on top of the values was fitted to what ptxas needs. */
static uint32_t registers_of(const struct plan *plan, int32_t values)
{
    int32_t registers = values ? 10 + values * 7 / 8 : NONE_USED;
    if (registers > FULL)
        registers = values <= FITS_FULL ? FULL : values + 6;
    for (uint32_t i = 0; i < plan->f->inst_count && registers < WITH_CALLS; i++)
        if (values_opcode(&plan->values, i)->kind == KIND_CALL)
            registers = WITH_CALLS;
    return (uint32_t)(registers > MOST ? MOST : registers);
}

uint32_t plan_registers(const struct plan *plan)
{
    struct lives lives;
    lives_init(&lives, plan);
    struct pressure p = {.lives = &lives, .live = mem_alloc(plan->f->register_count + 1, sizeof *p.live)};
    for (uint32_t b = 0; b < plan->flow->block_count; b++)
        walk_block(&p, b);
    mem_free(p.live);
    mem_free(p.touched);
    lives_fini(&lives);
    return registers_of(plan, p.most);
}
