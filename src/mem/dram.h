/* DRAM behind slices: its timing. mem/home.h has its contents. For this folder only.
 *
 * A model is a row of dram_models in its own file, selected by dram.model. */
#ifndef MEM_DRAM_H
#define MEM_DRAM_H

#include "mem/partition.h"

struct dram_model {
    const char *name;
    /* Of a channel that has room for so many reads; and its beginning, in zeroed memory. */
    size_t (*bytes)(const struct dram_spec *spec, uint32_t reads);
    void (*init)(const struct memsys_shape *shape, void *channel, uint32_t reads);
    /* Reads of sectors of the line at this place of the slice; EVENT_FILLED follows. */
    void (*read)(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors, uint32_t entry);
    /* Whether a write can be taken now; and one. When room comes back, partition.freed is set. */
    bool (*room)(const struct here *here, uint32_t slice, uint64_t index);
    void (*write)(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors);
    /* Sectors of a copy: they take their time of the channel, in which rows come one after the other, and
     * nothing else. Gives when they have passed. */
    uint64_t (*pass)(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors,
                     bool is_write);
    /* EVENT_DRAM with what the model scheduled. */
    void (*event)(const struct here *here, const void *payload);
};

extern const struct dram_model dram_banks, dram_simple, dram_fixed;

/* The island's channels: slice * channels_per_slice + channel of the slice. */
struct dram {
    uint64_t sector_fs; /* a channel takes to move one */
    uint64_t latency_ps;
    unsigned char *channels;
    size_t channel_bytes;
};

static inline void *dram_channel(const struct here *here, uint32_t number)
{
    return here->spec->dram->channels + number * here->spec->dram->channel_bytes;
}

/* The channel of a line, and its place among that channel's lines. */
static inline uint32_t dram_place(const struct memsys_shape *shape, uint32_t slice, uint64_t index,
                                  uint64_t *place)
{
    uint32_t channels = shape->channels_per_slice; /* a power of two */
    *place = index >> __builtin_ctz(channels);
    return slice * channels + (uint32_t)((index + *place) & (channels - 1));
}

static inline void dram_count(const struct here *here, uint32_t sectors, bool is_write)
{
    struct memsys_counters *count = &here->state->count;
    *(is_write ? &count->dram_bytes_written : &count->dram_bytes_read) += sector_count(sectors) * MEM_SECTOR;
}

/* EVENT_FILLED at `at`. */
static inline void dram_filled(const struct here *here, uint64_t at, uint32_t slice, uint32_t sectors,
                               uint32_t entry)
{
    struct filled filled = {.entry = entry, .slice = (uint8_t)slice, .sectors = (uint8_t)sectors};
    component_schedule(here->self, at - here->now, EVENT_FILLED, &filled, sizeof filled);
}

#endif
