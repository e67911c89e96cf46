#include "exec/heap.h"
#include "base/archive.h"
#include "base/mem.h"

#include <pthread.h>
#include <string.h>

enum { PIECE = 16, GAP = 16 }; /* alignment; bytes between two pieces that belong to none */

struct piece { /* in the order of addresses, without holes */
    uint64_t at, bytes;
    bool taken;
};

/* What one SM takes from, so that an address depends on what this SM did alone, and not on which of them the
 * host ran first. */
struct part {
    pthread_mutex_t lock; /* kernels that run without time share a part */
    struct piece *pieces;
    size_t count, capacity;
    size_t first_free; /* no piece before it is free */
    uint64_t *given;   /* pieces of other parts that this SM gave back, in its order */
    size_t given_count, given_capacity;
};

struct heap {
    struct image *image;
    uint64_t at, part_bytes;
    struct part *parts;
    uint32_t part_count;
};

struct heap *heap_new(struct image *image, uint64_t at, uint64_t part_bytes, uint32_t part_count)
{
    struct heap *heap = mem_alloc(1, sizeof *heap);
    *heap = (struct heap){image, at, part_bytes, mem_alloc(part_count, sizeof *heap->parts), part_count};
    for (uint32_t i = 0; i < part_count; i++) {
        struct part *part = &heap->parts[i];
        pthread_mutex_init(&part->lock, NULL);
        mem_grow(part->pieces, part->count, part->capacity);
        part->pieces[part->count++] = (struct piece){at + i * part_bytes, part_bytes, false};
    }
    return heap;
}

/* Nothing of it is in the image any more. */
static void hide_pieces(struct heap *heap, struct part *part)
{
    for (size_t i = 0; i < part->count; i++)
        if (part->pieces[i].taken)
            image_remove(heap->image, part->pieces[i].at);
}

void heap_free(struct heap *heap)
{
    if (!heap)
        return;
    for (uint32_t i = 0; i < heap->part_count; i++) {
        struct part *part = &heap->parts[i];
        hide_pieces(heap, part);
        pthread_mutex_destroy(&part->lock);
        mem_free(part->pieces);
        mem_free(part->given);
    }
    mem_free(heap->parts);
    mem_free(heap);
}

static void insert(struct part *part, size_t place, struct piece piece)
{
    mem_grow(part->pieces, part->count, part->capacity);
    memmove(&part->pieces[place + 1], &part->pieces[place], (part->count - place) * sizeof piece);
    part->pieces[place] = piece;
    part->count++;
}

/* The first free piece that has room. */
static uint64_t take(struct part *part, uint64_t need)
{
    while (part->first_free < part->count && part->pieces[part->first_free].taken)
        part->first_free++;
    for (size_t i = part->first_free; i < part->count; i++) {
        struct piece *piece = &part->pieces[i];
        if (piece->taken || piece->bytes < need)
            continue;
        uint64_t at = piece->at;
        struct piece rest = {at + need, piece->bytes - need, false};
        *piece = (struct piece){at, need, true};
        if (rest.bytes)
            insert(part, i + 1, rest);
        return at;
    }
    return 0;
}

uint64_t heap_take(struct heap *heap, uint32_t sm, uint64_t bytes)
{
    struct part *part = &heap->parts[sm == HEAP_UNTIMED ? 0 : sm];
    if (bytes > UINT64_MAX / 2)
        return 0;
    pthread_mutex_lock(&part->lock);
    uint64_t at = take(part, (bytes + PIECE - 1) / PIECE * PIECE + GAP);
    if (at)
        image_add(heap->image, (struct range){at, bytes ? bytes : 1, "malloc in a kernel", false});
    pthread_mutex_unlock(&part->lock);
    return at;
}

