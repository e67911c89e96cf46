#include "exec/heap.h"
#include "base/archive.h"
#include "base/mem.h"
#include "base/tree.h"

#include <pthread.h>

enum { PIECE = 16, GAP = 16 }; /* alignment; bytes between two pieces that belong to none */

/* What one SM takes from, so that an address depends on what this SM did alone, and not on which of them the
 * host ran first. */
struct part {
    pthread_mutex_t lock; /* kernels that run without time share a part */
    uint64_t end;
    struct tree pieces; /* by address, without holes; a free one weighs its bytes, a taken one nothing */
    uint64_t *given;    /* pieces of other parts that this SM gave back, in its order */
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
        part->end = at + (i + 1) * part_bytes;
        tree_add(&part->pieces, at + i * part_bytes, part_bytes);
    }
    return heap;
}

void heap_shape(const struct heap *heap, uint64_t *at, uint64_t *part_bytes, uint32_t *part_count)
{
    *at = heap->at;
    *part_bytes = heap->part_bytes;
    *part_count = heap->part_count;
}

/* A loop over the pieces, in order. */
#define EACH_PIECE(piece, part)                                                                              \
    for (const struct tree_node *piece = node_of(part, tree_behind(&(part)->pieces, 0)); piece;              \
         piece = node_of(part, tree_behind(&(part)->pieces, piece->key)))

static const struct tree_node *node_of(const struct part *part, uint32_t number)
{
    return number ? &part->pieces.nodes[number] : NULL;
}

/* Nothing of it is in the image any more. */
static void hide_pieces(struct heap *heap, struct part *part)
{
    EACH_PIECE(piece, part)
    if (!piece->weight)
        image_remove(heap->image, piece->key);
}

void heap_free(struct heap *heap)
{
    if (!heap)
        return;
    for (uint32_t i = 0; i < heap->part_count; i++) {
        struct part *part = &heap->parts[i];
        hide_pieces(heap, part);
        pthread_mutex_destroy(&part->lock);
        tree_fini(&part->pieces);
        mem_free(part->given);
    }
    mem_free(heap->parts);
    mem_free(heap);
}

/* The first free piece that has room. */
static uint64_t take(struct part *part, uint64_t need)
{
    const struct tree_node *found = node_of(part, tree_heavy(&part->pieces, need));
    if (!found)
        return 0;
    uint64_t at = found->key, bytes = found->weight;
    tree_weigh(&part->pieces, at, 0);
    if (bytes > need)
        tree_add(&part->pieces, at + need, bytes - need);
    return at;
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

static bool is_taken(const struct part *part, uint64_t at)
{
    const struct tree_node *found = node_of(part, tree_up_to(&part->pieces, at));
    return found && found->key == at && !found->weight;
}

static uint64_t end_of(const struct part *part, uint64_t at)
{
    const struct tree_node *next = node_of(part, tree_behind(&part->pieces, at));
    return next ? next->key : part->end;
}

/* The piece can be taken again, together with free ones beside it. */
static void release(struct part *part, uint64_t at)
{
    REQUIRE(is_taken(part, at));
    uint64_t end = end_of(part, at);
    const struct tree_node *next = node_of(part, tree_behind(&part->pieces, at));
    const struct tree_node *before = node_of(part, tree_up_to(&part->pieces, at - 1));
    uint64_t from = before && before->weight ? before->key : at;
    if (next && next->weight) {
        end += next->weight;
        tree_remove(&part->pieces, next->key);
    }
    if (from != at)
        tree_remove(&part->pieces, at);
    tree_weigh(&part->pieces, from, end - from);
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
static void archive_piece(struct heap *heap, struct part *part, uint64_t *at, struct archive *archive)
{
    struct range range = {0};
    bool taken = !archive->reading && is_taken(part, *at);
    uint64_t place = *at, bytes = archive->reading ? 0 : end_of(part, *at) - *at;
    if (taken)
        image_find(heap->image, place, &range);
    ARCHIVE_VALUE(archive, place);
    ARCHIVE_VALUE(archive, bytes);
    taken = archive_number(archive, taken, 1);
    range.bytes = archive_number(archive, range.bytes, bytes);
    archive_check(archive, place == *at && bytes && bytes <= part->end - place);
    if (archive->reading && archive->good)
        tree_add(&part->pieces, place, taken ? 0 : bytes);
    if (archive->reading && archive->good && taken && range.bytes)
        image_add(heap->image, (struct range){place, range.bytes, "malloc in a kernel", false});
    *at += bytes;
}

static void archive_pieces(struct heap *heap, struct part *part, uint64_t at, struct archive *archive)
{
    uint64_t count = archive_number(archive, part->pieces.count, heap->part_bytes / PIECE);
    if (archive->reading) {
        hide_pieces(heap, part);
        tree_fini(&part->pieces);
    }
    for (uint64_t i = 0; i < count && archive->good; i++)
        archive_piece(heap, part, &at, archive);
    archive_check(archive, at == part->end);
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
