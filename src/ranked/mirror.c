#include "ranked/mirror.h"
#include "base/bits.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* What is opened lies side by side mostly: it is opened in large parts. */
#define UNIT (UINT64_C(2) << 20)

void mirror_fini(struct mirror *mirror)
{
    for (size_t i = 0; i < mirror->count; i++)
        munmap((void *)(uintptr_t)mirror->list[i].at, mirror->list[i].bytes);
    mem_free(mirror->list);
    *mirror = (struct mirror){0};
}

/* The first that ends behind this address. */
static size_t first_behind(const struct mirror *mirror, uint64_t at)
{
    size_t low = 0, high = mirror->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (mirror->list[middle].at + mirror->list[middle].bytes <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Joins what touches. */
static void insert(struct mirror *mirror, size_t place, uint64_t at, uint64_t bytes)
{
    struct mirrored *before = place ? &mirror->list[place - 1] : NULL;
    if (before && before->at + before->bytes == at) {
        before->bytes += bytes;
        return;
    }
    mem_grow(mirror->list, mirror->count, mirror->capacity);
    memmove(&mirror->list[place + 1], &mirror->list[place], (mirror->count - place) * sizeof *mirror->list);
    mirror->list[place] = (struct mirrored){at, bytes};
    mirror->count++;
}

bool mirror_open(struct mirror *mirror, uint64_t at, uint64_t bytes, struct err *err)
{
    uint64_t from = at / UNIT * UNIT, end = (at + bytes + UNIT - 1) / UNIT * UNIT;
    while (from < end) {
        size_t place = first_behind(mirror, from);
        const struct mirrored *next = place < mirror->count ? &mirror->list[place] : NULL;
        if (next && next->at <= from) {
            from = next->at + next->bytes;
            continue;
        }
        uint64_t to = next ? min_u64(end, next->at) : end;
        if (mmap((void *)(uintptr_t)from, to - from, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
            return err_set(err, "memory of the GPUs cannot be at 0x%llx on this rank: %s",
                           (unsigned long long)from, strerror(errno));
        insert(mirror, place, from, to - from);
        from = to;
    }
    return true;
}
