/* Loads and stores: the addresses of the lanes, checked to the byte, then the data. */
#include "ptx_run/async.h"
#include "ptx_run/bytes.h"
#include "isa/request.h"
#include "base/bits.h"
#include "base/mem.h"
#include "exec/cga.h"

#include <string.h>

static struct lanes_way way_of(const struct warp *w, const struct op *op, const struct access *access)
{
    return (struct lanes_way){warp_at(w, op->a), access->address_bytes, (uint64_t)op->value};
}

static void gather(const struct warp *w, const struct op *op, const struct access *access, lanes active,
                   uint64_t at[WARP_LANES])
{
    const struct lanes_way way = way_of(w, op, access);
    lanes_addresses(at, &way, active);
}

static void check_alignment(struct warp *w, const struct op *op, lanes active, const uint64_t at[WARP_LANES],
                            uint64_t any, uint64_t size)
{
    if (LIKELY(!(any & (size - 1))))
        return;
    EACH_LANE (i, active)
        if (at[i] & (size - 1))
            warp_fault(w, op, UINT32_C(1) << i, FAULT_MISALIGNED, at[i],
                       "an access of %llu bytes at 0x%llx, which is not aligned to its size",
                       (unsigned long long)size, (unsigned long long)at[i]);
}

static _Noreturn void bad_address(struct warp *w, const struct op *op, uint32_t lane, uint64_t at,
                                  uint64_t size, bool writes)
{
    struct text text = {0};
    worker_describe(w->isa.block->worker, at, &text);
    char nearest[512];
    snprintf(nearest, sizeof nearest, "%s", text.at ? text.at : "");
    text_fini(&text);
    warp_fault(w, op, UINT32_C(1) << lane, FAULT_ADDRESS, at, "%s of %llu bytes at 0x%llx, %s",
               writes ? "a write" : "a read", (unsigned long long)size, (unsigned long long)at, nearest);
}

/* The slow way: each lane's range is looked up. */
static void check_each(struct warp *w, const struct op *op, const struct access *access, lanes active,
                       const uint64_t at[WARP_LANES], uint64_t size)
{
    struct worker *worker = w->isa.block->worker;
    struct found *found = &worker->last;
    EACH_LANE (i, active) {
        if (at[i] - found->at < found->bytes && found->bytes - (at[i] - found->at) >= size &&
            !(access->writes && found->read_only))
            continue;
        struct range range;
        bool known = worker_find(worker, at[i], &range);
        if (known && access->writes && range.read_only)
            bad_address(w, op, i, at[i], size, true);
        if (!known || range.bytes - (at[i] - range.at) < size) {
            if (!image_in_spare(worker->grid->launch->image, at[i], size))
                bad_address(w, op, i, at[i], size, access->writes);
            continue;
        }
        *found = (struct found){range.at, range.bytes, range.read_only};
    }
    worker->found[access->number] = *found;
}

static struct survey check_global(struct warp *w, const struct op *op, const struct access *access,
                                  lanes active, const uint64_t at[WARP_LANES], uint64_t size)
{
    const struct found *found = &w->isa.block->worker->found[access->number];
    struct survey survey = lanes_survey(at, found->at, found->bytes, size);
    check_alignment(w, op, active, at, survey.any, size);
    if (UNLIKELY(!survey.within || (access->writes && found->read_only)))
        check_each(w, op, access, active, at, size);
    return survey;
}

