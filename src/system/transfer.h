/* What a copy between the host and a GPU takes beside its link: the driver's work, and that of its copy
 * engines. Pure.
 *
 * A copy takes one of three ways. Small ones from the host travel inside the command (inline). Pinned memory
 * is read and written by a DMA engine. Pageable memory is copied by the CPU from or to pinned buffers, chunk
 * by chunk, while the engine moves other chunks (staging).
 *
 * By default none of this takes time: a copy is its link's latency and its bytes. */
#ifndef SYSTEM_TRANSFER_H
#define SYSTEM_TRANSFER_H

#include "base/param.h"

#include <stdbool.h>

#define TRANSFER_PARAMS(P, S)                                                                                \
    P(S, time, submit, "0", "0..1s", "what the call of a copy takes the host, beside system.call_time")      \
    P(S, time, to_device_start, "0", "0..1s", "before a copy from the host begins: its engine gets ready")   \
    P(S, time, to_host_start, "0", "0..1s", "the same, of a copy to the host")                               \
    P(S, size, inline_pinned, "0B", "0..1GiB",                                                               \
      "copies of up to this many bytes of pinned memory to a GPU travel inside the command")                 \
    P(S, size, inline_pageable, "0B", "0..1GiB", "the same, of pageable memory")                             \
    P(S, time, inline_start, "0", "0..1s", "before such a copy begins, instead of to_device_start")          \
    P(S, rate, inline_write, "0", "0|1MB/s..", "the host writes such bytes into the command; 0: at once")    \
    P(S, rate, inline_read, "0", "0|1MB/s..", "the GPU takes them from there; 0: as fast as the link is")    \
    P(S, size, to_device_chunk, "0B", "0..1GiB",                                                             \
      "pageable memory is staged in pieces of this many bytes; 0: it is like pinned memory")                 \
    P(S, size, to_host_chunk, "0B", "0..1GiB", "the same, of copies to the host")                            \
    P(S, time, chunk_time, "0", "0..1s", "what each piece takes the driver, beside copying it")              \
    P(S, rate, to_device_memcpy, "0", "0|1MB/s..", "the CPU copies to the buffer; 0: at once")               \
    P(S, rate, to_device_memcpy_far, "0", "0|1MB/s..",                                                       \
      "the same, of what its cache does not hold; 0: as to_device_memcpy")                                   \
    P(S, size, cached, "0B", "0..1TiB", "its cache holds this much of a copy's memory")                      \
    P(S, rate, to_host_memcpy, "0", "0|1MB/s..", "the CPU copies from the buffer; 0: at once")               \
    P(S, size, page, "0B", "0|64B..1GiB",                                                                    \
      "copies from and to the host go page by page: all of one is written before the next begins; 0: not")   \
    P(S, time, page_time, "0", "0..1s", "before each page but the first begins")

struct transfer_spec {
    TRANSFER_PARAMS(PARAM_FIELD, transfer_spec)
};

extern const struct param_group transfer_params;

struct transfer {
    uint64_t bytes;
    bool to_host, pageable; /* else to a GPU, and pinned */
};

/* What its call takes the host before the GPU is told of it. */
uint64_t transfer_call_ps(const struct transfer_spec *spec, const struct transfer *transfer);

/* From when its turn comes: until its first byte moves, and how fast its bytes move from then on, on a link
 * of this rate. */
struct transfer_pace {
    uint64_t start_ps, bytes_per_s;
};
struct transfer_pace transfer_pace(const struct transfer_spec *spec, const struct transfer *transfer,
                                   uint64_t link_bytes_per_s);

#endif
