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

struct heap {
    struct image *image;
    pthread_mutex_t lock;
    struct piece *pieces;
    size_t count, capacity;
    size_t first_free; /* no piece before it is free */
};

struct heap *heap_new(struct image *image, uint64_t at, uint64_t bytes)
{
    struct heap *heap = mem_alloc(1, sizeof *heap);
    heap->image = image;
    pthread_mutex_init(&heap->lock, NULL);
    mem_grow(heap->pieces, heap->count, heap->capacity);
    heap->pieces[heap->count++] = (struct piece){at, bytes, false};
    return heap;
}

void heap_free(struct heap *heap)
{
    if (!heap)
        return;
    for (size_t i = 0; i < heap->count; i++)
        if (heap->pieces[i].taken)
            image_remove(heap->image, heap->pieces[i].at);
    pthread_mutex_destroy(&heap->lock);
    mem_free(heap->pieces);
    mem_free(heap);
}

static void insert(struct heap *heap, size_t place, struct piece piece)
{
    mem_grow(heap->pieces, heap->count, heap->capacity);
    memmove(&heap->pieces[place + 1], &heap->pieces[place], (heap->count - place) * sizeof piece);
    heap->pieces[place] = piece;
    heap->count++;
}

uint64_t heap_take(struct heap *heap, uint64_t bytes)
{
    uint64_t at = 0;
    if (bytes > UINT64_MAX / 2)
        return 0;
    uint64_t need = (bytes + PIECE - 1) / PIECE * PIECE + GAP;
    pthread_mutex_lock(&heap->lock);
    while (heap->first_free < heap->count && heap->pieces[heap->first_free].taken)
        heap->first_free++;
    for (size_t i = heap->first_free; i < heap->count && !at; i++) {
        struct piece *piece = &heap->pieces[i];
        if (piece->taken || piece->bytes < need)
            continue;
        at = piece->at;
        struct piece rest = {piece->at + need, piece->bytes - need, false};
        *piece = (struct piece){at, need, true};
        if (rest.bytes)
            insert(heap, i + 1, rest);
        image_add(heap->image, (struct range){at, bytes ? bytes : 1, "malloc in a kernel", false});
    }
    pthread_mutex_unlock(&heap->lock);
    return at;
}

static size_t find(const struct heap *heap, uint64_t at)
{
    size_t low = 0, high = heap->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (heap->pieces[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void join_next(struct heap *heap, size_t i)
{
    if (i + 1 >= heap->count || heap->pieces[i].taken || heap->pieces[i + 1].taken)
        return;
    heap->pieces[i].bytes += heap->pieces[i + 1].bytes;
    heap->count--;
    memmove(&heap->pieces[i + 1], &heap->pieces[i + 2], (heap->count - i - 1) * sizeof *heap->pieces);
}

bool heap_give(struct heap *heap, uint64_t at)
{
    pthread_mutex_lock(&heap->lock);
    size_t i = find(heap, at);
    bool taken = i < heap->count && heap->pieces[i].at == at && heap->pieces[i].taken;
    if (taken) {
        heap->pieces[i].taken = false;
        image_remove(heap->image, at);
        join_next(heap, i);
        if (i)
            join_next(heap, i - 1);
        if (i && !heap->pieces[i - 1].taken)
            i--;
        if (i < heap->first_free)
            heap->first_free = i;
    }
    pthread_mutex_unlock(&heap->lock);
    return taken;
}

/* What kernels were given, with the bytes they asked for, which the image knows. */
static void archive_piece(struct heap *heap, struct piece *piece, struct archive *archive)
{
    struct range range = {0};
    if (!archive->reading && piece->taken)
        image_find(heap->image, piece->at, &range);
    ARCHIVE_VALUE(archive, piece->at);
    ARCHIVE_VALUE(archive, piece->bytes);
    piece->taken = archive_number(archive, piece->taken, 1);
    range.bytes = archive_number(archive, range.bytes, piece->bytes);
    if (archive->reading && archive->good && piece->taken)
        image_add(heap->image, (struct range){piece->at, range.bytes, "malloc in a kernel", false});
}

void heap_archive(struct heap *heap, struct archive *archive)
{
    uint64_t at = heap->pieces[0].at, end = heap->pieces[heap->count - 1].at;
    end += heap->pieces[heap->count - 1].bytes;
    archive_expect(archive, at);
    archive_expect(archive, end);
    uint64_t count = archive_number(archive, heap->count, (end - at) / PIECE);
    if (archive->reading) {
        for (size_t i = 0; i < heap->count; i++)
            if (heap->pieces[i].taken)
                image_remove(heap->image, heap->pieces[i].at);
        heap->count = heap->first_free = 0;
    }
    for (uint64_t i = 0; i < count && archive->good; i++) {
        if (archive->reading) {
            mem_grow(heap->pieces, heap->count, heap->capacity);
            heap->pieces[heap->count++] = (struct piece){0};
        }
        archive_piece(heap, &heap->pieces[i], archive);
        archive_check(archive, heap->pieces[i].at == at && heap->pieces[i].bytes <= end - at);
        at += heap->pieces[i].bytes;
    }
    archive_check(archive, at == end);
}
