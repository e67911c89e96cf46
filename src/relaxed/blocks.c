/* Blocks on an SM: which it has is fixed before the kernel begins (algorithm 1 of GpuTejas); they start when
 * there is room. */
#include "relaxed/parts.h"

#include <math.h>

/* Which block of its own is the part's n-th; false: it has no such one. */
static bool block_of(const struct relaxed_part *part, uint64_t n, uint64_t *number)
{
    const struct relaxed_kernel *kernel = &part->gpu->kernel;
    const struct relaxed_sm *sm = part->sm;
    uint64_t sms = part->gpu->spec.sms, each = kernel->blocks_per_sm;
    uint32_t parts = (uint32_t)min_u64(sm->parts, each);
    uint32_t own = (uint32_t)(part->thread->number / sms % sm->parts); /* which of the SM's */
    if (sm->parts == 1)
        own = 0;
    if (own >= parts)
        return false;
    uint64_t of_sm = n * parts + own; /* of the SM's blocks */
    if (part->gpu->options.blocks == RELAXED_IN_RUNS)
        *number = of_sm / each * (sms * each) + sm->number * each + of_sm % each;
    else
        *number = of_sm * sms + sm->number;
    return *number < kernel->block_count;
}

static void account(struct relaxed_part *part)
{
    part->counts.warp_cycles += (part->clock - part->held_since) * part->warps_now;
    part->held_since = part->clock;
}

static struct relaxed_warp *take_warp(struct relaxed_part *part)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    for (uint32_t i = 0; i < spec->subcores; i++) {
        uint32_t s = (part->next_subcore + i) % spec->subcores;
        uint64_t free_slots = ~part->taken[s] & UINT64_MAX >> (RELAXED_SLOTS - spec->warps_per_subcore);
        if (!free_slots)
            continue;
        uint32_t slot = (uint32_t)__builtin_ctzll(free_slots);
        struct relaxed_warp *w = relaxed_warp_at(part, s, slot);
        part->taken[s] |= UINT64_C(1) << slot;
        part->next_subcore = (s + 1) % spec->subcores;
        w->subcore = (uint8_t)s;
        w->slot = (uint8_t)slot;
        return w;
    }
    return NULL;
}

static void start_warp(struct relaxed_part *part, uint32_t block, uint32_t index, uint64_t starts)
{
    const struct relaxed_kernel *kernel = &part->gpu->kernel;
    uint32_t lanes = part->gpu->spec.lanes, slots = kernel->of->slots + 1;
    struct relaxed_warp *w = take_warp(part);
    if (!w) {
        relaxed_fail(part->gpu, "an SM was given more warps than it holds");
        return;
    }
    uint32_t threads = (uint32_t)min_u64(kernel->threads_per_block - index * lanes, lanes);
    if (w->board_capacity < slots) {
        mem_free(w->board);
        w->board = mem_alloc(slots, sizeof *w->board);
        w->board_capacity = slots;
    } else if (slots) {
        memset(w->board, 0, slots * sizeof *w->board);
    }
    *w = (struct relaxed_warp){.stream.contexts = w->stream.contexts,
                               .board = w->board,
                               .board_capacity = w->board_capacity,
                               .context_capacity = w->context_capacity,
                               .subcore = w->subcore,
                               .slot = w->slot,
                               .exists = UINT64_MAX >> (ISA_LANES - threads),
                               .block = block,
                               .index = index,
                               .age = part->ages++,
                               .code_line = UINT64_MAX,
                               .earliest = starts + index * part->gpu->spec.warp_start_cycles};
    bool ended;
    part->counts.warps++;
    relaxed_open(part, w);
    if (!relaxed_settle(part, w, &ended)) {
        relaxed_fail(part->gpu, "the trace is damaged: a warp has no instructions");
        return;
    }
    relaxed_prepare(part, w);
}

/* Starts the part's next block, if it has one, no sooner than this. */
static void start_block(struct relaxed_part *part, uint64_t earliest)
{
    const struct relaxed_kernel *kernel = &part->gpu->kernel;
    const struct relaxed_spec *spec = &part->gpu->spec;
    uint64_t number;
    if (!block_of(part, part->next_block, &number))
        return;
    part->next_block++;
    uint32_t at = 0;
    while (part->blocks[at].lives)
        at++;
    struct relaxed_block *block = &part->blocks[at];
    *block = (struct relaxed_block){.lives = true,
                                    .number = number,
                                    .alive = kernel->threads_per_block,
                                    .warps_left = kernel->warps_per_block};
    if (!relaxed_open_block(part, block))
        return;
    uint64_t starts = max_u64(earliest + spec->block_start_cycles, part->next_start);
    part->next_start = starts + spec->block_least_cycles;
    account(part);
    part->counts.blocks++;
    part->blocks_now++;
    part->warps_now += kernel->warps_per_block;
    for (uint32_t i = 0; i < kernel->warps_per_block; i++)
        start_warp(part, at, i, starts);
}

void relaxed_begin_blocks(struct relaxed_part *part)
{
    const struct relaxed_kernel *kernel = &part->gpu->kernel;
    uint64_t number, leaves = kernel->base + part->gpu->spec.dispatch_cycles;
    for (uint32_t i = 0; i < part->resident && block_of(part, part->next_block, &number); i++)
        start_block(part, leaves + (uint64_t)((double)number * part->gpu->spec.block_parts) / RELAXED_PARTS);
}

void relaxed_warp_ended(struct relaxed_part *part, struct relaxed_warp *w)
{
    struct relaxed_block *block = &part->blocks[w->block];
    part->taken[w->subcore] &= ~(UINT64_C(1) << w->slot);
    account(part);
    part->warps_now--;
    if (--block->warps_left)
        return;
    relaxed_close_block(part, block);
    block->lives = false;
    part->blocks_now--;
    start_block(part, part->clock + part->gpu->spec.block_end_cycles);
}

void relaxed_wake_block(struct relaxed_part *part, struct relaxed_block *block)
{
    for (uint32_t s = 0; s < part->gpu->spec.subcores; s++) {
        uint64_t waiting = block->waiting[s];
        block->waiting[s] = 0;
        for (; waiting; waiting &= waiting - 1) {
            struct relaxed_warp *w = relaxed_warp_at(part, s, (uint32_t)__builtin_ctzll(waiting));
            bool ended;
            if (!relaxed_settle(part, w, &ended)) { /* it waits for another barrier */
                block->waiting[s] |= UINT64_C(1) << w->slot;
                continue;
            }
            w->earliest = max_u64(w->earliest, part->clock + 1);
            relaxed_prepare(part, w);
        }
    }
}