static struct survey check_shared(struct warp *w, const struct op *op, const struct access *access,
                                  lanes active, const uint64_t at[WARP_LANES], uint64_t size)
{
    struct block *block = w->isa.block;
    uint64_t from = block->shared_from;
    struct survey survey = lanes_survey(at, from, block->shared_bytes, size);
    check_alignment(w, op, active, at, survey.any, size);
    if (LIKELY(survey.within))
        return survey;
    EACH_LANE (i, active) {
        if (block->cluster && at[i] >> CLUSTER_SHARED_SHIFT != block->rank)
            warp_fault(w, op, UINT32_C(1) << i, FAULT_INSTRUCTION, at[i],
                       "an access to another block's shared memory, at 0x%llx, by shared::cta",
                       (unsigned long long)at[i]);
        if (at[i] - from > block->shared_bytes || block->shared_bytes - (at[i] - from) < size)
            warp_fault(w, op, UINT32_C(1) << i, FAULT_ADDRESS, at[i],
                       "%s of %llu bytes at 0x%llx of the block's %llu bytes of shared memory",
                       access->writes ? "a write" : "a read", (unsigned long long)size,
                       (unsigned long long)at[i], (unsigned long long)block->shared_bytes);
    }
    return survey;
}

static struct survey check_local(struct warp *w, const struct op *op, const struct access *access,
                                 lanes active, const uint64_t at[WARP_LANES], uint64_t size)
{
    const struct frame *frame = &w->now->frames[w->now->frame_count - 1];
    uint64_t top = frame->local_at + frame->code->local_bytes + frame->local_more;
    struct survey survey = lanes_survey(at, 0, top, size);
    check_alignment(w, op, active, at, survey.any, size);
    if (UNLIKELY(!survey.within))
        EACH_LANE (i, active)
            if (at[i] > top || top - at[i] < size)
                warp_fault(w, op, UINT32_C(1) << i, FAULT_ADDRESS, at[i],
                           "%s of %llu bytes at 0x%llx of the thread's %llu bytes of local memory",
                           access->writes ? "a write" : "a read", (unsigned long long)size,
                           (unsigned long long)at[i], (unsigned long long)top);
    return survey;
}

void *access_local(const struct warp *w, uint64_t at, uint32_t lane)
{
    return w->local + at / 4 * LOCAL_STRIDE + 4 * lane + at % 4;
}

/* In which space a generic address is. */
static enum ptx_space space_of(uint64_t at)
{
    if (LIKELY(at < WINDOW_SHARED))
        return PTX_GLOBAL;
    if (at - WINDOW_SHARED < WINDOW_SHARED_BYTES)
        return PTX_SHARED;
    if (at - WINDOW_LOCAL < WINDOW_BYTES)
        return PTX_LOCAL;
    return at - WINDOW_PARAM < WINDOW_BYTES ? PTX_PARAM : PTX_GLOBAL;
}

enum ptx_space access_space_at(uint64_t at)
{
    return space_of(at);
}

/* Finds the spaces of generic addresses; they may differ from lane to lane. */
static lanes lanes_in(const uint64_t at[WARP_LANES], lanes active, enum ptx_space space)
{
    lanes in = 0;
    EACH_LANE (i, active)
        in |= (lanes)(space_of(at[i]) == space) << i;
    return in;
}

/* Loads */

static uint32_t word_at(const char *at)
{
    return *(const uint32_t *)(const void *)at;
}

static void gather_words(uint32_t got[WARP_LANES], const char *from, const uint64_t at[WARP_LANES])
{
    for (uint32_t i = 0; i < WARP_LANES; i += 4) { /* four at a time: compilers do not see that it pays */
        uint32_t a = word_at(from + at[i]), b = word_at(from + at[i + 1]);
        uint32_t c = word_at(from + at[i + 2]), d = word_at(from + at[i + 3]);
        got[i] = a, got[i + 1] = b, got[i + 2] = c, got[i + 3] = d;
    }
}

static void gather_longs(uint64_t got[WARP_LANES], const char *from, const uint64_t at[WARP_LANES])
{
    for (uint32_t i = 0; i < WARP_LANES; i += 2) {
        uint64_t a = *(const uint64_t *)(const void *)(from + at[i]);
        uint64_t b = *(const uint64_t *)(const void *)(from + at[i + 1]);
        got[i] = a, got[i + 1] = b;
    }
}

