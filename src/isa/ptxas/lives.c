#include "ptxas/lives.h"
#include "base/mem.h"

#include <string.h>

enum { HOPS_MOST = 6 };
#define NOWHERE UINT32_MAX
#define SHARED  (UINT32_MAX - 1)

struct walk {
    struct lives *lives;
    uint32_t block, inst;
    uint32_t *home; /* by register: the block it is in, or SHARED */
    uint64_t *killed, *read;
};

struct each {
    const struct lives *lives;
    ptx_register_fn *see;
    void *context;
    int hops;
};

static bool is_folded(const struct plan *plan, uint32_t inst)
{
    return !plan->steps[inst][0];
}

static void see_through(void *context, uint32_t index, bool written)
{
    struct each *each = context;
    const struct plan *plan = each->lives->plan;
    const struct value *value = &plan->values.at[index];
    if (!written && value->writes == 1 && is_folded(plan, value->maker) && each->hops < HOPS_MOST) {
        each->hops++;
        ptx_each_register(plan->f, &plan->f->insts[value->maker], see_through, each);
        each->hops--;
        return;
    }
    if ((!written || !each->hops) && each->lives->size[index])
        each->see(each->context, index, written);
}

void lives_each(const struct lives *lives, uint32_t inst, ptx_register_fn *see, void *context)
{
    struct each each = {lives, see, context, 0};
    if (!lives->plan->dead[inst] && !is_folded(lives->plan, inst))
        ptx_each_register(lives->plan->f, &lives->plan->f->insts[inst], see_through, &each);
}

bool lives_kills(const struct lives *lives, uint32_t inst, uint32_t index)
{
    return lives->plan->f->insts[inst].guard < 0 || lives->settles[index];
}

/* Wide products are added to pairs of registers, so pointers that loops add them to stay there, though they
 * are the same for the whole warp. */
static bool stays(const struct plan *plan, uint32_t r, const int32_t *depth)
{
    const struct value *value = &plan->values.at[r];
    if (ptx_type_bytes(plan->f->registers[r].type) != 8)
        return false;
    for (uint32_t k = 0; k < value->count; k++) {
        uint32_t reader = plan->values.readers[value->first + k];
        if (depth[plan->flow->block_of[reader]] && values_opcode(&plan->values, reader)->kind == KIND_ADD64 &&
            !strcmp(plan->steps[reader], "I"))
            return true;
    }
    return false;
}

/* A value takes registers when some instruction makes it, and it is not the same for the whole warp. */
static uint32_t size_of(const struct plan *plan, uint32_t r, const int32_t *depth)
{
    const struct value *value = &plan->values.at[r];
    if (plan->f->registers[r].type == PTX_pred || !value->writes)
        return 0;
    if (!plan->varies[r])
        return stays(plan, r, depth) ? 2 : 0;
    if (value->writes == 1 && (is_folded(plan, value->maker) || plan->dead[value->maker]))
        return 0;
    return (ptx_type_bytes(plan->f->registers[r].type) + 3) / 4;
}

static bool settles(const struct plan *plan, uint32_t r)
{
    const struct ptx_inst *insts = plan->f->insts;
    const struct value *value = &plan->values.at[r];
    if (!value->guarded || value->writes != 1 || !value->count)
        return false;
    for (uint32_t k = 0; k < value->count; k++) {
        const struct ptx_inst *reader = &insts[plan->values.readers[value->first + k]];
        if (reader->guard != insts[value->maker].guard || reader->guard_not != insts[value->maker].guard_not)
            return false;
    }
    return true;
}

static void see_home(void *context, uint32_t index, bool written)
{
    struct walk *walk = context;
    (void)written;
    if (walk->home[index] == NOWHERE)
        walk->home[index] = walk->block;
    else if (walk->home[index] != walk->block)
        walk->home[index] = SHARED;
}

static void see_use(void *context, uint32_t index, bool written)
{
    struct walk *walk = context;
    uint32_t bit = walk->lives->bit[index];
    if (bit == LIVES_LOCAL)
        return;
    size_t at = (size_t)walk->block * walk->lives->words + bit / 64;
    uint64_t mask = UINT64_C(1) << bit % 64;
    if (!written)
        walk->read[at] |= mask & ~walk->killed[at];
    else if (lives_kills(walk->lives, walk->inst, index))
        walk->killed[at] |= mask;
}

static void spread(struct walk *walk)
{
    struct lives *lives = walk->lives;
    const struct flow *flow = lives->plan->flow;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = flow->block_count; b-- > 0;) {
            uint64_t *out = lives->out + (size_t)b * lives->words;
            for (uint32_t e = 0; e < flow->blocks[b].next_count; e++) {
                uint32_t to = flow->edges[flow->blocks[b].next + e];
                for (uint32_t w = 0; w < lives->words && to < flow->block_count; w++)
                    out[w] |= lives->in[(size_t)to * lives->words + w];
            }
            for (uint32_t w = 0; w < lives->words; w++) {
                size_t at = (size_t)b * lives->words + w;
                uint64_t now = walk->read[at] | (out[w] & ~walk->killed[at]);
                changed |= now != lives->in[at];
                lives->in[at] = now;
            }
        }
    }
}

static void each_inst(struct walk *walk, ptx_register_fn *see)
{
    const struct plan *plan = walk->lives->plan;
    for (walk->inst = 0; walk->inst < plan->f->inst_count; walk->inst++) {
        walk->block = plan->flow->block_of[walk->inst];
        lives_each(walk->lives, walk->inst, see, walk);
    }
}

void lives_init(struct lives *lives, const struct plan *plan)
{
    const struct ptx_function *f = plan->f;
    uint32_t n = f->register_count, bits = 0;
    *lives = (struct lives){.plan = plan};
    lives->size = mem_alloc(n + 1, sizeof *lives->size);
    lives->settles = mem_alloc(n + 1, sizeof *lives->settles);
    lives->bit = mem_alloc(n + 1, sizeof *lives->bit);
    struct walk walk = {.lives = lives, .home = mem_alloc(n + 1, sizeof *walk.home)};
    memset(walk.home, 0xff, n * sizeof *walk.home);
    int32_t *depth = plan_loops(plan->flow);
    for (uint32_t r = 0; r < n; r++) {
        lives->size[r] = (uint8_t)size_of(plan, r, depth);
        lives->settles[r] = settles(plan, r);
    }
    mem_free(depth);
    each_inst(&walk, see_home);
    for (uint32_t r = 0; r < n; r++)
        lives->bit[r] = walk.home[r] == SHARED ? bits++ : LIVES_LOCAL;
    lives->words = (bits + 63) / 64;
    size_t total = (size_t)lives->words * plan->flow->block_count + 1;
    lives->in = mem_alloc(total, sizeof *lives->in);
    lives->out = mem_alloc(total, sizeof *lives->out);
    walk.killed = mem_alloc(total, sizeof *walk.killed);
    walk.read = mem_alloc(total, sizeof *walk.read);
    each_inst(&walk, see_use);
    spread(&walk);
    mem_free(walk.home);
    mem_free(walk.killed);
    mem_free(walk.read);
}

void lives_fini(struct lives *lives)
{
    mem_free(lives->size);
    mem_free(lives->settles);
    mem_free(lives->bit);
    mem_free(lives->in);
    mem_free(lives->out);
    *lives = (struct lives){0};
}
