/* Memory instructions: the lanes' addresses become lines and sectors, which go through the SM's memory
 * pipeline to shared memory, the L1 cache, or the crossbar. A store's data is read, and a hit's data is
 * delivered, when the instruction issues; when the result can be used is computed from how busy the pipeline
 * is. */
#include "core/l1.h"
#include "core/coalesce.h"
#include "core/counted.h"
#include "base/mem.h"
#include "exec/atomics.h"
#include "exec/watch.h"

#include <string.h>

bool lsu_is_full(const struct sm *sm)
{
    const struct sm_spec *spec = sm->config.spec;
    return sm->outgoing_count || sm->stores_under_way > spec->stores ||
           sm->reductions_under_way > spec->reductions;
}

void lsu_let_in(struct sm *sm)
{
    if (!sm->room_wanted || lsu_is_full(sm))
        return;
    sm->room_wanted = false;
    for (uint32_t i = 0; i < sm_warp_count(sm); i++)
        if (sm->warps[i].state == WARP_ROOM)
            sm_warp_ready(sm, &sm->warps[i], sm->cycle, (enum stall)sm->warps[i].reason);
}

/* The memory pipeline is busy with a warp's instruction for so many parts of cycles; gives the cycle it
 * begins in. */
static uint64_t take_pipeline(struct sm *sm, const struct sm_warp *w, uint64_t parts)
{
    struct subcore *sub = &sm->subcores[w->place / SUBCORE_WARPS];
    uint64_t begins = max_u64(sm->lsu_free, sm->cycle * LSU_PARTS);
    sm->lsu_free = begins + parts;
    sub->memory_begins[sub->memory_next++] = begins / LSU_PARTS;
    if (sub->memory_next == sm->config.spec->lsu_queue)
        sub->memory_next = 0;
    return begins / LSU_PARTS;
}

/* How long it is busy with passes through shared memory, or with lines of the cache. */
static uint64_t passes_take(const struct sm_spec *spec, uint32_t passes)
{
    uint64_t least = spec->lsu_request_cycles * LSU_PARTS;
    return max_u64(least, (uint64_t)(passes * spec->lsu_wavefront_cycles * LSU_PARTS));
}

static uint64_t lines_take(const struct sm_spec *spec, uint32_t lines)
{
    uint64_t least = spec->lsu_request_cycles * LSU_PARTS;
    return max_u64(least, (uint64_t)(lines * spec->l1_tag_cycles * LSU_PARTS));
}

/* Shared memory */

/* Atomic operations on one word follow each other. */
static uint32_t same_words(const struct request *request)
{
    uint32_t most = 1;
    EACH_LANE (i, request->shared) {
        uint32_t same = 0;
        EACH_LANE (j, request->shared)
            same += request->shared_at[i] / 4 == request->shared_at[j] / 4;
        most = same > most ? same : most;
    }
    return most;
}

static void note_passes(struct sm_warp *w, uint32_t passes, uint32_t conflicts)
{
    if (w->profile) {
        w->profile->passes += passes;
        w->profile->conflicts += conflicts;
    }
}

/* Shared memory's own pipeline has no queue before it. */
static uint64_t take_shared_pipeline(struct sm *sm, const struct sm_warp *w, uint64_t parts)
{
    if (LIKELY(!sm->config.spec->shared_apart))
        return take_pipeline(sm, w, parts);
    uint64_t begins = max_u64(sm->lds_free, sm->cycle * LSU_PARTS);
    sm->lds_free = begins + parts;
    return begins / LSU_PARTS;
}

/* Passes that an access takes at least: those of 32 lanes, for each half of a wave that takes part. */
static uint32_t least_passes(const struct request *request)
{
    uint32_t words = (request->shared_bytes + 3u) / 4, each = words <= 1 ? 1 : words == 2 ? 2 : 4;
    uint32_t halves = ((uint32_t)request->shared != 0) + (request->shared >> 32 != 0);
    return each * halves;
}

