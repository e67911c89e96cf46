#include "exec/heap.h"
#include "base/archive.h"
#include "base/mem.h"
#include "base/treap.h"

#include <pthread.h>

enum { PIECE = 16, GAP = 16 }; /* alignment; bytes between two pieces that belong to none */

/* What one SM takes from, so that an address depends on what this SM did alone, and not on which of them the
 * host ran first. While kernels run in time, only its SM looks at it: SMs share nothing. */
struct part {
    pthread_mutex_t lock; /* kernels that run without time share a part */
    uint64_t at, end;
    struct treap pieces; /* by address, without holes; a free one weighs its bytes, a taken one nothing */
    struct image *taken; /* the same pieces, with the bytes that were asked for */
    struct treap given;  /* what this SM gave back of other parts */
};

struct heap {
    struct image *image;
    uint64_t at, part_bytes;
    struct part *parts;
    uint32_t part_count;
    const struct heap_observer *observer; /* or NULL */
};

struct heap *heap_new(struct image *image, uint64_t at, uint64_t part_bytes, uint32_t part_count)
{
    struct heap *heap = mem_alloc(1, sizeof *heap);
    *heap =
        (struct heap){image, at, part_bytes, mem_alloc(part_count, sizeof *heap->parts), part_count, NULL};
    for (uint32_t i = 0; i < part_count; i++) {
        struct part *part = &heap->parts[i];
        pthread_mutex_init(&part->lock, NULL);
        part->at = at + i * part_bytes;
        part->end = part->at + part_bytes;
        part->taken = image_new();
        treap_add(&part->pieces, part->at, part_bytes);
    }
    image_set_heap(image, heap);
    return heap;
}

void heap_shape(const struct heap *heap, uint64_t *at, uint64_t *part_bytes, uint32_t *part_count)
{
    *at = heap->at;
    *part_bytes = heap->part_bytes;
    *part_count = heap->part_count;
}

uint32_t heap_parts(const struct heap *heap)
{
    return heap->part_count;
}

static const struct treap_node *node_of(const struct part *part, uint32_t number)
{
    return number ? &part->pieces.nodes[number] : NULL;
}

void heap_free(struct heap *heap)
{
    if (!heap)
        return;
    for (uint32_t i = 0; i < heap->part_count; i++) {
        struct part *part = &heap->parts[i];
        pthread_mutex_destroy(&part->lock);
        image_free(part->taken);
        treap_fini(&part->pieces);
        treap_fini(&part->given);
    }
    image_set_heap(heap->image, NULL);
    mem_free(heap->parts);
    mem_free(heap);
}

/* The first free piece that has room. */
static uint64_t take(struct part *part, uint64_t need)
{
    const struct treap_node *found = node_of(part, treap_heavy(&part->pieces, need));
    if (!found)
        return 0;
    uint64_t at = found->key, bytes = found->weight;
    treap_weigh(&part->pieces, at, 0);
    if (bytes > need)
        treap_add(&part->pieces, at + need, bytes - need);
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
        image_add(part->taken, (struct range){at, bytes ? bytes : 1, "malloc in a kernel", false});
    pthread_mutex_unlock(&part->lock);
    if (at && heap->observer)
        heap->observer->took(heap->observer->user, at, bytes);
    return at;
}

static bool is_taken(const struct part *part, uint64_t at)
{
    const struct treap_node *found = node_of(part, treap_up_to(&part->pieces, at));
    return found && found->key == at && !found->weight;
}

static bool treap_has(const struct treap *tree, uint64_t key)
{
    uint32_t number = treap_up_to(tree, key);
    return number && tree->nodes[number].key == key;
}

static uint64_t end_of(const struct part *part, uint64_t at)
{
    const struct treap_node *next = node_of(part, treap_behind(&part->pieces, at));
    return next ? next->key : part->end;
}

/* The piece can be taken again, together with free ones beside it. */
static void release(struct part *part, uint64_t at)
{
    REQUIRE(is_taken(part, at));
    uint64_t end = end_of(part, at);
    const struct treap_node *next = node_of(part, treap_behind(&part->pieces, at));
    const struct treap_node *before = node_of(part, treap_up_to(&part->pieces, at - 1));
    uint64_t from = before && before->weight ? before->key : at;
    if (next && next->weight) {
        end += next->weight;
        treap_remove(&part->pieces, next->key);
    }
    if (from != at)
        treap_remove(&part->pieces, at);
    treap_weigh(&part->pieces, from, end - from);
}

static struct part *part_at(const struct heap *heap, uint64_t at)
{
    uint64_t number = (at - heap->at) / heap->part_bytes;
    return at >= heap->at && number < heap->part_count ? &heap->parts[number] : NULL;
}

/* It can be taken again. */
static bool give(struct part *part, uint64_t at)
{
    bool taken = image_remove(part->taken, at);
    if (taken)
        release(part, at);
    return taken;
}

