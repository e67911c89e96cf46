/* The SM as a component: it runs ahead from one event to the next, and sleeps while nothing can issue. */
#include "core/parts.h"
#include "base/mem.h"

#include <string.h>

struct sm_state { /* the engine's part of it */
    uint64_t cycle;
};

struct sm *sm_new(const struct sm_config *config, uint32_t number)
{
    const struct sm_spec *spec = config->spec;
    struct sm *sm = config->is_elsewhere ? mem_alloc(1, sizeof *sm) : mem_alloc_pages(1, sizeof *sm);
    sm->config = *config;
    sm->number = number;
    if (config->is_elsewhere)
        return sm;
    sm->turn_cycles = (uint32_t)spec->turn_cycles;
    sm->turn_issues = (uint32_t)spec->turn_issues;
    sm->overhead_bytes = memsys_overhead_bytes(config->mem);
    sm->memory_line = memsys_line_bytes(config->mem);
    sm->keeps_peers = memsys_keeps_peers(config->mem);
    sm->free_load = sm->free_writes = NO_SLOT;
    sm->load_capacity = LOADS_AT_FIRST;
    sm->loads = mem_alloc(sm->load_capacity, sizeof *sm->loads);
    clock_init(&sm->clock, config->clock_hz);
    sm_unit_costs(spec, sm->cost);
    sm->warps = mem_alloc_lines(sm_warp_count(sm), sizeof *sm->warps);
    sm_warp_crossings(sm);
    sm->blocks = mem_alloc(config->blocks + 1, sizeof *sm->blocks);
    l1_make(sm);
    fetch_make(sm);
    for (uint32_t s = 0; s < config->subcores; s++)
        sm->next_at[s] = UINT64_MAX;
    sm->translates = tlb_takes_time(config->tlb);
    if (config->tlb->l1_entries)
        tlb_init(&sm->tlb, config->tlb->l1_entries, config->tlb->l1_ways);
    return sm;
}

void sm_free(struct sm *sm)
{
    for (uint32_t i = 0; i < sm->kernels_made; i++)
        sm_end_kernel(sm, i);
    for (uint32_t i = 0; i < sm_warp_count(sm) && sm->warps; i++)
        mem_free(sm->warps[i].board);
    for (uint32_t i = 0; i < sm->load_count; i++)
        mem_free(sm->loads[i].pieces), mem_free(sm->loads[i].stage);
    if (!sm->config.is_elsewhere) {
        fetch_free(sm);
        cache_fini(&sm->l1);
    }
    mem_free(sm->loads);
    mem_free(sm->writes);
    if (sm->tlb.entries)
        tlb_fini(&sm->tlb);
    mem_free(sm->untranslated);
    mem_free(sm->outgoing);
    mem_free(sm->ending);
    mem_free(sm->blocks);
    mem_free(sm->warps);
    if (sm->config.is_elsewhere)
        mem_free(sm);
    else
        mem_free_pages(sm);
}

static uint64_t next_cycle(const struct sm *sm)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t s = 0; s < sm->config.subcores; s++)
        next = min_u64(next, sm->next_at[s]);
    return next;
}

/* That starts at a time or after it. */
static uint64_t first_cycle(const struct sm *sm, uint64_t time)
{
    return clock_cycle(&sm->clock, clock_edge(&sm->clock, time));
}

/* Since its last window, others have used the host's caches. */
static void bring_near(const struct sm *sm)
{
    for (uint32_t s = 0; s < sm->config.subcores; s++)
        for (uint32_t rest = sm->subcores[s].runnable; rest; rest &= rest - 1) {
            const char *w = (const char *)sm_warp_of(sm, s, (uint32_t)__builtin_ctz(rest));
            __builtin_prefetch(w);
            __builtin_prefetch(w + CACHE_LINE);
        }
}

/* From now to the first cycle that starts at `limit` or later. */
static void run(struct sm *sm, uint64_t limit)
{
    bring_near(sm);
    sm_schedule_fn *schedule = sm_schedule_policy(sm->config.spec->scheduler);
    uint64_t end = first_cycle(sm, limit);
    for (uint64_t next; (next = next_cycle(sm)) < end;) {
        sm->cycle = max_u64(sm->cycle, next);
        for (uint32_t s = 0; s < sm->config.subcores; s++)
            if (sm->next_at[s] <= sm->cycle)
                subcore_issue(sm, s, schedule);
    }
}

