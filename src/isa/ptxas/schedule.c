/* List scheduling, cycle by cycle: of the ready instructions, loads from far memory go first, then the one
 * with the longest path to the end of the region. When registers become scarce, the one that needs the
 * fewest. */
#include "ptxas/schedule_parts.h"
#include "base/mem.h"

#include <string.h>

enum { LIMIT = 26, LIMIT_SLACK = 3 };

static void find_heights(struct schedule *s)
{
    for (uint32_t i = s->count; i-- > 0;) {
        struct node *node = &s->nodes[i];
        node->height = node->latency;
        for (uint32_t e = node->first; e; e = s->edges[e - 1].next) {
            uint32_t below = s->edges[e - 1].latency + s->nodes[s->edges[e - 1].to].height;
            node->height = below > node->height ? below : node->height;
        }
    }
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Whether a is to be issued before b in this cycle. What is ready sooner comes first; then loads from far
 * memory, whose addresses occupy registers while they wait; then the longest path to the region's end. */
static bool is_better(const struct schedule *s, uint32_t a, uint32_t b, uint32_t cycle)
{
    const struct node *x = &s->nodes[a], *y = &s->nodes[b];
    uint32_t x_at = later(x->ready, cycle), y_at = later(y->ready, cycle);
    if (x_at != y_at)
        return x_at < y_at;
    if (x->is_far_load != y->is_far_load)
        return x->is_far_load;
    return x->height != y->height ? x->height > y->height : a < b;
}

static uint32_t choose_highest(const struct schedule *s, uint32_t count, uint32_t cycle)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (is_better(s, s->ready[i], s->ready[best], cycle))
            best = i;
    return best;
}

/* When registers are scarce: what is ready and needs no more of them; else what will free some, though it is
 * waited for; else what needs the fewest. Among equals the first in the text, so that what was begun is
 * ended. */
