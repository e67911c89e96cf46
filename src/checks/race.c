/* Who accessed each place last, and whether what came before is ordered. Of the readers of a place, the last
 * one and another one of another warp are remembered. Atomic operations may meet, so the last writer may not
 * know of the one before, which is remembered in the place of a reader then. */
#include "checks/parts.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

enum { WORD = 4 };

static struct actor actor_of(const struct accessor *use)
{
    return (struct actor){use->block, use->thread};
}

static void found(const struct touch *touch, enum kind kind, const struct accessor *earlier, bool is_shared,
                  uint64_t at, uint32_t bytes)
{
    raw_add(touch->own->launch, &(struct raw){.kind = (uint8_t)kind,
                                              .is_shared = is_shared,
                                              .same_block = earlier->block == (uint32_t)touch->own->number,
                                              .first = earlier->site,
                                              .second = touch->site,
                                              .at = at,
                                              .bytes = bytes,
                                              .one = actor_of(earlier),
                                              .other = {touch->own->number, touch->thread}});
}

/* Both are of the kind that may meet, for those whom they are for. */
static bool are_strong(const struct touch *touch, const struct accessor *earlier)
{
    if (!touch->strong || !earlier->strong)
        return false;
    enum access_scope least = touch->own->block->cluster ? SCOPE_CLUSTER : SCOPE_GPU;
    return earlier->block == (uint32_t)touch->own->number ||
           (touch->scope >= (uint8_t)least && earlier->scope >= least);
}

static bool is_race(const struct touch *touch, const struct accessor *earlier)
{
    return earlier->site && !are_strong(touch, earlier) && !ordering_is_before(touch, earlier);
}

/* Lanes of one instruction write the same, as far as is known. */
static bool writes_same(const struct touch *touch, const struct cell *cell, uint32_t value)
{
    const struct accessor *write = &cell->write;
    if (touch->has_value)
        return cell->value == value;
    return write->site == touch->site && write->stamp == touch->own->now &&
           write->block == (uint32_t)touch->own->number && write->thread / touch->own->lanes == touch->warp;
}

static void note_reader(struct cell *cell, const struct touch *touch, struct accessor use)
{
    uint32_t lanes = touch->own->lanes;
    bool same = cell->read.site && cell->read.block == use.block &&
                (cell->read.thread == use.thread ||
                 (cell->read.thread / lanes == use.thread / lanes && cell->other.site));
    if (!same && !cell->other.writes)
        cell->other = cell->read;
    cell->read = use;
}

/* A write is about to take the last one's place. */
static void keep_writer(const struct touch *touch, struct cell *cell)
{
    bool apart = cell->write.thread != touch->thread || cell->write.block != (uint32_t)touch->own->number;
    if (touch->strong && cell->write.site && cell->write.strong && apart)
        cell->other = cell->write;
    else if (!touch->strong || !cell->other.writes)
        cell->other = (struct accessor){0};
}

static void use_cell(const struct touch *touch, struct cell *cell, uint32_t serial, bool is_shared,
                     uint64_t at, uint32_t bytes, uint32_t value)
{
    struct accessor use = {.block = (uint32_t)touch->own->number,
                           .stamp = touch->own->now,
                           .thread = touch->thread & 1023,
                           .strong = touch->strong,
                           .is_async = touch->is_async,
                           .scope = touch->scope & 3,
                           .writes = touch->writes,
                           .site = touch->site};
    if (cell->serial != serial) {
        memset(cell, 0, sizeof *cell);
        cell->serial = serial;
    }
    if (UNLIKELY(cell->write.is_async))
        found(touch, touch->writes ? KIND_BEFORE_COPY_WRITE : KIND_BEFORE_COPY_READ, &cell->write, is_shared,
              at, bytes);
    else if (touch->reads && is_race(touch, &cell->write))
        found(touch, KIND_READ_AFTER_WRITE, &cell->write, is_shared, at, bytes);
    else if (cell->other.writes && is_race(touch, &cell->other))
        found(touch, touch->reads ? KIND_READ_AFTER_WRITE : KIND_WRITE_AFTER_WRITE, &cell->other, is_shared,
              at, bytes);
    else if (touch->writes && !writes_same(touch, cell, value) && is_race(touch, &cell->write))
        found(touch, KIND_WRITE_AFTER_WRITE, &cell->write, is_shared, at, bytes);
    if (!touch->writes) {
        note_reader(cell, touch, use);
        return;
    }
    if (is_race(touch, &cell->read))
        found(touch, KIND_WRITE_AFTER_READ, &cell->read, is_shared, at, bytes);
    else if (!cell->other.writes && is_race(touch, &cell->other))
        found(touch, KIND_WRITE_AFTER_READ, &cell->other, is_shared, at, bytes);
    keep_writer(touch, cell);
    cell->write = use;
    cell->value = value;
    cell->read.site = 0;
}

