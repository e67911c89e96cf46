#include "gcn3_object/bundle.h"
#include "base/text.h"

#include <string.h>

static const char MAGIC[] = "__CLANG_OFFLOAD_BUNDLE__";
enum {
    MAGIC_BYTES = sizeof MAGIC - 1,
    HEADER_BYTES = MAGIC_BYTES + 8,
    ENTRY_BYTES = 24,
    MOST_ENTRIES = 1024
};

bool gcn3_bundle_is(const void *bundle, size_t bytes)
{
    return bytes >= HEADER_BYTES &&
           !strncmp(bundle, MAGIC, MAGIC_BYTES); /* reads no further than it is one */
}

static uint64_t number_at(const uint8_t *at)
{
    uint64_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

static bool fits(uint64_t at, uint64_t length, size_t bytes)
{
    return at <= bytes && length <= bytes - at;
}

/* "gfx906" of "hipv4-amdgcn-amd-amdhsa--gfx906:xnack-"; nothing of "host-x86_64-unknown-linux" */
static void read_target(const char *name, size_t length, char target[GCN3_TARGET_ROOM])
{
    const char *settings = memchr(name, ':', length);
    if (settings)
        length = (size_t)(settings - name);
    size_t start = length;
    while (start && name[start - 1] != '-')
        start--;
    bool is_gpu = length - start > 3 && !memcmp(name + start, "gfx", 3);
    size_t kept = is_gpu && length - start < GCN3_TARGET_ROOM ? length - start : 0;
    memcpy(target, name + start, kept);
    target[kept] = 0;
}

bool gcn3_bundle_entry(const void *bundle, size_t bytes, size_t number, struct gcn3_bundle_entry *entry)
{
    const uint8_t *at = bundle;
    uint64_t place = HEADER_BYTES;
    if (!gcn3_bundle_is(bundle, bytes) || number >= number_at(at + MAGIC_BYTES) || number >= MOST_ENTRIES)
        return false;
    for (size_t i = 0;; i++) {
        if (!fits(place, ENTRY_BYTES, bytes))
            return false;
        uint64_t offset = number_at(at + place), size = number_at(at + place + 8);
        uint64_t length = number_at(at + place + 16);
        place += ENTRY_BYTES;
        if (!fits(place, length, bytes) || !fits(offset, size, bytes))
            return false;
        if (i == number) {
            *entry = (struct gcn3_bundle_entry){.image = at + offset, .bytes = size};
            read_target((const char *)at + place, length, entry->target);
            return true;
        }
        place += length;
    }
}

bool gcn3_bundle_find(const void *bundle, size_t bytes, const char *target, struct gcn3_bundle_entry *entry,
                      struct err *err)
{
    struct text there = {0};
    bool found = false;
    for (size_t i = 0; !found && gcn3_bundle_entry(bundle, bytes, i, entry); i++) {
        found = !strcmp(entry->target, target) && entry->bytes;
        if (*entry->target && !found)
            text_add(&there, "%s%s", there.length ? ", " : "", entry->target);
    }
    if (!found)
        err_set(err, "there is code for %.200s, and none for %s", there.length ? there.at : "no GPU", target);
    text_fini(&there);
    return found;
}
