/* Memory instructions: lanes' addresses become lines and sectors, which go through the SM's memory pipeline
 * to shared memory, L1, or the crossbar; and the caches of code and constants. */
#include "relaxed/parts.h"

#define LOCAL_FROM  (UINT64_C(1) << 50) /* addresses that programs have not: of local memory, */
#define PARAMS_FROM (UINT64_C(1) << 49) /* and of parameters */

enum { LINES_MOST = 5 * ISA_LANES, LOCAL_WARP = 1 << 20, LANE_BYTES = 12, SECTOR_BYTES = 48 };

struct line {
    uint64_t number; /* its address, divided by its size */
    uint32_t sectors;
    uint32_t lanes, same; /* of atomic operations: lanes, and those on the first one's word */
    uint64_t word;
};

struct lines {
    uint32_t count;
    struct line at[LINES_MOST];
};

static uint32_t count_sectors(uint32_t sectors)
{
    return (sectors & 1) + (sectors >> 1 & 1) + (sectors >> 2 & 1) + (sectors >> 3 & 1);
}

static void add_bytes(struct lines *lines, uint32_t shift, uint64_t at, uint32_t bytes)
{
    for (uint64_t end = at + bytes; at < end;) {
        uint64_t number = at >> shift, first = at & ((UINT64_C(1) << shift) - 1);
        uint64_t here = min_u64(end - at, (UINT64_C(1) << shift) - first);
        uint32_t sectors = (2u << (first + here - 1) / RELAXED_SECTOR) - (1u << first / RELAXED_SECTOR);
        uint32_t i = lines->count;
        while (i && lines->at[i - 1].number != number)
            i--;
        if (!i && lines->count == LINES_MOST)
            return;
        struct line *line = &lines->at[i ? i - 1 : lines->count];
        if (!i) {
            *line = (struct line){.number = number, .word = at};
            lines->count++;
        }
        line->sectors |= sectors;
        line->lanes++;
        line->same += line->word == at;
        at += here;
    }
}

static void coalesce(const struct delivery *of, uint32_t shift, struct lines *lines)
{
    lines->count = 0;
    EACH_LANE (i, of->lanes)
        add_bytes(lines, shift, of->at[i], of->bytes);
}

/* ---- the memory pipeline ---- */

uint64_t relaxed_access_room(const struct relaxed_part *part, const struct relaxed_warp *w)
{
    uint64_t queue = part->memory_begins[w->subcore][part->memory_next[w->subcore]];
    return max_u64(queue, part->stores[part->store_next]);
}

/* It is busy with an instruction for so many parts of cycles; gives the cycle it begins in. */
static uint64_t take_pipeline(struct relaxed_part *part, const struct relaxed_warp *w, uint64_t parts)
{
    uint32_t s = w->subcore;
    uint64_t begins;
    if (LIKELY(part->sm->parts == 1)) {
        uint64_t from = max_u64(part->pipeline_free, part->clock * RELAXED_PARTS);
        part->pipeline_free = from + parts;
        begins = from / RELAXED_PARTS;
    } else {
        begins = relaxed_port_reserve(&part->sm->pipeline, part->clock, parts, &part->pipeline_carry,
                                      &part->counts.ports);
    }
    part->memory_begins[s][part->memory_next[s]++] = begins;
    if (part->memory_next[s] == part->gpu->spec.lsu_queue)
        part->memory_next[s] = 0;
    return begins;
}

static uint64_t passes_take(const struct relaxed_spec *spec, uint32_t passes)
{
    return max_u64(spec->lsu_request_parts, (uint64_t)passes * spec->lsu_wavefront_parts);
}

static uint64_t lines_take(const struct relaxed_spec *spec, uint32_t lines)
{
    return max_u64(spec->lsu_request_parts, (uint64_t)lines * spec->l1_tag_parts);
}

/* ---- the crossbar ---- */

