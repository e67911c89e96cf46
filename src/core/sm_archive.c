/* Writes an SM to a checkpoint, and reads it into a newly made SM. Plain data is copied struct by struct,
 * with pointers cleared; their targets follow as numbers. (A pointer that is read from a file is never used.)
 */
#include "core/parts.h"
#include "base/archive.h"
#include "base/mem.h"

#include <string.h>

enum {
    MOST_LOADS = 1 << 24,
    MOST_OUTGOING = 1 << 24,
    MOST_PRINTED = 1 << 28,
    MOST_PIECES = 1 << 24,
    MOST_STAGE = 1 << 20
};

static bool kernel_is_there(const struct sm *sm, uint64_t slot)
{
    return slot < SM_KERNELS && sm->kernels[slot].team;
}

/* ---- kernels ---- */

static void archive_printed(struct sm_kernel *kernel, struct archive *archive)
{
    archive_text(archive, &kernel->text);
    uint64_t count = archive_number(archive, kernel->printed_count, MOST_PRINTED);
    for (uint64_t i = 0; i < count && archive->good; i++) {
        if (archive->reading) {
            mem_grow(kernel->printed, kernel->printed_count, kernel->printed_capacity);
            kernel->printed_count++;
        }
        ARCHIVE_VALUE(archive, kernel->printed[i]);
        size_t before = i ? kernel->printed[i - 1].end : 0;
        archive_check(archive,
                      kernel->printed[i].end >= before && kernel->printed[i].end <= kernel->text.length);
    }
}

static void archive_kernel(struct sm *sm, uint32_t slot, struct archive *archive)
{
    struct sm_kernel *kernel = &sm->kernels[slot];
    const struct launch *launch = sm->config.launches[slot].launch;
    if (!archive_number(archive, kernel->team != NULL, 1))
        return;
    if (!archive_check(archive, launch))
        return;
    if (archive->reading)
        sm_kernel_make(sm, slot);
    team_archive(kernel->team, archive);
    ARCHIVE_VALUE(archive, kernel->serial);
    ARCHIVE_VALUE(archive, kernel->counters);
    ARCHIVE_VALUE(archive, kernel->blocks_now);
    ARCHIVE_VALUE(archive, kernel->warps_now);
    ARCHIVE_VALUE(archive, kernel->since);
    ARCHIVE_VALUE(archive, kernel->text_seen);
    if (kernel->profile)
        archive_bytes(archive, kernel->profile, kernel->code->count * sizeof *kernel->profile);
    archive_printed(kernel, archive);
}

/* ---- blocks ---- */

static void archive_block(struct sm *sm, struct sm_block *block, struct archive *archive)
{
    struct sm_block flat = *block;
    flat.exec = NULL;
    flat.kernel = NULL;
    if (!archive_number(archive, block->exec != NULL, 1))
        return;
    uint64_t slot = archive_number(archive, (uint64_t)(block->kernel - sm->kernels), SM_KERNELS - 1);
    ARCHIVE_VALUE(archive, flat);
    if (!archive_check(archive, kernel_is_there(sm, slot)))
        return;
    struct sm_kernel *kernel = &sm->kernels[slot];
    flat.exec = block_archive(kernel->team, block->exec, archive);
    flat.kernel = kernel;
    if (!archive_check(archive, flat.exec && flat.exec->warp_count <= COUNT_OF(flat.warps)))
        return;
    for (uint32_t i = 0; i < flat.exec->warp_count; i++)
        archive_check(archive, flat.warps[i] < sm_warp_count(sm));
    archive_check(archive, flat.writes < sm->writes_count);
    *block = flat;
}

/* ---- warps ---- */

/* Where the warp is in its block. */
static uint64_t index_of(const struct sm *sm, const struct sm_warp *w)
{
    uint64_t index = 0;
    while (w->block->warps[index] != w - sm->warps)
        index++;
    return index;
}

