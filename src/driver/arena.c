#include "driver/arena.h"
#include "base/bits.h"
#include "base/mem.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB UINT64_C(0x100000)
#define GIB UINT64_C(0x40000000)

enum { RESTING = 4096 };

static const uint64_t most_resting = 8 * GIB; /* page tables stay: 2 MiB for each GiB that was touched */
static const uint64_t commit_step = 256 * MIB;
static const uint64_t page = 4096;
static const uint64_t by_pages = 16 * 4096; /* what is larger goes back to the host, the rest is wiped */

/* The host's huge pages make dense use faster, and sparse use cost 512 times its memory. So they are for
 * pieces of up to this size, as long as there are not many of them, and where so many bytes are written at
 * once. */
static const uint64_t by_huge_pages = 32 * MIB;
static const uint64_t most_small = 4 * GIB; /* of such pieces together */

static void *pointer(uint64_t at)
{
    return (void *)(uintptr_t)at;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static void *reserve_at(uint64_t bytes, uint64_t hint)
{
    return mmap(pointer(hint), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* At the hint, or else at another place that begins a large page, which page tables (mem/space.h) have an
 * entry for. */
static void *reserve(uint64_t bytes, uint64_t hint)
{
    const uint64_t large = UINT64_C(1) << 30;
    void *memory = reserve_at(bytes, hint);
    if (memory == MAP_FAILED || (uintptr_t)memory % large == 0)
        return memory;
    munmap(memory, bytes);
    memory = reserve_at(bytes + large, 0);
    if (memory == MAP_FAILED)
        return memory;
    uint64_t at = (uintptr_t)memory, first = round_up(at, large);
    munmap(memory, first - at);
    munmap(pointer(first + bytes), at + large - first);
    return pointer(first);
}

/* Programs on simulated CPU cores run in QEMU, which keeps a record for each page of a mapping, used or not.
 */
static uint64_t as_far_as_emulated(uint64_t bytes)
{
    return getenv("HEDDLE_CPU") ? min_u64(bytes, UINT64_C(8) << 30) : bytes;
}

static void begin(struct arena *arena, const void *memory, uint64_t bytes)
{
    arena->base = arena->committed = (uint64_t)(uintptr_t)memory;
    arena->next =
        arena->base + ARENA_FIRST_BYTES; /* so that there is something before the first piece, too */
    arena->end = arena->base + bytes;
    arena->resting = mem_alloc(RESTING, sizeof *arena->resting);
}

bool arena_init(struct arena *arena, uint64_t bytes, uint64_t hint, struct err *err)
{
    *arena = (struct arena){0};
    bytes = as_far_as_emulated(round_up(bytes, 2 * MIB));
    void *memory = reserve(bytes, hint);
    while (memory == MAP_FAILED && bytes > 64 * MIB)
        memory = reserve(bytes /= 2, hint);
    if (memory == MAP_FAILED)
        return err_set(err, "cannot reserve addresses for device memory: %s", strerror(errno));
    madvise(memory, bytes, MADV_HUGEPAGE); /* for what is small, see arena_take */
    begin(arena, memory, bytes);
    arena->file = -1;
    return true;
}

bool arena_init_shared(struct arena *arena, uint64_t at, uint64_t bytes, int file, uint64_t file_offset,
                       struct err *err)
{
    *arena = (struct arena){0};
    bytes = as_far_as_emulated(bytes);
    void *memory = mmap(pointer(at), bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return err_set(err, "the machine's memory cannot be at its address 0x%llx in this program: %s",
                       (unsigned long long)at, strerror(errno));
    begin(arena, memory, bytes);
    arena->file = file;
    arena->file_offset = file_offset;
    arena->is_in_file = true;
    return true;
}

void arena_fini(struct arena *arena)
{
    if (arena->base)
        munmap(pointer(arena->base), arena->end - arena->base);
    mem_free(arena->unused);
    mem_free(arena->resting);
    mem_free(arena->shared);
    if (arena->file_is_own)
        close(arena->file);
    *arena = (struct arena){0};
}

static void remove_free(struct arena *arena, size_t i)
{
    memmove(&arena->unused[i], &arena->unused[i + 1], (arena->unused_count - i - 1) * sizeof *arena->unused);
    arena->unused_count--;
}

/* Adds a span to the free ones, joined with its neighbours. */
static void add_free(struct arena *arena, struct span span)
{
    if (!span.bytes)
        return;
    size_t low = 0, high = arena->unused_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (arena->unused[middle].at < span.at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < arena->unused_count && span.at + span.bytes == arena->unused[low].at) {
        span.bytes += arena->unused[low].bytes;
        remove_free(arena, low);
    }
    if (low && arena->unused[low - 1].at + arena->unused[low - 1].bytes == span.at) {
        arena->unused[low - 1].bytes += span.bytes;
        return;
    }
    mem_grow(arena->unused, arena->unused_count, arena->unused_capacity);
    memmove(&arena->unused[low + 1], &arena->unused[low],
            (arena->unused_count - low) * sizeof *arena->unused);
    arena->unused[low] = span;
    arena->unused_count++;
}

static void end_rest(struct arena *arena)
{
    struct span span = arena->resting[arena->resting_first];
    arena->resting_first = (arena->resting_first + 1) % RESTING;
    arena->resting_count--;
    arena->resting_bytes -= span.bytes;
    add_free(arena, span);
}

/* The first free span that has room. */
static uint64_t take_free(struct arena *arena, uint64_t bytes, uint64_t alignment)
{
    for (size_t i = 0; i < arena->unused_count; i++) {
        struct span span = arena->unused[i];
        uint64_t at = round_up(span.at, alignment);
        if (at - span.at > span.bytes || span.bytes - (at - span.at) < bytes)
            continue;
        remove_free(arena, i);
        add_free(arena, (struct span){span.at, at - span.at});
        add_free(arena, (struct span){at + bytes, span.at + span.bytes - (at + bytes)});
        return at;
    }
    return 0;
}

/* Of a file's bytes only what is used is mapped: memory of a device has all its page table entries from the
 * start. */
static bool open_pages(struct arena *arena, uint64_t from, uint64_t to)
{
    if (!arena->is_in_file)
        return !mprotect(pointer(from), to - from, PROT_READ | PROT_WRITE);
    return mmap(pointer(from), to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                arena->file, (off_t)(arena->file_offset + from - arena->base)) != MAP_FAILED;
}

static bool commit(struct arena *arena, uint64_t end)
{
    if (end <= arena->committed)
        return true;
    uint64_t to = min_u64(arena->end, round_up(end, commit_step));
    if (!open_pages(arena, arena->committed, to))
        return false;
    arena->committed = to;
    return true;
}

bool arena_open(struct arena *arena, uint64_t bytes)
{
    return bytes <= arena->end - arena->base && commit(arena, arena->base + bytes);
}

/* ---- pages that another process may have, too ---- */

static bool is_zero(const char *bytes)
{
    return !bytes[0] && !memcmp(bytes, bytes + 1, page - 1);
}

/* What was there is there still. */
static bool move_to_file(struct arena *arena, uint64_t from, uint64_t to, struct err *err)
{
    off_t place = (off_t)(from - arena->base);
    for (uint64_t at = from; at < to; at += page) {
        if (!is_zero(pointer(at)) &&
            pwrite(arena->file, pointer(at), page, place + (off_t)(at - from)) != (ssize_t)page)
            return err_set(err, "the host has no room for memory that is shared: %s", strerror(errno));
    }
    if (mmap(pointer(from), to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
             arena->file, place) == MAP_FAILED)
        return err_set(err, "the host cannot map memory that is shared: %s", strerror(errno));
    mem_grow(arena->shared, arena->shared_count, arena->shared_capacity);
    arena->shared[arena->shared_count++] = (struct span){from, to - from};
    return true;
}

/* A span of shared pages that has some of these; or NULL. */
static const struct span *shared_within(const struct arena *arena, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < arena->shared_count; i++) {
        const struct span *one = &arena->shared[i];
        if (one->at < to && from < one->at + one->bytes)
            return one;
    }
    return NULL;
}

static bool share_pages(struct arena *arena, uint64_t from, uint64_t to, struct err *err)
{
    const struct span *known = from < to ? shared_within(arena, from, to) : NULL;
    if (from >= to)
        return true;
    if (!known)
        return move_to_file(arena, from, to, err);
    struct span span = *known;
    return share_pages(arena, from, span.at, err) && share_pages(arena, span.at + span.bytes, to, err);
}

static bool open_file(struct arena *arena, struct err *err)
{
    if (arena->file >= 0)
        return true;
    arena->file = memfd_create("heddle-shared", MFD_CLOEXEC);
    arena->file_is_own = arena->file >= 0;
    return (arena->file_is_own && !ftruncate(arena->file, (off_t)(arena->end - arena->base))) ||
           err_set(err, "the host has no file for memory that is shared: %s", strerror(errno));
}

bool arena_share(struct arena *arena, uint64_t at, uint64_t bytes, struct err *err)
{
    uint64_t from = at / page * page, to = round_up(at + bytes, page);
    if (!open_file(arena, err))
        return false;
    if (!commit(arena, to))
        return err_set(err, "the host has no room for memory that is shared");
    return !arena->file_is_own || share_pages(arena, from, to, err);
}

/* ---- taking and giving ---- */

static uint64_t take_new(struct arena *arena, uint64_t bytes, uint64_t alignment)
{
    uint64_t at = round_up(arena->next, alignment);
    if (at > arena->end || arena->end - at < bytes || !commit(arena, at + bytes))
        return 0;
    add_free(arena, (struct span){arena->next, at - arena->next});
    arena->next = at + bytes;
    return at;
}

/* With the gap. */
static uint64_t span_bytes(uint64_t bytes)
{
    return round_up(bytes, ARENA_UNIT) + ARENA_UNIT;
}

/* A wish for all huge pages within: where the host has none, all works the same. */
static void wish(uint64_t at, uint64_t bytes, int advice)
{
    uint64_t first = round_up(at, 2 * MIB), last = (at + bytes) / (2 * MIB) * (2 * MIB);
    if (first < last)
        madvise(pointer(first), last - first, advice);
}

void arena_expect_writes(uint64_t at, uint64_t bytes)
{
    if (bytes >= by_huge_pages)
        wish(at, bytes, MADV_HUGEPAGE);
}

uint64_t arena_take(struct arena *arena, uint64_t bytes, uint64_t alignment)
{
    if (bytes > arena->end - arena->base)
        return 0;
    if (bytes >= MIB) /* as cudaMalloc does; and whole huge pages are of use to the host, too */
        alignment = max_u64(alignment, 2 * MIB);
    alignment = max_u64(alignment, ARENA_UNIT);
    uint64_t span = span_bytes(bytes);
    uint64_t at = take_free(arena, span, alignment);
    if (!at)
        at = take_new(arena, span, alignment);
    while (!at && arena->resting_count) {
        end_rest(arena);
        at = take_free(arena, span, alignment);
    }
    if (at && bytes < by_huge_pages)
        arena->small_bytes += bytes;
    if (at && (bytes >= by_huge_pages || arena->small_bytes > most_small))
        wish(at, bytes, MADV_NOHUGEPAGE);
    return at;
}

/* These pages go back to the host, and read as zero from then on. The first call is for memory of a file, and
 * is refused for any other. False: neither can be. */
static bool drop_pages(uint64_t at, uint64_t bytes)
{
    return !madvise(pointer(at), bytes, MADV_REMOVE) ||
           (errno == EINVAL && !madvise(pointer(at), bytes, MADV_DONTNEED));
}

/* So that it reads as zero when it is taken again. */
static void wipe(const struct arena *arena, uint64_t at, uint64_t bytes)
{
    uint64_t first = round_up(at, page), last = (at + bytes) / page * page;
    bool mixed = shared_within(arena, at, at + bytes); /* the two kinds of pages are dropped differently */
    if (bytes < by_pages || mixed || !drop_pages(first, last - first)) {
        memset(pointer(at), 0, bytes);
        return;
    }
    memset(pointer(at), 0, first - at);
    memset(pointer(last), 0, at + bytes - last);
}

/* Pages that are not there read as zero. One that went to the host's swap is not there either: it is dropped.
 */
static void zero_pages(uint64_t at, uint64_t pages, const unsigned char *there)
{
    for (uint64_t i = 0, n; i < pages; i += n) {
        for (n = 1; i + n < pages && (there[i + n] & 1) == (there[i] & 1);)
            n++;
        if ((there[i] & 1) || !drop_pages(at + i * page, n * page))
            memset(pointer(at + i * page), 0, n * page);
    }
}

void arena_zero(uint64_t at, uint64_t bytes)
{
    enum { AT_ONCE = 65536 }; /* pages */
    uint64_t first = round_up(at, page), last = (at + bytes) / page * page;
    if (bytes < 2 * MIB) {
        memset(pointer(at), 0, bytes);
        return;
    }
    memset(pointer(at), 0, first - at);
    memset(pointer(last), 0, at + bytes - last);
    unsigned char *there = mem_alloc(AT_ONCE, 1);
    for (uint64_t pages; first < last; first += pages * page) {
        pages = min_u64((last - first) / page, AT_ONCE);
        if (mincore(pointer(first), pages * page, there))
            memset(pointer(first), 0, pages * page);
        else
            zero_pages(first, pages, there);
    }
    mem_free(there);
}

void arena_give(struct arena *arena, uint64_t at, uint64_t bytes)
{
    struct span span = {at, span_bytes(bytes)};
    wipe(arena, at, bytes);
    if (bytes < by_huge_pages)
        arena->small_bytes -= bytes;
    else
        wish(at, bytes, MADV_HUGEPAGE); /* it may become many small ones */
    if (arena->resting_count == RESTING)
        end_rest(arena);
    arena->resting[(arena->resting_first + arena->resting_count++) % RESTING] = span;
    arena->resting_bytes += span.bytes;
    while (arena->resting_bytes > most_resting && arena->resting_count > 1)
        end_rest(arena);
}
