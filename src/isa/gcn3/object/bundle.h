/* Offload bundles: code objects for several GPUs in one file or section, as clang embeds them in HIP
 * programs.
 *
 *   "__CLANG_OFFLOAD_BUNDLE__", the number of entries, then for each entry: offset, bytes, length of its
 * name, name.
 *
 * A name such as hipv4-amdgcn-amd-amdhsa--gfx906:xnack- ends in the GPU and its settings. Numbers have 64
 * bits. Any bytes are safe to read. */
#ifndef GCN3_OBJECT_BUNDLE_H
#define GCN3_OBJECT_BUNDLE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { GCN3_TARGET_ROOM = 64 };

struct gcn3_bundle_entry {
    char target[GCN3_TARGET_ROOM]; /* "gfx906"; "": of the host */
    const void *image;
    uint64_t bytes;
};

/* Whether these bytes begin as a bundle does. */
bool gcn3_bundle_is(const void *bundle, size_t bytes);

/* The entry with this number, from 0; false beyond the last, and where the bundle is broken. */
bool gcn3_bundle_entry(const void *bundle, size_t bytes, size_t number, struct gcn3_bundle_entry *entry);

/* The code object for this target. False: err names the targets that there are. */
bool gcn3_bundle_find(const void *bundle, size_t bytes, const char *target, struct gcn3_bundle_entry *entry,
                      struct err *err);

#endif