/* Its next instruction, or the one under way, which may be of a function that it has left. */
static void archive_timing(const struct kernel *kernel, struct sm_warp *w, struct archive *archive)
{
    const struct isa_ops *isa = kernel->isa;
    const struct isa_code *code = w->step ? w->under_way : w->exec->code;
    uint64_t number = w->timing ? (uint64_t)(w->timing - code->timing) : 0;
    w->under_way = isa->archive_code(kernel, w->under_way, archive);
    code = isa->archive_code(kernel, code, archive);
    number = archive_number(archive, number, code ? code->count - 1 : 0);
    w->timing = code ? &code->timing[number] : NULL;
    w->steps = code ? &code->steps[w->timing->first_step] : NULL;
    archive_check(archive, !w->step || (code && w->under_way && w->step < w->timing->steps));
}

static struct op_profile *profile_archive(const struct sm_kernel *kernel, const struct op_profile *profile,
                                          struct archive *archive)
{
    uint64_t number = profile ? (uint64_t)(profile - kernel->profile) + 1 : 0;
    number = archive_number(archive, number, kernel->profile ? kernel->code->count : 0);
    return number ? &kernel->profile[number - 1] : NULL;
}

static bool warp_fits(const struct sm *sm, const struct sm_warp *w, const struct kernel *kernel)
{
    return w->state <= WARP_GRID && sm_warp_of(sm, w->place / SUBCORE_WARPS, w->place % SUBCORE_WARPS) == w &&
           w->reason < STALL_COUNT && w->waits_for <= kernel->slots && w->exec->code;
}

static struct sm_warp warp_without_pointers(const struct sm_warp *w)
{
    struct sm_warp flat = *w;
    flat.exec = NULL;
    flat.kernel = NULL;
    flat.block = NULL;
    flat.board = NULL;
    flat.under_way = NULL;
    flat.timing = NULL;
    flat.steps = NULL;
    flat.profile = NULL;
    return flat;
}

static void archive_warp(struct sm *sm, struct sm_warp *w, struct archive *archive)
{
    if (!archive_number(archive, w->state != WARP_NONE, 1))
        return;
    bool reading = archive->reading;
    uint64_t number = reading ? 0 : (uint64_t)(w->block - sm->blocks), index = reading ? 0 : index_of(sm, w);
    struct sm_warp flat = warp_without_pointers(w);
    ARCHIVE_VALUE(archive, flat);
    flat = warp_without_pointers(&flat);
    number = archive_number(archive, number, sm->config.blocks - 1);
    index = archive_number(archive, index, sm_warp_count(sm));
    struct sm_block *block = &sm->blocks[number];
    if (!archive_check(archive, block->exec && index < block->exec->warp_count &&
                                    block->warps[index] == w - sm->warps))
        return;
    const struct kernel *kernel = block->kernel->team->grid.kernel;
    if (reading) {
        *w = flat;
        w->exec = block_warp(block->exec, (uint32_t)index);
        w->kernel = block->kernel;
        w->block = block;
        w->board_capacity = kernel->slots + 1;
        w->board = mem_alloc(w->board_capacity, sizeof *w->board);
        archive_check(archive, warp_fits(sm, w, kernel));
    }
    w->profile = profile_archive(block->kernel, w->profile, archive);
    archive_bytes(archive, w->board, (kernel->slots + 1) * sizeof *w->board);
    archive_timing(kernel, w, archive);
}

/* Warps that are there, by number from 1 on; 0: none. */
static struct sm_warp *warp_archive(struct sm *sm, const struct sm_warp *w, struct archive *archive)
{
    uint64_t number = archive_number(archive, w ? (uint64_t)(w - sm->warps) + 1 : 0, sm_warp_count(sm));
    return number ? &sm->warps[number - 1] : NULL;
}

/* Of two warps that are there one is the older; and none is older than one that is older than itself. */
static bool is_ordered(const struct subcore *sub, uint32_t there)
{
    uint32_t ranks = 0; /* a bit for each number of older ones */
    for (uint32_t rest = there; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest), others = there & ~(UINT32_C(1) << i);
        uint32_t rank = UINT32_C(1) << isa_count_lanes(sub->older[i] & others);
        if (ranks & rank || (sub->younger[i] & others) != (others & ~sub->older[i]))
            return false;
        ranks |= rank;
    }
    return true;
}