/* A message of so many bytes leaves the SM for a slice; the cycle in which it comes there. */
static uint64_t send(struct relaxed_part *part, uint32_t slice, uint32_t bytes, uint64_t cycle)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    cycle += spec->l1_to_noc_cycles;
    if (spec->noc_request_parts > 0)
        cycle = relaxed_port_reserve(&part->sm->requests, cycle,
                                     (uint64_t)((bytes + spec->noc_overhead) * spec->noc_request_parts),
                                     &part->request_carry, &part->counts.ports);
    return cycle + spec->noc_latency + (uint64_t)slice * spec->noc_spread / spec->slices / 2;
}

static uint64_t receive(struct relaxed_part *part, uint32_t slice, uint32_t bytes, uint64_t cycle)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    cycle += spec->noc_latency + (uint64_t)slice * spec->noc_spread / spec->slices / 2;
    if (spec->noc_reply_parts > 0)
        cycle = relaxed_port_reserve(&part->sm->replies, cycle,
                                     (uint64_t)((bytes + spec->noc_overhead) * spec->noc_reply_parts),
                                     &part->reply_carry, &part->counts.ports);
    return cycle + spec->l1_fill_cycles;
}

/* What a line of L1 is in L2, whose lines may be longer. */
static uint64_t l2_line(const struct relaxed_part *part, uint64_t number, uint32_t *sectors)
{
    uint32_t own = part->sm->l1.shift, below = part->gpu->memory.slices[0].store.shift;
    uint64_t address = number << own;
    *sectors <<= (address & ((UINT64_C(1) << below) - 1)) / RELAXED_SECTOR;
    return address >> below;
}

static uint64_t read_memory(struct relaxed_part *part, uint64_t number, uint32_t sectors, uint64_t cycle)
{
    struct relaxed_memory *memory = &part->gpu->memory;
    uint64_t line = l2_line(part, number, &sectors), key;
    uint32_t slice = relaxed_memory_slice(memory, line, &key);
    uint64_t comes = send(part, slice, 0, cycle) + (line >> 5 & 1 ? part->gpu->spec.l2_far_cycles : 0);
    uint64_t leaves = relaxed_memory_read(memory, slice, key, sectors, comes, &part->asker);
    return receive(part, slice, count_sectors(sectors) * RELAXED_SECTOR, leaves);
}

/* A write is done when its acknowledgement is there. */
static void note_store(struct relaxed_part *part, const struct relaxed_warp *w, uint64_t done)
{
    struct relaxed_block *block = &part->blocks[w->block];
    part->stores[part->store_next++] = done;
    if (part->store_next == part->store_room)
        part->store_next = 0;
    block->written = max_u64(block->written, done);
    part->drained = max_u64(part->drained, done);
}

static void write_memory(struct relaxed_part *part, const struct relaxed_warp *w, uint64_t number,
                         uint32_t sectors, uint64_t cycle)
{
    struct relaxed_memory *memory = &part->gpu->memory;
    uint64_t line = l2_line(part, number, &sectors), key;
    uint32_t slice = relaxed_memory_slice(memory, line, &key);
    uint64_t comes = send(part, slice, count_sectors(sectors) * RELAXED_SECTOR, cycle);
    uint64_t done = relaxed_memory_write(memory, slice, key, sectors, comes, &part->asker);
    note_store(part, w, done + part->gpu->spec.noc_latency);
}

/* ---- L1 ---- */

static uint32_t widen(uint32_t sectors, uint32_t together, uint32_t line_sectors)
{
    uint32_t all = 0, some = (1u << together) - 1;
    for (uint32_t first = 0; first < line_sectors; first += together)
        all |= sectors >> first & some ? some << first : 0;
    return all;
}

static uint32_t place(struct relaxed_store *store, uint64_t number)
{
    uint32_t slot = tags_find(store->tags, number);
    if (slot != TAGS_NONE) {
        tags_touch(store->tags, slot);
        return slot;
    }
    slot = tags_victim(store->tags, number);
    tags_fill(store->tags, slot, number, TAGS_NORMAL);
    return slot;
}

