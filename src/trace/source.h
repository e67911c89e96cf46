/* Where the accesses of one core come from: a trace of ours, a foreign one, a generator. Whoever reads them
 * needs only this. */
#ifndef TRACE_SOURCE_H
#define TRACE_SOURCE_H

#include "base/err.h"
#include "trace/access.h"

#include <stddef.h>

struct source;
struct workers;

struct source_ops {
    /* Up to `most` further accesses, in order of instruction counts; 0 at the end; -1: err says why not. */
    long (*read)(struct source *source, struct trace_access *into, size_t most, struct err *err);
    void (*close)(struct source *source);
    /* The same, by several threads; NULL where only one can. */
    long (*read_by)(struct source *source, struct workers *workers, struct trace_access *into, size_t most,
                    struct err *err);
};

struct source { /* the first member of what implements one */
    const struct source_ops *ops;
};

/* A file, by its contents or its name, or "FORMAT:FILE": our own, or one of the formats of import.c. `skip`
 * accesses are left out at its beginning. */
struct source *source_open(const char *path, uint64_t skip, struct err *err);

/* The file that such a path names: "din:FILE" says the format, too. */
const char *source_file(const char *path);

/* What a generator makes for core `core` of `cores`: "zipf:footprint=64MiB,skew=0.9,writes=0.3". */
struct source *source_generate(const char *description, uint32_t core, uint32_t cores, uint64_t accesses,
                               uint64_t seed, struct err *err);

/* Whether it would: the first of these cores is tried. */
bool source_generate_check(const char *description, uint32_t cores, uint64_t accesses, struct err *err);

/* Whether the cores of this generator use the same memory. */
bool source_generate_shares(const char *description);

static inline long source_read(struct source *source, struct trace_access *into, size_t most, struct err *err)
{
    return source->ops->read(source, into, most, err);
}

/* With the help of workers, if there are any (or NULL) and it can use them. */
static inline long source_read_by(struct source *source, struct workers *workers, struct trace_access *into,
                                  size_t most, struct err *err)
{
    return workers && source->ops->read_by ? source->ops->read_by(source, workers, into, most, err)
                                           : source_read(source, into, most, err);
}

static inline void source_close(struct source *source)
{
    if (source)
        source->ops->close(source);
}

#endif
