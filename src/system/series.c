#include "system/series.h"
#include "base/mem.h"
#include "system/parts.h"

struct sampled {                /* a GPU */
    struct sm_counters ended;   /* of kernels that do not run any more */
    struct gpu_activity before; /* at the last sample */
};

struct series {
    struct clock_domain clock;
    uint64_t cycles, count; /* of a sample; samples' times that have passed */
    uint64_t due_ps, last_ps;
    struct sampled *gpus;
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
    clock_init(&series->clock, machine->system->gpu.clock);
    set_due(series);
    return series;
}

void series_free(struct series *series)
{
    if (series)
        mem_free(series->gpus);
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
}