/* The cycle in which these sectors of a line are there for a load. */
static uint64_t load_line(struct relaxed_part *part, uint64_t number, uint32_t sectors, uint64_t cycle,
                          bool keep)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    struct relaxed_store *l1 = &part->sm->l1;
    uint64_t there = cycle + spec->l1.latency;
    part->counts.l1_sectors += count_sectors(sectors);
    if (!keep || !l1->tags)
        return max_u64(there, read_memory(part, number, sectors, cycle));
    _Atomic uint64_t *lock = relaxed_store_lock(l1, number);
    uint32_t slot = place(l1, number), valid = *tags_valid(l1->tags, slot), missing = sectors & ~valid;
    uint64_t *ready = relaxed_store_ready(l1, slot);
    part->counts.l1_hits += count_sectors(sectors & valid);
    for (uint32_t left = sectors & valid; left; left &= left - 1)
        there = max_u64(there, ready[__builtin_ctz(left)]);
    if (missing) {
        missing = widen(missing, spec->l1_fill_sectors, 1u << l1->shift >> 5) & ~valid;
        uint64_t comes = read_memory(part, number, missing, cycle);
        for (uint32_t left = missing; left; left &= left - 1)
            ready[__builtin_ctz(left)] = comes;
        *tags_valid(l1->tags, slot) |= (uint16_t)missing;
        there = max_u64(there, comes);
    }
    relaxed_store_unlock(lock);
    return there;
}

/* What a store does to L1; memory gets it in any case. */
static void store_line(struct relaxed_part *part, const struct relaxed_warp *w, uint64_t number,
                       uint32_t sectors, uint64_t cycle)
{
    struct relaxed_store *l1 = &part->sm->l1;
    enum relaxed_l1_write how = part->gpu->spec.l1_write;
    if (l1->tags && how != RELAXED_UPDATE && part->gpu->spec.l1_keeps_global) {
        _Atomic uint64_t *lock = relaxed_store_lock(l1, number);
        uint32_t slot = tags_find(l1->tags, number);
        if (how == RELAXED_INVALIDATE && slot != TAGS_NONE) {
            tags_drop(l1->tags, slot);
        } else if (how == RELAXED_ALLOCATE) {
            slot = place(l1, number);
            uint64_t *ready = relaxed_store_ready(l1, slot);
            for (uint32_t left = sectors & ~*tags_valid(l1->tags, slot); left; left &= left - 1)
                ready[__builtin_ctz(left)] = cycle;
            *tags_valid(l1->tags, slot) |= (uint16_t)sectors;
        }
        relaxed_store_unlock(lock);
    }
    write_memory(part, w, number, sectors, cycle);
}

/* ---- spaces ---- */

/* Lanes that go to different words of a bank wait for each other. */
static uint32_t count_passes(const struct request *request, uint32_t unit, uint32_t banks)
{
    uint32_t groups = (uint32_t)max_u64(banks * 4 / unit, 1), together = unit == 16 ? 16 : 32, passes = 0;
    for (uint32_t first = 0; first < request->of.width; first += together) {
        lane_mask left = request->shared >> first & ((UINT64_C(1) << together) - 1);
        while (left) { /* a pass: of each bank the first word that is left, and all lanes that want it */
            uint32_t word[256];
            uint64_t busy[4] = {0};
            passes++;
            EACH_LANE (i, left) {
                uint32_t at = request->shared_at[first + i] / unit, bank = at % groups;
                if (!(busy[bank / 64] >> bank % 64 & 1)) {
                    busy[bank / 64] |= UINT64_C(1) << bank % 64;
                    word[bank] = at;
                }
                if (word[bank] == at)
                    left &= ~(UINT64_C(1) << i);
            }
        }
    }
    return passes ? passes : 1;
}