static bool is_good(const struct sm *sm, const struct subcore *sub, uint32_t number)
{
    uint32_t there = 0;
    for (uint32_t i = 0; i < sm->config.warps_per_subcore; i++)
        there |= (uint32_t)(sm_warp_of(sm, number, i)->state != WARP_NONE) << i;
    bool good = sub->read_count <= COUNT_OF(sub->read) && sub->last < SUBCORE_WARPS &&
                !(sub->runnable & ~there) && is_ordered(sub, there);
    for (uint32_t i = 0; i < SUBCORE_WARPS; i++)
        good &= sub->unit[i] < UNIT_COUNT && sub->throttle[i] < STALL_COUNT;
    return good;
}

static void archive_subcore(struct sm *sm, struct subcore *sub, struct archive *archive)
{
    struct subcore flat = *sub;
    flat.reader = NULL;
    ARCHIVE_VALUE(archive, flat);
    flat.reader = warp_archive(sm, sub->reader, archive);
    archive_check(archive, is_good(sm, &flat, (uint32_t)(sub - sm->subcores)));
    if (archive->reading)
        *sub = flat;
}

/* ---- memory ---- */

static void archive_pieces(struct load *load, struct archive *archive)
{
    uint64_t count = load->of.kind == REQUEST_PIECES ? load->piece_count : 0;
    count = archive_number(archive, count, MOST_PIECES);
    for (uint64_t i = 0; i < count && archive->good; i++) {
        if (archive->reading)
            mem_grow(load->pieces, i, load->piece_capacity);
        const struct piece *piece = &load->pieces[i];
        load->warp->kernel->isa->archive_piece(load->warp->exec, &load->pieces[i], archive);
        if (load->of.targets)
            archive_check(archive, piece->bytes <= MEM_LINE_MOST && piece->stage_at <= UINT32_MAX);
        if (!load->of.targets || load->of.stage_bytes)
            archive_check(archive, piece->host || (piece->stage_at <= load->of.stage_bytes &&
                                                   piece->bytes <= load->of.stage_bytes - piece->stage_at));
    }
    load->piece_count = count;
}

static void archive_stage(struct load *load, struct archive *archive)
{
    uint64_t bytes = archive_number(archive, load->of.stage_bytes, MOST_STAGE);
    if (archive->reading && bytes) {
        load->stage = mem_alloc(bytes, 1);
        load->stage_capacity = bytes;
    }
    bool is_lanes = bytes && load->of.kind != REQUEST_PIECES;
    archive_check(archive, bytes == load->of.stage_bytes &&
                               (!is_lanes || bytes == (uint64_t)load->of.width * load->of.bytes));
    if (bytes)
        archive_bytes(archive, load->stage, bytes);
}

static struct load load_without_pointers(const struct load *load)
{
    struct load flat = *load;
    memset(&flat.of, 0, sizeof flat.of);
    flat.warp = NULL;
    flat.profile = NULL;
    flat.code = NULL;
    flat.timing = NULL;
    flat.pieces = NULL;
    flat.piece_count = flat.piece_capacity = 0;
    flat.stage = NULL;
    flat.stage_capacity = 0;
    return flat;
}

/* The instruction that asks, by its number in its code. */
static void archive_instruction(const struct sm_warp *warp, const struct load *load, struct load *flat,
                                struct archive *archive)
{
    const struct kernel *kernel = warp->kernel->team->grid.kernel;
    bool reading = archive->reading;
    uint64_t number = reading ? 0 : (uint64_t)(load->timing - load->code->timing);
    flat->code = kernel->isa->archive_code(kernel, reading ? NULL : load->code, archive);
    number = archive_number(archive, number, flat->code ? flat->code->count - 1 : 0);
    flat->timing = flat->code ? &flat->code->timing[number] : NULL;
}

