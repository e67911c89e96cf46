/* A GPU and its threads: each has a fixed set of SMs, or a part of one. All simulate the same launch, epoch
 * by epoch, and meet at its end. */
#include "relaxed/parts.h"

#include <stdarg.h>

enum { TIMED_EVERY = 16 }; /* of runs of a part, one in so many shows where time goes */

void relaxed_fail(struct relaxed *gpu, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&gpu->lock);
    if (!atomic_load(&gpu->failed))
        err_set(&gpu->why, "%s", text);
    atomic_store(&gpu->failed, true);
    pthread_mutex_unlock(&gpu->lock);
}

void relaxed_result_add(struct relaxed_result *sum, const struct relaxed_result *one)
{
    sum->cycles += one->cycles;
#define X(name, help) sum->counts.name += one->counts.name;
    RELAXED_COUNTS(X)
#undef X
    for (size_t i = 0; i < COUNT_OF(sum->counts.classes); i++)
        sum->counts.classes[i] += one->counts.classes[i];
    for (size_t i = 0; i < COUNT_OF(sum->counts.memories); i++)
        sum->counts.memories[i] += one->counts.memories[i];
    for (size_t i = 0; i < COUNT_OF(sum->counts.lanes); i++)
        sum->counts.lanes[i] += one->counts.lanes[i];
    sum->counts.ports.requests += one->counts.ports.requests;
    sum->counts.ports.shared += one->counts.ports.shared;
    sum->counts.ports.failed += one->counts.ports.failed;
    sum->counts.ports.late += one->counts.ports.late;
    sum->counts.ports.past += one->counts.ports.past;
    sum->counts.ports.beyond += one->counts.ports.beyond;
    sum->counts.ports.waited += one->counts.ports.waited;
    for (size_t i = 0; i < RELAXED_TIMES; i++)
        sum->seconds[i] += one->seconds[i];
    sum->phaser_waits += one->phaser_waits;
    sum->barrier_waits += one->barrier_waits;
    sum->epochs += one->epochs;
    sum->wall += one->wall;
}

/* ---- making it ---- */

static void sm_init(struct relaxed *gpu, uint32_t number, uint32_t parts)
{
    const struct relaxed_spec *spec = &gpu->spec;
    struct relaxed_sm *sm = &gpu->sms[number];
    bool shared = parts > 1;
    uint64_t epoch = gpu->options.epoch;
    sm->number = number;
    sm->parts = parts;
    relaxed_store_init(&sm->l1, &spec->l1, spec->l1.bytes, shared);
    for (uint32_t i = 0; i < COUNT_OF(sm->code); i++)
        relaxed_store_init(&sm->code[i], &spec->code[i + 1], spec->code[i + 1].bytes, shared);
    for (uint32_t i = 0; i < COUNT_OF(sm->constants); i++)
        relaxed_store_init(&sm->constants[i], &spec->constants[i], spec->constants[i].bytes, shared);
    for (uint32_t s = 0; s < spec->subcores; s++)
        relaxed_store_init(&sm->near_code[s], &spec->code[0], spec->code[0].bytes, shared);
    relaxed_port_init(&sm->requests, 1, epoch, shared ? RELAXED_THREADS : RELAXED_ONE_SM);
    relaxed_port_init(&sm->replies, 1, epoch, shared ? RELAXED_THREADS : RELAXED_ONE_SM);
    if (!shared)
        return;
    relaxed_port_init(&sm->pipeline, 1, epoch, RELAXED_THREADS);
    sm->issue = mem_alloc_lines(spec->subcores, sizeof *sm->issue);
    sm->units = mem_alloc_lines((size_t)spec->subcores * UNIT_COUNT, sizeof *sm->units);
    sm->common = mem_alloc_lines(UNIT_COUNT, sizeof *sm->common);
    for (uint32_t s = 0; s < spec->subcores; s++)
        relaxed_port_init(&sm->issue[s], spec->turn_issues, epoch, RELAXED_THREADS);
    for (uint32_t i = 0; i < spec->subcores * UNIT_COUNT; i++)
        relaxed_port_init(&sm->units[i], 1, epoch, RELAXED_THREADS);
    for (uint32_t i = 0; i < UNIT_COUNT; i++)
        relaxed_port_init(&sm->common[i], 1, epoch, RELAXED_THREADS);
}