static uint64_t issue_shared(struct sm *sm, struct sm_warp *w, const struct request *request, bool merged)
{
    const struct sm_spec *spec = sm->config.spec;
    struct sm_counters *counters = &w->kernel->counters;
    uint32_t least = least_passes(request);
    uint32_t all = bank_passes(&sm->banks, (uint32_t)spec->shared_banks, request);
    if (request->shared_atomic && !merged)
        all = (uint32_t)max_u64(all, same_words(request));
    counters->shared_requests++;
    counters->shared_wavefronts += all;
    uint32_t conflicts = all > least ? all - least : 0;
    counters->shared_conflicts += conflicts;
    note_passes(w, all, conflicts);
    uint64_t begins = take_shared_pipeline(sm, w, passes_take(spec, all));
    uint64_t latency = spec->shared_latency + (all - 1) * spec->conflict_cycles;
    if (request->shared_atomic)
        latency += spec->atomic_shared_cycles;
    return begins + latency;
}

/* Global memory */

/* Sectors that lanes' bytes would fill if they lay side by side. */
static uint64_t least_sectors(const struct delivery *of)
{
    return (isa_count_lanes(of->lanes) * of->bytes + MEM_SECTOR - 1) / MEM_SECTOR;
}

/* The instruction asked for so many sectors, where `least` would have been enough. */
static void note_sectors(struct sm_warp *w, uint64_t sectors, uint64_t least)
{
    uint64_t extra = sectors > least ? sectors - least : 0;
    w->kernel->counters.l1_extra_sectors += extra;
    if (w->profile) {
        w->profile->sectors += sectors;
        w->profile->extra_sectors += extra;
    }
}

struct load *lsu_begin_load(struct sm *sm, struct sm_warp *w, const struct request *request,
                            const struct isa_timing *timing)
{
    struct load *load = load_take(sm);
    delivery_copy(&load->of, &request->of);
    load->warp = w;
    load->lines_left = 1; /* until all were asked for */
    load->result = RESULT_LONG;
    load->code = w->under_way;
    load->timing = timing;
    load->writes = request->of.is_async ? 0 : timing->writes;
    load->block_writes = NO_SLOT;
    counted_hold(load);
    load->profile = w->profile;
    load->group = w->group % SM_COPY_GROUPS;
    if (load_is_of_group(load))
        w->group_left[load->group]++;
    w->loads++;
    return load;
}

static void reserve_stage(struct load *load, uint64_t bytes)
{
    if (load->stage_capacity >= bytes)
        return;
    load->stage = mem_resize(load->stage, load->stage_capacity, bytes, 1);
    load->stage_capacity = bytes;
}

/* The bytes of some lanes go on in another sector, which may come at another time. So all lanes' bytes
 * gather, and are delivered when the last are there. */
static void gather_on_stage(struct load *load)
{
    load->of.stage_bytes = (uint64_t)load->of.width * load->of.bytes;
    reserve_stage(load, load->of.stage_bytes);
}

/* Local memory: a thread's words lie side by side with those of its warp's other threads. A line has a word
 * of so many of them; a word of a wider warp takes several lines. */
static uint32_t local_lanes(const struct sm *sm)
{
    return UINT32_C(1) << sm->l1.line_shift >> 2;
}

static uint64_t local_line(const struct sm *sm, const struct sm_warp *w, uint64_t number)
{
    uint64_t pieces = sm->config.subcores * sm->config.warps_per_subcore,
             lines = LOCAL_PIECE >> sm->l1.line_shift;
    uint64_t piece = number / lines * pieces + (uint64_t)(w - sm->warps);
    uint64_t offset = LOCAL_MEMORY + ((uint64_t)sm->number << LOCAL_SM_SHIFT) + piece * LOCAL_PIECE +
                      (number % lines << sm->l1.line_shift);
    return physical_at(sm->config.home, offset).packed;
}