/* ---- cells ---- */

void cells_fini(void *cells)
{
    mem_free(((struct cells *)cells)->at);
}

/* Cells of words become cells of bytes. */
static void split(struct cells *cells, uint64_t bytes)
{
    struct cell *old = cells->at;
    uint64_t words = (bytes + WORD - 1) / WORD;
    cells->at = mem_alloc(words * WORD, sizeof *cells->at);
    cells->by_byte = true;
    for (uint64_t i = 0; old && i < words * WORD; i++)
        cells->at[i] = old[i / WORD];
    mem_free(old);
}

static void use_cells(const struct touch *touch, struct cells *cells, uint64_t room, uint32_t serial,
                      bool is_shared, uint64_t at, uint64_t offset, uint32_t bytes)
{
    bool whole = !((offset | bytes) % WORD);
    if (UNLIKELY(!whole && !cells->by_byte))
        split(cells, room);
    if (UNLIKELY(!cells->at))
        cells->at = mem_alloc((room + WORD - 1) / WORD, sizeof *cells->at);
    uint32_t unit = cells->by_byte ? 1 : WORD;
    for (uint32_t i = 0; i < bytes; i += unit)
        use_cell(touch, &cells->at[(offset + i) / unit], serial, is_shared, at + i, bytes,
                 touch->value + i * UINT32_C(0x85ebca6b));
}

void race_shared(const struct touch *touch, struct checked_block *owner, uint64_t offset, uint32_t bytes)
{
    if (offset + bytes <= owner->shared_bytes)
        use_cells(touch, &owner->shared, owner->shared_room, owner->serial, true, offset, offset, bytes);
}

void race_global(const struct touch *touch, uint64_t at, uint32_t bytes)
{
    struct checked_launch *launch = touch->own->launch;
    while (bytes) {
        uint64_t offset = at % SHADOW_PAGE;
        uint32_t part = (uint32_t)min_u64(bytes, SHADOW_PAGE - offset);
        struct cells *cells = shadow_find(&launch->checker->cells, at, true);
        use_cells(touch, cells, SHADOW_PAGE, launch->serial, false, at, offset, part);
        at += part;
        bytes -= part;
    }
}

void race_forget(struct checker *checker, uint64_t at, uint64_t bytes)
{
    for (uint64_t part; bytes; at += part, bytes -= part) {
        struct cells *cells = shadow_find(&checker->cells, at, false);
        uint64_t offset = at % SHADOW_PAGE;
        part = min_u64(bytes, SHADOW_PAGE - offset);
        uint32_t unit = cells && cells->by_byte ? 1 : WORD;
        for (uint64_t i = offset / unit; cells && cells->at && i * unit < offset + part; i++)
            cells->at[i].serial = 0;
    }
}

/* ---- asynchronous copies to shared memory ---- */

void race_copy_begins(struct checked_block *owner, const struct async_copy *copy)
{
    mem_grow(owner->copies, owner->copy_count, owner->copy_capacity);
    owner->copies[owner->copy_count++] = *copy;
}

/* From now on it is as if its thread had written there. */
static void end_copy(struct checked_block *own, const struct async_copy *copy)
{
    uint32_t unit = own->shared.by_byte ? 1 : WORD;
    for (uint64_t at = copy->from; at < copy->from + copy->bytes && own->shared.at; at += unit) {
        struct accessor *write = &own->shared.at[at / unit].write;
        if (write->is_async && copy->barrier == NO_BARRIER_AT)
            write->stamp = own->now;
        write->is_async = false;
    }
}

static bool is_done(const struct async_copy *copy, const struct async_copy *asked)
{
    return copy->barrier == asked->barrier &&
           (copy->barrier != NO_BARRIER_AT || (copy->warp == asked->warp && copy->group <= asked->group));
}

static void end_copies(struct checked_block *own, const struct async_copy *asked)
{
    size_t kept = 0;
    for (size_t i = 0; i < own->copy_count; i++) {
        if (is_done(&own->copies[i], asked))
            end_copy(own, &own->copies[i]);
        else
            own->copies[kept++] = own->copies[i];
    }
    own->copy_count = kept;
}

/* The warp has waited until no more than so many groups of its copies are on their way. */
void race_copies_done(struct checked_block *own, uint32_t warp, uint32_t groups_left)
{
    uint32_t groups = own->groups[warp];
    if (own->copy_count && groups >= groups_left)
        end_copies(
            own, &(struct async_copy){.barrier = NO_BARRIER_AT, .warp = warp, .group = groups - groups_left});
}

void race_copies_come(struct checked_block *own, uint64_t barrier)
{
    if (own->copy_count)
        end_copies(own, &(struct async_copy){.barrier = barrier});
}