static size_t find(const struct part *part, uint64_t at)
{
    size_t low = 0, high = part->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (part->pieces[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void join_next(struct part *part, size_t i)
{
    if (i + 1 >= part->count || part->pieces[i].taken || part->pieces[i + 1].taken)
        return;
    part->pieces[i].bytes += part->pieces[i + 1].bytes;
    part->count--;
    memmove(&part->pieces[i + 1], &part->pieces[i + 2], (part->count - i - 1) * sizeof *part->pieces);
}

static bool is_taken(const struct part *part, uint64_t at)
{
    size_t i = find(part, at);
    return i < part->count && part->pieces[i].at == at && part->pieces[i].taken;
}

/* The piece can be taken again. */
static void release(struct part *part, uint64_t at)
{
    REQUIRE(is_taken(part, at));
    size_t i = find(part, at);
    part->pieces[i].taken = false;
    join_next(part, i);
    if (i)
        join_next(part, i - 1);
    if (i && !part->pieces[i - 1].taken)
        i--;
    if (i < part->first_free)
        part->first_free = i;
}

static struct part *part_at(const struct heap *heap, uint64_t at)
{
    uint64_t number = (at - heap->at) / heap->part_bytes;
    return at >= heap->at && number < heap->part_count ? &heap->parts[number] : NULL;
}

bool heap_give(struct heap *heap, uint32_t sm, uint64_t at)
{
    struct part *owner = part_at(heap, at), *own = sm == HEAP_UNTIMED ? owner : &heap->parts[sm];
    if (!owner)
        return false;
    pthread_mutex_lock(&own->lock);
    bool taken = image_remove(heap->image, at);
    if (taken && own == owner) {
        release(owner, at);
    } else if (taken) { /* its owner may be running, just now or, with other threads, a while ago */
        mem_grow(own->given, own->given_count, own->given_capacity);
        own->given[own->given_count++] = at;
    }
    pthread_mutex_unlock(&own->lock);
    return taken;
}

void heap_settle(struct heap *heap)
{
    for (uint32_t i = 0; i < heap->part_count; i++) {
        struct part *part = &heap->parts[i];
        for (size_t g = 0; g < part->given_count; g++)
            release(part_at(heap, part->given[g]), part->given[g]);
        part->given_count = 0;
    }
}

/* ---- checkpoints ---- */

/* What kernels were given, with the bytes they asked for, which the image knows; 0: another SM gave it back.
 */
static void archive_piece(struct heap *heap, struct piece *piece, struct archive *archive)
{
    struct range range = {0};
    if (!archive->reading && piece->taken)
        image_find(heap->image, piece->at, &range);
    ARCHIVE_VALUE(archive, piece->at);
    ARCHIVE_VALUE(archive, piece->bytes);
    piece->taken = archive_number(archive, piece->taken, 1);
    range.bytes = archive_number(archive, range.bytes, piece->bytes);
    if (archive->reading && archive->good && piece->taken && range.bytes)
        image_add(heap->image, (struct range){piece->at, range.bytes, "malloc in a kernel", false});
}

static void archive_pieces(struct heap *heap, struct part *part, uint64_t at, struct archive *archive)
{
    uint64_t end = at + heap->part_bytes;
    uint64_t count = archive_number(archive, part->count, heap->part_bytes / PIECE);
    if (archive->reading) {
        hide_pieces(heap, part);
        part->count = part->first_free = 0;
    }
    for (uint64_t i = 0; i < count && archive->good; i++) {
        if (archive->reading) {
            mem_grow(part->pieces, part->count, part->capacity);
            part->pieces[part->count++] = (struct piece){0};
        }
        archive_piece(heap, &part->pieces[i], archive);
        archive_check(archive, part->pieces[i].at == at && part->pieces[i].bytes <= end - at);
        at += part->pieces[i].bytes;
    }
    archive_check(archive, at == end);
}

static void archive_given(struct part *part, uint64_t most, struct archive *archive)
{
    uint64_t count = archive_number(archive, part->given_count, most);
    if (archive->reading)
        part->given_count = 0;
    for (uint64_t i = 0; i < count && archive->good; i++) {
        if (archive->reading) {
            mem_grow(part->given, part->given_count, part->given_capacity);
            part->given[part->given_count++] = 0;
        }
        ARCHIVE_VALUE(archive, part->given[i]);
    }
}

void heap_archive(struct heap *heap, struct archive *archive)
{
    archive_expect(archive, heap->at);
    archive_expect(archive, heap->part_bytes);
    archive_expect(archive, heap->part_count);
    for (uint32_t i = 0; i < heap->part_count && archive->good; i++) {
        archive_pieces(heap, &heap->parts[i], heap->at + i * heap->part_bytes, archive);
        archive_given(&heap->parts[i], heap->part_count * heap->part_bytes / PIECE, archive);
    }
    for (uint32_t i = 0; i < heap->part_count && archive->reading; i++)
        for (size_t g = 0; g < heap->parts[i].given_count && archive->good; g++)
            archive_check(archive,
                          part_at(heap, heap->parts[i].given[g]) &&
                              is_taken(part_at(heap, heap->parts[i].given[g]), heap->parts[i].given[g]));
}
