/* Lines, and what waits for them: pools and a hash table in the component's state, without pointers. */
#include "coherence/agent.h"
#include "net/network.h"

#include <string.h>

static size_t after(size_t *at, size_t bytes)
{
    size_t here = (*at + 63) / 64 * 64;
    *at = here + bytes;
    return here;
}

static struct tags_spec tags_spec_of(const struct agent *agent)
{
    return (struct tags_spec){
        .sets = agent->sets, .ways = agent->ways, .policy = REPLACE_LRU, .hashed = false};
}

static uint64_t lines_of_memory(const struct agent *agent)
{
    const struct coherence_spec *spec = &agent->coherence->spec;
    return spec->memory_bytes / spec->line_bytes / spec->homes + 1;
}

void agent_layout(struct agent *agent)
{
    size_t at = sizeof(struct agent_state);
    struct tags_spec tags = tags_spec_of(agent);
    agent->slots = agent->sets * agent->ways;
    agent->buckets_at = after(&at, agent->buckets * sizeof(uint32_t));
    agent->entries_at = after(&at, agent->entry_count * sizeof(struct entry));
    agent->waitings_at = after(&at, agent->waiting_count * sizeof(struct agent_waiting));
    agent->tags_at = after(&at, agent->slots ? tags_bytes(&tags) : 0);
    agent->slots_at = after(&at, agent->slots * sizeof(uint32_t));
    agent->memory_at =
        after(&at, agent->has_memory ? lines_of_memory(agent) * agent->coherence->spec.line_bytes : 0);
    agent->client_at = after(&at, agent->client ? agent->client->state_bytes : 0);
    agent->state_bytes = at;
}

void agent_clear(struct agent *agent)
{
    struct tags_spec tags = tags_spec_of(agent);
    if (agent->slots)
        tags_init(agent_tags(agent), &tags);
}

static uint32_t bucket_of(const struct agent *agent, uint64_t line)
{
    return (uint32_t)((line * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (agent->buckets - 1);
}

struct entry *entry_find(const struct agent *agent, uint64_t line)
{
    for (uint32_t at = agent_buckets(agent)[bucket_of(agent, line)]; at; at = entry_at(agent, at)->next)
        if (entry_at(agent, at)->line == line)
            return entry_at(agent, at);
    return NULL;
}

struct entry *entry_make(struct agent *agent, uint64_t line)
{
    struct agent_state *state = agent->state;
    uint64_t number = state->free_entry;
    if (number)
        state->free_entry = entry_at(agent, number)->next;
    else if (state->entries_used < agent->entry_count)
        number = ++state->entries_used;
    else
        return NULL;
    struct entry *entry = entry_at(agent, number);
    memset(entry, 0, sizeof *entry);
    entry->line = line;
    entry->slot = AGENT_NOT_RESIDENT;
    entry->in_use = true;
    entry->state.owner = entry->state.noted = COH_NOBODY;
    uint32_t *bucket = &agent_buckets(agent)[bucket_of(agent, line)];
    entry->next = *bucket;
    *bucket = (uint32_t)number;
    if (agent->has_memory && !agent->coherence->spec.protocol->memory_apart)
        memcpy(entry->data, entry_memory(agent, line), agent->coherence->spec.line_bytes);
    return entry;
}

void entry_free(struct agent *agent, struct entry *entry)
{
    uint32_t number = (uint32_t)(entry - entry_at(agent, 1)) + 1;
    uint32_t *at = &agent_buckets(agent)[bucket_of(agent, entry->line)];
    while (*at != number)
        at = &entry_at(agent, *at)->next;
    *at = entry->next;
    if (agent->has_memory && !agent->coherence->spec.protocol->memory_apart)
        memcpy(entry_memory(agent, entry->line), entry->data, agent->coherence->spec.line_bytes);
    if (entry->slot != AGENT_NOT_RESIDENT) {
        agent_slots(agent)[entry->slot] = 0;
        tags_unpin(agent_tags(agent), entry->slot);
        tags_drop(agent_tags(agent), entry->slot);
    }
    agent->state->wanting -= entry->wants_way;
    entry->in_use = false;
    entry->next = (uint32_t)agent->state->free_entry;
    agent->state->free_entry = number;
}

uint8_t *entry_memory(const struct agent *agent, uint64_t line)
{
    const struct coherence_spec *spec = &agent->coherence->spec;
    uint64_t number = line / spec->homes;
    REQUIRE(number < lines_of_memory(agent));
    return (uint8_t *)agent->state + agent->memory_at + number * spec->line_bytes;
}

/* ---- what waits ---- */

uint32_t waiting_take(struct agent *agent)
{
    struct agent_state *state = agent->state;
    uint64_t number = state->free_waiting;
    if (number)
        state->free_waiting = waiting_at(agent, number)->next;
    else {
        REQUIRE(state->waitings_used < agent->waiting_count);
        number = ++state->waitings_used;
    }
    memset(waiting_at(agent, number), 0, sizeof(struct agent_waiting));
    return (uint32_t)number;
}

void waiting_give(struct agent *agent, uint32_t number)
{
    if (waiting_at(agent, number)->network)
        network_took(component_port(agent->component, 0), waiting_at(agent, number)->network - 1u);
    waiting_at(agent, number)->next = (uint32_t)agent->state->free_waiting;
    agent->state->free_waiting = number;
}

void waiting_append(struct agent *agent, struct entry *entry, uint32_t number)
{
    waiting_at(agent, number)->next = 0;
    if (entry->last)
        waiting_at(agent, entry->last)->next = number;
    else
        entry->first = number;
    entry->last = number;
}
