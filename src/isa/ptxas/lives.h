/* Which registers are live, as the machine has them: a folded instruction needs none, but keeps its sources
 * alive until the instruction that it is folded into. */
#ifndef PTXAS_LIVES_H
#define PTXAS_LIVES_H

#include "ptxas/plan.h"

struct lives {
    const struct plan *plan;
    uint8_t *size;  /* by register: 32-bit registers of a thread that it takes */
    bool *settles;  /* by register: a guarded write is as good as any, as all read it under the same guard */
    uint32_t *bit;  /* by register: in the sets; LIVES_LOCAL: it is in one block alone */
    uint32_t words; /* of a set */
    uint64_t *in, *out; /* by block */
};

#define LIVES_LOCAL UINT32_MAX

void lives_init(struct lives *lives, const struct plan *plan);
void lives_fini(struct lives *lives);

/* Calls `see` for the registers that the machine instruction reads and writes; none for what is folded. */
void lives_each(const struct lives *lives, uint32_t inst, ptx_register_fn *see, void *context);

static inline bool lives_out(const struct lives *lives, uint32_t block, uint32_t index)
{
    uint32_t bit = lives->bit[index];
    return bit != LIVES_LOCAL && lives->out[(size_t)block * lives->words + bit / 64] >> bit % 64 & 1;
}

/* Whether a write ends what was there before. */
bool lives_kills(const struct lives *lives, uint32_t inst, uint32_t index);

#endif