/* From `base` + at[i]; base is NULL for addresses of the host. */
static void load_flat(struct warp *w, const struct access *access, const char *base,
                      const uint64_t at[WARP_LANES], struct survey survey, lanes active)
{
    bool whole = access->bytes == access->register_bytes;
    lanes who = warp_writable(w, active);
    for (uint32_t v = 0; v < access->count; v++) {
        char *d = warp_at(w, access->registers[v]);
        const char *from = base + v * access->bytes;
        if (survey.same) {
            lanes_fill(d, access->register_bytes,
                       widen(access_read_bytes(from + at[0], access->bytes), access), who);
        } else if (survey.dense && whole && who == UINT32_MAX && access->count == 1) {
            memcpy(d, from + at[0], (size_t)WARP_LANES * access->bytes);
        } else if (whole && access->bytes == 4) {
            uint32_t some[WARP_LANES], *got = who == UINT32_MAX ? (uint32_t *)(void *)d : some;
            gather_words(got, from, at);
            if (got == some)
                blend(d, got, 4, who);
        } else if (whole && access->bytes == 8) {
            uint64_t *to = (uint64_t *)(void *)d; /* lane by lane: a register made of parts is slow to read */
            if (who == UINT32_MAX)
                gather_longs(to, from, at);
            else
                EACH_LANE (i, who)
                    to[i] = *(const uint64_t *)(const void *)(from + at[i]);
        } else {
            EACH_LANE (i, active)
                lane_set(d, access->register_bytes, i,
                         widen(access_read_bytes(from + at[i], access->bytes), access));
        }
    }
}

static void load_local(struct warp *w, const struct access *access, const uint64_t at[WARP_LANES], bool same,
                       lanes active)
{
    for (uint32_t v = 0; v < access->count; v++) {
        char *d = warp_at(w, access->registers[v]);
        uint64_t offset = (uint64_t)v * access->bytes;
        if (same && access->bytes == 4 && access->register_bytes == 4) {
            blend(d, access_local(w, at[0] + offset, 0), 4, active);
            continue;
        }
        if (same && access->bytes == 8) {
            lanes_join(d, access_local(w, at[0] + offset, 0), access_local(w, at[0] + offset + 4, 0), active);
            continue;
        }
        EACH_LANE (i, active) {
            uint64_t value;
            if (access->bytes == 8)
                value = access_read_bytes(access_local(w, at[i] + offset, i), 4) |
                        access_read_bytes(access_local(w, at[i] + offset + 4, i), 4) << 32;
            else
                value = access_read_bytes(access_local(w, at[i] + offset, i), access->bytes);
            lane_set(d, access->register_bytes, i, widen(value, access));
        }
    }
}

static void store_flat(struct warp *w, const struct access *access, char *base, const uint64_t at[WARP_LANES],
                       bool dense, lanes active)
{
    bool whole = access->bytes == access->register_bytes;
    for (uint32_t v = 0; v < access->count; v++) {
        const char *s = warp_at(w, access->registers[v]);
        char *to = base + v * access->bytes;
        if (dense && whole && active == UINT32_MAX && access->count == 1)
            memcpy(to + at[0], s, (size_t)WARP_LANES * access->bytes);
        else if (whole && access->bytes == 4)
            EACH_LANE (i, active)
                *(uint32_t *)(void *)(to + at[i]) = ((const uint32_t *)(const void *)s)[i];
        else if (whole && access->bytes == 8)
            EACH_LANE (i, active)
                *(uint64_t *)(void *)(to + at[i]) = ((const uint64_t *)(const void *)s)[i];
        else
            EACH_LANE (i, active)
                access_write_bytes(to + at[i], access->bytes, lane_get(s, access->register_bytes, i));
    }
}

