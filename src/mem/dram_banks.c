/* DRAM with banks and rows: a channel opens rows, moves data, and turns between reading and writing.
 *
 * Nothing ticks. When the bus is not reserved far enough ahead, the channel chooses a request: among the
 * oldest few, the one whose data can be on the bus first (so an open row wins). Its commands are assigned
 * times, which the bank, bank group and bus remember. */
#include "mem/dram.h"

enum { BANKS_MOST = 64, GROUPS_MOST = 8, PATIENCE = 64 };

struct request {
    uint32_t row;
    uint32_t entry; /* of a read: the miss it is for */
    uint8_t bank, slice, sectors, unused;
};

/* A ring, by age. */
struct queue {
    uint32_t first, count;
    uint32_t mask;     /* its size, a power of two, less one */
    uint32_t begin_at; /* where it begins among the channel's requests */
};

struct bank {
    uint32_t row;          /* that is open, plus one; or 0 */
    uint64_t column_at;    /* when a column command may come */
    uint64_t precharge_at; /* when the row may be closed */
    uint64_t activate_at;  /* when, closed, the next may be opened */
};

struct channel {
    struct queue reads, writes;
    uint32_t passed_over; /* times in a row that the oldest was not chosen */
    bool is_writing, is_scheduled;
    uint32_t row_shift, bank_shift; /* lines of a row, and banks, by their logarithms */
    uint64_t refresh_at;            /* the next one */
    uint64_t bus_free_at, bus_fs;
    uint64_t write_ended_at;
    uint32_t write_group;
    uint32_t activations;     /* so far, for: */
    uint64_t activated_at[4]; /* the last four, by number modulo 4 */
    uint64_t group_activated_at[GROUPS_MOST], group_column_at[GROUPS_MOST];
    struct bank banks[BANKS_MOST];
    struct request requests[];
};

static uint32_t ring_size(uint64_t count)
{
    uint32_t size = 1;
    while (size < count)
        size *= 2;
    return size;
}

static size_t banks_bytes(const struct dram_spec *spec, uint32_t reads)
{
    return sizeof(struct channel) + (ring_size(reads) + ring_size(spec->writes)) * sizeof(struct request);
}

static void banks_init(const struct memsys_shape *shape, void *state, uint32_t reads)
{
    struct channel *channel = state;
    REQUIRE(shape->times.groups <= GROUPS_MOST && shape->times.groups * shape->times.banks <= BANKS_MOST);
    channel->reads.mask = ring_size(reads) - 1;
    channel->writes.mask = ring_size(shape->dram_spec->writes) - 1;
    channel->writes.begin_at = channel->reads.mask + 1;
    channel->row_shift = (uint32_t)__builtin_ctz(shape->times.row_bytes >> shape->line_shift);
    channel->bank_shift = (uint32_t)__builtin_ctz(shape->times.groups * shape->times.banks);
    channel->refresh_at = shape->times.refi;
}

/* The request that is the n-th oldest. */
static struct request *request_at(struct channel *channel, const struct queue *queue, uint32_t n)
{
    return &channel->requests[queue->begin_at + ((queue->first + n) & queue->mask)];
}

static void take_out(struct channel *channel, struct queue *queue, uint32_t n)
{
    for (; n; n--)
        *request_at(channel, queue, n) = *request_at(channel, queue, n - 1);
    queue->first++;
    queue->count--;
}

/* ---- when ---- */

struct plan {
    uint64_t activate_at; /* 0: the row is open */
    uint64_t column_at, data_at;
};

static struct plan plan(const struct here *here, const struct channel *channel, const struct request *request,
                        bool is_write)
{
    const struct dram_times *timing = &here->shape->times;
    const struct bank *bank = &channel->banks[request->bank];
    uint32_t group = request->bank & (timing->groups - 1);
    struct plan plan = {.column_at = max_u64(here->now, channel->group_column_at[group])};
    if (bank->row == request->row + 1) {
        plan.column_at = max_u64(plan.column_at, bank->column_at);
    } else {
        uint64_t at = max_u64(here->now, bank->activate_at);
        if (bank->row)
            at = max_u64(at, max_u64(here->now, bank->precharge_at) + timing->rp);
        at = max_u64(at, channel->group_activated_at[group] + timing->rrd_l);
        at = max_u64(at, channel->activated_at[(channel->activations + 3) % 4] + timing->rrd_s);
        plan.activate_at = max_u64(at, channel->activated_at[channel->activations % 4] + timing->faw);
        plan.column_at =
            max_u64(plan.column_at, plan.activate_at + (is_write ? timing->rcd_write : timing->rcd_read));
    }
    if (!is_write) {
        uint64_t turn = group == channel->write_group ? timing->wtr_l : timing->wtr_s;
        plan.column_at = max_u64(plan.column_at, channel->write_ended_at + turn);
    }
    plan.data_at = plan.column_at + (is_write ? timing->cwl : timing->cl);
    uint64_t bus = channel->bus_free_at + (is_write != channel->is_writing && is_write ? timing->rtw : 0);
    plan.data_at = max_u64(plan.data_at, bus);
    return plan;
}

