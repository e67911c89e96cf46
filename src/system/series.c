#include "system/series.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/memsys.h"
#include "system/parts.h"

struct sampled {                /* a GPU */
    struct sm_counters ended;   /* of kernels that do not run any more */
    struct gpu_activity before; /* at the last sample */
};

struct sampled_link { /* at the last sample */
    uint64_t bytes[2], busy_ps[2];
    uint64_t over_ps[2]; /* a message counts when it begins: so much of the last one was still to come */
};

struct series {
    struct clock_domain clock;
    uint64_t cycles, count; /* of a sample; samples' times that have passed */
    uint64_t due_ps, last_ps;
    struct sampled *gpus;
    struct memsys_counters *members; /* at the last sample */
    struct sampled_link *links;      /* NULL before the first */
};

static void set_due(struct series *series)
{
    series->due_ps = clock_time(&series->clock, (series->count + 1) * series->cycles);
}

struct series *series_new(const struct local_machine *machine)
{
    if (!machine->options.series_cycles || machine->options.ranks)
        return NULL;
    struct series *series = mem_alloc(1, sizeof *series);
    series->cycles = machine->options.series_cycles;
    series->gpus = mem_alloc(machine->gpu_count, sizeof *series->gpus);
    series->members = mem_alloc(machine_homes(machine), sizeof *series->members);
    clock_init(&series->clock, machine->system->gpu.clock);
    set_due(series);
    return series;
}

void series_free(struct series *series)
{
    if (series) {
        mem_free(series->gpus);
        mem_free(series->members);
        mem_free(series->links);
    }
    mem_free(series);
}

uint64_t series_due(const struct series *series)
{
    return series ? series->due_ps : TIME_NEVER;
}

static void add(struct sm_counters *sum, const struct sm_counters *more)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)more;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

/* Each row is the difference of a counter to that of the last sample. */
static void fill(struct machine_sample *sample, const struct gpu_activity *now,
                 const struct gpu_activity *before)
{
#define C(name, counter) sample->name = now->counter - before->counter;
    SERIES_COUNTS(C)
#undef C
    sample->blocks = now->blocks;
    sample->warps = now->warps;
}

static void tell_part(const struct local_machine *machine, const struct machine_part_sample *sample)
{
    machine->options.sample_part(machine->options.sample_user, sample);
}

static void take_pages(struct local_machine *machine, uint64_t time_ps, uint32_t number)
{
    struct memsys_counters now, *before = &machine->series->members[number];
    struct machine_part_sample sample = {.time_ps = time_ps, .part = MACHINE_PAGES, .number = number};
    uint64_t any = 0;
    memsys_count(machine_home_mem(machine, number), &now);
#define C(name) any |= sample.name = now.name - before->name;
    PAGE_COUNTS(C)
#undef C
    *before = now;
    if (any)
        tell_part(machine, &sample);
}

static void take_link(struct local_machine *machine, uint64_t time_ps, uint32_t number,
                      const struct machine_link *now)
{
    struct sampled_link *before = &machine->series->links[number];
    struct machine_part_sample sample = {.time_ps = time_ps, .part = MACHINE_LINK, .number = number};
    uint64_t span_ps = time_ps - machine->series->last_ps, any = 0;
    for (int back = 0; back < 2; back++) {
        uint64_t busy_ps = now->busy_ps[back] - before->busy_ps[back] + before->over_ps[back];
        any |= sample.bytes[back] = now->bytes[back] - before->bytes[back];
        any |= sample.busy_ps[back] = min_u64(busy_ps, span_ps);
        before->bytes[back] = now->bytes[back];
        before->busy_ps[back] = now->busy_ps[back];
        before->over_ps[back] = busy_ps - sample.busy_ps[back];
    }
    if (any)
        tell_part(machine, &sample);
}

static void take_links(struct local_machine *machine, uint64_t time_ps)
{
    struct series *series = machine->series;
    size_t count = machine_links(&machine->base, NULL, 0);
    struct machine_link *now = mem_alloc(count + 1, sizeof *now);
    if (!series->links)
        series->links = mem_alloc(count + 1, sizeof *series->links);
    machine_links(&machine->base, now, count);
    for (size_t i = 0; i < count; i++)
        take_link(machine, time_ps, (uint32_t)i, &now[i]);
    mem_free(now);
}

static void take(struct local_machine *machine, uint64_t time_ps)
{
    struct series *series = machine->series;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct sampled *gpu = &series->gpus[i];
        struct machine_sample sample = {.time_ps = time_ps, .span_ps = time_ps - series->last_ps, .gpu = i};
        struct gpu_activity now;
        gpu_look_at_activity(machine->gpus[i].gpu, &now);
        add(&now.sm, &gpu->ended);
        fill(&sample, &now, &gpu->before);
        gpu->before = now;
        machine->options.sample(machine->options.sample_user, &sample);
    }
    for (uint32_t i = 0; i < machine_homes(machine); i++)
        take_pages(machine, time_ps, i);
    take_links(machine, time_ps);
    series->last_ps = time_ps;
}

/* Where nothing ran for several samples, one stands for them. */
void series_take(struct local_machine *machine)
{
    struct series *series = machine->series;
    if (!series || machine->now < series->due_ps)
        return;
    take(machine, series->due_ps);
    series->count = clock_cycle(&series->clock, machine->now) / series->cycles;
    uint64_t last_ps = clock_time(&series->clock, series->count * series->cycles);
    if (last_ps > series->due_ps)
        take(machine, last_ps);
    set_due(series);
}

void series_add_ended(struct local_machine *machine, uint32_t gpu, const struct gpu_kernel_stats *stats)
{
    if (machine->series)
        add(&machine->series->gpus[gpu].ended, &stats->sm);
}

void series_forget_memory(struct local_machine *machine)
{
    for (uint32_t i = 0; machine->series && i < machine->gpu_count; i++)
        machine->series->gpus[i].before.mem = (struct memsys_counters){0};
    for (uint32_t i = 0; machine->series && i < machine_homes(machine); i++)
        machine->series->members[i] = (struct memsys_counters){0};
}