static uint32_t shared_passes(struct relaxed_part *part)
{
    const struct request *request = &part->request;
    uint32_t unit = request->shared_bytes <= 4 ? 4 : request->shared_bytes == 8 ? 8 : 16;
    uint32_t first = request->shared_at[first_lane(request->shared)], offsets[ISA_LANES],
             width = request->of.width;
    lane_mask who = request->shared;
    for (uint32_t i = 0; i < width; i++)
        offsets[i] = (request->shared_at[i] - first) & (0 - (uint32_t)(who >> i & 1));
    uint32_t mixed = offsets[1] + offsets[4] * 3 + offsets[16] * 5 + offsets[31] * 7 + (uint32_t)who;
    struct relaxed_banks *known = &part->banks[mixed * UINT32_C(2654435761) >> 28];
    if (known->who == who && known->bytes == unit && known->first_byte == first % unit &&
        !memcmp(known->offsets, offsets, width * sizeof *offsets))
        return known->passes;
    *known = (struct relaxed_banks){.who = who, .bytes = unit, .first_byte = first % unit};
    memcpy(known->offsets, offsets, width * sizeof *offsets);
    known->passes = count_passes(request, unit, part->gpu->spec.shared_banks);
    return known->passes;
}

static uint64_t access_shared(struct relaxed_part *part, const struct relaxed_warp *w)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    uint32_t passes = shared_passes(part);
    part->counts.shared_requests++;
    part->counts.shared_passes += passes;
    uint64_t begins = take_pipeline(part, w, passes_take(spec, passes));
    return begins + spec->shared_latency + (passes - 1) * spec->conflict_cycles +
           (part->request.shared_atomic ? spec->atomic_shared_cycles : 0);
}

/* Words of a warp's threads lie side by side. */
static uint64_t access_local(struct relaxed_part *part, struct relaxed_warp *w)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    const struct request *request = &part->request;
    uint64_t warp = ((uint64_t)part->sm->number * RELAXED_SUBCORES + w->subcore) * RELAXED_SLOTS + w->slot;
    uint64_t from = LOCAL_FROM + warp * LOCAL_WARP, there = 0;
    struct lines lines;
    lines.count = 0;
    EACH_LANE (i, request->local)
        for (uint32_t k = 0; k < (request->local_bytes + 3u) / 4; k++) {
            uint64_t word = request->local_at[i] / 4 + k;
            add_bytes(&lines, part->sm->l1.shift, from + (word * spec->lanes + i) * 4 % LOCAL_WARP, 4);
        }
    uint64_t begins = take_pipeline(part, w, passes_take(spec, lines.count));
    for (uint32_t i = 0; i < lines.count; i++, begins += spec->l1_line_cycles) {
        if (request->local_writes)
            store_line(part, w, lines.at[i].number, lines.at[i].sectors, begins);
        else
            there = max_u64(there, load_line(part, lines.at[i].number, lines.at[i].sectors, begins, true));
    }
    return max_u64(there, part->clock + spec->units[UNIT_LSU].latency);
}

/* Lines that go to L2, where other threads changed what is known of them: the host fetches all of it at once,
 * instead of one cache line after another as they are needed. */
static void expect_lines(const struct relaxed_part *part, const struct lines *lines, uint64_t begins,
                         bool in_l1)
{
    const struct relaxed *gpu = part->gpu;
    const struct tags *l1 = in_l1 ? part->sm->l1.tags : NULL;
    uint64_t comes = begins + gpu->spec.l1_to_noc_cycles + gpu->spec.noc_latency, key;
    if (gpu->options.threads == 1 || (l1 && part->sm->parts > 1)) /* L1 is locked before it is looked at */
        return;
    for (uint32_t i = 0; i < lines->count; i++) {
        uint32_t sectors = 0;
        if (l1 && tags_find(l1, lines->at[i].number) != TAGS_NONE)
            continue;
        uint32_t slice =
            relaxed_memory_slice(&gpu->memory, l2_line(part, lines->at[i].number, &sectors), &key);
        relaxed_memory_prefetch(&gpu->memory, slice, key, comes);
    }
}