static void each_sm_port(struct relaxed *gpu, struct relaxed_sm *sm,
                         void (*call)(struct relaxed_port *port, uint64_t start), uint64_t start)
{
    call(&sm->requests, start);
    call(&sm->replies, start);
    if (sm->parts == 1)
        return;
    call(&sm->pipeline, start);
    for (uint32_t s = 0; s < gpu->spec.subcores; s++)
        call(&sm->issue[s], start);
    for (uint32_t i = 0; i < gpu->spec.subcores * UNIT_COUNT; i++)
        call(&sm->units[i], start);
    for (uint32_t i = 0; i < UNIT_COUNT; i++)
        call(&sm->common[i], start);
}

static void fini_port(struct relaxed_port *port, uint64_t start)
{
    (void)start;
    relaxed_port_fini(port);
}

static void sm_fini(struct relaxed *gpu, struct relaxed_sm *sm)
{
    each_sm_port(gpu, sm, fini_port, 0);
    relaxed_store_fini(&sm->l1);
    for (uint32_t i = 0; i < COUNT_OF(sm->code); i++)
        relaxed_store_fini(&sm->code[i]);
    for (uint32_t i = 0; i < COUNT_OF(sm->constants); i++)
        relaxed_store_fini(&sm->constants[i]);
    for (uint32_t s = 0; s < gpu->spec.subcores; s++)
        relaxed_store_fini(&sm->near_code[s]);
    mem_free(sm->issue);
    mem_free(sm->units);
    mem_free(sm->common);
}

static void part_init(struct relaxed *gpu, uint32_t number, uint32_t sm, unsigned thread)
{
    struct relaxed_part *part = &gpu->parts[number];
    part->gpu = gpu;
    part->sm = &gpu->sms[sm];
    part->thread = &gpu->threads[thread];
    part->thread->parts[part->thread->part_count++] = part;
    part->warps = mem_alloc_lines((size_t)gpu->spec.subcores * RELAXED_SLOTS, sizeof *part->warps);
    part->wheel = mem_alloc_lines((size_t)WHEEL * gpu->spec.subcores, sizeof *part->wheel);
    part->request.of.width = (uint8_t)gpu->spec.lanes;
    size_t shared_ports = (size_t)gpu->spec.slices * (1 + gpu->spec.channels_per_slice);
    part->asker = (struct relaxed_asker){
        .counts = &part->counts, .carries = mem_alloc_lines(shared_ports, sizeof *part->asker.carries)};
    uint32_t stores = gpu->spec.stores / part->sm->parts;
    part->store_room = (uint32_t)min_u64(max_u64(stores, 1), RELAXED_STORES_MOST);
}

static void part_fini(struct relaxed *gpu, struct relaxed_part *part)
{
    for (uint32_t i = 0; i < gpu->spec.subcores * RELAXED_SLOTS; i++) {
        mem_free(part->warps[i].board);
        mem_free(part->warps[i].stream.contexts);
    }
    mem_free(part->warps);
    mem_free(part->wheel);
    mem_free(part->blocks);
    mem_free(part->request.pieces);
    mem_free(part->request.stage);
    mem_free(part->asker.carries);
}

/* A step is over for all threads. With the last one of an epoch, its columns are free. */
static void turn(void *user, uint64_t steps_over)
{
    struct relaxed *gpu = user;
    uint64_t start = steps_over * gpu->step;
    if (start % gpu->options.epoch)
        return;
    relaxed_memory_advance(&gpu->memory, start);
    for (uint32_t i = 0; i < gpu->spec.sms; i++)
        if (gpu->sms[i].parts > 1)
            each_sm_port(gpu, &gpu->sms[i], relaxed_port_advance, start);
}

static void *thread_main(void *user);