/* Lines of a local access, each with its sectors, in the order of lanes; gives how many. */
static uint32_t local_lines(const struct sm *sm, const struct sm_warp *w, const struct request *request,
                            uint64_t lines[], uint8_t sectors[])
{
    uint32_t count = 0, lanes = local_lanes(sm), parts = request->of.width / lanes;
    lane_mask of_part = (UINT64_C(1) << lanes) - 1;
    for (uint32_t k = 0; k < (request->local_bytes + 3u) / 4; k++)
        for (lane_mask rest = request->local, same; rest; rest &= ~same) {
            uint32_t part = first_lane(rest) / lanes;
            uint64_t word = request->local_at[first_lane(rest)] / 4;
            same = sectors[count] = 0;
            EACH_LANE (i, rest & of_part << part * lanes)
                if (request->local_at[i] / 4 == word) {
                    same |= UINT64_C(1) << i;
                    sectors[count] |= (uint8_t)(1 << i % lanes * 4 / MEM_SECTOR);
                }
            lines[count++] = local_line(sm, w, (word + k) * parts + part);
        }
    return count;
}

/* `ready`: when what other lanes want of other spaces is there; but if they want global memory, it is that
 * which results wait for. */
static void issue_local(struct sm *sm, struct sm_warp *w, const struct request *request,
                        const struct isa_timing *timing, const uint16_t *registers, uint64_t ready)
{
    enum { WORDS_MOST = 8 };
    const struct sm_spec *spec = sm->config.spec;
    uint64_t lines[WORDS_MOST * ISA_LANES];
    uint8_t sectors[WORDS_MOST * ISA_LANES];
    REQUIRE(request->local_bytes <= 4 * WORDS_MOST);
    uint32_t count = local_lines(sm, w, request, lines, sectors);
    uint64_t begins = take_pipeline(sm, w, passes_take(spec, count));
    w->kernel->counters.l1_requests++;
    for (uint32_t i = 0; i < count && w->profile; i++)
        w->profile->sectors += (uint32_t)__builtin_popcount(sectors[i]);
    if (request->local_writes) {
        for (uint32_t i = 0; i < count; i++)
            l1_store_local(sm, &w->kernel->counters, lines[i], sectors[i], begins + i * spec->l1_line_cycles);
        return;
    }
    if (request->of.kind != REQUEST_NONE)
        return;
    struct load *load = lsu_begin_load(sm, w, request, timing);
    load->ready_at = ready;
    load->of.keep = true;
    load->of.acquires = false;
    sm_warp_set_results(w, w->under_way->slots_at, timing, registers, PENDING);
    for (uint32_t i = 0; i < count; i++)
        l1_load_local(sm, load, lines[i], sectors[i], begins + i * spec->l1_line_cycles);
    load_line_done(sm, load, begins + (count - 1) * spec->l1_line_cycles + spec->l1_latency);
}

static void issue_loads(struct sm *sm, struct sm_warp *w, const struct request *request,
                        const struct isa_timing *timing, const uint16_t *registers)
{
    const struct sm_spec *spec = sm->config.spec;
    struct coalesced lines;
    coalesce(&request->of, request->of.lanes & ~request->cluster, sm->l1.line_shift, &lines);
    struct sm_counters *counters = &w->kernel->counters;
    uint64_t sectors = counters->l1_load_sectors;
    uint64_t begins = take_pipeline(sm, w, lines_take(spec, lines.count));
    struct load *load = lsu_begin_load(sm, w, request, timing);
    if (UNLIKELY(lines.spans))
        gather_on_stage(load);
    sm_warp_set_results(w, w->under_way->slots_at, timing, registers, PENDING);
    counters->l1_requests++;
    counters->l1_wavefronts += lines.count;
    note_passes(w, lines.count, 0);
    uint64_t tag_at = begins;
    for (uint32_t i = 0; i < lines.count; i++, tag_at += spec->l1_line_cycles)
        l1_load(sm, load, lines.at[i].line << lines.shift, coalesce_sectors(&request->of, &lines, i), tag_at);
    note_sectors(w, counters->l1_load_sectors - sectors, least_sectors(&request->of));
    if (UNLIKELY(request->cluster)) {
        dsm_load(sm, load, request->cluster, tag_at);
        load_line_done(sm, load, tag_at);
        return;
    }
    load_line_done(sm, load, tag_at - spec->l1_line_cycles + spec->l1_latency);
}

