/* The GPU's own translation, which all SMs ask: entries of pages, and walks through tables for those that it
 * does not have. A page that is walked for has its entry at once; who asks for it waits until the walk's end.
 * Or the IOMMU of the host walks (tlb.walks_at); then the entry comes with its answer. */
#include "base/archive.h"
#include "base/mem.h"
#include "base/text.h"
#include "mem/memsys_parts.h"

enum { WALKERS_MOST = 64 };
enum { TRANSLATOR_SMS, TRANSLATOR_HOST };

struct translator_state {
    uint64_t walks; /* first */
    uint64_t walker_free_at[WALKERS_MOST];
};

/* An SM that waits for the IOMMU's walk. */
struct walk_waiter {
    uint64_t page; /* of the walk */
    uint64_t asked;
    uint32_t plug, unused;
};

struct translator {
    const struct memsys_shape *shape;
    struct walk_waiter *waiters; /* in the order they asked */
    size_t waiter_count, waiter_capacity;
    bool asks_host;
    uint64_t pages_together; /* of SMs, in one entry */
    uint64_t page_bytes;     /* of one entry */
    uint64_t walk_ps;
    uint32_t walkers;
    struct tlb entries; /* or none */
    uint64_t *ready_at; /* by slot */
};

/* When the next walk can be over. */
static uint64_t walk(const struct translator *translator, struct translator_state *state, uint64_t now)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < translator->walkers; i++)
        if (state->walker_free_at[i] < state->walker_free_at[first])
            first = i;
    state->walks++;
    return state->walker_free_at[first] = max_u64(state->walker_free_at[first], now) + translator->walk_ps;
}

/* When the entry of a page is there. */
static uint64_t find(struct translator *translator, struct translator_state *state, uint64_t page,
                     uint64_t now)
{
    uint32_t slot = tlb_look(&translator->entries, page);
    if (slot == TAGS_NONE) {
        slot = tlb_add(&translator->entries, page);
        translator->ready_at[slot] = walk(translator, state, now);
    }
    return translator->ready_at[slot];
}

/* An SM's question passes. */
static void tell_pass(const struct memsys_shape *shape, uint32_t plug, uint64_t page, uint64_t now,
                      bool is_walked_for)
{
    probe_tell(shape->probe, (struct probe_event){.kind = PROBE_TRANSLATION,
                                                  .phase = PROBE_PASSES,
                                                  .time_ps = now,
                                                  .id = page,
                                                  .gpu = shape->home,
                                                  .place = plug - 1, /* the translator has the first plug */
                                                  .stop = "tlb",
                                                  .what = is_walked_for ? "walk" : "hit"});
}

/* ---- walks of the IOMMU ---- */

static void ask_host(struct component *self, struct translator_state *state, struct translator *translator,
                     const struct walk_waiter *waiter)
{
    struct memsys_request request = {.line = waiter->page};
    bool is_asked = false;
    for (size_t i = 0; i < translator->waiter_count && !is_asked; i++)
        is_asked = translator->waiters[i].page == waiter->page;
    mem_grow(translator->waiters, translator->waiter_count, translator->waiter_capacity);
    translator->waiters[translator->waiter_count++] = *waiter;
    if (is_asked)
        return;
    state->walks++;
    REQUIRE(port_send(component_port(self, TRANSLATOR_HOST), 0, 0, MEM_WALK, &request, sizeof request));
}

static void host_walked(struct component *self, struct translator *translator, struct port *port)
{
    struct memsys_request walked;
    size_t left = 0;
    memcpy(&walked, port_head(port)->payload, sizeof walked);
    if (translator->ready_at && tlb_look(&translator->entries, walked.line) == TAGS_NONE)
        translator->ready_at[tlb_add(&translator->entries, walked.line)] = 0;
    for (size_t i = 0; i < translator->waiter_count; i++) {
        struct walk_waiter *one = &translator->waiters[i];
        struct translation known = {one->asked};
        if (one->page == walked.line)
            REQUIRE(port_send(component_port(self, TRANSLATOR_SMS), one->plug, 0, TRANSLATION_WANTED, &known,
                              sizeof known));
        else
            translator->waiters[left++] = *one;
    }
    translator->waiter_count = left;
    port_pop(port);
}

/* Whether the IOMMU must be asked for a page; it is then. */
static bool is_walked_at_host(struct component *self, struct translator_state *state, uint64_t page,
                              uint64_t asked, uint32_t plug)
{
    struct translator *translator = (struct translator *)(uintptr_t)component_spec(self);
    if (!translator->asks_host || (translator->ready_at && tlb_look(&translator->entries, page) != TAGS_NONE))
        return false;
    uint64_t walks = state->walks;
    ask_host(self, state, translator, &(struct walk_waiter){.page = page, .asked = asked, .plug = plug});
    if (probe_wants(translator->shape->probe, PROBE_TRANSLATION))
        tell_pass(translator->shape, plug, asked, component_now(self), state->walks > walks);
    return true;
}

