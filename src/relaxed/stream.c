/* The instructions of warps, as the trace has them (itrace/istream.h): what comes next, who waits at a
 * barrier and who ends. */
#include "relaxed/parts.h"

bool relaxed_open_block(struct relaxed_part *part, struct relaxed_block *block)
{
    const struct relaxed_kernel *kernel = &part->gpu->kernel;
    struct err err;
    block->streams = itrace_reader_take_block(kernel->reader, kernel->number, block->number, &err);
    if (!block->streams)
        relaxed_fail(part->gpu, "%s", err.text);
    return block->streams;
}

void relaxed_close_block(struct relaxed_part *part, struct relaxed_block *block)
{
    itrace_reader_give_block(part->gpu->kernel.reader, part->gpu->kernel.number, block->number);
    block->streams = NULL;
}

void relaxed_open(struct relaxed_part *part, struct relaxed_warp *w)
{
    const struct relaxed_kernel *kernel = &part->gpu->kernel;
    const struct chunk_warp *at = &part->blocks[w->block].streams[w->index];
    struct access_context *contexts = w->stream.contexts;
    if (w->context_capacity < kernel->codes.context_count) {
        mem_free(contexts);
        contexts = mem_alloc(kernel->codes.context_count, sizeof *contexts);
        w->context_capacity = kernel->codes.context_count;
    } else if (kernel->codes.context_count) {
        memset(contexts, 0, kernel->codes.context_count * sizeof *contexts);
    }
    w->stream = (struct istream_reader){.runs = {.at = at->runs, .end = at->runs + at->runs_bytes},
                                        .data = {.at = at->data, .end = at->data + at->data_bytes},
                                        .firsts = at->firsts,
                                        .firsts_end = at->firsts + at->first_count,
                                        .operations = itrace_reader_trace(kernel->reader)->operations.own,
                                        .contexts = contexts};
}

/* The barriers that the run is behind have opened since the warp arrived there. */
static bool may_begin(const struct relaxed_part *part, const struct relaxed_warp *w)
{
    const struct relaxed_block *block = &part->blocks[w->block];
    for (uint32_t left = w->stream.run.opened & 0xffff; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (block->openings[i] == w->arrivals[i])
            return false;
    }
    return true;
}

bool relaxed_settle(struct relaxed_part *part, struct relaxed_warp *w, bool *ended)
{
    struct istream_run *now = &w->stream.run;
    *ended = false;
    if (!w->has_run || w->done == now->count) {
        w->done = 0;
        w->has_run = istream_next_run(&w->stream, &part->gpu->kernel.codes);
        if (UNLIKELY(istream_is_bad(&w->stream)))
            relaxed_fail(part->gpu, "the trace is damaged: instructions of block %llu",
                         (unsigned long long)part->blocks[w->block].number);
        if (!w->has_run || istream_is_bad(&w->stream)) {
            *ended = true;
            return false;
        }
        now->active &= w->exists;
    }
    if (now->opened && !w->done && !may_begin(part, w))
        return false;
    w->code = now->code->code;
    w->timing = &w->code->timing[now->first + w->done];
    w->active = now->active;
    return true;
}

static void open_barriers(struct relaxed_part *part, struct relaxed_block *block)
{
    bool any = false;
    for (uint32_t i = 0; i < BARRIERS; i++) {
        if (!block->arrived[i] ||
            block->arrived[i] < (block->expected[i] ? block->expected[i] : block->alive))
            continue;
        block->arrived[i] = block->expected[i] = 0;
        block->openings[i]++;
        any = true;
    }
    if (any)
        relaxed_wake_block(part, block);
}

/* The last instruction of a run: who arrives at a barrier, who ends. */
static void do_events(struct relaxed_part *part, struct relaxed_warp *w)
{
    const struct istream_run *now = &w->stream.run;
    struct relaxed_block *block = &part->blocks[w->block];
    w->sleep_ns = now->sleep_ns;
    if (now->events & EVENT_EXITS)
        block->alive -= (uint32_t)min_u64(now->exits, block->alive);
    if (now->events & EVENT_ARRIVES) {
        w->arrivals[now->barrier] = block->openings[now->barrier];
        block->arrived[now->barrier] += now->threads;
        if (now->expected)
            block->expected[now->barrier] = now->expected;
    }
    if (now->events & (EVENT_EXITS | EVENT_ARRIVES))
        open_barriers(part, block);
}

lane_mask relaxed_step(struct relaxed_part *part, struct relaxed_warp *w)
{
    const struct istream_run *now = &w->stream.run;
    const struct isa_timing *timing = w->timing;
    const bool is_last = ++w->done == now->count;
    lane_mask mask = w->active;
    if (is_last && (now->moved || now->has_mask))
        mask &= now->mask;
    else if (UNLIKELY(timing->guards))
        mask &= istream_guard(&w->stream, w->active);
    part->counts.warp_instructions++;
    part->counts.thread_instructions += isa_count_lanes(w->active);
    if (!timing->plain)
        istream_access(&w->stream, now->code->context[now->first + w->done - 1], mask, &part->request);
    w->moved = is_last;
    w->branched = w->diverged = false;
    w->sleep_ns = 0;
    if (LIKELY(!is_last))
        return mask;
    if (UNLIKELY(w->stream.data.bad))
        relaxed_fail(part->gpu, "the trace is damaged: accesses of block %llu",
                     (unsigned long long)part->blocks[w->block].number);
    w->branched = now->branched;
    w->diverged = now->diverged;
    if (now->events)
        do_events(part, w);
    return mask;
}
