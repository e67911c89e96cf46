/* All of it is one range of addresses, cut into chunks as large as a huge page. A thread takes a chunk at a
 * time. A chunk is cut into spans, each of pieces of one size, so that the address tells the size. Pieces
 * that are given back are listed, by size, for the thread that gives them; many of them, for any thread. */
#include "base/pieces.h"
#include "base/bits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define WATCHED 1 /* by a sanitizer, which knows the C library's allocator only */
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif
#ifndef WATCHED
#define WATCHED 0
#endif

#define RANGE_BYTES ((size_t)256 << 30) /* of addresses; pages are there when they are touched */
#define CHUNK_BYTES ((size_t)2 << 20)
#define SPAN_BYTES  ((size_t)128 << 10)

enum {
    LINE = 64,
    SPANS = 16, /* of a chunk */
    FINE = 16,  /* sizes up to so many lines are whole lines; then there are four to a doubling */
    SIZES = FINE + 4 * 5,
    BATCH = 16 /* pieces that go from a thread that gives more than it takes to others */
};

_Static_assert(SPANS *SPAN_BYTES == CHUNK_BYTES, "a chunk is whole spans");
_Static_assert(FINE *LINE << 5 == PIECES_MOST, "the last size is the largest");

struct piece {
    struct piece *next;
    struct piece *next_batch; /* of the first of a batch */
};

/* What a thread has. When it ends, the next one gets it. */
struct own {
    struct piece *given[SIZES];
    uint32_t given_count[SIZES];
    char *fresh[SIZES], *fresh_end[SIZES]; /* the rest of a span */
    char *span, *chunk_end;                /* the rest of its chunk */
    struct own *next;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_exit; /* of a thread */
static char *range;           /* NULL: there is none */
static _Atomic size_t used;
static uint8_t *size_of_span;
static struct own *unowned;
static struct piece *_Atomic batches[SIZES];
static _Thread_local struct own *own;

static void leave(void *mine)
{
    struct own *it = mine;
    own = NULL;
    pthread_mutex_lock(&lock);
    it->next = unowned;
    unowned = it;
    pthread_mutex_unlock(&lock);
}

/* A child must not begin with a lock that no thread of its own holds. */
static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void make(void)
{
    if (WATCHED || pthread_key_create(&at_exit, leave))
        return;
    size_t bytes = RANGE_BYTES + CHUNK_BYTES;
    char *from =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint8_t *sizes = mmap(NULL, RANGE_BYTES / SPAN_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (from == MAP_FAILED || sizes == MAP_FAILED)
        return; /* then nothing comes from here */
    from += -(uintptr_t)from % CHUNK_BYTES;
    madvise(from, RANGE_BYTES, MADV_HUGEPAGE); /* a wish */
    madvise(from, RANGE_BYTES, MADV_DONTDUMP);
    pthread_atfork(before_fork, after_fork, after_fork);
    size_of_span = sizes;
    range = from;
}

/* Of this thread; NULL: there is no memory for it. */
static struct own *begin(void)
{
    pthread_once(&once, make);
    if (!range)
        return NULL;
    pthread_mutex_lock(&lock);
    struct own *it = unowned;
    if (it)
        unowned = it->next;
    pthread_mutex_unlock(&lock);
    if (!it && !(it = calloc(1, sizeof *it)))
        return NULL;
    pthread_setspecific(at_exit, it);
    return own = it;
}

static uint32_t size_for(size_t bytes)
{
    uint32_t lines = (uint32_t)((bytes + LINE - 1) / LINE);
    if (lines <= FINE)
        return lines - 1;
    uint32_t doubling = 31u - (uint32_t)__builtin_clz(lines - 1); /* 4: 17 to 32 lines */
    return FINE + 4 * (doubling - 4) + ((lines - 1) >> (doubling - 2)) - 4;
}

static size_t bytes_of(uint32_t size)
{
    if (size < FINE)
        return (size + 1) * (size_t)LINE;
    return (size_t)LINE * (5 + (size - FINE) % 4) << (2 + (size - FINE) / 4);
}

static uint8_t *span_size(const void *memory)
{
    return &size_of_span[(size_t)((const char *)memory - range) / SPAN_BYTES];
}

static bool next_span(struct own *mine, uint32_t size)
{
    if (mine->span == mine->chunk_end) {
        size_t at = atomic_fetch_add_explicit(&used, CHUNK_BYTES, memory_order_relaxed);
        if (at >= RANGE_BYTES)
            return false;
        mine->span = range + at;
        mine->chunk_end = mine->span + CHUNK_BYTES;
    }
    *span_size(mine->span) = (uint8_t)size;
    mine->fresh[size] = mine->span;
    mine->fresh_end[size] = mine->span + SPAN_BYTES / bytes_of(size) * bytes_of(size);
    mine->span += SPAN_BYTES;
    return true;
}

/* Some that other threads have given. */
static struct piece *take_batch(struct own *mine, uint32_t size)
{
    if (!atomic_load_explicit(&batches[size], memory_order_relaxed))
        return NULL;
    pthread_mutex_lock(&lock);
    struct piece *first = atomic_load_explicit(&batches[size], memory_order_relaxed);
    if (first)
        atomic_store_explicit(&batches[size], first->next_batch, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    mine->given[size] = first;
    mine->given_count[size] = first ? BATCH : 0;
    return first;
}

static void give_batch(struct own *mine, uint32_t size)
{
    struct piece *first = mine->given[size];
    pthread_mutex_lock(&lock);
    first->next_batch = atomic_load_explicit(&batches[size], memory_order_relaxed);
    atomic_store_explicit(&batches[size], first, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    mine->given[size] = NULL;
    mine->given_count[size] = 0;
}

void *pieces_take(size_t bytes, bool *is_zeroed)
{
    struct own *mine = own ? own : begin();
    if (bytes < PIECES_LEAST || bytes > PIECES_MOST || !mine)
        return NULL;
    uint32_t size = size_for(bytes);
    struct piece *piece = mine->given[size] ? mine->given[size] : take_batch(mine, size);
    *is_zeroed = !piece;
    if (piece) {
        mine->given[size] = piece->next;
        mine->given_count[size]--;
        return piece;
    }
    if (mine->fresh[size] == mine->fresh_end[size] && !next_span(mine, size))
        return NULL;
    char *memory = mine->fresh[size];
    mine->fresh[size] += bytes_of(size);
    return memory;
}

void pieces_give(void *memory)
{
    struct own *mine = own ? own : begin();
    struct piece *piece = memory;
    uint32_t size = *span_size(memory);
    if (!mine)
        return; /* it is lost */
    if (mine->given_count[size] == BATCH)
        give_batch(mine, size);
    piece->next = mine->given[size];
    mine->given[size] = piece;
    mine->given_count[size]++;
}

bool pieces_has(const void *memory)
{
    return range && (uintptr_t)memory - (uintptr_t)range < RANGE_BYTES;
}

size_t pieces_bytes(const void *memory)
{
    return bytes_of(*span_size(memory));
}