struct relaxed *relaxed_new(const struct relaxed_spec *spec, const struct relaxed_options *options)
{
    struct relaxed *gpu = mem_alloc_lines(1, sizeof *gpu);
    uint32_t sms = spec->sms, threads = options->threads;
    bool shares = threads > sms; /* several threads have parts of an SM */
    gpu->spec = *spec;
    gpu->options = *options;
    gpu->options.steps = options->steps ? options->steps : 1;
    gpu->step = options->epoch / gpu->options.steps;
    gpu->spins = threads <= host_cores() ? SPINS_OWN_CORE : SPINS_SHARED_CORE;
    pthread_mutex_init(&gpu->lock, NULL);
    gpu->part_count = shares ? threads : sms;
    gpu->sms = mem_alloc_lines(sms, sizeof *gpu->sms);
    gpu->parts = mem_alloc_lines(gpu->part_count, sizeof *gpu->parts);
    gpu->threads = mem_alloc_lines(threads, sizeof *gpu->threads);
    relaxed_memory_init(&gpu->memory, &gpu->spec, options->epoch,
                        threads == 1 ? RELAXED_ONE_THREAD : RELAXED_THREADS);
    unsigned ahead = 2 * gpu->options.steps - 1; /* clocks are never farther apart than two epochs */
    relaxed_phaser_init(&gpu->phaser, threads, options->no_phasers ? 0 : ahead, gpu->spins, turn, gpu);
    for (unsigned i = 0; i < threads; i++) {
        gpu->threads[i].gpu = gpu;
        gpu->threads[i].number = i;
        gpu->threads[i].parts = mem_alloc(gpu->part_count, sizeof *gpu->threads[i].parts);
    }
    for (uint32_t i = 0; i < sms; i++)
        sm_init(gpu, i, shares ? threads / sms + (i < threads % sms) : 1);
    for (uint32_t i = 0; i < gpu->part_count; i++)
        part_init(gpu, i, i % sms, i % threads);
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&gpu->threads[i].handle, NULL, thread_main, &gpu->threads[i]))
            BUG("no thread can be made");
    return gpu;
}

void relaxed_free(struct relaxed *gpu)
{
    if (!gpu)
        return;
    atomic_store(&gpu->quit, true);
    gate_set(&gpu->go, gate_number(&gpu->go) + 1);
    for (unsigned i = 1; i < gpu->options.threads; i++)
        pthread_join(gpu->threads[i].handle, NULL);
    for (uint32_t i = 0; i < gpu->part_count; i++)
        part_fini(gpu, &gpu->parts[i]);
    for (uint32_t i = 0; i < gpu->spec.sms; i++)
        sm_fini(gpu, &gpu->sms[i]);
    for (unsigned i = 0; i < gpu->options.threads; i++)
        mem_free(gpu->threads[i].parts);
    relaxed_phaser_fini(&gpu->phaser);
    relaxed_memory_fini(&gpu->memory);
    pthread_mutex_destroy(&gpu->lock);
    mem_free(gpu->parts);
    mem_free(gpu->sms);
    mem_free(gpu->threads);
    mem_free(gpu);
}

/* ---- a launch ---- */

static void part_begin(struct relaxed_part *part)
{
    const struct relaxed *gpu = part->gpu;
    const struct relaxed_kernel *kernel = &gpu->kernel;
    uint32_t parts = part->sm->parts, each = kernel->blocks_per_sm;
    uint32_t own = parts == 1 ? 0 : (uint32_t)(part->thread->number / gpu->spec.sms);
    part->clock = part->held_since = part->drained = kernel->base;
    part->resident = parts == 1 ? each : each / parts + (own < each % parts);
    if (part->block_capacity < part->resident) {
        mem_free(part->blocks);
        part->blocks = mem_alloc(part->resident, sizeof *part->blocks);
        part->block_capacity = part->resident;
    }
    if (part->block_capacity) /* else more threads share the SM than it holds blocks */
        memset(part->blocks, 0, part->block_capacity * sizeof *part->blocks);
    memset(part->last, 0, sizeof part->last); /* queues are empty: all warps of the last kernel have ended */
    part->next_subcore = part->warps_now = part->blocks_now = 0;
    part->next_block = part->next_start = part->ages = 0;
    memset(&part->counts, 0, sizeof part->counts);
    relaxed_begin_blocks(part);
}

/* A private SM's ports are its thread's own: it moves their windows itself. */
static void advance_own_ports(struct relaxed_part *part, uint64_t start)
{
    if (part->sm->parts == 1) {
        relaxed_port_advance(&part->sm->requests, start);
        relaxed_port_advance(&part->sm->replies, start);
    }
}