static uint64_t access_lines(struct relaxed_part *part, struct relaxed_warp *w, const struct lines *lines,
                             bool writes)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    const struct delivery *of = &part->request.of;
    uint64_t begins = take_pipeline(part, w, lines_take(spec, lines->count)), there = begins;
    bool keep = of->keep && spec->l1_keeps_global;
    expect_lines(part, lines, begins, keep && !writes);
    for (uint32_t i = 0; i < lines->count; i++, begins += spec->l1_line_cycles) {
        const struct line *line = &lines->at[i];
        if (writes)
            store_line(part, w, line->number, line->sectors, begins);
        else
            there = max_u64(there, load_line(part, line->number, line->sectors, begins, keep));
    }
    return there;
}

static uint64_t access_atomic(struct relaxed_part *part, struct relaxed_warp *w, const struct lines *lines)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    struct relaxed_memory *memory = &part->gpu->memory;
    bool merged = w->timing->merged;
    uint64_t begins = take_pipeline(part, w, lines_take(spec, lines->count)), there = begins;
    expect_lines(part, lines, begins, false);
    for (uint32_t i = 0; i < lines->count; i++, begins += spec->l1_line_cycles) {
        const struct line *line = &lines->at[i];
        uint32_t sectors = line->sectors;
        uint64_t number = l2_line(part, line->number, &sectors), key;
        uint32_t slice = relaxed_memory_slice(memory, number, &key);
        uint32_t lanes = merged && line->same == line->lanes ? 1 : line->lanes;
        uint32_t bytes = (uint32_t)min_u64(lanes * LANE_BYTES, count_sectors(sectors) * SECTOR_BYTES);
        uint64_t comes = send(part, slice, bytes, begins);
        uint64_t leaves = relaxed_memory_atomic(memory, slice, key, sectors, lanes,
                                                (uint32_t)min_u64(line->same, lanes), comes, &part->asker);
        if (part->request.of.returns)
            there = max_u64(there, receive(part, slice, bytes, leaves));
        else
            note_store(part, w, leaves + spec->noc_latency);
    }
    return there;
}

/* ---- constants and code ---- */

/* How many cycles a constant is away. */
static uint32_t constant_wait(struct relaxed_part *part, uint64_t address)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    part->counts.constant_requests++;
    for (uint32_t i = 0; i < COUNT_OF(part->sm->constants); i++) {
        struct relaxed_store *store = &part->sm->constants[i];
        if (!store->tags || !relaxed_store_touch(store, address))
            continue;
        part->counts.constant_hits += i == 0;
        return i ? spec->constants[i].latency : 0;
    }
    return spec->constant_memory_cycles;
}

static uint64_t access_constants(struct relaxed_part *part, lane_mask lanes, const uint64_t at[],
                                 uint64_t from)
{
    const struct relaxed_unit *unit = &part->gpu->spec.units[UNIT_CONST];
    uint64_t begins = max_u64(part->clock, part->common_free[UNIT_CONST]), last = UINT64_MAX;
    uint32_t count = 0, wait = 0;
    for (lane_mask rest = lanes; rest; count++) { /* one address after another */
        uint64_t one = at[first_lane(rest)];
        EACH_LANE (i, rest)
            if (at[i] == one)
                rest &= ~(UINT64_C(1) << i);
        if (one >> 6 != last)
            wait = (uint32_t)max_u64(wait, constant_wait(part, from + one));
        last = one >> 6;
    }
    uint64_t busy = (uint64_t)(count ? count - 1 : 0) * unit->shared;
    part->common_free[UNIT_CONST] = begins + busy;
    return begins + busy + unit->latency + wait;
}