static void shoot(struct translator *translator, struct port *port, const struct event *event)
{
    struct shootdown shot;
    memcpy(&shot, event->payload, sizeof shot);
    if (translator->ready_at)
        tlb_drop(&translator->entries, translator->page_bytes, &shot);
    REQUIRE(port_send(port, event->from, 0, TRANSLATION_DROPPED, &shot, sizeof shot));
}

static void translator_arrive(struct component *self, void *at, struct port *port)
{
    struct translator_state *state = at;
    struct translator *translator = (struct translator *)(uintptr_t)component_spec(self);
    const struct event *event = port_head(port);
    if (port_number(port) == TRANSLATOR_HOST) {
        host_walked(self, translator, port);
        return;
    }
    if (event->kind == TRANSLATION_SHOT) {
        shoot(translator, port, event);
        port_pop(port);
        return;
    }
    struct translation asked;
    memcpy(&asked, event->payload, sizeof asked);
    uint64_t now = component_now(self), page = asked.page / translator->pages_together;
    if (is_walked_at_host(self, state, page, asked.page, event->from)) {
        port_pop(port);
        return;
    }
    uint64_t walks = state->walks;
    uint64_t ready_at =
        translator->ready_at ? find(translator, state, page, now) : walk(translator, state, now);
    if (probe_wants(translator->shape->probe, PROBE_TRANSLATION))
        tell_pass(translator->shape, event->from, asked.page, now, state->walks > walks);
    uint64_t wait = ready_at > now ? ready_at - now : 0;
    REQUIRE(port_send(port, event->from, wait, 0, &asked, sizeof asked));
    port_pop(port);
}

static void translator_archive(struct component *self, void *state, struct archive *archive)
{
    struct translator *translator = (struct translator *)(uintptr_t)component_spec(self);
    const struct tags *tags = translator->entries.entries;
    (void)state;
    ARCHIVE_LIST(archive, translator->waiters, translator->waiter_count, translator->waiter_capacity);
    if (!tags)
        return;
    tlb_archive(&translator->entries, archive);
    archive_bytes(archive, translator->ready_at,
                  (size_t)tags->sets * tags->ways * sizeof *translator->ready_at);
}

static bool translator_waits(const struct component *self, const void *state, struct text *text)
{
    const struct translator *translator = component_spec(self);
    (void)state;
    if (translator->waiter_count)
        text_add(text, "the IOMMU's walks for %zu SMs", translator->waiter_count);
    return translator->waiter_count;
}

static const struct component_ops translator_ops = {.type = "translator",
                                                    .arrive = translator_arrive,
                                                    .waits = translator_waits,
                                                    .archive = translator_archive};

void translator_make(struct memsys *mem, const struct tlb_spec *spec, uint64_t sm_clock)
{
    char name[256];
    struct translator *translator = mem->translator = mem_alloc(1, sizeof *translator);
    double cycle_ps = 1e12 / (double)sm_clock;
    *translator = (struct translator){.shape = &mem->shape,
                                      .pages_together = spec->l2_page / spec->page,
                                      .page_bytes = spec->l2_page,
                                      .walk_ps = (uint64_t)((double)spec->walk_cycles * cycle_ps + 0.5),
                                      .walkers = (uint32_t)spec->walkers,
                                      .asks_host = spec->walks_at == TLB_WALKS_AT_HOST};
    if (spec->l2_entries) {
        tlb_init(&translator->entries, spec->l2_entries, spec->l2_ways);
        const struct tags *tags = translator->entries.entries;
        translator->ready_at = mem_alloc((size_t)tags->sets * tags->ways, sizeof *translator->ready_at);
    }
    snprintf(name, sizeof name, "%s.translations", mem->path);
    mem->translations = engine_link(
        mem->engine, name,
        &(struct link_spec){.latency_ps = (uint64_t)((double)spec->l2_cycles / 2 * cycle_ps + 0.5)});
    mem->walks = engine_component(mem->engine, engine_island(mem->engine, name), name, &translator_ops,
                                  translator, sizeof(struct translator_state),
                                  spec->walks_at == TLB_WALKS_AT_HOST ? "sms,host" : "sms");
}

struct port *translator_host_port(const struct memsys *mem)
{
    return mem->translator && mem->translator->asks_host ? component_port(mem->walks, TRANSLATOR_HOST) : NULL;
}

void translator_free(struct translator *translator)
{
    if (!translator)
        return;
    if (translator->ready_at)
        tlb_fini(&translator->entries);
    mem_free(translator->ready_at);
    mem_free(translator->waiters);
    mem_free(translator);
}
