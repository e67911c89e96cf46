/* The accesses of a block as three streams of bytes, and back.
 *
 * An access is coded by a token, a byte that names a pattern: how much the instruction count grows, bytes,
 * whether it writes, and its address as a distance from one of eight slots, which hold the addresses of
 * earlier accesses. The distance is part of the pattern, or stored in the stream of deltas with a number of
 * bytes that the pattern states. The slot then holds this address. The patterns of a block are the most
 * frequent ones; the encoder is free to choose patterns and slots. An access without a pattern has the token
 * TRACE_RARE, and is stored in full in the third stream, after the patterns.
 *
 *   tokens   a byte of each access
 *   deltas   distances: little-endian, signed, of 1 to 8 bytes
 *   others   patterns: their number (a byte), then of each: step, form, slot, size (a byte), and for size 0
 *            its distance; then of each rare access: step, form, slot, distance
 *
 * step: instructions since the access before, or since first_instruction; form: bytes << 1 | writes; slot: a
 * byte, all slots are 0 at the beginning. Other numbers are varints of 7 bits a byte, distances there zigzag.
 */
#ifndef TRACE_CODEC_H
#define TRACE_CODEC_H

#include "trace/format.h"

enum {
    TRACE_PATTERNS_MOST = 255,
    TRACE_RARE = 255,
    TRACE_SLOTS = 8,
    TRACE_STEP_BITS = 32,        /* of a pattern; others are rare */
    TRACE_PATTERN_BYTES = 30,    /* at most */
    TRACE_RARE_BYTES = 24,       /* at most */
    TRACE_STREAM_PADDING = 1024, /* zeroes that the decoder may read behind deltas */
};

static inline size_t trace_stream_most(enum trace_stream stream)
{
    static const size_t most[TRACE_STREAMS] = {
        [TRACE_TOKENS] = TRACE_BLOCK_ACCESSES,
        [TRACE_DELTAS] = (size_t)TRACE_BLOCK_ACCESSES * 8,
        [TRACE_OTHERS] = 1 + (size_t)TRACE_PATTERNS_MOST * TRACE_PATTERN_BYTES +
                         (size_t)TRACE_BLOCK_ACCESSES * TRACE_RARE_BYTES,
    };
    return most[stream];
}

/* Of a block with its head. */
static inline size_t trace_block_most(void)
{
    size_t most = sizeof(struct trace_block_head);
    for (int i = 0; i < TRACE_STREAMS; i++)
        most += trace_stream_most((enum trace_stream)i);
    return most;
}

struct trace_streams { /* all zero in the beginning */
    uint8_t *at[TRACE_STREAMS];
    size_t bytes[TRACE_STREAMS], room[TRACE_STREAMS];
};

/* Makes room for so many bytes and the padding; what was there is gone. */
uint8_t *trace_streams_room(struct trace_streams *streams, enum trace_stream stream, size_t bytes);
void trace_streams_fini(struct trace_streams *streams);

struct trace_encoder;
struct trace_encoder *trace_encoder_new(void);
void trace_encoder_free(struct trace_encoder *encoder);

/* In order of instruction counts; 1 to TRACE_BLOCK_ACCESSES of them, of at least one byte each. The streams
 * get the room they need. */
void trace_encode(struct trace_encoder *encoder, const struct trace_access *accesses, uint32_t count,
                  struct trace_streams *streams);

/* NULL, or what is wrong with the streams. */
const char *trace_decode(const struct trace_streams *streams, uint64_t first_instruction, uint32_t count,
                         struct trace_access *into);

#endif
