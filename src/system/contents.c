#include "system/contents.h"
#include "base/bits.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* ---- which pages there are ---- */

/* A part of the process's addresses that can be touched. */
struct mapping {
    uint64_t from, to;
    bool is_shared; /* others may have put something there: a page that was not touched need not be zero */
};

struct mappings {
    struct mapping *list;
    size_t count, capacity;
    int pages; /* which of them were touched; below 0 where that cannot be known */
};

static void mappings_init(struct mappings *mappings)
{
    *mappings = (struct mappings){.pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096], rights[8];
    unsigned long long from, to;
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%llx-%llx %7s", &from, &to, rights) != 3 || rights[0] != 'r' || rights[1] != 'w')
            continue;
        mem_grow(mappings->list, mappings->count, mappings->capacity);
        mappings->list[mappings->count++] = (struct mapping){from, to, rights[3] == 's'};
    }
    if (maps)
        fclose(maps);
}

static void mappings_fini(struct mappings *mappings)
{
    if (mappings->pages >= 0)
        close(mappings->pages);
    mem_free(mappings->list);
}

static bool can_touch(const struct mappings *mappings, const char *at, uint64_t bytes)
{
    uint64_t from = (uintptr_t)at;
    for (size_t i = 0; i < mappings->count; i++) {
        const struct mapping *one = &mappings->list[i];
        if (from >= one->from && from < one->to && bytes <= one->to - from)
            return true;
    }
    return false;
}

typedef void page_fn(void *user, char *at, uint64_t bytes);

/* The pages of a mapping, or parts of them, from one address to another, that were touched. */
static void each_touched(const struct mappings *mappings, const struct mapping *mapping, uint64_t from,
                         uint64_t to, page_fn *call, void *user)
{
    enum { TOGETHER = 512 };
    static const uint64_t is_there = UINT64_C(3) << 62; /* in memory, or in the host's swap */
    uint64_t known[TOGETHER];
    for (uint64_t first = from / PAGE; first * PAGE < to; first += TOGETHER) {
        size_t want = min_u64(TOGETHER, (to + PAGE - 1) / PAGE - first) * sizeof *known;
        bool all = mapping->is_shared || mappings->pages < 0 ||
                   pread(mappings->pages, known, want, (off_t)(first * sizeof *known)) != (ssize_t)want;
        for (size_t i = 0; i < want / sizeof *known; i++) {
            uint64_t start = max_u64(from, (first + i) * PAGE), end = min_u64(to, (first + i + 1) * PAGE);
            if (all || known[i] & is_there)
                call(user, (char *)(uintptr_t)start, end - start);
        }
    }
}

static void each_page(const struct mappings *mappings, const struct contents_range *range, page_fn *call,
                      void *user)
{
    uint64_t first = (uintptr_t)range->at, last = first + range->bytes;
    for (size_t i = 0; i < mappings->count; i++) {
        const struct mapping *one = &mappings->list[i];
        uint64_t from = max_u64(first, one->from), to = min_u64(last, one->to);
        if (from < to)
            each_touched(mappings, one, from, to, call, user);
    }
}

/* ---- what they hold ---- */

static bool is_zero(const char *bytes, uint64_t count)
{
    static const char zeroes[PAGE];
    return !memcmp(bytes, zeroes, count);
}

struct saving {
    const struct contents_range *range;
    struct archive *archive;
};

/* A page: where in its range it begins, plus one, how long it is, and its bytes. */
static void save_page(void *user, char *at, uint64_t bytes)
{
    struct saving *saving = user;
    if (is_zero(at, bytes))
        return;
    archive_number(saving->archive, (uint64_t)(at - saving->range->at) + 1, UINT64_MAX);
    archive_number(saving->archive, bytes, PAGE);
    archive_bytes(saving->archive, at, bytes);
}

static void clear_page(void *user, char *at, uint64_t bytes)
{
    (void)user;
    if (!is_zero(at, bytes))
        memset(at, 0, bytes);
}

static void load_pages(const struct mappings *mappings, const struct contents_range *range,
                       struct archive *archive)
{
    for (uint64_t at; (at = archive_number(archive, 0, range->bytes)) && archive->good;) {
        uint64_t bytes = archive_number(archive, 0, PAGE);
        char *page = range->at + (at - 1);
        if (archive_check(archive, bytes <= range->bytes - (at - 1) && can_touch(mappings, page, bytes)))
            archive_bytes(archive, page, bytes);
    }
}

void contents_archive(const struct contents_range *ranges, size_t count, struct archive *archive)
{
    struct mappings mappings;
    mappings_init(&mappings);
    archive_expect(archive, count);
    for (size_t i = 0; i < count && archive->reading;
         i++) /* the same memory may be in two places: all first */
        each_page(&mappings, &ranges[i], clear_page, NULL);
    for (size_t i = 0; i < count && archive->good; i++) {
        archive_expect(archive, ranges[i].bytes);
        if (archive->reading) {
            load_pages(&mappings, &ranges[i], archive);
            continue;
        }
        struct saving saving = {&ranges[i], archive};
        each_page(&mappings, &ranges[i], save_page, &saving);
        archive_number(archive, 0, 0);
    }
    mappings_fini(&mappings);
}

void contents_skip(size_t count, struct archive *archive)
{
    char page[PAGE];
    archive_expect(archive, count);
    for (size_t i = 0; i < count && archive->good; i++) {
        uint64_t range = 0;
        ARCHIVE_VALUE(archive, range);
        while (archive_number(archive, 0, range) && archive->good)
            archive_bytes(archive, page, archive_number(archive, 0, PAGE));
    }
}