/* What lanes write to a line, where the bytes of some go on in another sector: one lane after another, each
 * collected from its own address on. */
static void collect_spanning(const struct isa_ops *isa, const struct request *request, uint64_t line,
                             lane_mask who, unsigned char data[MEM_LINE_MOST],
                             uint32_t masks[MEM_SECTORS_MOST], uint32_t line_bytes)
{
    EACH_LANE (i, who) {
        unsigned char own[LANE_BYTES_MOST];
        uint32_t own_masks[LANE_BYTES_MOST / 32] = {0};
        isa->collect(request, request->of.at[i], UINT64_C(1) << i, own, own_masks);
        for (uint32_t b = 0; b < request->of.bytes; b++) {
            uint64_t at = request->of.at[i] + b - line;
            if (at >= line_bytes || !(own_masks[b / 32] >> b % 32 & 1))
                continue;
            data[at] = own[b];
            masks[at / MEM_SECTOR] |= UINT32_C(1) << at % MEM_SECTOR;
        }
    }
}

/* A store is waited for only where the program counts it; its load brings nothing. */
static struct load *begin_store(struct sm *sm, struct sm_warp *w, const struct request *request,
                                const struct isa_timing *timing)
{
    if (LIKELY(!timing->counters))
        return NULL;
    struct load *load = lsu_begin_load(sm, w, request, timing);
    load->of.acquires = false;
    load->of.stage_bytes = 0;
    load->block_writes = w->block->writes;
    return load;
}

static void issue_stores(struct sm *sm, struct sm_warp *w, const struct request *request,
                         const struct isa_timing *timing)
{
    const struct sm_spec *spec = sm->config.spec;
    struct coalesced lines;
    coalesce(&request->of, request->of.lanes & ~request->cluster, sm->l1.line_shift, &lines);
    struct sm_counters *counters = &w->kernel->counters;
    uint64_t sectors = counters->l1_store_sectors;
    uint64_t begins = take_pipeline(sm, w, lines_take(spec, lines.count));
    struct load *load = begin_store(sm, w, request, timing);
    counters->l1_requests++;
    for (uint32_t i = 0; i < lines.count; i++, begins += spec->l1_line_cycles) {
        uint64_t line = lines.at[i].line << lines.shift;
        lane_mask who = lines.at[i].who;
        unsigned char data[MEM_LINE_MOST];
        uint32_t masks[MEM_SECTORS_MOST] = {0};
        if (LIKELY(!lines.spans))
            w->kernel->isa->collect(request, line, who, data, masks);
        else
            collect_spanning(w->kernel->isa, request, line, who, data, masks, 1u << lines.shift);
        l1_store(sm, w, load, line, data, masks, begins);
    }
    note_sectors(w, counters->l1_store_sectors - sectors, least_sectors(&request->of));
    if (UNLIKELY(request->cluster))
        dsm_store(sm, w, request, begins);
    if (load)
        load_line_done(sm, load, begins);
}

/* How long it takes until the one lane that does it for all can: as long as the steps before. */
static uint64_t merging_takes(const struct sm *sm, const struct sm_warp *w)
{
    uint64_t chain = 0, longest = 0;
    for (const struct isa_step *step = w->steps; !(step->flags & STEP_MERGED); step++) {
        if (step->flags & STEP_BESIDE)
            continue;
        chain = (step->flags & STEP_CHAINED ? chain : 0) + sm->cost[step->unit].latency;
        longest = max_u64(longest, chain);
    }
    return longest;
}

