/* Two simple models: fixed, where every access takes the same time; and simple, where a channel moves one
 * sector after the other. */
#include "mem/dram.h"

struct plain {
    uint64_t free_at, free_fs;
    uint32_t writes; /* under way */
};

static size_t plain_bytes(const struct dram_spec *spec, uint32_t reads)
{
    (void)spec, (void)reads;
    return sizeof(struct plain);
}

static void plain_init(const struct memsys_shape *shape, void *channel, uint32_t reads)
{
    (void)shape, (void)channel, (void)reads;
}

static void fixed_read(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors,
                       uint32_t entry)
{
    (void)index;
    dram_count(here, sectors, false);
    dram_filled(here, here->now + here->spec->dram->latency_ps, slice, sectors, entry);
}

static bool fixed_room(const struct here *here, uint32_t slice, uint64_t index)
{
    (void)here, (void)slice, (void)index;
    return true;
}

static void fixed_write(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors)
{
    (void)slice, (void)index;
    dram_count(here, sectors, true);
}

static uint64_t fixed_pass(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors,
                           bool is_write)
{
    (void)slice, (void)index;
    dram_count(here, sectors, is_write);
    return here->now;
}

const struct dram_model dram_fixed = {.name = "fixed",
                                      .bytes = plain_bytes,
                                      .init = plain_init,
                                      .read = fixed_read,
                                      .room = fixed_room,
                                      .write = fixed_write,
                                      .pass = fixed_pass};

/* When the sectors have passed. */
static uint64_t move(const struct here *here, struct plain *channel, uint32_t sectors)
{
    if (here->now > channel->free_at)
        *channel = (struct plain){.free_at = here->now, .writes = channel->writes};
    uint64_t takes = sector_count(sectors) * here->spec->dram->sector_fs;
    here->state->count.dram_busy_ps += takes / 1000;
    takes += channel->free_fs;
    channel->free_at += takes / 1000;
    channel->free_fs = takes % 1000;
    return channel->free_at;
}

static void simple_read(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors,
                        uint32_t entry)
{
    uint64_t place;
    struct plain *channel = dram_channel(here, dram_place(here->shape, slice, index, &place));
    dram_count(here, sectors, false);
    dram_filled(here, move(here, channel, sectors) + here->spec->dram->latency_ps, slice, sectors, entry);
}

static bool simple_room(const struct here *here, uint32_t slice, uint64_t index)
{
    uint64_t place;
    const struct plain *channel = dram_channel(here, dram_place(here->shape, slice, index, &place));
    return channel->writes < here->shape->dram_spec->writes;
}

static void simple_write(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors)
{
    uint64_t place;
    uint32_t number = dram_place(here->shape, slice, index, &place);
    struct plain *channel = dram_channel(here, number);
    dram_count(here, sectors, true);
    channel->writes++;
    component_schedule(here->self, move(here, channel, sectors) - here->now, EVENT_DRAM, &number,
                       sizeof number);
}

static uint64_t simple_pass(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors,
                            bool is_write)
{
    uint64_t place;
    struct plain *channel = dram_channel(here, dram_place(here->shape, slice, index, &place));
    dram_count(here, sectors, is_write);
    return move(here, channel, sectors);
}

/* A write has passed. */
static void simple_event(const struct here *here, const void *payload)
{
    uint32_t number;
    memcpy(&number, payload, sizeof number);
    ((struct plain *)dram_channel(here, number))->writes--;
    here->state->freed = true;
}

const struct dram_model dram_simple = {.name = "simple",
                                       .bytes = plain_bytes,
                                       .init = plain_init,
                                       .read = simple_read,
                                       .room = simple_room,
                                       .write = simple_write,
                                       .pass = simple_pass,
                                       .event = simple_event};