static void archive_load(struct sm *sm, struct load *load, struct archive *archive)
{
    struct load flat = load_without_pointers(load);
    ARCHIVE_VALUE(archive, flat);
    flat = load_without_pointers(&flat);
    struct sm_warp *warp = warp_archive(sm, load->warp, archive);
    if (!archive_check(archive,
                       warp && warp->exec && flat.group < SM_COPY_GROUPS && flat.result < RESULT_KINDS))
        return;
    archive_instruction(warp, load, &flat, archive);
    for (uint32_t i = 0; i < ISA_COUNTERS; i++)
        archive_check(archive, flat.counted[i] == NO_SLOT ||
                                   flat.counted[i] <= warp->kernel->team->grid.kernel->slots);
    archive_check(archive, flat.block_writes == NO_SLOT || flat.block_writes < sm->writes_count);
    if (!archive_check(archive, flat.code && flat.writes <= flat.timing->writes))
        return;
    if (archive->reading) {
        *load = flat;
        load->warp = warp;
    }
    load->profile = profile_archive(warp->kernel, load->profile, archive);
    warp->kernel->isa->archive_delivery(warp->exec, &load->of, archive);
    archive_stage(load, archive);
    archive_pieces(load, archive);
}

static void archive_loads(struct sm *sm, struct archive *archive)
{
    uint32_t count = (uint32_t)archive_number(archive, sm->load_count, MOST_LOADS);
    if (archive->reading) {
        mem_free(sm->loads);
        sm->load_capacity = (uint32_t)max_u64(count, LOADS_AT_FIRST);
        sm->loads = mem_alloc(sm->load_capacity, sizeof *sm->loads);
        sm->load_count = count;
    }
    bool *is_free = mem_alloc(count, sizeof *is_free);
    uint32_t free_one = sm->free_load, *link = &sm->free_load;
    for (uint32_t i = 0; i <= count && archive->good; i++) { /* in the order they will be taken in */
        uint64_t number = archive_number(archive, free_one == NO_SLOT ? 0 : (uint64_t)free_one + 1, count);
        if (!number || !archive_check(archive, !is_free[number - 1]))
            break;
        is_free[number - 1] = true;
        if (archive->reading)
            *link = (uint32_t)number - 1;
        link = &sm->loads[number - 1].next;
        free_one = archive->reading ? NO_SLOT : *link;
    }
    *link = NO_SLOT;
    for (uint32_t i = 0; i < count && archive->good; i++)
        if (!is_free[i])
            archive_load(sm, &sm->loads[i], archive);
    mem_free(is_free);
}

/* Writes of blocks, also of such that have ended. */
static void archive_writes(struct sm *sm, struct archive *archive)
{
    uint32_t count = (uint32_t)archive_number(archive, sm->writes_count, MOST_LOADS);
    if (archive->reading) {
        sm->writes = mem_alloc(count, sizeof *sm->writes);
        sm->writes_count = sm->writes_capacity = count;
    }
    sm->free_writes = (uint32_t)archive_number(archive, sm->free_writes, NO_SLOT);
    archive_check(archive, sm->free_writes == NO_SLOT || sm->free_writes < count);
    for (uint32_t i = 0; i < count && archive->good; i++) {
        struct writes *one = &sm->writes[i], flat = *one;
        flat.block = NULL;
        ARCHIVE_VALUE(archive, flat);
        uint64_t block = archive_number(archive, one->block ? (uint64_t)(one->block - sm->blocks) + 1 : 0,
                                        sm->config.blocks);
        flat.block = block ? &sm->blocks[block - 1] : NULL;
        archive_check(archive, flat.kernel <= SM_KERNELS && (flat.next == NO_SLOT || flat.next < count));
        *one = flat;
    }
}

/* Messages that wait for room, from the first on. */
static void archive_outgoing(struct sm *sm, struct archive *archive)
{
    uint32_t count = (uint32_t)archive_number(archive, sm->outgoing_count, MOST_OUTGOING);
    if (archive->reading) {
        sm->outgoing = mem_alloc(count + 1, sizeof *sm->outgoing);
        sm->outgoing_capacity = count + 1;
        sm->outgoing_count = count;
    }
    for (uint32_t i = 0; i < count && archive->good; i++) {
        struct outgoing *one = &sm->outgoing[(sm->outgoing_first + i) % sm->outgoing_capacity];
        ARCHIVE_VALUE(archive, *one);
        archive_check(archive, one->bytes <= MEM_PAYLOAD_MOST && one->to < port_plugs(sm->requests));
    }
}