static void store_local(struct warp *w, const struct access *access, const uint64_t at[WARP_LANES], bool same,
                        lanes active)
{
    for (uint32_t v = 0; v < access->count; v++) {
        const char *s = warp_at(w, access->registers[v]);
        uint64_t offset = (uint64_t)v * access->bytes;
        if (same && access->bytes == 4 && access->register_bytes == 4) {
            blend(access_local(w, at[0] + offset, 0), s, 4, active);
            continue;
        }
        if (same && access->bytes == 8) {
            lanes_split(access_local(w, at[0] + offset, 0), access_local(w, at[0] + offset + 4, 0), s,
                        active);
            continue;
        }
        EACH_LANE (i, active) {
            uint64_t value = lane_get(s, access->register_bytes, i);
            if (access->bytes == 8) {
                access_write_bytes(access_local(w, at[i] + offset, i), 4, value);
                access_write_bytes(access_local(w, at[i] + offset + 4, i), 4, value >> 32);
            } else {
                access_write_bytes(access_local(w, at[i] + offset, i), access->bytes, value);
            }
        }
    }
}

static void move_window(uint64_t at[WARP_LANES], lanes who, uint64_t window)
{
    uint64_t one = at[first_lane(who)];
    for (uint32_t i = 0; i < WARP_LANES; i++)
        at[i] = (who >> i & 1 ? at[i] : one) - window;
}

static struct survey check_param(struct warp *w, const struct op *op, const struct access *access,
                                 lanes active, const uint64_t at[WARP_LANES], uint64_t size)
{
    const struct grid *grid = w->isa.block->worker->grid;
    struct survey survey = lanes_survey(at, 0, grid->param_bytes, size);
    check_alignment(w, op, active, at, survey.any, access->bytes);
    if (!survey.within || access->writes)
        warp_fault(w, op, active, FAULT_ADDRESS, at[first_lane(active)],
                   "%s beyond the %llu bytes of the kernel's parameters",
                   access->writes ? "a write" : "a read", (unsigned long long)grid->param_bytes);
    return survey;
}

static enum lanes_layout layout_of(struct survey survey, lanes who)
{
    return who != UINT32_MAX ? LAYOUT_UNKNOWN
           : survey.dense    ? LAYOUT_DENSE
           : survey.same     ? LAYOUT_SAME
                             : LAYOUT_UNKNOWN;
}

/* For observers that look: the order, and what lanes are about to write. */
__attribute__((noinline, cold)) static void note_order(struct warp *w, struct request *request,
                                                       const struct access *access, lanes who)
{
    request->order = access->order;
    request->scope = access->scope;
    if (!access->writes || !access->register_bytes)
        return;
    request->has_wrote = true;
    EACH_LANE (i, who) {
        uint64_t value = 0;
        for (uint32_t v = 0; v < access->count; v++)
            value = value * UINT64_C(0x9e3779b97f4a7c15) +
                    lane_get(warp_at(w, access->registers[v]), access->register_bytes, i);
        request->wrote[i] = value;
    }
}

void access_tell(struct warp *w, uint32_t lane, bool is_shared, uint64_t at, uint64_t bytes, bool writes)
{
    struct request *request = w->isa.block->worker->request;
    if (LIKELY(!request || !request->looks))
        return;
    mem_grow(request->stretches, request->stretch_count, request->stretch_capacity);
    request->stretches[request->stretch_count++] = (struct stretch){
        .at = at, .bytes = (uint32_t)bytes, .lane = lane, .is_shared = is_shared, .writes = writes};
}

__attribute__((always_inline)) static inline void note_shared(struct warp *w, const struct access *access,
                                                              lanes who, const uint64_t at[WARP_LANES],
                                                              uint64_t bytes, struct survey survey)
{
    struct request *request = w->isa.block->worker->request;
    if (LIKELY(!request))
        return;
    request->shared_layout = (uint8_t)layout_of(survey, who);
    request->shared_bytes = (uint8_t)bytes;
    request->shared_use = access->writes ? SHARED_WRITE : SHARED_READ;
    if (request->looks)
        note_order(w, request, access, who);
    if (LIKELY(!request->shared)) /* what other lanes have there does not count */
        for (uint32_t i = 0; i < WARP_LANES; i++)
            request->shared_at[i] = (uint32_t)at[i];
    else
        EACH_LANE (i, who)
            request->shared_at[i] = (uint32_t)at[i];
    request->shared |= who;
}