/* An event belongs to the first cycle that starts at its time or after it. */
static void catch_up(struct sm *sm)
{
    sm->cycle = max_u64(sm->cycle, first_cycle(sm, component_now(sm->component)));
}

static void sleep_until_due(struct sm *sm)
{
    uint64_t next = next_cycle(sm);
    if (next != UINT64_MAX)
        component_wake(sm->component, max_u64(sm_time(sm, next), component_now(sm->component) + 1));
}

/* As of the cycle that it happened in: how far an SM runs ahead depends on who runs it. */
static void report_fault(struct sm *sm)
{
    struct sm_block_message report = {.kernel = UINT32_MAX};
    uint64_t at = sm_time(sm, sm->cycle), now = component_now(sm->component);
    for (uint32_t i = 0; i < SM_KERNELS; i++)
        if (sm->kernels[i].team && sm->kernels[i].team->fault.kind)
            report.kernel = i;
    REQUIRE(report.kernel != UINT32_MAX);
    sm_abandon(sm);
    if (!port_send(sm->reports, 0, at > now ? at - now : 0, SM_FAULT, &report, sizeof report))
        BUG("a report found no room");
}

static void wake(struct component *self, void *state)
{
    struct sm *sm = (struct sm *)(uintptr_t)component_spec(self);
    if (setjmp(sm->on_fault)) {
        report_fault(sm);
        return;
    }
    run(sm, component_horizon(self));
    ((struct sm_state *)state)->cycle = sm->cycle;
    sleep_until_due(sm);
}

static void arrive(struct component *self, void *state, struct port *port)
{
    struct sm *sm = (struct sm *)(uintptr_t)component_spec(self);
    (void)state;
    for (const struct event *event; UNLIKELY(sm->stopped) && (event = port_head(port)); port_pop(port))
        if (event->kind == TRANSLATION_SHOT && port == sm->translations)
            translation_shot(sm, event); /* who waits for that is not of this SM */
    if (setjmp(sm->on_fault)) {
        report_fault(sm);
        return;
    }
    catch_up(sm);
    for (const struct event *event; (event = port_head(port)); port_pop(port)) {
        if (port == sm->replies) {
            l1_reply(sm, event);
        } else if (port == sm->translations && event->kind == TRANSLATION_SHOT) {
            translation_shot(sm, event);
        } else if (port == sm->translations) {
            struct translation known;
            memcpy(&known, event->payload, sizeof known);
            translation_came(sm, known.page);
        } else if (port == sm->siblings) {
            siblings_told(sm, event);
        } else if (port == sm->cluster || port == sm->multicast) {
            dsm_arrive(sm, event);
        } else {
            struct sm_cluster_message order;
            REQUIRE(event->bytes <= sizeof order);
            memcpy(&order, event->payload, event->bytes);
            if (event->kind == SM_RELEASE)
                sm_kernel_release(sm, &order.block);
            else
                sm_block_begin(sm, &order.block, event->bytes > sizeof order.block ? order.sms : NULL);
        }
    }
    sleep_until_due(sm);
}

static void ready(struct component *self, void *state, struct port *port, uint32_t plug)
{
    struct sm *sm = (struct sm *)(uintptr_t)component_spec(self);
    (void)state, (void)port, (void)plug;
    if (UNLIKELY(sm->stopped))
        return;
    catch_up(sm);
    l1_send_waiting(sm);
    lsu_let_in(sm);
    sleep_until_due(sm);
}

bool sm_where(const struct sm *sm, uint32_t slot, struct text *text)
{
    for (uint32_t i = 0; i < sm->config.blocks; i++) {
        const struct sm_block *block = &sm->blocks[i];
        if (!block->exec || block->kernel != &sm->kernels[slot])
            continue;
        block->kernel->isa->describe(block->exec, text);
        return true;
    }
    return false;
}

/* All its warps wait: some may go on after all; or none ever will. */
static void unlock(struct sm *sm)
{
    bool some = false;
    for (uint32_t i = 0; i < sm->config.blocks; i++) {
        struct sm_block *block = &sm->blocks[i];
        if (block->exec && block->kernel->isa->force(block->exec)) {
            sm_block_wake_others(sm, block);
            some = true;
        }
    }
    for (uint32_t i = 0; i < sm->config.blocks && !some; i++)
        if (sm->blocks[i].exec && !sm_kernel_waits(sm, sm->blocks[i].kernel))
            sm->blocks[i].kernel->isa->deadlock(sm->blocks[i].exec);
}

