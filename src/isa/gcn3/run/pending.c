/* Loads that were issued and not waited for, with time. What memory brings lands apart, and is moved to the
 * registers when s_waitcnt says that it is there: a program that does not wait reads old values, always. */
#include "gcn3_run/wave.h"

#include <string.h>

static void move_vector(struct gcn3_wave *w, const struct gcn3_lowered *op, lane_mask lanes)
{
    for (uint32_t k = 0; k < op->inst.d.dwords; k++) {
        uint32_t *to = w->v[op->inst.d.number + k];
        const uint32_t *from = w->incoming[op->inst.d.number + k];
        if (lanes == UINT64_MAX)
            memcpy(to, from, sizeof *w->v);
        else
            EACH_LANE (i, lanes)
                to[i] = from[i];
    }
}

static void arrive(struct gcn3_wave *w, const struct gcn3_pending *pending)
{
    if (pending->op == GCN3_NO_OP)
        return;
    const struct gcn3_lowered *op = &w->program->ops[pending->op];
    const struct gcn3_operand *d = &op->inst.d;
    if (d->kind == GCN3_VGPR)
        move_vector(w, op, pending->lanes);
    else if (d->kind == GCN3_SGPR || d->kind == GCN3_SPECIAL || d->kind == GCN3_TTMP)
        memcpy(&w->s[d->number], &w->incoming_s[d->number], 4u * d->dwords);
}

/* Those of a counter that are older than the last `most`. */
static void arrive_older(struct gcn3_wave *w, enum gcn3_counter counter, uint32_t most)
{
    for (; w->begun[counter] - w->arrived[counter] > most; w->arrived[counter]++)
        arrive(w, &w->pending[counter][w->arrived[counter] % ISA_COUNTED]);
}

/* One that both count brings its data when global memory's counter says so. */
void gcn3_begin_pending(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t counters)
{
    bool brings = op->inst.d.kind != GCN3_NOTHING && (!op->access.is_atomic || op->access.returns);
    for (uint32_t counter = 0; counter < ISA_COUNTERS; counter++) {
        if (!(counters >> counter & 1))
            continue;
        arrive_older(w, (enum gcn3_counter)counter, ISA_COUNTED - 1);
        bool is_first = !(counters & ((1u << counter) - 1));
        w->pending[counter][w->begun[counter]++ % ISA_COUNTED] = (struct gcn3_pending){
            .op = brings && is_first ? (uint32_t)(op - w->program->ops) : GCN3_NO_OP, .lanes = gcn3_exec(w)};
    }
}

void gcn3_arrived(struct gcn3_wave *w, uint32_t vm, uint32_t lgkm)
{
    arrive_older(w, GCN3_VM, vm);
    arrive_older(w, GCN3_LGKM, lgkm);
}