static void issue_atomics(struct sm *sm, struct sm_warp *w, struct request *request,
                          const struct isa_timing *timing, const uint16_t *registers)
{
    const struct sm_spec *spec = sm->config.spec;
    struct coalesced lines;
    coalesce(&request->of, request->of.lanes & ~request->cluster, sm->l1.line_shift, &lines);
    REQUIRE(!lines.spans); /* instruction sets refuse those that are not aligned */
    uint64_t begins = take_pipeline(sm, w, lines_take(spec, lines.count));
    struct load *load = NULL;
    if (timing->merged && !request->cluster && atomic_merge(request)) {
        coalesce(&request->of, request->of.lanes & -request->of.lanes, sm->l1.line_shift, &lines);
        begins += merging_takes(sm, w);
    }
    w->kernel->counters.l1_requests++;
    if (request->of.returns) {
        load = lsu_begin_load(sm, w, request, timing);
        sm_warp_set_results(w, w->under_way->slots_at, timing, registers, PENDING);
    } else {
        load = begin_store(sm, w, request, timing);
    }
    for (uint32_t i = 0; i < lines.count; i++, begins += spec->l1_line_cycles) {
        uint64_t line = lines.at[i].line;
        lane_mask who = lines.at[i].who;
        uint32_t sectors = (uint32_t)__builtin_popcount(coalesce_sectors(&request->of, &lines, i));
        w->kernel->counters.l1_atomic_sectors += sectors;
        note_sectors(w, sectors, sectors);
        l1_atomic(sm, w, load, request, line << lines.shift, who, begins);
    }
    if (UNLIKELY(request->cluster))
        dsm_atomic(sm, w, load, request, begins);
    if (load)
        load_line_done(sm, load, begins);
}

/* Pieces: matrices and asynchronous copies, line by line in the order of their first piece. */
static void issue_pieces(struct sm *sm, struct sm_warp *w, struct request *request,
                         const struct isa_timing *timing, const uint16_t *registers)
{
    const struct sm_spec *spec = sm->config.spec;
    struct load *load = NULL;
    w->kernel->counters.l1_requests++;
    if (!request->writes) {
        load = lsu_begin_load(sm, w, request, timing);
        if (!request->of.is_async)
            sm_warp_set_results(w, w->under_way->slots_at, timing, registers, PENDING);
        load_keep_pieces(load, request);
        reserve_stage(load, request->of.stage_bytes);
        if (request->of.stage_bytes)
            memcpy(load->stage, request->stage, request->of.stage_bytes);
    }
    uint64_t begins = take_pipeline(sm, w, lines_take(spec, 1));
    uint32_t shift = sm->l1.line_shift;
    for (size_t i = 0; i < request->piece_count;) {
        uint64_t line = request->pieces[i].at >> shift;
        unsigned char data[MEM_LINE_MOST];
        uint32_t masks[MEM_SECTORS_MOST] = {0}, sectors = 0;
        if (request->pieces[i].bytes == 0) { /* its lines were seen to */
            i++;
            continue;
        }
        for (size_t j = i; j < request->piece_count; j++) {
            struct piece *piece = &request->pieces[j];
            if (!piece->bytes || piece->at >> shift != line)
                continue;
            for (; piece->bytes && piece->at >> shift == line; piece->bytes--, piece->at++) {
                uint32_t at = piece->at & ((1u << shift) - 1);
                masks[at / MEM_SECTOR] |= UINT32_C(1) << at % MEM_SECTOR;
                sectors |= 1u << at / MEM_SECTOR;
                data[at] = request->writes ? (unsigned char)*piece->host++ : 0;
            }
        }
        uint32_t count = (uint32_t)__builtin_popcount(sectors);
        note_sectors(w, count, count);
        sm->lsu_free += (uint64_t)(spec->l1_tag_cycles * LSU_PARTS);
        if (request->writes)
            l1_store(sm, w, NULL, line << shift, data, masks, begins);
        else
            l1_load(sm, load, line << shift, (uint8_t)sectors, begins);
        begins += spec->l1_line_cycles;
    }
    if (load)
        load_line_done(sm, load, begins + spec->l1_latency);
}