static void event(struct component *self, void *state, const struct event *event)
{
    struct sm *sm = (struct sm *)(uintptr_t)component_spec(self);
    (void)state, (void)event;
    if (setjmp(sm->on_fault)) {
        report_fault(sm);
        return;
    }
    catch_up(sm);
    unlock(sm);
    sleep_until_due(sm);
}

const struct component_ops sm_ops = {.type = "sm",
                                     .wake = wake,
                                     .arrive = arrive,
                                     .ready = ready,
                                     .event = event,
                                     .archive = sm_archive,
                                     .runs_ahead = true};

struct component *sm_component(struct sm *sm, struct engine *engine, struct island *island, const char *name)
{
    sm->component =
        engine_component(engine, island, name, &sm_ops, sm, sizeof(struct sm_state),
                         "requests,replies,orders,reports,translations,siblings,cluster,multicast");
    sm->requests = component_port(sm->component, 0);
    sm->replies = component_port(sm->component, 1);
    sm->reports = component_port(sm->component, 3);
    sm->translations = component_port(sm->component, 4);
    sm->siblings = sm->config.siblings_ps ? component_port(sm->component, 5) : NULL;
    sm->cluster = sm->config.has_clusters ? component_port(sm->component, 6) : NULL;
    sm->multicast = sm->config.has_clusters ? component_port(sm->component, 7) : NULL;
    return sm->component;
}

bool sm_is_here(const struct sm *sm)
{
    return component_is_here(sm->component);
}

void sm_forget(struct sm *sm, uint64_t time)
{
    if (!sm_is_here(sm))
        return;
    cache_forget(&sm->l1, NULL);
    fetch_forget(sm, time);
}

void sm_forget_data(struct sm *sm, uint64_t time)
{
    if (!sm_is_here(sm))
        return;
    l1_forget(sm);
    fetch_forget_constants(sm, time);
}

/* Not a part of sm_warp_issue, which is for all instructions. */
void __attribute__((noinline)) sm_forget_data_now(struct sm *sm)
{
    sm_forget_data(sm, sm_time(sm, sm->cycle));
}

void sm_forget_places(struct sm *sm)
{
    if (sm_is_here(sm))
        sm->last_block = (struct space_block){0};
}

struct sm_kernel *sm_kernel(struct sm *sm, uint32_t slot)
{
    return &sm->kernels[slot];
}

void sm_count_kernel(struct sm *sm, uint32_t slot)
{
    struct sm_counters *counters = &sm->kernels[slot].counters;
    sm_kernel_account(sm, &sm->kernels[slot]);
    counters->issue_cycles = counters->stalls[STALL_selected] = counters->instructions;
    counters->thread_instructions_on = 0;
    for (uint32_t on = 0; on < COUNT_OF(counters->lanes_active); on++)
        counters->thread_instructions_on += on * counters->lanes_active[on];
}

void sm_end_kernel(struct sm *sm, uint32_t slot)
{
    struct sm_kernel *kernel = &sm->kernels[slot];
    sm->released &= ~(UINT32_C(1) << slot);
    if (!kernel->team)
        return;
    team_free(kernel->team);
    mem_free(kernel->profile);
    mem_free(kernel->printed);
    text_fini(&kernel->text);
    *kernel = (struct sm_kernel){0};
}

void sm_abandon(struct sm *sm)
{
    for (uint32_t i = 0; i < sm_warp_count(sm); i++)
        sm->warps[i].state = WARP_NONE;
    for (uint32_t s = 0; s < sm->config.subcores; s++) {
        sm->subcores[s].runnable = 0;
        sm->next_at[s] = UINT64_MAX;
    }
    sm_block_abandon_all(sm);
}

void sm_stop(struct sm *sm)
{
    if (!sm_is_here(sm))
        return;
    sm_abandon(sm);
    sm->stopped = true;
}

void sm_post_unlock(struct sm *sm, struct engine *engine, uint64_t time)
{
    if (sm->blocks_now)
        engine_post(engine, sm->component, time, 0, NULL, 0);
}
