/* Generators of accesses (source_generate). A kind is a row: its options, which are rows themselves, and a
 * function that fills. What it makes depends on the seed, the core and its options, and on nothing else. */
#ifndef TRACE_GENERATE_H
#define TRACE_GENERATE_H

#include "base/param.h"
#include "base/rng.h"
#include "trace/source.h"

/* What all kinds take, first in the struct of each. */
#define GENERATE_COMMON_OF(P, S, own)                                                                        \
    P(S, size, footprint, own, "64B..8GiB", "memory of a core of its own")                                   \
    P(S, real, writes, "0.3", "0..1", "share of accesses that write")                                        \
    P(S, size, bytes, "8B", "1B..64B", "of an access, which is aligned to them")                             \
    P(S, count, instructions, "3", "0..1000000", "from an access to the next")
#define GENERATE_COMMON(P, S) GENERATE_COMMON_OF(P, S, "64MiB")
struct generate_common {
    GENERATE_COMMON(PARAM_FIELD, generate_common)
};

struct generator {
    struct source source;
    const struct generate_kind *kind;
    void *spec; /* struct generate_common, and what the kind has */
    struct rng rng;
    uint32_t core, cores;
    uint64_t made, most; /* accesses so far, and in all */
    uint64_t base;       /* of the core's own memory */
    uint64_t words;      /* of `bytes` each, in it */
    uint64_t writes;     /* for rng_chance */
    uint64_t shift;      /* of all instruction counts */
    void *state;         /* of the kind; or NULL */
};

struct generate_kind {
    const struct param_group *options; /* whose path is the kind's name */
    /* Checks the options together and makes the state, by mem_alloc. Or NULL. */
    bool (*begin)(struct generator *generator, struct err *err);
    void (*fill)(struct generator *generator, struct trace_access *into, size_t count);
    bool shares; /* its cores use the same memory */
};

extern const struct generate_kind *const generate_kinds[]; /* ends in NULL */
extern const struct generate_kind generate_stream, generate_random, generate_zipf, generate_producer,
    generate_false_sharing;

/* Where memory lies that `number` names and several cores share. */
uint64_t generate_shared(uint64_t number);

static inline uint64_t generate_instruction(const struct generator *generator)
{
    const struct generate_common *common = generator->spec;
    return generator->shift + generator->made * common->instructions;
}

/* Any word of the core's own memory. */
static inline uint64_t generate_anywhere(struct generator *generator)
{
    const struct generate_common *common = generator->spec;
    return generator->base + rng_below(&generator->rng, generator->words) * common->bytes;
}

#endif