/* Constants come one address after another. Gives the cycle in which the last is there if all are near. */
static uint64_t take_constants(struct sm *sm, lane_mask lanes, const uint64_t at[])
{
    uint64_t more = 0, shared = sm->cost[UNIT_CONST].shared;
    for (lane_mask rest = lanes;; more++) {
        uint64_t one = at[first_lane(rest)];
        EACH_LANE (i, rest)
            if (at[i] == one)
                rest &= ~(UINT64_C(1) << i);
        if (!rest)
            break;
    }
    uint64_t begins = max_u64(sm->cycle + shared, sm->shared_free[UNIT_CONST]) - shared;
    sm->shared_free[UNIT_CONST] = begins + (more + 1) * shared;
    return begins + more * shared + sm->cost[UNIT_CONST].latency;
}

static void issue_constants(struct sm *sm, struct sm_warp *w, const struct request *request,
                            const struct isa_timing *timing, const uint16_t *registers)
{
    uint64_t near_at = take_constants(sm, request->of.lanes, request->of.at);
    struct load *load = lsu_begin_load(sm, w, request, timing);
    load->result = RESULT_SHORT;
    if (UNLIKELY(coalesce_spans(&request->of, request->of.lanes)))
        gather_on_stage(load);
    sm_warp_set_results(w, w->under_way->slots_at, timing, registers, PENDING);
    uint32_t later = constant_load(sm, load, near_at - sm->cost[UNIT_CONST].latency);
    load_line_done(sm, load, near_at + later);
}

void lsu_issue(struct sm *sm, struct sm_warp *w, const struct isa_timing *timing, const uint16_t *registers)
{
    struct request *request = &w->kernel->team->request;
    uint64_t ready = sm->cycle + sm->cost[UNIT_LSU].latency;
    if (UNLIKELY(w->kernel->team->grid.launch->watch))
        watch_request(w->kernel->team);
    if (request->of.kind == REQUEST_ATOMIC && !request->of.returns)
        ready = sm->cycle + 1;
    if (request->shared)
        ready = max_u64(ready, issue_shared(sm, w, request, timing->merged));
    if (UNLIKELY(request->forgets))
        l1_forget(sm);
    if (request->param)
        ready = max_u64(ready, take_constants(sm, request->param, request->param_at) +
                                   fetch_param_wait(sm, w, request));
    sm_warp_set_results(w, w->under_way->slots_at, timing, registers, ready * RESULT_KINDS + RESULT_SHORT);
    if (UNLIKELY(timing->counters))
        counted_begin(w, timing, ready * RESULT_KINDS + RESULT_SHORT);
    if (request->local)
        issue_local(sm, w, request, timing, registers, ready);
    switch ((enum request_kind)request->of.kind) {
    case REQUEST_NONE:
        break;
    case REQUEST_LOAD:
        issue_loads(sm, w, request, timing, registers);
        break;
    case REQUEST_CONSTANT:
        issue_constants(sm, w, request, timing, registers);
        break;
    case REQUEST_STORE:
        issue_stores(sm, w, request, timing);
        break;
    case REQUEST_ATOMIC:
        issue_atomics(sm, w, request, timing, registers);
        break;
    case REQUEST_SIGNAL:
        dsm_atomic(sm, w, NULL, request, take_pipeline(sm, w, passes_take(sm->config.spec, 1)));
        break;
    case REQUEST_PIECES:
        if (bulk_is_one(request))
            bulk_issue(sm, w, request, timing);
        else
            issue_pieces(sm, w, request, timing, registers);
        break;
    }
    request_clear(request);
}