/* What waits for its page, in order. */
static void archive_untranslated(struct sm *sm, struct archive *archive)
{
    if (!sm->translates)
        return;
    if (sm->tlb.entries)
        tlb_archive(&sm->tlb, archive);
    uint32_t count = (uint32_t)archive_number(archive, sm->untranslated_count, MOST_OUTGOING);
    for (uint32_t i = 0; i < count && archive->good; i++) {
        if (archive->reading) {
            mem_grow(sm->untranslated, sm->untranslated_count, sm->untranslated_capacity);
            sm->untranslated_count++;
        }
        ARCHIVE_VALUE(archive, sm->untranslated[i]);
        const struct untranslated *one = &sm->untranslated[i];
        archive_check(archive, one->load == NO_SLOT
                                   ? one->message.bytes <= MEM_PAYLOAD_MOST &&
                                         one->message.to < port_plugs(sm->requests)
                                   : one->load < sm->load_count && sm->loads[one->load].warp);
    }
}

static void archive_l1(struct sm *sm, struct archive *archive)
{
    uint32_t shared = (uint32_t)archive_number(archive, sm->l1_shared, sm->config.spec->l1);
    if (archive->reading)
        l1_set_shared(sm, shared);
    cache_archive(&sm->l1, sm->load_count, archive);
    ARCHIVE_VALUE(archive, sm->request_serial);
    ARCHIVE_VALUE(archive, sm->loads_under_way);
    ARCHIVE_VALUE(archive, sm->stores_under_way);
    ARCHIVE_VALUE(archive, sm->reductions_under_way);
    ARCHIVE_VALUE(archive, sm->l1_has_local);
    ARCHIVE_VALUE(archive, sm->fence_free);
    ARCHIVE_VALUE(archive, sm->room_wanted);
    ARCHIVE_VALUE(archive, sm->lsu_free);
    ARCHIVE_VALUE(archive, sm->lds_free);
    ARCHIVE_VALUE(archive, sm->bulk_free);
}

/* ---- the SM ---- */

void sm_archive(struct component *self, void *state, struct archive *archive)
{
    struct sm *sm = (struct sm *)(uintptr_t)component_spec(self);
    (void)state;
    archive_expect(archive, sizeof *sm);
    archive_expect(archive, sizeof *sm->blocks);
    archive_expect(archive, sizeof *sm->loads);
    ARCHIVE_VALUE(archive, sm->cycle);
    for (uint32_t i = 0; i < SM_KERNELS && archive->good; i++)
        archive_kernel(sm, i, archive);
    archive_writes(sm, archive);
    for (uint32_t i = 0; i < sm->config.blocks && archive->good; i++)
        archive_block(sm, &sm->blocks[i], archive);
    for (uint32_t i = 0; i < sm_warp_count(sm) && archive->good; i++)
        archive_warp(sm, &sm->warps[i], archive);
    for (uint32_t i = 0; i < sm->config.subcores && archive->good; i++)
        archive_subcore(sm, &sm->subcores[i], archive);
    if (!archive->good)
        return;
    archive_loads(sm, archive);
    archive_l1(sm, archive);
    archive_outgoing(sm, archive);
    archive_untranslated(sm, archive);
    ARCHIVE_VALUE(archive, sm->next_subcore);
    ARCHIVE_VALUE(archive, sm->blocks_now);
    ARCHIVE_VALUE(archive, sm->warps_now);
    ARCHIVE_VALUE(archive, sm->next_at);
    ARCHIVE_VALUE(archive, sm->next_start);
    ARCHIVE_VALUE(archive, sm->shared_free);
    ARCHIVE_VALUE(archive, sm->product_memory_free);
    ARCHIVE_VALUE(archive, sm->released);
    fetch_archive(sm, archive);
}