static void note_far(const uint64_t at[WARP_LANES], lanes who, lane_mask *noted,
                     uint64_t noted_at[WARP_LANES])
{
    *noted |= who;
    if (LIKELY(who == UINT32_MAX))
        memcpy(noted_at, at, WARP_LANES * sizeof *at);
    else
        EACH_LANE (i, who)
            noted_at[i] = at[i];
}

/* Global memory is the model's: it is told what is wanted. */
static void request_global(struct warp *w, const struct access *access, const uint64_t at[WARP_LANES],
                           uint64_t size, struct survey survey, lanes who)
{
    struct request *request = w->isa.block->worker->request;
    request->of.kind = access->writes ? REQUEST_STORE : access->is_const ? REQUEST_CONSTANT : REQUEST_LOAD;
    request->of.how = access;
    request->of.registers = w->registers;
    request->of.bytes = (uint8_t)size;
    request->of.keep = !access->passes_by;
    request->of.acquires = access->acquires;
    request->of.layout = (uint8_t)layout_of(survey, who);
    request->done = request->at_once;
    note_far(at, who, &request->of.lanes, request->of.at);
}

/* One space; `at` are offsets in it. */
static void access_space(struct warp *w, const struct op *op, const struct access *access,
                         enum ptx_space space, uint64_t at[WARP_LANES], lanes active)
{
    uint64_t size = (uint64_t)access->bytes * access->count;
    struct survey survey;
    char *base = NULL;
    struct request *request = w->isa.block->worker->request;
    switch (space) {
    case PTX_SHARED:
        survey = check_shared(w, op, access, active, at, size);
        base = w->isa.block->shared - w->isa.block->shared_from;
        note_shared(w, access, active, at, size, survey);
        break;
    case PTX_LOCAL:
        survey = check_local(w, op, access, active, at, size);
        if (UNLIKELY(request) && !access->by_register) {
            request->local_bytes = (uint8_t)size;
            request->local_writes = access->writes;
            note_far(at, active, &request->local, request->local_at);
        }
        if (access->writes)
            store_local(w, access, at, survey.same, active);
        else
            load_local(w, access, at, survey.same, active);
        return;
    case PTX_PARAM:
        survey = check_param(w, op, access, active, at, size);
        base = w->isa.block->worker->grid->params;
        if (UNLIKELY(request))
            note_far(at, active, &request->param, request->param_at);
        break;
    default:
        survey = check_global(w, op, access, active, at, size);
        if (LIKELY(!request))
            break;
        request_global(w, access, at, size, survey, active);
        if (request->looks)
            note_order(w, request, access, active);
        if (!request->done)
            return;
        break;
    }
    if (access->writes)
        store_flat(w, access, base, at, survey.dense, active);
    else
        load_flat(w, access, base, at, survey, active);
}

/* A lane wants something of a block on another SM. */
static void note_cluster(struct request *request, uint32_t lane, uint64_t at)
{
    request->cluster |= UINT64_C(1) << lane;
    request->of.lanes |= UINT64_C(1) << lane;
    request->of.at[lane] = WINDOW_SHARED + at;
}

static void note_near(struct warp *w, const struct access *access, lanes who, const uint64_t at[WARP_LANES],
                      uint64_t size)
{
    const struct cga *cluster = w->isa.block->cluster;
    if (!cluster->apart) /* without time nobody asks */
        return;
    if (who)
        note_shared(w, access, who, at, size, (struct survey){0});
    w->isa.block->worker->request->forgets |= access->acquires;
}

static lanes lanes_far(const struct warp *w, const uint64_t at[WARP_LANES], lanes active)
{
    const struct cga *cluster = w->isa.block->cluster;
    lanes far = 0;
    EACH_LANE (i, active)
        far |= (lanes)cga_is_far(cluster, min_u64(at[i] >> CLUSTER_SHARED_SHIFT, CLUSTER_MOST - 1)) << i;
    return far;
}

