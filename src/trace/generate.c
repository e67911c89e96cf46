#include "trace/generate.h"
#include "base/bits.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>

const struct generate_kind *const generate_kinds[] = {
    &generate_stream, &generate_random, &generate_zipf, &generate_producer, &generate_false_sharing, NULL};

/* Addresses have 52 bits for simulators: the upper half is shared, the lower has 16 GiB of each of 2^16
 * cores, of which half is used, from a page on that differs between cores as it does between programs. */
enum { CORE_BITS = 34, CORES_MOST = 1 << 16, SHARED_BIT = 51, SHARED_BITS = 30 };

uint64_t generate_shared(uint64_t number)
{
    return (UINT64_C(1) << SHARED_BIT) + (number << SHARED_BITS);
}

static uint64_t base_of(uint32_t core)
{
    uint64_t page = digest_word(1, core) >> 52;
    return ((uint64_t)core << CORE_BITS) + (page << 12);
}

/* ---- options ---- */

static const struct generate_kind *find_kind(const char *name, size_t length)
{
    for (size_t i = 0; generate_kinds[i]; i++) {
        const char *own = generate_kinds[i]->options->path;
        if (strlen(own) == length && !memcmp(own, name, length))
            return generate_kinds[i];
    }
    return NULL;
}

static const struct generate_kind *unknown_kind(const char *name, struct err *err)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = 0; generate_kinds[i]; i++)
        nearest_try(&nearest, generate_kinds[i]->options->path);
    err_set(err, "unknown generator '%.80s'", name);
    if (nearest.best)
        err_add(err, "; did you mean %s?", nearest.best);
    else
        for (size_t i = 0; generate_kinds[i]; i++)
            err_add(err, "%s %s", i ? "," : ": expected", generate_kinds[i]->options->path);
    return NULL;
}

static const struct param_row *find_option(const struct param_group *options, const char *name,
                                           struct err *err)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = 0; i < options->row_count; i++) {
        if (!strcmp(options->rows[i].name, name))
            return &options->rows[i];
        nearest_try(&nearest, options->rows[i].name);
    }
    err_set(err, "%s: unknown option '%.80s'", options->path, name);
    if (nearest.best)
        err_add(err, "; did you mean %s?", nearest.best);
    return NULL;
}

/* key=value */
static bool set_option(struct generator *generator, char *text, struct err *err)
{
    const struct param_group *options = generator->kind->options;
    struct err why;
    char *equals = strchr(text, '=');
    if (!equals)
        return err_set(err, "%s: expected OPTION=VALUE, not '%.80s'", options->path, text);
    *equals = 0;
    const struct param_row *row = find_option(options, text, err);
    if (!row)
        return false;
    return param_parse(row, equals + 1, (char *)generator->spec + row->offset, &why) ||
           err_set(err, "%s: %s: %.1000s", options->path, row->name, why.text);
}

static void set_defaults(struct generator *generator)
{
    const struct param_group *options = generator->kind->options;
    for (size_t i = 0; i < options->row_count; i++) {
        const struct param_row *row = &options->rows[i];
        struct err why;
        if (!param_parse(row, row->fallback, (char *)generator->spec + row->offset, &why))
            BUG("%s: %s: %s", options->path, row->name, why.text);
    }
}

/* "KIND:key=value,key=value"; changes the text. */
static bool read_description(struct generator *generator, char *text, struct err *err)
{
    char *options = strchr(text, ':');
    if (options)
        *options++ = 0;
    generator->kind = find_kind(text, strlen(text));
    if (!generator->kind)
        return unknown_kind(text, err), false;
    generator->spec = mem_alloc(1, generator->kind->options->spec_bytes);
    set_defaults(generator);
    while (options) {
        char *next = strchr(options, ',');
        if (next)
            *next++ = 0;
        if (!set_option(generator, options, err))
            return false;
        options = next;
    }
    return true;
}

bool source_generate_shares(const char *description)
{
    const struct generate_kind *kind = find_kind(description, strcspn(description, ":"));
    return kind && kind->shares;
}

/* ---- the source ---- */

static long generator_read(struct source *source, struct trace_access *into, size_t most, struct err *err)
{
    (void)err;
    struct generator *generator = (struct generator *)source;
    size_t count = (size_t)min_u64(most, generator->most - generator->made);
    generator->kind->fill(generator, into, count);
    return (long)count;
}

static void generator_close(struct source *source)
{
    struct generator *generator = (struct generator *)source;
    mem_free(generator->state);
    mem_free(generator->spec);
    mem_free(generator);
}

static const struct source_ops generator_ops = {generator_read, generator_close, NULL};

static bool begin(struct generator *generator, struct err *err)
{
    const struct generate_common *common = generator->spec;
    const char *name = generator->kind->options->path;
    if (common->footprint < common->bytes)
        return err_set(err, "%s: a footprint of %" PRIu64 " bytes has no room for an access of %" PRIu64,
                       name, common->footprint, common->bytes);
    generator->base = base_of(generator->core);
    generator->words = common->footprint / common->bytes;
    generator->writes = rng_share(common->writes);
    if (generator->kind->begin && !generator->kind->begin(generator, err))
        return false;
    if (generator->shift > TRACE_INSTRUCTIONS_MOST ||
        generator->most > (TRACE_INSTRUCTIONS_MOST - generator->shift) / max_u64(common->instructions, 1))
        return err_set(err, "%s: %" PRIu64 " accesses are more than 2^47 instructions", name,
                       generator->most);
    return true;
}

struct source *source_generate(const char *description, uint32_t core, uint32_t cores, uint64_t accesses,
                               uint64_t seed, struct err *err)
{
    REQUIRE(core < cores);
    if (cores > CORES_MOST || !accesses) {
        err_set(err, "generators make at least 1 access for at most %d cores", CORES_MOST);
        return NULL;
    }
    struct generator *generator = mem_alloc(1, sizeof *generator);
    char *text = mem_text(description), stream[32];
    generator->source.ops = &generator_ops;
    generator->core = core;
    generator->cores = cores;
    generator->most = accesses;
    snprintf(stream, sizeof stream, "core %" PRIu32, core);
    rng_init(&generator->rng, seed, stream);
    bool good = read_description(generator, text, err) && begin(generator, err);
    mem_free(text);
    if (good)
        return &generator->source;
    generator_close(&generator->source);
    return NULL;
}

bool source_generate_check(const char *description, uint32_t cores, uint64_t accesses, struct err *err)
{
    struct source *source = source_generate(description, 0, cores, accesses, 0, err);
    source_close(source);
    return source;
}
