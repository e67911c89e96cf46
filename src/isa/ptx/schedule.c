/* Lists of what is ready, cycle by cycle: of all that can be issued the one goes first that most depends on.
 */
#include "schedule_parts.h"
#include "base/mem.h"

#include <string.h>

static void find_heights(struct schedule *s)
{
    for (uint32_t i = s->count; i-- > 0;) {
        struct node *node = &s->nodes[i];
        node->height = values_opcode(&s->values, node->inst)->latency;
        for (uint32_t e = node->first; e; e = s->edges[e - 1].next) {
            uint32_t below = s->edges[e - 1].latency + s->nodes[s->edges[e - 1].to].height;
            node->height = below > node->height ? below : node->height;
        }
    }
}

/* The first that is ready in this cycle and highest, or else the one that is ready soonest. */
static uint32_t choose(const struct schedule *s, const uint32_t *ready, uint32_t count, uint32_t cycle)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct node *a = &s->nodes[ready[i]], *b = &s->nodes[ready[best]];
        uint32_t at = a->ready > cycle ? a->ready : cycle, best_at = b->ready > cycle ? b->ready : cycle;
        if (at != best_at            ? at < best_at
            : a->height != b->height ? a->height > b->height
                                     : ready[i] < ready[best])
            best = i;
    }
    return best;
}

static void sort_region(struct schedule *s)
{
    uint32_t *ready = s->ready, count = 0, cycle = 0, done = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (!s->nodes[i].waits)
            ready[count++] = i;
    while (count) {
        uint32_t at = choose(s, ready, count, cycle);
        struct node *node = &s->nodes[ready[at]];
        memmove(&ready[at], &ready[at + 1], (--count - at) * sizeof *ready);
        cycle = (node->ready > cycle ? node->ready : cycle) + 1;
        s->sorted[s->nodes[0].inst + done++] = s->f->insts[node->inst];
        for (uint32_t e = node->first; e; e = s->edges[e - 1].next) {
            struct node *to = &s->nodes[s->edges[e - 1].to];
            uint32_t when = cycle - 1 + s->edges[e - 1].latency;
            to->ready = when > to->ready ? when : to->ready;
            if (!--to->waits)
                ready[count++] = s->edges[e - 1].to;
        }
    }
    REQUIRE(done == s->count);
}

static void schedule_region(struct schedule *s, uint32_t first, uint32_t count)
{
    if (count < 2)
        return;
    s->count = count;
    for (uint32_t i = 0; i < count; i++)
        s->nodes[i] = (struct node){.inst = first + i};
    schedule_edges(s);
    find_heights(s);
    sort_region(s);
}

static void schedule_block(struct schedule *s, const struct flow_block *block)
{
    uint32_t end = block->first + block->count, first = block->first;
    for (uint32_t i = first; i < end; i++) {
        bool wall = schedule_is_wall(s, i);
        if (wall || i - first == REGION_MOST) {
            schedule_region(s, first, i - first);
            first = wall ? i + 1 : i;
        }
    }
    schedule_region(s, first, end - first);
}

void schedule_function(struct ptx_function *f, const struct flow *flow)
{
    struct schedule s = {.f = f, .flow = flow};
    values_init(&s.values, f);
    s.nodes = mem_alloc(REGION_MOST + 1, sizeof *s.nodes);
    s.tracks = mem_alloc(f->register_count + 1, sizeof *s.tracks);
    s.sums = mem_alloc(f->inst_count + 1, sizeof *s.sums);
    s.uses = mem_alloc(f->inst_count + 1, sizeof *s.uses);
    s.product_register = mem_alloc(f->register_count + 1, sizeof *s.product_register);
    s.pinned = mem_alloc(REGION_MOST + 1, sizeof *s.pinned);
    s.sorted = mem_alloc(f->inst_count + 1, sizeof *s.sorted);
    s.ready = mem_alloc(REGION_MOST + 1, sizeof *s.ready);
    memcpy(s.sorted, f->insts, f->inst_count * sizeof *s.sorted);
    schedule_contraction(&s);
    for (uint32_t b = 0; b < flow->block_count; b++)
        schedule_block(&s, &flow->blocks[b]);
    memcpy(f->insts, s.sorted, f->inst_count * sizeof *s.sorted);
    values_fini(&s.values);
    mem_free(s.nodes);
    mem_free(s.edges);
    mem_free(s.tracks);
    mem_free(s.links);
    mem_free(s.sums);
    mem_free(s.uses);
    mem_free(s.product_register);
    mem_free(s.pinned);
    mem_free(s.sorted);
    mem_free(s.ready);
}