/* Gives the commands their times; returns when the last of the data has passed. */
static uint64_t commit(const struct here *here, struct channel *channel, const struct request *request,
                       const struct plan *plan, bool is_write)
{
    const struct dram_times *timing = &here->shape->times;
    struct bank *bank = &channel->banks[request->bank];
    uint32_t group = request->bank & (timing->groups - 1), sectors = sector_count(request->sectors);
    struct memsys_counters *count = &here->state->count;
    if (plan->activate_at) {
        channel->activated_at[channel->activations++ % 4] = plan->activate_at;
        channel->group_activated_at[group] = plan->activate_at;
        bank->row = request->row + 1;
        bank->precharge_at = plan->activate_at + timing->ras;
        bank->column_at = plan->activate_at + timing->rcd_read;
        count->dram_row_misses++;
    } else {
        count->dram_row_hits++;
    }
    uint64_t column_at = plan->data_at - (is_write ? timing->cwl : timing->cl);
    uint64_t last_column_at = column_at + (sectors - 1) * timing->ccd_l;
    channel->group_column_at[group] = column_at + sectors * timing->ccd_l;
    if (plan->data_at > channel->bus_free_at)
        channel->bus_fs = 0;
    uint64_t takes = sectors * here->spec->dram->sector_fs + channel->bus_fs;
    count->dram_busy_ps += takes / 1000;
    channel->bus_free_at = plan->data_at + takes / 1000; /* other groups' data goes between this one's */
    channel->bus_fs = takes % 1000;
    uint64_t ends_at = max_u64(channel->bus_free_at, last_column_at + plan->data_at - column_at +
                                                         here->spec->dram->sector_fs / 1000);
    if (is_write) {
        channel->write_ended_at = ends_at;
        channel->write_group = group;
        bank->precharge_at = max_u64(bank->precharge_at, ends_at + timing->wr);
        count->dram_bytes_written += sectors * (uint64_t)MEM_SECTOR;
    } else {
        bank->precharge_at = max_u64(bank->precharge_at, last_column_at + timing->rtp);
        count->dram_bytes_read += sectors * (uint64_t)MEM_SECTOR;
    }
    channel->is_writing = is_write;
    return ends_at;
}

/* Refreshes that are due, of all banks at once. Of those long past only the last one is felt. */
static void refresh(const struct here *here, struct channel *channel)
{
    const struct dram_times *timing = &here->shape->times;
    if (here->now < channel->refresh_at)
        return;
    uint64_t due = (here->now - channel->refresh_at) / timing->refi + 1;
    uint64_t last = channel->refresh_at + (due - 1) * timing->refi;
    here->state->count.dram_refreshes += due;
    channel->refresh_at = last + timing->refi;
    for (uint32_t i = 0; i < timing->groups * timing->banks; i++) {
        struct bank *bank = &channel->banks[i];
        uint64_t starts = bank->row ? max_u64(last, bank->precharge_at) + timing->rp : last;
        bank->activate_at = max_u64(bank->activate_at, starts + timing->rfc);
        bank->row = 0;
    }
}

/* ---- what ---- */

/* Chooses one and gives it its time. */
static void serve(const struct here *here, struct channel *channel, struct queue *queue, bool is_write)
{
    struct plan best = {.data_at = TIME_NEVER};
    uint64_t lookout = channel->passed_over < PATIENCE ? here->shape->dram_spec->lookout : 1;
    uint32_t chosen = 0, count = (uint32_t)min_u64(queue->count, lookout);
    for (uint32_t n = 0; n < count; n++) {
        struct plan this = plan(here, channel, request_at(channel, queue, n), is_write);
        if (this.data_at < best.data_at) {
            best = this;
            chosen = n;
            if (!best.activate_at && best.data_at <= channel->bus_free_at)
                break; /* none can be better */
        }
    }
    channel->passed_over = chosen ? channel->passed_over + 1 : 0;
    struct request request = *request_at(channel, queue, chosen);
    uint64_t ends_at = commit(here, channel, &request, &best, is_write);
    take_out(channel, queue, chosen);
    if (is_write)
        here->state->freed = true;
    else
        dram_filled(here, ends_at + here->spec->dram->latency_ps, request.slice, request.sectors,
                    request.entry);
}

