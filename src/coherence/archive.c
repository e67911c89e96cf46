/* An agent in checkpoints. Its state is plain data, which the engine copies; here it is checked: numbers in
 * it lead to entries, lists and rows. */
#include "base/archive.h"
#include "coherence/agent.h"

static bool entry_fits(const struct agent *agent, const struct entry *entry)
{
    const struct agent_state *state = agent->state;
    return entry->next <= agent->entry_count && entry->state.state < agent->controller.table->state_count &&
           (entry->slot == AGENT_NOT_RESIDENT || entry->slot < agent->slots) &&
           entry->current <= state->waitings_used && entry->first <= state->waitings_used &&
           entry->last <= state->waitings_used;
}

static bool waiting_fits(const struct agent *agent, const struct agent_waiting *waiting)
{
    const struct coherence *coherence = agent->coherence;
    return waiting->next <= agent->state->waitings_used && waiting->op.op < COH_OP_COUNT &&
           waiting->network <= agent_networks(&coherence->spec) && waiting->whose < coherence->places.count &&
           waiting->packet.message.kind < coherence->spec.protocol->kind_count;
}

static bool state_fits(const struct agent *agent)
{
    const struct agent_state *state = agent->state;
    bool good = state->entries_used <= agent->entry_count && state->waitings_used <= agent->waiting_count &&
                state->free_entry <= state->entries_used && state->free_waiting <= state->waitings_used &&
                state->blocked_first <= state->waitings_used && state->blocked_last <= state->waitings_used &&
                state->released <= state->waitings_used;
    for (uint32_t i = 0; i < agent->buckets && good; i++)
        good = agent_buckets(agent)[i] <= state->entries_used;
    for (uint32_t i = 0; i < agent->slots && good; i++)
        good = agent_slots(agent)[i] <= state->entries_used;
    for (uint64_t i = 1; good && i <= state->entries_used; i++)
        good = entry_fits(agent, entry_at(agent, i));
    for (uint64_t i = 1; good && i <= state->waitings_used; i++)
        good = waiting_fits(agent, waiting_at(agent, i));
    return good;
}

void agent_archive(struct component *self, void *state, struct archive *archive)
{
    struct agent *agent = agent_of(self);
    agent->state = state;
    archive_check(archive, state_fits(agent));
    if (archive->good && agent->client && agent->client->archive)
        agent->client->archive(agent, agent_client(agent), archive);
}