/* What lanes want of blocks on other SMs. */
static void request_far(struct warp *w, const struct op *op, const struct access *access,
                        const uint64_t at[WARP_LANES], uint64_t size, lanes far)
{
    struct request *request = w->isa.block->worker->request;
    EACH_LANE (i, far) {
        (void)access_cluster_place(w, op, i, at[i], size, access->writes);
        note_cluster(request, i, at[i]);
    }
    request->of.kind = access->writes ? REQUEST_STORE : REQUEST_LOAD;
    request->of.how = access;
    request->of.registers = w->registers;
    request->of.bytes = (uint8_t)size;
    request->of.keep = !access->passes_by;
    request->of.acquires = access->acquires;
}

/* Loads and stores of other blocks' shared memory, lane by lane. */
static void access_others(struct warp *w, const struct op *op, const struct access *access,
                          const uint64_t at[WARP_LANES], lanes active)
{
    uint64_t size = (uint64_t)access->bytes * access->count;
    uint64_t any = 0;
    EACH_LANE (i, active)
        any |= at[i];
    check_alignment(w, op, active, at, any, size);
    struct request *request = w->isa.block->worker->request;
    if (UNLIKELY(request) && request->looks)
        note_order(w, request, access, active);
    lanes far = lanes_far(w, at, active);
    if (far)
        request_far(w, op, access, at, size, far);
    note_near(w, access, active & ~far, at, size);
    EACH_LANE (i, active & ~far) {
        char *place = access_cluster_bytes(w, op, i, at[i], size, access->writes);
        access_tell(w, i, true, at[i], size, access->writes);
        for (uint32_t v = 0; v < access->count; v++, place += access->bytes) {
            char *d = warp_at(w, access->registers[v]);
            if (access->writes)
                access_write_bytes(place, access->bytes, lane_get(d, access->register_bytes, i));
            else
                lane_set(d, access->register_bytes, i,
                         widen(access_read_bytes(place, access->bytes), access));
        }
    }
}

/* Shared memory of the cluster: of the block, or of others. */
static void access_cluster(struct warp *w, const struct op *op, const struct access *access,
                           uint64_t at[WARP_LANES], lanes active)
{
    lanes own = w->isa.block->cluster ? access_own(w, at, active) : active;
    if (own != active)
        access_others(w, op, access, at, active & ~own);
    if (!own)
        return;
    move_window(at, own, 0);
    access_space(w, op, access, PTX_SHARED, at, own);
}

/* Where an access that nobody is told of most likely goes; false where that cannot be said. */
static bool likely_range(const struct warp *w, const struct access *access, struct found *range, char **base)
{
    const struct block *block = w->isa.block;
    *base = NULL;
    switch (access->space) {
    case PTX_GLOBAL:
    case PTX_GENERIC:
        *range = block->worker->found[access->number];
        return !(access->writes && range->read_only);
    case PTX_SHARED:
        *range = (struct found){.at = block->shared_from, .bytes = block->shared_bytes};
        *base = block->shared - block->shared_from;
        return true;
    case PTX_PARAM:
        *range = (struct found){.bytes = block->worker->grid->param_bytes};
        *base = block->worker->grid->params;
        return !access->writes;
    default:
        return false;
    }
}

/* Accesses to what this one found last, to shared memory, or to parameters, without a mistake. False: nothing
 * is done. */
static inline bool run_likely(struct warp *w, const struct op *op, lanes active)
{
    const struct access *access = op->more;
    uint64_t at[WARP_LANES], size = (uint64_t)access->bytes * access->count;
    struct found range;
    char *base;
    if (UNLIKELY(w->isa.block->worker->request) || !likely_range(w, access, &range, &base))
        return false;
    const struct lanes_way way = way_of(w, op, access);
    struct survey survey = lanes_reach(at, &way, active, range.at, range.bytes, size);
    if (UNLIKELY(!survey.within || survey.any & (size - 1)))
        return false;
    if (access->writes)
        store_flat(w, access, base, at, survey.dense, active);
    else
        load_flat(w, access, base, at, survey, active);
    return true;
}

