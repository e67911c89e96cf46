#include "cachesim/runs/kept.h"
#include "base/bits.h"
#include "base/mem.h"
#include "trace/source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Of the whole file: a trace of the same size may have other accesses in its middle. */
static bool digest_file(const char *path, uint64_t *bytes, uint64_t *digest, struct err *err)
{
    enum { BLOCK = 1 << 20 };
    FILE *file = fopen(path, "rb");
    if (!file)
        return err_set(err, "cannot read %s: %s", path, strerror(errno));
    char *block = mem_alloc(1, BLOCK);
    *bytes = *digest = 0;
    for (size_t got; (got = fread(block, 1, BLOCK, file)) > 0; *bytes += got)
        *digest = digest_bytes(*digest, block, got);
    bool good = !ferror(file) || err_set(err, "cannot read %s: %s", path, strerror(errno));
    mem_free(block);
    fclose(file);
    return good;
}

static bool add_trace(const char *trace, struct text *text, struct err *err)
{
    const char *path = source_file(trace);
    uint64_t bytes = 0, digest = 0;
    if (!access(path, F_OK) && !feed_can_reopen(trace))
        return err_set(err,
                       "%s: a sweep on ranks, or with --results, reads it several times, which only plain "
                       "files can be",
                       trace);
    if (!digest_file(path, &bytes, &digest, err))
        return false;
    text_add(text, "trace = %.*s%llu bytes, digest %016llx\n", (int)(path - trace), trace,
             (unsigned long long)bytes, (unsigned long long)digest);
    return true;
}

bool caches_identity(const struct caches_request *r, struct text *text, struct err *err)
{
    text_add(text, "heddle = %s, digest %016llx\n", HEDDLE_VERSION, (unsigned long long)r->build);
    if (r->generate)
        text_add(text, "generate = %s\n", r->generate);
    text_add(text, "accesses = %llu\n", (unsigned long long)r->accesses);
    text_add(text, "offset = %llu\n", (unsigned long long)r->offset);
    text_add(text, "seed = %llu\n", (unsigned long long)r->spec.seed);
    for (uint32_t i = 0; i < r->trace_count; i++) {
        if (!add_trace(r->traces[i], text, err))
            return false;
    }
    return true;
}
