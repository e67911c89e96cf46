#include "itrace/iwalk.h"

struct iwalk {
    struct itrace_reader *reader;
    size_t number;
    const struct itrace *trace;
    const struct itrace_launch *launch;
    struct istream_codes codes;
    struct istream_reader stream;
    struct request request;
    uint64_t block;
    uint32_t warp, done;
    lane_mask exists;
    bool has_streams;
};

struct iwalk *iwalk_new(struct itrace_reader *reader, size_t launch)
{
    struct iwalk *walk = mem_alloc(1, sizeof *walk);
    walk->reader = reader;
    walk->number = launch;
    walk->trace = itrace_reader_trace(reader);
    walk->launch = &walk->trace->launches[launch];
    const struct itrace_kernel *kernel = &walk->trace->kernels[walk->launch->kernel];
    walk->codes.count = kernel->code_count;
    walk->codes.at = mem_alloc(kernel->code_count, sizeof *walk->codes.at);
    for (uint32_t i = 0; i < kernel->code_count; i++)
        istream_code_init(&walk->codes.at[i], &kernel->codes[i].code, &walk->codes.context_count);
    walk->stream.contexts = mem_alloc(walk->codes.context_count + 1, sizeof *walk->stream.contexts);
    return walk;
}

static void end_warp(struct iwalk *walk)
{
    if (walk->has_streams)
        itrace_reader_give(walk->reader, walk->number, walk->block);
    walk->has_streams = false;
}

void iwalk_free(struct iwalk *walk)
{
    if (!walk)
        return;
    end_warp(walk);
    for (uint32_t i = 0; i < walk->codes.count; i++)
        istream_code_fini(&walk->codes.at[i]);
    mem_free(walk->codes.at);
    mem_free(walk->stream.contexts);
    mem_free(walk->request.pieces);
    mem_free(walk->request.stage);
    mem_free(walk);
}

uint64_t iwalk_blocks(const struct iwalk *walk)
{
    return itrace_launch_blocks(walk->launch);
}

uint32_t iwalk_warps(const struct iwalk *walk)
{
    return (itrace_launch_threads(walk->launch) + walk->trace->lanes - 1) / walk->trace->lanes;
}

lane_mask iwalk_lanes(const struct iwalk *walk, uint32_t warp)
{
    uint32_t left = itrace_launch_threads(walk->launch) - warp * walk->trace->lanes;
    return UINT64_MAX >> (ISA_LANES - min_u64(left, walk->trace->lanes));
}

bool iwalk_begin(struct iwalk *walk, uint64_t block, uint32_t warp, struct err *err)
{
    end_warp(walk);
    const struct chunk_warp *warps = itrace_reader_take(walk->reader, walk->number, block, err);
    if (!warps)
        return false;
    walk->block = block;
    walk->warp = warp;
    walk->has_streams = true;
    walk->exists = iwalk_lanes(walk, warp);
    walk->done = 0;
    const struct chunk_warp *at = &warps[warp];
    struct access_context *contexts = walk->stream.contexts;
    memset(contexts, 0, walk->codes.context_count * sizeof *contexts);
    walk->stream = (struct istream_reader){
        .contexts = contexts,
        .has_clusters = itrace_launch_cluster(walk->launch) > 1,
        .operations = walk->trace->operations.own,
        .runs = {.at = at->runs, .end = at->runs + at->runs_bytes},
        .data = {.at = at->data, .end = at->data + at->data_bytes},
        .firsts = at->firsts,
        .firsts_end = at->firsts + at->first_count,
    };
    return true;
}

static int damaged(const struct iwalk *walk, struct err *err)
{
    err_set(err, "launch %llu, block %llu, warp %u: its instructions are damaged",
            (unsigned long long)walk->launch->number, (unsigned long long)walk->block, walk->warp);
    return -1;
}

int iwalk_next(struct iwalk *walk, struct iwalk_step *step, struct err *err)
{
    struct istream_run *run = &walk->stream.run;
    if (walk->done == run->count) {
        walk->done = 0;
        bool has_run = istream_next_run(&walk->stream, &walk->codes);
        if (istream_is_bad(&walk->stream))
            return damaged(walk, err);
        if (!has_run) {
            end_warp(walk);
            return 0;
        }
        run->active &= walk->exists;
    }
    *step = (struct iwalk_step){.code = (uint32_t)(run->code - walk->codes.at),
                                .instruction = run->first + walk->done,
                                .active = run->active,
                                .mask = run->active,
                                .opened = walk->done ? 0 : run->opened};
    step->row = &run->code->code->timing[step->instruction];
    bool is_last = ++walk->done == run->count;
    if (is_last && (run->moved || run->has_mask))
        step->mask &= run->mask;
    else if (step->row->guards)
        step->mask &= istream_guard(&walk->stream, run->active);
    step->run = is_last ? run : NULL;
    if (!step->row->plain) {
        struct request *request = &walk->request;
        request_clear(request);
        request->of.width = (uint8_t)walk->trace->lanes;
        istream_access(&walk->stream, run->code->context[step->instruction], step->mask, request);
        if (request->of.kind || request->shared || request->local || request->param)
            step->request = request;
    }
    return walk->stream.data.bad ? damaged(walk, err) : 1;
}

bool iwalk_has_ended(const struct iwalk *walk)
{
    return !walk->has_streams;
}

static void count_step(const struct iwalk_step *step, bool branches, struct launch_result *counts)
{
    counts->warp_instructions++;
    counts->thread_instructions += isa_count_lanes(step->active);
    counts->thread_instructions_pred_on += isa_count_lanes(step->mask);
    if (!branches || !step->run || step->row->role != ROLE_BRANCH)
        return;
    counts->branches++;
    counts->divergent_branches += step->run->diverged;
}

bool iwalk_count(struct iwalk *walk, uint64_t first_block, uint64_t end_block, struct launch_result *counts,
                 struct err *err)
{
    struct iwalk_step step;
    int got = 0;
    for (uint64_t block = first_block; block < end_block && !got; block++)
        for (uint32_t warp = 0; warp < iwalk_warps(walk) && !got; warp++) {
            if (!iwalk_begin(walk, block, warp, err))
                return false;
            while ((got = iwalk_next(walk, &step, err)) > 0)
                count_step(&step, walk->launch->counts.branches, counts);
            counts->warps++;
            counts->threads += isa_count_lanes(iwalk_lanes(walk, warp));
        }
    return !got;
}
