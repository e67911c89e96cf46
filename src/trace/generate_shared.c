/* Cores that share memory: one behind the other in a buffer, or beside each other in lines. */
#include "trace/generate.h"

enum { LINE = 64 };

/* What cores have of their own leaves room for what they share in small caches, too. */
#define OWN "16KiB"

/* ---- producer-consumer ---- */

#define PRODUCER(P, S)                                                                                       \
    GENERATE_COMMON_OF(P, S, OWN)                                                                            \
    P(S, choice, shape, "pairs", "pairs|ring",                                                               \
      "pairs: every second core reads what the one before it wrote; ring: each writes for the next")         \
    P(S, count, ring, "4", "2..65536", "cores of a ring")                                                    \
    P(S, size, buffer, "16KiB", "64B..1GiB", "of a producer and its consumer; used round and round")         \
    P(S, size, lag, "4KiB", "0B..1GiB", "that a consumer is behind")                                         \
    P(S, real, shared, "0.5", "0..1",                                                                        \
      "share of accesses to buffers; others are to any word of the core's own memory")
struct generate_producer {
    PRODUCER(PARAM_FIELD, generate_producer)
};
enum { PAIRS, RING };
PARAM_GROUP(producer_options, "producer-consumer", "cores that read what others write", generate_producer,
            PRODUCER);

static bool producer_begin(struct generator *generator, struct err *err)
{
    const struct generate_producer *spec = generator->spec;
    if (spec->buffer < spec->bytes || spec->lag > spec->buffer)
        return err_set(err, "producer-consumer: expected a buffer of at least the lag and an access");
    if (spec->shape == PAIRS && generator->core % 2) /* a pair's consumer begins so much later */
        generator->shift = spec->lag / spec->bytes * spec->instructions;
    return true;
}

/* Which word of which buffer: of the one that it writes, or of that of the core before it. */
static uint64_t producer_address(const struct generator *generator, bool writes, uint64_t number)
{
    const struct generate_producer *spec = generator->spec;
    uint64_t words = spec->buffer / spec->bytes, lag = spec->lag / spec->bytes, owner = generator->core;
    if (spec->shape == PAIRS) {
        owner -= owner % 2;
    } else if (!writes) {
        uint64_t first = owner - owner % spec->ring, size = min_u64(spec->ring, generator->cores - first);
        owner = first + (owner - first + size - 1) % size;
        number += words - lag % words;
    }
    return generate_shared(owner) + number % words * spec->bytes;
}

static void producer_fill(struct generator *generator, struct trace_access *into, size_t count)
{
    const struct generate_producer *spec = generator->spec;
    const uint64_t shared = rng_share(spec->shared);
    for (size_t i = 0; i < count; i++, generator->made++) {
        bool writes = spec->shape == PAIRS ? generator->core % 2 == 0 : generator->made % 2 == 0;
        uint64_t number = spec->shape == PAIRS ? generator->made : generator->made / 2, address;
        if (rng_chance(&generator->rng, shared)) {
            address = producer_address(generator, writes, number);
        } else {
            address = generate_anywhere(generator);
            writes = rng_chance(&generator->rng, generator->writes);
        }
        into[i] = trace_access(address, generate_instruction(generator), (uint32_t)spec->bytes, writes);
    }
}

const struct generate_kind generate_producer = {&producer_options, producer_begin, producer_fill, true};

/* ---- false sharing ---- */

#define FALSE_SHARING(P, S)                                                                                  \
    GENERATE_COMMON_OF(P, S, OWN)                                                                            \
    P(S, count, lines, "16", "1..1000000", "of 64 bytes, in which each core has a word")                     \
    P(S, real, shared, "0.2", "0..1",                                                                        \
      "share of accesses to them; others are to any word of the core's own memory")
struct generate_false_sharing {
    FALSE_SHARING(PARAM_FIELD, generate_false_sharing)
};
PARAM_GROUP(false_sharing_options, "false-sharing", "cores that use words of their own in shared lines",
            generate_false_sharing, FALSE_SHARING);

static void false_sharing_fill(struct generator *generator, struct trace_access *into, size_t count)
{
    const struct generate_false_sharing *spec = generator->spec;
    const uint64_t shared = rng_share(spec->shared), words = LINE / spec->bytes;
    const uint64_t own = generate_shared(generator->core / words) + generator->core % words * spec->bytes;
    for (size_t i = 0; i < count; i++, generator->made++) {
        uint64_t address = rng_chance(&generator->rng, shared)
                               ? own + rng_below(&generator->rng, spec->lines) * LINE
                               : generate_anywhere(generator);
        into[i] = trace_access(address, generate_instruction(generator), (uint32_t)spec->bytes,
                               rng_chance(&generator->rng, generator->writes));
    }
}

const struct generate_kind generate_false_sharing = {&false_sharing_options, NULL, false_sharing_fill, true};