/* The owning SM may be at another simulated time just now, so its part is not touched: heap_settle does it.
 */
static bool give_later(struct part *own, uint64_t at)
{
    if (at % PIECE || treap_has(&own->given, at))
        return false;
    treap_add(&own->given, at, 0);
    return true;
}

bool heap_give(struct heap *heap, uint32_t sm, uint64_t at)
{
    struct part *owner = part_at(heap, at), *own = sm == HEAP_UNTIMED ? owner : &heap->parts[sm];
    if (!owner)
        return false;
    pthread_mutex_lock(&own->lock);
    bool given = own == owner ? give(owner, at) : give_later(own, at);
    pthread_mutex_unlock(&own->lock);
    return given;
}

void heap_settle(struct heap *heap)
{
    for (uint32_t i = 0; i < heap->part_count; i++) {
        struct treap *given = &heap->parts[i].given;
        for (uint32_t number; (number = treap_behind(given, 0));) {
            uint64_t at = given->nodes[number].key;
            treap_remove(given, at);
            give(part_at(heap, at), at); /* or it was no piece: a mistake of the program, as on a GPU */
        }
    }
}

void heap_observe(struct heap *heap, const struct heap_observer *observer)
{
    heap->observer = observer;
}

void heap_taken(const struct heap *heap, uint64_t *pieces, uint64_t *bytes)
{
    *pieces = *bytes = 0;
    for (uint32_t i = 0; i < heap->part_count; i++) {
        const struct treap *all = &heap->parts[i].pieces;
        for (uint32_t number = 0; (number = treap_behind(all, number ? all->nodes[number].key : 0));) {
            struct range range;
            if (all->nodes[number].weight ||
                !image_find(heap->parts[i].taken, all->nodes[number].key, &range))
                continue;
            ++*pieces;
            *bytes += range.bytes;
        }
    }
}

/* ---- what kernels may touch ---- */

bool heap_holds(const struct heap *heap, uint64_t at)
{
    return part_at(heap, at);
}

bool heap_find(const struct heap *heap, uint32_t sm, uint64_t at, struct range *range)
{
    const struct part *owner = part_at(heap, at);
    if (sm == HEAP_UNTIMED || owner == &heap->parts[sm])
        return image_find(owner->taken, at, range);
    *range = (struct range){owner->at, owner->end - owner->at, "malloc of another SM", false};
    return true;
}

void heap_describe(const struct heap *heap, uint64_t at, struct text *text)
{
    image_describe(part_at(heap, at)->taken, at, text);
}

/* ---- checkpoints ---- */

/* What kernels were given, with the bytes they asked for. */
static void archive_piece(struct part *part, uint64_t *at, struct archive *archive)
{
    struct range range = {0};
    bool taken = !archive->reading && is_taken(part, *at);
    uint64_t place = *at, bytes = archive->reading ? 0 : end_of(part, *at) - *at;
    if (taken)
        image_find(part->taken, place, &range);
    ARCHIVE_VALUE(archive, place);
    ARCHIVE_VALUE(archive, bytes);
    taken = archive_number(archive, taken, 1);
    range.bytes = archive_number(archive, range.bytes, bytes);
    archive_check(archive, place == *at && bytes && bytes <= part->end - place);
    if (archive->reading && archive->good)
        treap_add(&part->pieces, place, taken ? 0 : bytes);
    archive_check(archive, !taken || range.bytes);
    if (archive->reading && archive->good && taken)
        image_add(part->taken, (struct range){place, range.bytes, "malloc in a kernel", false});
    *at += bytes;
}

static void archive_pieces(struct part *part, struct archive *archive)
{
    uint64_t at = part->at, count = archive_number(archive, part->pieces.count, (part->end - at) / PIECE);
    if (archive->reading) {
        image_free(part->taken);
        part->taken = image_new();
        treap_fini(&part->pieces);
    }
    for (uint64_t i = 0; i < count && archive->good; i++)
        archive_piece(part, &at, archive);
    archive_check(archive, at == part->end);
}

void heap_archive_given(struct heap *heap, uint32_t number, struct archive *archive)
{
    struct treap *given = &heap->parts[number].given;
    uint64_t count = archive_number(archive, given->count, heap->part_count * heap->part_bytes / PIECE);
    if (archive->reading)
        treap_fini(given);
    for (uint64_t i = 0, at = 0; i < count && archive->good; i++) {
        uint64_t next = archive->reading ? 0 : given->nodes[treap_behind(given, at)].key;
        ARCHIVE_VALUE(archive, next);
        if (archive_check(archive, next > at && part_at(heap, next)) && archive->reading)
            treap_add(given, next, 0);
        at = next;
    }
}

void heap_archive_part(struct heap *heap, uint32_t number, struct archive *archive)
{
    archive_expect(archive, heap->parts[number].at);
    archive_expect(archive, heap->part_bytes);
    archive_pieces(&heap->parts[number], archive);
    heap_archive_given(heap, number, archive);
}
