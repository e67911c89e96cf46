#include "driver/fatbin.h"
#include "base/bits.h"
#include "base/mem.h"

#include <lz4.h>
#include <zstd.h>

enum { HEADER = 16, ENTRY = 64 };

#define FLAG_LZ4    UINT64_C(0x2000)
#define FLAG_ZSTD   UINT64_C(0x8000)
#define FLAG_EXACT  UINT64_C(0x100000)
#define FLAG_FAMILY UINT64_C(0x200000)

bool fatbin_length(const void *header, size_t *bytes)
{
    const uint8_t *at = header;
    if (unaligned_u32(at) != FATBIN_MAGIC || unaligned_u16(at + 6) < HEADER)
        return false;
    return !__builtin_add_overflow((uint64_t)unaligned_u16(at + 6), unaligned_u64(at + 8), bytes);
}

static bool read_entry(const uint8_t *at, size_t left, struct fatbin_entry *entry, size_t *taken,
                       struct err *err)
{
    if (left < ENTRY)
        return err_set(err, "the fatbin ends in the middle of an entry");
    uint32_t header = unaligned_u32(at + 4);
    uint64_t payload = unaligned_u64(at + 8);
    if (header < ENTRY || header > left || payload > left - header)
        return err_set(err, "an entry of the fatbin claims more bytes than there are");
    uint64_t flags = unaligned_u64(at + 40);
    *entry = (struct fatbin_entry){.kind = unaligned_u16(at),
                                   .arch = unaligned_u32(at + 28),
                                   .exact = flags & FLAG_EXACT,
                                   .family = flags & FLAG_FAMILY,
                                   .at = at + header,
                                   .bytes = (size_t)payload,
                                   .flags = flags,
                                   .packed_bytes = unaligned_u32(at + 16),
                                   .unpacked_bytes = unaligned_u64(at + 56)};
    *taken = header + (size_t)payload;
    return true;
}

bool fatbin_read(const void *fatbin, size_t bytes, fatbin_each *each, void *user, struct err *err)
{
    const uint8_t *at = fatbin;
    size_t claimed;
    if (bytes < HEADER || !fatbin_length(at, &claimed))
        return err_set(err, "this is no fatbin");
    if (claimed > bytes)
        return err_set(err, "the fatbin claims %zu bytes and has %zu", claimed, bytes);
    size_t taken = 0;
    for (size_t done = unaligned_u16(at + 6); done < claimed; done += taken) {
        struct fatbin_entry entry;
        if (!read_entry(at + done, claimed - done, &entry, &taken, err))
            return false;
        if (!each(user, &entry))
            break;
    }
    return true;
}

/* ---- choosing ---- */

struct chooser {
    uint32_t arch;
    struct fatbin_choice *choice;
    struct fatbin_entry above; /* the lowest PTX that is for later devices */
};

static bool can_run(const struct fatbin_entry *ptx, uint32_t arch)
{
    if (ptx->exact)
        return ptx->arch == arch;
    if (ptx->family)
        return ptx->arch <= arch && ptx->arch / 10 == arch / 10;
    return ptx->arch <= arch;
}

/* Whether it is machine code that the device itself could run. */
static bool is_own(const struct fatbin_entry *cubin, uint32_t arch)
{
    return cubin->at && cubin->arch <= arch && cubin->arch / 10 == arch / 10;
}

/* How well machine code tells what the device's own would be like: its own, of a generation before, any. */
static uint32_t nearness(const struct fatbin_entry *cubin, uint32_t arch)
{
    uint32_t below = cubin->arch <= arch ? 10000 + cubin->arch : 1;
    return below + (is_own(cubin, arch) ? 20000 : 0);
}

static void consider_ptx(struct chooser *chooser, const struct fatbin_entry *entry)
{
    struct fatbin_choice *choice = chooser->choice;
    if (!choice->ptx_found || entry->arch < choice->ptx_found)
        choice->ptx_found = entry->arch;
    if (can_run(entry, chooser->arch)) {
        if (!choice->ptx.at || entry->arch > choice->ptx.arch ||
            (entry->arch == choice->ptx.arch && entry->exact))
            choice->ptx = *entry;
    } else if (!entry->exact && !entry->family && (!chooser->above.at || entry->arch < chooser->above.arch)) {
        chooser->above = *entry;
    }
}

static bool consider(void *user, const struct fatbin_entry *entry)
{
    struct chooser *chooser = user;
    struct fatbin_choice *choice = chooser->choice;
    if (entry->kind == FATBIN_PTX) {
        consider_ptx(chooser, entry);
    } else if (entry->kind == FATBIN_CUBIN) {
        choice->cubin_found = (uint32_t)max_u64(choice->cubin_found, entry->arch);
        if (!choice->cubin.at || nearness(entry, chooser->arch) > nearness(&choice->cubin, chooser->arch))
            choice->cubin = *entry;
    }
    return true;
}

bool fatbin_choose(const void *fatbin, size_t bytes, uint32_t arch, struct fatbin_choice *choice,
                   struct err *err)
{
    *choice = (struct fatbin_choice){0};
    struct chooser chooser = {.arch = arch, .choice = choice};
    if (!fatbin_read(fatbin, bytes, consider, &chooser, err))
        return false;
    if (!choice->ptx.at && chooser.above.at && is_own(&choice->cubin, arch)) {
        choice->ptx = chooser.above;
        choice->too_new = true;
    }
    return true;
}

/* ---- unpacking ---- */

static bool unpack_zstd(const struct fatbin_entry *entry, char *to, size_t room, struct err *err)
{
    size_t got = ZSTD_decompress(to, room, entry->at, entry->packed_bytes);
    if (ZSTD_isError(got))
        return err_set(err, "an image of the fatbin does not unpack: %s", ZSTD_getErrorName(got));
    return got == room || err_set(err, "an image of the fatbin unpacks to %zu bytes, not %zu", got, room);
}

static bool unpack_lz4(const struct fatbin_entry *entry, char *to, size_t room, struct err *err)
{
    if (entry->packed_bytes > INT32_MAX || room > INT32_MAX)
        return err_set(err, "an image of the fatbin is too large for its packing");
    int got = LZ4_decompress_safe((const char *)entry->at, to, (int)entry->packed_bytes, (int)room);
    return got == (int)room || err_set(err, "an image of the fatbin does not unpack");
}

static bool unpack(const struct fatbin_entry *entry, char *to, size_t room, struct err *err)
{
    if (!entry->packed_bytes) {
        memcpy(to, entry->at, room);
        return true;
    }
    if (entry->flags & FLAG_ZSTD)
        return unpack_zstd(entry, to, room, err);
    if (entry->flags & FLAG_LZ4)
        return unpack_lz4(entry, to, room, err);
    return err_set(err, "an image of the fatbin is packed in a way that is not known (flags 0x%llx)",
                   (unsigned long long)entry->flags);
}

char *fatbin_unpack(const struct fatbin_entry *entry, size_t limit, size_t *bytes, struct err *err)
{
    uint64_t room = entry->packed_bytes ? entry->unpacked_bytes : entry->bytes;
    if (entry->packed_bytes > entry->bytes) {
        err_set(err, "an image of the fatbin claims more bytes than there are");
        return NULL;
    }
    if (room > limit) {
        err_set(err, "an image of the fatbin is of %llu bytes, more than the %zu that are taken",
                (unsigned long long)room, limit);
        return NULL;
    }
    char *to = mem_alloc((size_t)room + 1, 1);
    if (!unpack(entry, to, (size_t)room, err)) {
        mem_free(to);
        return NULL;
    }
    *bytes = (size_t)room;
    return to;
}
