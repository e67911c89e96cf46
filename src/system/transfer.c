#include "system/transfer.h"
#include "base/bits.h"
#include "base/clock.h"

PARAM_GROUP(transfer_params, "copies", "copies between the host and GPUs: the driver and its engines",
            transfer_spec, TRANSFER_PARAMS, SHOWS_IN_TIME);

/* At no rate, no time. */
static uint64_t ps_at(uint64_t bytes, uint64_t bytes_per_s)
{
    return bytes_per_s ? (uint64_t)((unsigned __int128)bytes * PS_PER_SECOND / bytes_per_s) : 0;
}

static bool is_inline(const struct transfer_spec *spec, const struct transfer *transfer)
{
    return !transfer->to_host &&
           transfer->bytes <= (transfer->pageable ? spec->inline_pageable : spec->inline_pinned);
}

uint64_t transfer_call_ps(const struct transfer_spec *spec, const struct transfer *transfer)
{
    return spec->submit + (is_inline(spec, transfer) ? ps_at(transfer->bytes, spec->inline_write) : 0);
}

/* The CPU's time for bytes from here on of a copy to a GPU. */
static uint64_t stage_ps(const struct transfer_spec *spec, uint64_t first, uint64_t bytes)
{
    uint64_t near = first < spec->cached ? min_u64(spec->cached - first, bytes) : 0;
    uint64_t far = spec->to_device_memcpy_far ? spec->to_device_memcpy_far : spec->to_device_memcpy;
    return ps_at(near, spec->to_device_memcpy) + ps_at(bytes - near, far);
}

/* As many bytes in this time; no faster than the link. */
static uint64_t rate_of(uint64_t bytes, uint64_t ps, uint64_t link_bytes_per_s)
{
    if (!ps)
        return link_bytes_per_s;
    unsigned __int128 rate = (unsigned __int128)bytes * PS_PER_SECOND / ps;
    return rate < link_bytes_per_s ? max_u64((uint64_t)rate, 1) : link_bytes_per_s;
}

/* The engine begins when the first chunk is staged. The last one is on the link when all others are done. */
static struct transfer_pace stage_to_device(const struct transfer_spec *spec, uint64_t bytes, uint64_t link)
{
    uint64_t chunk = min_u64(bytes, spec->to_device_chunk), count = (bytes + chunk - 1) / chunk;
    uint64_t first = spec->chunk_time + stage_ps(spec, 0, chunk);
    uint64_t others = (count - 1) * spec->chunk_time + stage_ps(spec, chunk, bytes - chunk);
    return (struct transfer_pace){first + spec->to_device_start,
                                  rate_of(bytes, others + ps_at(chunk, link), link)};
}

/* The CPU begins when the first chunk is there. If it is slower than the link, it is never without one. */
static struct transfer_pace stage_to_host(const struct transfer_spec *spec, uint64_t bytes, uint64_t link)
{
    uint64_t chunk = min_u64(bytes, spec->to_host_chunk), count = (bytes + chunk - 1) / chunk;
    uint64_t staging = count * spec->chunk_time + ps_at(bytes, spec->to_host_memcpy);
    return (struct transfer_pace){spec->to_host_start, rate_of(bytes, ps_at(chunk, link) + staging, link)};
}

struct transfer_pace transfer_pace(const struct transfer_spec *spec, const struct transfer *transfer,
                                   uint64_t link_bytes_per_s)
{
    bool to_host = transfer->to_host;
    if (is_inline(spec, transfer))
        return (struct transfer_pace){spec->inline_start, spec->inline_read
                                                              ? min_u64(spec->inline_read, link_bytes_per_s)
                                                              : link_bytes_per_s};
    if (transfer->pageable && (to_host ? spec->to_host_chunk : spec->to_device_chunk))
        return (to_host ? stage_to_host : stage_to_device)(spec, transfer->bytes, link_bytes_per_s);
    return (struct transfer_pace){to_host ? spec->to_host_start : spec->to_device_start, link_bytes_per_s};
}
