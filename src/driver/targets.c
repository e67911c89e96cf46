#include "driver/targets.h"
#include "driver/embedded.h"
#include "base/file.h"
#include "gcn3_object/bundle.h"

#include <string.h>

struct row {
    const char *target, *system;
};

static const struct row rows[] = {
#define T(target, system) {target, system},
    DRIVER_TARGETS(T)
#undef T
};
enum { ROWS = sizeof rows / sizeof *rows };

const char *targets_bundle_system(const void *bundle, size_t bytes)
{
    struct gcn3_bundle_entry entry;
    size_t first = ROWS;
    for (size_t i = 0; gcn3_bundle_entry(bundle, bytes, i, &entry); i++) {
        for (size_t row = 0; row < first; row++) {
            if (!strcmp(rows[row].target, entry.target))
                first = row;
        }
    }
    return first < ROWS ? rows[first].system : NULL;
}

/* All bundles of a program have the same targets, so the first one will do. */
static void take_section(void *user, const void *section, size_t bytes)
{
    const char **system = user;
    if (!*system)
        *system = targets_bundle_system(section, bytes);
}

const char *targets_file_system(const char *path)
{
    static const char *const sections[] = {".hip_fatbin", NULL};
    static const size_t most = (size_t)1 << 34;
    struct text content = {0};
    struct err unused;
    const char *system = NULL;
    if (!file_is_endless(path) && file_read(path, most, &content, &unused))
        embedded_sections(content.at, content.length, sections, take_section, &system);
    text_fini(&content);
    return system;
}