static bool run_part(struct relaxed_thread *thread, struct relaxed_part *part, uint64_t step)
{
    uint64_t cycles = thread->gpu->step;
    if (!part->blocks_now)
        return false;
    advance_own_ports(part, step * cycles);
    uint64_t began = host_ticks();
    part->timed = (step + part->sm->number) % TIMED_EVERY == 0;
    part->lap_at = began;
    bool left = relaxed_part_run(part, (step + 1) * cycles);
    uint64_t took = host_ticks() - began;
    thread->ticks += took;
    relaxed_lap(part, RELAXED_TIME_scheduling);
    return left;
}

static void run_launch(struct relaxed_thread *thread)
{
    struct relaxed *gpu = thread->gpu;
    uint64_t step = gpu->kernel.base / gpu->step;
    const _Atomic int *interrupt = gpu->options.interrupt;
    for (uint32_t i = 0; i < thread->part_count && !atomic_load(&gpu->failed); i++)
        part_begin(thread->parts[i]);
    for (;; step++) {
        uint64_t began = host_ticks();
        bool left = false;
        if (relaxed_phaser_must_wait(&gpu->phaser, step))
            itrace_reader_ahead(gpu->kernel.reader, gpu->kernel.number);
        if (relaxed_phaser_wait(&gpu->phaser, step)) {
            thread->phaser_waits++;
            thread->phaser_ticks += host_ticks() - began;
        }
        if (interrupt && atomic_load_explicit(interrupt, memory_order_relaxed))
            relaxed_fail(gpu, "interrupted");
        for (uint32_t i = 0; i < thread->part_count;
             i++) /* each is the first in its turn: it finds most free */
            left |= run_part(thread, thread->parts[(step + i) % thread->part_count], step);
        if (!left || atomic_load_explicit(&gpu->failed, memory_order_relaxed))
            break;
        relaxed_phaser_signal(&gpu->phaser, thread->number, step);
    }
    relaxed_phaser_leave(&gpu->phaser, thread->number);
}

/* The barrier at the end of a kernel. Once it has arrived, a thread touches nothing of the launch. */
static void arrive(struct relaxed_thread *thread)
{
    struct relaxed *gpu = thread->gpu;
    struct itrace_reader *reader = gpu->kernel.reader;
    size_t next = gpu->kernel.number + 1, launches = gpu->kernel.trace->launch_count;
    uint32_t before = gate_number(&gpu->ended);
    thread->arrived_at = host_ticks();
    if (atomic_fetch_add(&gpu->arrived, 1) + 1 == gpu->options.threads) {
        atomic_store(&gpu->arrived, 0);
        gpu->ended_at = thread->arrived_at;
        gate_set(&gpu->ended, before + 1);
        return;
    }
    if (next < launches)
        itrace_reader_ahead(reader, next);
    gate_wait(&gpu->ended, before, gpu->spins);
}

static void *thread_main(void *user)
{
    struct relaxed_thread *thread = user;
    for (uint32_t launch = 0;; launch++) {
        gate_wait(&thread->gpu->go, launch, thread->gpu->spins);
        if (atomic_load(&thread->gpu->quit))
            return NULL;
        run_launch(thread);
        arrive(thread);
    }
}

/* ---- the whole of it ---- */

static void kernel_begin(struct relaxed *gpu, struct itrace_reader *reader, size_t launch,
                         const struct relaxed_fit *fit)
{
    enum { PARAMS_APART = 1 << 16 };
    struct relaxed_kernel *kernel = &gpu->kernel;
    const struct itrace *trace = itrace_reader_trace(reader);
    const struct itrace_launch *of = &trace->launches[launch];
    uint64_t epoch = gpu->options.epoch, code_at = 0;
    *kernel = (struct relaxed_kernel){.reader = reader,
                                      .trace = trace,
                                      .launch = of,
                                      .of = &trace->kernels[of->kernel],
                                      .number = launch,
                                      .params_at = gpu->params++ * PARAMS_APART % (UINT64_C(1) << 40),
                                      .base = (gpu->clock + epoch - 1) / epoch * epoch,
                                      .blocks_per_sm = fit->blocks_per_sm};
    for (uint32_t i = 0; i < of->kernel; i++) /* kernels one behind the other */
        code_at += (trace->kernels[i].code_bytes + 4095) / 4096 * 4096;
    kernel->code_at = code_at;
    kernel->block_count = (uint64_t)of->grid[0] * of->grid[1] * of->grid[2];
    kernel->threads_per_block = of->block[0] * of->block[1] * of->block[2];
    kernel->warps_per_block = (kernel->threads_per_block + gpu->spec.lanes - 1) / gpu->spec.lanes;
    kernel->codes.count = kernel->of->code_count;
    kernel->codes.at = mem_alloc(kernel->codes.count, sizeof *kernel->codes.at);
    for (uint32_t i = 0; i < kernel->codes.count; i++)
        istream_code_init(&kernel->codes.at[i], &kernel->of->codes[i].code, &kernel->codes.context_count);
    relaxed_memory_restart(&gpu->memory, kernel->base);
    for (uint32_t i = 0; i < gpu->spec.sms; i++) {
        struct relaxed_sm *sm = &gpu->sms[i];
        each_sm_port(gpu, sm, relaxed_port_restart, kernel->base);
        relaxed_store_resize(&sm->l1, fit->l1_bytes, sm->parts > 1);
        for (uint32_t k = 0; k < COUNT_OF(sm->constants) && !gpu->spec.constants_kept; k++)
            if (sm->constants[k].tags)
                tags_drop_all(sm->constants[k].tags);
    }
    relaxed_phaser_start(&gpu->phaser, kernel->base / gpu->step);
}