void access_run(struct warp *w, const struct op *op, lanes active)
{
    const struct access *access = op->more;
    uint64_t at[WARP_LANES];
    w->spins += access->spins;
    if (access->is_words && active == UINT32_MAX && LIKELY(access_words(w, op, access)))
        return;
    if (run_likely(w, op, active))
        return;
    gather(w, op, access, active, at);
    if (UNLIKELY(access->space == PTX_CLUSTER)) {
        access_cluster(w, op, access, at, active);
        return;
    }
    if (access->space != PTX_GENERIC) {
        access_space(w, op, access, access->space, at, active);
        return;
    }
    uint64_t high = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        high |= at[i];
    if (LIKELY(high < WINDOW_SHARED)) {
        access_space(w, op, access, PTX_GLOBAL, at, active);
        return;
    }
    static const struct {
        enum ptx_space space;
        uint64_t window;
    } windows[] = {
        {PTX_GLOBAL, 0}, {PTX_SHARED, WINDOW_SHARED}, {PTX_LOCAL, WINDOW_LOCAL}, {PTX_PARAM, WINDOW_PARAM}};
    for (uint32_t i = 0; i < COUNT_OF(windows); i++) {
        lanes in = lanes_in(at, active, windows[i].space);
        uint64_t part[WARP_LANES];
        if (!in)
            continue;
        memcpy(part, at, sizeof part);
        move_window(part, in, windows[i].window);
        if (windows[i].space == PTX_SHARED)
            access_cluster(w, op, access, part, in);
        else
            access_space(w, op, access, windows[i].space, part, in);
    }
}

void access_add_piece(struct request *request, uint64_t at, char *host, uint64_t bytes, uint32_t lane)
{
    mem_grow(request->pieces, request->piece_count, request->piece_capacity);
    request->pieces[request->piece_count++] =
        (struct piece){.at = at, .host = host, .bytes = (uint32_t)bytes, .lane = lane};
}

char *access_bytes(struct warp *w, const struct op *op, uint32_t lane, enum ptx_space space, uint64_t at,
                   uint64_t bytes, bool writes)
{
    const struct block *block = w->isa.block;
    struct range range;
    access_tell(w, lane, space == PTX_SHARED || space == PTX_CLUSTER, at, bytes, writes);
    if (space == PTX_CLUSTER && block->cluster)
        return access_cluster_bytes(w, op, lane, at, bytes, writes);
    if (space == PTX_SHARED || space == PTX_CLUSTER) {
        uint64_t offset = at - block->shared_from;
        if (offset > block->shared_bytes || block->shared_bytes - offset < bytes)
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_ADDRESS, at,
                       "%s of %llu bytes at 0x%llx of the block's %llu bytes of shared memory",
                       writes ? "a write" : "a read", (unsigned long long)bytes, (unsigned long long)at,
                       (unsigned long long)block->shared_bytes);
        return block->shared + offset;
    }
    if (!worker_find(block->worker, at, &range) || range.bytes - (at - range.at) < bytes ||
        (writes && range.read_only))
        bad_address(w, op, lane, at, bytes, writes);
    return (char *)(uintptr_t)at;
}

const struct access *access_find(const struct ptx_kernel *kernel, uint32_t number)
{
    for (size_t f = 0; f < kernel->program->function_count; f++) {
        const struct code *code = kernel->codes[f];
        for (uint32_t i = 0; code && i < code->op_count; i++) {
            const struct op *op = &code->ops[i];
            const struct access *access = op->more;
            if (op->kind == OP_EXEC && op->run.exec == access_run && access->number == number)
                return access;
        }
    }
    return NULL;
}

bool access_waits(const struct op *op)
{
    if (op->kind != OP_EXEC || op->run.exec != access_run)
        return false;
    const struct access *access = op->more;
    return !access->writes && (access->space == PTX_GLOBAL || access->space == PTX_GENERIC);
}

