#include "store.h"
#include "base/mem.h"

#include <string.h>

enum { CHUNK_BYTES = 1 << 16, ALIGNMENT = 8 };

struct chunk {
    struct chunk *next;
    char bytes[];
};

/* Texts grow from the end of the chunk down, the rest from its beginning up: so texts need no padding. */
struct ptx_store {
    struct chunk *chunks; /* the first is the one in use */
    size_t low, high;     /* what is free in it */
};

struct ptx_store *ptx_store_new(void)
{
    return mem_alloc(1, sizeof(struct ptx_store));
}

void ptx_store_free(struct ptx_store *store)
{
    for (struct chunk *chunk = store->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        mem_free(chunk);
    }
    mem_free(store);
}

static struct chunk *chunk_new(size_t bytes)
{
    return mem_alloc(1, sizeof(struct chunk) + bytes);
}

/* What would not fit well into a chunk gets one of its own, behind the one in use. */
static void *alloc_apart(struct ptx_store *store, size_t bytes)
{
    struct chunk *chunk = chunk_new(bytes);
    if (store->chunks) {
        chunk->next = store->chunks->next;
        store->chunks->next = chunk;
    } else {
        store->chunks = chunk;
    }
    return chunk->bytes;
}

static void make_room(struct ptx_store *store, size_t bytes)
{
    if (store->high - store->low >= bytes)
        return;
    struct chunk *chunk = chunk_new(CHUNK_BYTES);
    chunk->next = store->chunks;
    store->chunks = chunk;
    store->low = 0;
    store->high = CHUNK_BYTES;
}

void *ptx_store_alloc(struct ptx_store *store, size_t count, size_t bytes_each)
{
    size_t bytes = (count * bytes_each + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes > CHUNK_BYTES / 8)
        return alloc_apart(store, bytes);
    make_room(store, bytes);
    store->low += bytes;
    return store->chunks->bytes + store->low - bytes;
}

void *ptx_store_copy(struct ptx_store *store, const void *from, size_t count, size_t bytes_each)
{
    if (!count)
        return NULL;
    return memcpy(ptx_store_alloc(store, count, bytes_each), from, count * bytes_each);
}

char *ptx_store_text(struct ptx_store *store, const char *text, size_t length)
{
    char *copy;
    if (length >= CHUNK_BYTES / 8) {
        copy = alloc_apart(store, length + 1);
    } else {
        make_room(store, length + 1);
        store->high -= length + 1;
        copy = store->chunks->bytes + store->high;
    }
    copy[length] = 0;
    return memcpy(copy, text, length);
}
