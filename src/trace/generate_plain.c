/* stream: one word after the other; random: any word. */
#include "trace/generate.h"
#include "base/mem.h"

#include <inttypes.h>

/* ---- stream ---- */

#define STREAM(P, S)                                                                                         \
    GENERATE_COMMON(P, S)                                                                                    \
    P(S, size, stride, "8B", "0B..8GiB",                                                                     \
      "from an access to the next; at the end of the footprint it starts again")
struct generate_stream {
    STREAM(PARAM_FIELD, generate_stream)
};
PARAM_GROUP(stream_options, "stream", "one word after the other", generate_stream, STREAM);

static bool stream_begin(struct generator *generator, struct err *err)
{
    const struct generate_stream *spec = generator->spec;
    generator->state = mem_alloc(1, sizeof(uint64_t));
    return spec->stride < spec->footprint ||
           err_set(err, "stream: expected a stride below the footprint of %" PRIu64 " bytes",
                   spec->footprint);
}

static void stream_fill(struct generator *generator, struct trace_access *into, size_t count)
{
    const struct generate_stream *spec = generator->spec;
    const uint64_t stride = spec->stride, writes = generator->writes, end = generator->words * spec->bytes;
    uint64_t at = *(uint64_t *)generator->state;
    struct rng rng = generator->rng;
    for (size_t i = 0; i < count; i++, generator->made++) {
        into[i] = trace_access(generator->base + at, generate_instruction(generator), (uint32_t)spec->bytes,
                               rng_chance(&rng, writes));
        at += stride;
        at = at >= end ? at - end : at;
    }
    generator->rng = rng;
    *(uint64_t *)generator->state = at;
}

const struct generate_kind generate_stream = {&stream_options, stream_begin, stream_fill, false};

/* ---- random ---- */

PARAM_GROUP(random_options, "random", "any word of the footprint, evenly", generate_common, GENERATE_COMMON);

static void random_fill(struct generator *generator, struct trace_access *into, size_t count)
{
    const struct generate_common *spec = generator->spec;
    for (size_t i = 0; i < count; i++, generator->made++) {
        uint64_t address = generate_anywhere(generator);
        into[i] = trace_access(address, generate_instruction(generator), (uint32_t)spec->bytes,
                               rng_chance(&generator->rng, generator->writes));
    }
}

const struct generate_kind generate_random = {&random_options, NULL, random_fill, false};