static uint32_t choose_thrifty(const struct schedule *s, uint32_t count, uint32_t cycle)
{
    uint32_t best = 0;
    uint64_t best_rank = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const struct node *node = &s->nodes[s->ready[i]];
        int32_t change = pressure_change(s, node);
        uint64_t rank = change <= 0 && node->ready <= cycle ? 0
                        : change < 0                        ? 1 + (uint64_t)node->ready
                                     : (UINT64_C(1) << 32) + (uint64_t)(change + STEPS_MOST);
        if (rank < best_rank || (rank == best_rank && s->ready[i] < s->ready[best])) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

static uint32_t choose(const struct schedule *s, uint32_t count, uint32_t cycle)
{
    uint32_t highest = choose_highest(s, count, cycle);
    int32_t change = pressure_change(s, &s->nodes[s->ready[highest]]);
    return change > 0 && s->running + change > s->limit ? choose_thrifty(s, count, cycle) : highest;
}

static void sort_region(struct schedule *s)
{
    uint32_t count = 0, cycle = 0, done = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (!s->nodes[i].waits)
            s->ready[count++] = i;
    s->running = s->pressure;
    while (count) {
        uint32_t at = choose(s, count, cycle);
        struct node *node = &s->nodes[s->ready[at]];
        memmove(&s->ready[at], &s->ready[at + 1], (--count - at) * sizeof *s->ready);
        uint32_t issued = later(node->ready, cycle);
        cycle = issued + node->cost;
        pressure_issue(s, node);
        s->most = s->running > s->most ? s->running : s->most;
        s->sorted[s->nodes[0].inst + done++] = s->f->insts[node->inst];
        for (uint32_t e = node->first; e; e = s->edges[e - 1].next) {
            struct node *to = &s->nodes[s->edges[e - 1].to];
            to->ready = later(to->ready, issued + s->edges[e - 1].latency);
            if (!--to->waits)
                s->ready[count++] = s->edges[e - 1].to;
        }
    }
    REQUIRE(done == s->count);
}

static bool is_far_load(const struct opcode *opcode)
{
    return opcode->kind == KIND_LOAD && opcode->effect == EFFECT_READ &&
           (opcode->space == PTX_GLOBAL || opcode->space == PTX_GENERIC);
}

static void schedule_region(struct schedule *s, uint32_t first, uint32_t count)
{
    if (!count)
        return;
    s->count = count;
    s->region++;
    for (uint32_t i = 0; i < count; i++) {
        struct isa_step steps[STEPS_MOST];
        s->nodes[i] = (struct node){.inst = first + i};
        s->nodes[i].cost = opcode_steps(s->plan.steps[first + i], steps, STEPS_MOST);
        s->nodes[i].is_far_load = is_far_load(values_opcode(&s->plan.values, first + i));
        s->nodes[i].latency =
            opcode_latency(values_opcode(&s->plan.values, first + i), s->plan.steps[first + i]);
    }
    pressure_begin_region(s);
    if (count == 1)
        return;
    schedule_edges(s);
    find_heights(s);
    sort_region(s);
}

/* From its end, as what is needed behind a region must be known. */
static void schedule_block(struct schedule *s, uint32_t b)
{
    const struct flow_block *block = &s->flow->blocks[b];
    uint32_t end = block->first + block->count;
    pressure_begin_block(s, b);
    for (uint32_t i = end; i-- > block->first;) {
        bool wall = schedule_is_wall(s, i);
        if (wall) {
            schedule_region(s, i + 1, end - i - 1);
            pressure_pass(s, i);
            end = i;
        } else if (end - i == REGION_MOST || i == block->first) {
            schedule_region(s, i, end - i);
            end = i;
        }
    }
}

/* Gives the most registers that were in use. */
static int32_t schedule_within(struct ptx_function *f, const struct flow *flow, int32_t limit)
{
    struct schedule s = {.f = f, .flow = flow, .limit = limit};
    plan_init(&s.plan, f, flow, NULL, false);
    lives_init(&s.lives, &s.plan);
    s.nodes = mem_alloc(REGION_MOST + 1, sizeof *s.nodes);
    s.tracks = mem_alloc(f->register_count + 1, sizeof *s.tracks);
    s.held = mem_alloc(f->register_count + 1, sizeof *s.held);
    s.live = mem_alloc(f->register_count + 1, sizeof *s.live);
    s.shared = mem_alloc(f->register_count + 1, sizeof *s.shared);
    s.sums = mem_alloc(f->inst_count + 1, sizeof *s.sums);
    s.uses = mem_alloc(f->inst_count + 1, sizeof *s.uses);
    s.product_register = mem_alloc(f->register_count + 1, sizeof *s.product_register);
    s.pinned.nodes = mem_alloc(REGION_MOST + 1, sizeof *s.pinned.nodes);
    s.ends.nodes = mem_alloc(REGION_MOST + 1, sizeof *s.ends.nodes);
    s.sorted = mem_alloc(f->inst_count + 1, sizeof *s.sorted);
    s.ready = mem_alloc(REGION_MOST + 1, sizeof *s.ready);
    memcpy(s.sorted, f->insts, f->inst_count * sizeof *s.sorted);
    for (uint32_t r = 0; r < f->register_count; r++)
        if (s.lives.bit[r] != LIVES_LOCAL)
            s.shared[s.lives.bit[r]] = r;
    schedule_contraction(&s);
    for (uint32_t b = 0; b < flow->block_count; b++)
        schedule_block(&s, b);
    int32_t most = s.most;
    memcpy(f->insts, s.sorted, f->inst_count * sizeof *s.sorted);
    plan_fini(&s.plan);
    lives_fini(&s.lives);
    mem_free(s.nodes);
    mem_free(s.edges);
    mem_free(s.tracks);
    mem_free(s.links);
    mem_free(s.held);
    mem_free(s.names);
    mem_free(s.live);
    mem_free(s.touched);
    mem_free(s.shared);
    mem_free(s.sums);
    mem_free(s.uses);
    mem_free(s.product_register);
    mem_free(s.pinned.nodes);
    mem_free(s.ends.nodes);
    mem_free(s.sorted);
    mem_free(s.ready);
    return most;
}

/* With what 32 registers hold an SM can have all its threads. Where that is not enough, there is no need to
 * be thrifty beyond what must be. */
void schedule_function(struct ptx_function *f, const struct flow *flow)
{
    struct ptx_inst *as_it_was = mem_alloc(f->inst_count + 1, sizeof *as_it_was);
    for (uint32_t i = 0; i < f->inst_count; i++)
        f->insts[i].order = i;
    memcpy(as_it_was, f->insts, f->inst_count * sizeof *as_it_was);
    int32_t most = schedule_within(f, flow, LIMIT);
    if (most > LIMIT + LIMIT_SLACK) {
        memcpy(f->insts, as_it_was, f->inst_count * sizeof *as_it_was);
        schedule_within(f, flow, most);
    }
    mem_free(as_it_was);
}
