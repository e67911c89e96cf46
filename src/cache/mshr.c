#include "cache/mshr.h"
#include "base/archive.h"
#include "base/err.h"
#include "base/mem.h"

/* Twice as many buckets as entries, as a power of two: most chains are of one. */
static unsigned bucket_bits(uint32_t entries)
{
    unsigned bits = 1;
    while ((UINT64_C(1) << bits) < 2 * (uint64_t)entries)
        bits++;
    return bits;
}

static uint64_t lay_out(uint64_t *end, uint64_t count, uint64_t bytes_each)
{
    uint64_t at = *end;
    *end = (at + count * bytes_each + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return at;
}

static void plan(struct mshr *file, const struct mshr_spec *spec)
{
    REQUIRE(spec->entries >= 1 && spec->entries <= 1 << 24 && spec->waiters <= 1 << 28);
    uint64_t end = 0;
    unsigned bits = bucket_bits(spec->entries);
    *file = (struct mshr){.entries = spec->entries, .waiters = spec->waiters, .bucket_shift = 64 - bits};
    lay_out(&end, 1, sizeof *file);
    file->buckets_at = lay_out(&end, UINT64_C(1) << bits, sizeof(uint32_t));
    file->entries_at = lay_out(&end, spec->entries, sizeof(struct mshr_entry));
    file->waiters_at = lay_out(&end, spec->waiters, sizeof(struct mshr_waiter));
    file->bytes = end;
}

size_t mshr_bytes(const struct mshr_spec *spec)
{
    struct mshr planned;
    plan(&planned, spec);
    return planned.bytes;
}

void mshr_init(struct mshr *file, const struct mshr_spec *spec)
{
    plan(file, spec);
    memset((char *)file + file->buckets_at, 0xff, sizeof(uint32_t) << (64 - file->bucket_shift));
    file->free_entry = file->free_waiter = MSHR_NONE;
}

struct mshr *mshr_new(const struct mshr_spec *spec)
{
    struct mshr *file = mem_alloc_pages(1, mshr_bytes(spec));
    mshr_init(file, spec);
    return file;
}

void mshr_free(struct mshr *file)
{
    mem_free_pages(file);
}

/* Marks a list's members; false when it leads out of the file, or to what another list has. */
static bool waiters_fit(const struct mshr *file, uint32_t first, bool *seen)
{
    for (uint32_t i = first; i != MSHR_NONE; i = mshr_waiter(file, i)->next) {
        if (i >= file->waiters || seen[i])
            return false;
        seen[i] = true;
    }
    return true;
}

static bool entries_fit(const struct mshr *file, uint32_t first, bool *seen)
{
    for (uint32_t i = first; i != MSHR_NONE; i = mshr_at(file, i)->next) {
        if (i >= file->entries || seen[i])
            return false;
        seen[i] = true;
    }
    return true;
}

/* What was read is a file of misses: all that is linked is in one list only. */
static bool fits(const struct mshr *file, uint32_t who_most, uint32_t slots)
{
    bool *entries = mem_alloc(file->entries, sizeof *entries);
    bool *waiters = mem_alloc(file->waiters, sizeof *waiters);
    bool good = entries_fit(file, file->free_entry, entries) && waiters_fit(file, file->free_waiter, waiters);
    for (uint64_t b = 0; good && b < UINT64_C(1) << (64 - file->bucket_shift); b++) {
        uint32_t first = ((uint32_t *)((char *)file + file->buckets_at))[b];
        good = entries_fit(file, first, entries);
        for (uint32_t i = first; good && i != MSHR_NONE; i = mshr_at(file, i)->next) {
            const struct mshr_entry *entry = mshr_at(file, i);
            good = entry->slot < slots && waiters_fit(file, entry->first, waiters) &&
                   (entry->first == MSHR_NONE || entry->last < file->waiters);
            for (uint32_t w = entry->first; good && w != MSHR_NONE; w = mshr_waiter(file, w)->next)
                good = mshr_waiter(file, w)->who < who_most;
        }
    }
    mem_free(entries);
    mem_free(waiters);
    return good;
}

void mshr_archive(struct mshr *file, uint32_t who_most, uint32_t slots, struct archive *archive)
{
    archive_expect(archive, file->entries);
    archive_expect(archive, file->waiters);
    ARCHIVE_VALUE(archive, file->used);
    ARCHIVE_VALUE(archive, file->waiting);
    ARCHIVE_VALUE(archive, file->free_entry);
    ARCHIVE_VALUE(archive, file->free_waiter);
    file->waiters_begun = (uint32_t)archive_number(archive, file->waiters_begun, file->waiters);
    file->entries_begun = (uint32_t)archive_number(archive, file->entries_begun, file->entries);
    archive_sparse(archive, (char *)file + file->buckets_at, file->bytes - file->buckets_at);
    if (archive->reading && archive->good)
        archive_check(archive, fits(file, who_most, slots));
}

uint32_t mshr_add(struct mshr *file, uint64_t line)
{
    uint32_t entry = file->free_entry;
    if (entry != MSHR_NONE)
        file->free_entry = mshr_at(file, entry)->next;
    else if (file->entries_begun < file->entries)
        entry = file->entries_begun++;
    else
        return MSHR_NONE;
    struct mshr_entry *it = mshr_at(file, entry);
    file->used++;
    uint32_t *bucket = mshr_bucket(file, line);
    *it = (struct mshr_entry){.line = line, .first = MSHR_NONE, .last = MSHR_NONE, .next = *bucket};
    *bucket = entry;
    return entry;
}

/* MSHR_NONE when none is left. */
static uint32_t take_waiter(struct mshr *file)
{
    uint32_t waiter = file->free_waiter;
    if (waiter != MSHR_NONE)
        file->free_waiter = mshr_waiter(file, waiter)->next;
    else if (file->waiters_begun < file->waiters)
        waiter = file->waiters_begun++;
    return waiter;
}

bool mshr_wait(struct mshr *file, uint32_t entry, uint32_t who)
{
    uint32_t waiter = take_waiter(file);
    if (waiter == MSHR_NONE)
        return false;
    struct mshr_entry *it = mshr_at(file, entry);
    file->waiting++;
    *mshr_waiter(file, waiter) = (struct mshr_waiter){.who = who, .next = MSHR_NONE};
    if (it->first == MSHR_NONE)
        it->first = waiter;
    else
        mshr_waiter(file, it->last)->next = waiter;
    it->last = waiter;
    return true;
}

uint32_t mshr_next(struct mshr *file, uint32_t entry)
{
    struct mshr_entry *it = mshr_at(file, entry);
    uint32_t waiter = it->first;
    REQUIRE(waiter != MSHR_NONE);
    it->first = mshr_waiter(file, waiter)->next;
    mshr_waiter(file, waiter)->next = file->free_waiter;
    file->free_waiter = waiter;
    file->waiting--;
    return mshr_waiter(file, waiter)->who;
}

void mshr_remove(struct mshr *file, uint32_t entry)
{
    struct mshr_entry *it = mshr_at(file, entry);
    uint32_t *from = mshr_bucket(file, it->line);
    while (*from != entry)
        from = &mshr_at(file, *from)->next;
    *from = it->next;
    while (it->first != MSHR_NONE)
        mshr_next(file, entry);
    it->next = file->free_entry;
    file->free_entry = entry;
    file->used--;
}