/* Shares of the time in parts were measured in some of their runs. */
static void add_times(struct relaxed *gpu, double seconds_per_tick, struct relaxed_result *result)
{
    for (unsigned i = 0; i < gpu->options.threads; i++) {
        struct relaxed_thread *thread = &gpu->threads[i];
        uint64_t laps[RELAXED_TIMES] = {0}, all = 0;
        for (uint32_t k = 0; k < thread->part_count; k++)
            for (uint32_t share = 0; share < RELAXED_TIME_phaser; share++) {
                laps[share] += thread->parts[k]->laps[share];
                all += thread->parts[k]->laps[share];
                thread->parts[k]->laps[share] = 0;
            }
        for (uint32_t share = 0; share < RELAXED_TIME_phaser; share++)
            if (all)
                result->seconds[share] +=
                    (double)thread->ticks * seconds_per_tick * (double)laps[share] / (double)all;
        uint64_t waited = gpu->ended_at > thread->arrived_at ? gpu->ended_at - thread->arrived_at : 0;
        result->seconds[RELAXED_TIME_phaser] += (double)thread->phaser_ticks * seconds_per_tick;
        result->seconds[RELAXED_TIME_barrier] += (double)waited * seconds_per_tick;
        result->phaser_waits += thread->phaser_waits;
        result->barrier_waits += waited > 0;
        thread->ticks = thread->phaser_waits = thread->phaser_ticks = 0;
    }
}

static void kernel_end(struct relaxed *gpu, struct relaxed_result *result)
{
    uint64_t end = gpu->kernel.base;
    for (uint32_t i = 0; i < gpu->part_count; i++) {
        struct relaxed_part *part = &gpu->parts[i];
        struct relaxed_result own = {.counts = part->counts};
        relaxed_result_add(result, &own);
        end = max_u64(end, max_u64(part->clock, part->drained));
    }
    gpu->clock = end;
    result->cycles = end - gpu->kernel.base + gpu->spec.launch_cycles + gpu->spec.end_cycles;
    result->epochs = (end - gpu->kernel.base) / gpu->options.epoch + 1;
    for (uint32_t i = 0; i < gpu->kernel.codes.count; i++)
        istream_code_fini(&gpu->kernel.codes.at[i]);
    mem_free(gpu->kernel.codes.at);
}

bool relaxed_run(struct relaxed *gpu, struct itrace_reader *reader, size_t launch,
                 const struct relaxed_fit *fit, struct relaxed_result *result, struct err *err)
{
    *result = (struct relaxed_result){0};
    double began = host_seconds();
    uint64_t ticks = host_ticks();
    kernel_begin(gpu, reader, launch, fit);
    gate_set(&gpu->go, gate_number(&gpu->go) + 1);
    run_launch(&gpu->threads[0]);
    arrive(&gpu->threads[0]);
    kernel_end(gpu, result);
    result->wall = host_seconds() - began;
    add_times(gpu, result->wall / (double)(host_ticks() - ticks), result);
    return !atomic_load(&gpu->failed) || err_set(err, "%s", gpu->why.text);
}