uint64_t relaxed_fetch(struct relaxed_part *part, struct relaxed_warp *w, uint64_t line, uint64_t now)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    struct relaxed_store *near = &part->sm->near_code[w->subcore];
    bool follows = line == w->code_line + 1;
    uint64_t before = w->code_at, address = line << near->shift;
    w->code_line = line;
    w->code_at = now;
    part->counts.code_fetches++;
    if (near->tags && relaxed_store_touch(near, address)) {
        part->counts.code_hits++;
        return now;
    }
    uint32_t latency = spec->memory_code_latency, interval = spec->memory_code_interval;
    for (uint32_t i = 0; i < COUNT_OF(part->sm->code); i++) {
        struct relaxed_store *store = &part->sm->code[i];
        if (store->tags && relaxed_store_touch(store, address)) {
            latency = spec->code[i + 1].latency;
            interval = spec->code[i + 1].interval;
            break;
        }
    }
    w->code_at = follows && interval ? max_u64(now, before + interval) : now + latency;
    return w->code_at;
}

/* ---- an instruction ---- */

static void count_memory(struct relaxed_part *part)
{
    const struct request *request = &part->request;
    uint64_t *memories = part->counts.memories;
    memories[RELAXED_SHARED] += request->shared != 0;
    memories[RELAXED_LOCAL] += request->local != 0;
    memories[RELAXED_CONSTANT] += request->param != 0 || request->of.kind == REQUEST_CONSTANT;
    memories[RELAXED_GLOBAL] += request->of.kind != REQUEST_NONE && request->of.kind != REQUEST_CONSTANT;
}

/* Operations that the program counts are done in order. */
static void count_operation(struct relaxed_warp *w, uint64_t done)
{
    for (uint32_t i = 0; i < ISA_COUNTERS; i++) {
        if (!(w->timing->counters >> i & 1))
            continue;
        uint32_t n = w->counted[i]++;
        uint64_t before = n ? w->counted_at[i][(n - 1) % ISA_COUNTED] : 0;
        w->counted_at[i][n % ISA_COUNTED] = max_u64(before, done);
    }
}

uint64_t relaxed_access(struct relaxed_part *part, struct relaxed_warp *w)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    struct request *request = &part->request;
    uint64_t there = part->clock + spec->units[UNIT_LSU].latency;
    struct lines lines;
    count_memory(part);
    if (request->shared)
        there = access_shared(part, w);
    if (request->param)
        there = max_u64(there, access_constants(part, request->param, request->param_at,
                                                PARAMS_FROM + part->gpu->kernel.params_at));
    if (request->local)
        there = max_u64(there, access_local(part, w));
    switch (request->of.kind) {
    case REQUEST_NONE:
        break;
    case REQUEST_CONSTANT:
        there = max_u64(there, access_constants(part, request->of.lanes, request->of.at, 0));
        break;
    case REQUEST_LOAD:
    case REQUEST_STORE:
        coalesce(&request->of, part->sm->l1.shift, &lines);
        there = access_lines(part, w, &lines, request->of.kind == REQUEST_STORE);
        break;
    case REQUEST_ATOMIC:
        coalesce(&request->of, part->sm->l1.shift, &lines);
        there = access_atomic(part, w, &lines);
        break;
    default:
        lines.count = 0;
        for (size_t i = 0; i < request->piece_count; i++)
            add_bytes(&lines, part->sm->l1.shift, request->pieces[i].at, request->pieces[i].bytes);
        there = access_lines(part, w, &lines, request->writes);
    }
    if (request->of.is_async) {
        uint64_t *group = &w->group_at[w->group % COPY_GROUPS];
        *group = max_u64(*group, there);
        return part->clock + 1;
    }
    w->loaded = max_u64(w->loaded, there);
    if (UNLIKELY(w->timing->counters))
        count_operation(w, there);
    return there;
}