static bool is_shared_access(const struct op *op, bool writes)
{
    if (op->kind != OP_EXEC || op->run.exec != access_run)
        return false;
    const struct access *access = op->more;
    return access->writes == writes && access->space == PTX_SHARED;
}

bool access_reads_shared(const struct op *op)
{
    return is_shared_access(op, false);
}

bool access_writes_shared(const struct op *op)
{
    return is_shared_access(op, true);
}

/* One lane alone, for generic addresses that lie in different spaces. */
static char *resolve_lane(struct warp *w, const struct op *op, const struct access *access, uint32_t lane,
                          uint64_t at, uint64_t size)
{
    enum ptx_space space = access->space == PTX_CLUSTER ? PTX_CLUSTER : space_of(at);
    struct block *block = w->isa.block;
    struct request *request = block->worker->request;
    uint64_t all[WARP_LANES];
    lanes who = UINT32_C(1) << lane;
    uint64_t offset = space == PTX_SHARED ? at - WINDOW_SHARED : space == PTX_LOCAL ? at - WINDOW_LOCAL : at;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        all[i] = offset;
    if (space == PTX_SHARED || space == PTX_CLUSTER) {
        if (block->cluster && offset - block->shared_from >= WINDOW_BYTES) {
            char *place;
            check_alignment(w, op, who, all, offset, size);
            access_tell(w, lane, true, offset, size, access->writes);
            place = access->reaches ? access_cluster_place(w, op, lane, offset, size, access->writes)
                                    : access_cluster_bytes(w, op, lane, offset, size, access->writes);
            if (place)
                note_near(w, access, who, all, size);
            else
                note_cluster(request, lane, offset);
            return place;
        }
        struct survey survey = check_shared(w, op, access, who, all, size);
        note_shared(w, access, who, all, size, survey);
        return block->shared + (offset - block->shared_from);
    }
    if (space == PTX_LOCAL) {
        if (size > 4 && !access->in_halves) /* a thread's memory is not in one piece here */
            warp_fault(w, op, who, FAULT_INSTRUCTION, at, "this instruction does not work on local memory");
        check_local(w, op, access, who, all, size);
        if (request) {
            request->local_bytes = (uint8_t)size;
            request->local_writes = access->writes;
            request->local |= who;
            request->local_at[lane] = offset;
        }
        return access_local(w, offset, lane);
    }
    check_global(w, op, access, who, all, size);
    return (char *)(uintptr_t)offset;
}

void access_resolve(struct warp *w, const struct op *op, const struct access *access, lanes active,
                    char *places[WARP_LANES])
{
    uint64_t at[WARP_LANES], size = (uint64_t)access->bytes * access->count, high = 0;
    gather(w, op, access, active, at);
    for (uint32_t i = 0; i < WARP_LANES; i++)
        high |= at[i];
    if (access->space == PTX_SHARED) {
        struct survey survey = check_shared(w, op, access, active, at, size);
        note_shared(w, access, active, at, size, survey);
        for (uint32_t i = 0; i < WARP_LANES; i++)
            places[i] = w->isa.block->shared + (at[i] - w->isa.block->shared_from);
    } else if (high < WINDOW_SHARED && access->space != PTX_CLUSTER) {
        check_global(w, op, access, active, at, size);
        for (uint32_t i = 0; i < WARP_LANES; i++)
            places[i] = (char *)(uintptr_t)at[i];
    } else {
        EACH_LANE (i, active)
            places[i] = resolve_lane(w, op, access, i, at[i], size);
    }
}

bool access_is_one(const struct op *op)
{
    if (op->kind != OP_EXEC || op->run.exec != access_run)
        return false;
    const struct access *access = op->more;
    return access->space != PTX_LOCAL && access->space != PTX_PARAM;
}

void access_check(struct warp *w, const struct op *op, lanes who)
{
    struct access access = *(const struct access *)op->more;
    char *places[WARP_LANES];
    access.in_halves = true;
    access_resolve(w, op, &access, who, places);
}