/* Writes wait until there are many, or some and nothing else is to do; then there is a burst of them, as
 * turning costs more than a write. The last few may wait for ever: what they write is in memory already.
 */
static bool writes_are_next(const struct here *here, const struct channel *channel)
{
    const struct dram_spec *spec = here->shape->dram_spec;
    uint64_t count = channel->writes.count;
    if (channel->is_writing)
        return count > spec->writes_low;
    return count >= spec->writes_high ||
           (!channel->reads.count && count > (spec->writes_high + spec->writes_low) / 2);
}

static void work(const struct here *here, uint32_t number)
{
    const struct dram_times *timing = &here->shape->times;
    struct channel *channel = dram_channel(here, number);
    uint64_t ahead = timing->rp + timing->rcd_read + timing->cl; /* to open rows while data moves */
    const uint64_t more = 10000;                                 /* so that events are few */
    refresh(here, channel);
    bool writes = writes_are_next(here, channel);
    while ((writes || channel->reads.count) && channel->bus_free_at < here->now + ahead + more) {
        serve(here, channel, writes ? &channel->writes : &channel->reads, writes);
        writes = writes_are_next(here, channel);
    }
    channel->is_scheduled = writes || channel->reads.count;
    if (channel->is_scheduled)
        component_schedule(here->self, channel->bus_free_at - ahead - here->now, EVENT_DRAM, &number,
                           sizeof number);
}

static void put(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors, uint32_t entry,
                bool is_write)
{
    const struct dram_times *timing = &here->shape->times;
    uint64_t place;
    uint32_t number = dram_place(here->shape, slice, index, &place);
    struct channel *channel = dram_channel(here, number);
    uint32_t banks = timing->groups * timing->banks;
    uint64_t of_row = place >> channel->row_shift, row = of_row >> channel->bank_shift;
    struct queue *queue = is_write ? &channel->writes : &channel->reads;
    REQUIRE(queue->count <= queue->mask);
    *request_at(channel, queue, queue->count++) = (struct request){
        .row = (uint32_t)row,
        .entry = entry,
        .bank = (uint8_t)((of_row + row * 5 + (row >> channel->bank_shift) * 3) & (banks - 1)),
        .slice = (uint8_t)slice,
        .sectors = (uint8_t)sectors};
    if (!channel->is_scheduled)
        work(here, number);
}

static void banks_read(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors,
                       uint32_t entry)
{
    put(here, slice, index, sectors, entry, false);
}

static bool banks_room(const struct here *here, uint32_t slice, uint64_t index)
{
    uint64_t place;
    const struct channel *channel = dram_channel(here, dram_place(here->shape, slice, index, &place));
    return channel->writes.count < here->shape->dram_spec->writes;
}

static void banks_write(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors)
{
    put(here, slice, index, sectors, 0, true);
}

static uint64_t banks_pass(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors,
                           bool is_write)
{
    uint64_t place;
    struct channel *channel = dram_channel(here, dram_place(here->shape, slice, index, &place));
    if (here->now > channel->bus_free_at) {
        channel->bus_free_at = here->now;
        channel->bus_fs = 0;
    }
    uint64_t takes = sector_count(sectors) * here->spec->dram->sector_fs + channel->bus_fs;
    channel->bus_free_at += takes / 1000;
    channel->bus_fs = takes % 1000;
    here->state->count.dram_busy_ps += takes / 1000;
    dram_count(here, sectors, is_write);
    return channel->bus_free_at;
}

static void banks_event(const struct here *here, const void *payload)
{
    uint32_t number;
    memcpy(&number, payload, sizeof number);
    work(here, number);
}

const struct dram_model dram_banks = {.name = "banks",
                                      .bytes = banks_bytes,
                                      .init = banks_init,
                                      .read = banks_read,
                                      .room = banks_room,
                                      .write = banks_write,
                                      .pass = banks_pass,
                                      .event = banks_event};
