/* An agent: events meet lines, rows say what happens, and effects are carried out in time. */
#include "coherence/agent.h"
#include "base/text.h"
#include "net/network.h"

#include <string.h>

enum { SETTLE_MOST = 100000 };
enum { EVENT_SEND, EVENT_MEMORY, EVENT_CLIENT = AGENT_CLIENT_EVENT, EVENT_DONE };

static const struct coherence_spec *spec_of(const struct agent *agent)
{
    return &agent->coherence->spec;
}

static uint64_t line_of(const struct agent *agent, uint64_t address)
{
    return address / spec_of(agent)->line_bytes;
}

static uint8_t *word_at(const struct agent *agent, struct entry *entry, uint64_t address)
{
    return entry->data + address % spec_of(agent)->line_bytes / COHERENCE_WORD * COHERENCE_WORD;
}

static bool is_below(const struct agent *agent, unsigned kind)
{
    const struct coh_below *below = &spec_of(agent)->protocol->below;
    return spec_of(agent)->l1s &&
           (kind == below->get || kind == below->put || kind == below->data || kind == below->ack);
}

/* ---- sending ---- */

uint32_t agent_networks(const struct coherence_spec *spec)
{
    return spec->one_network ? 1 : COH_CLASS_COUNT + (spec->l1s > 0);
}

/* What an L2 does for its L1s waits for requests of its own: those of L1s have a network before all others.
 */
uint32_t agent_network_of(const struct coherence_spec *spec, unsigned kind)
{
    const struct coh_below *below = &spec->protocol->below;
    if (spec->one_network || (spec->l1s && (kind == below->get || kind == below->put)))
        return 0;
    return spec->protocol->kinds[kind].class + (spec->l1s > 0);
}

uint32_t agent_home_of(const struct agent *agent, uint64_t line)
{
    const struct coherence *coherence = agent->coherence;
    return agent->role == COH_L1 ? coherence->places.cpus
                                 : coherence->places.first_home + (uint32_t)(line % coherence->spec.homes);
}

static uint16_t packet_bytes(const struct agent *agent, const struct packet *packet)
{
    return (uint16_t)(offsetof(struct packet, data) + (packet->has_line ? spec_of(agent)->line_bytes : 0));
}

static void put_on_wire(struct component *self, const struct agent *agent, const struct packet *packet)
{
    struct port *port = component_port(self, 0);
    uint32_t wire = packet->has_line ? 8 + spec_of(agent)->line_bytes : packet->address ? 16 : 8;
    REQUIRE(port_send_sized(port, 1 - port_plug(port), 0, 0, packet, packet_bytes(agent, packet), wire));
}

void agent_send(struct agent *agent, struct packet *packet, uint32_t to, uint64_t delay_ps)
{
    struct agent_state *state = agent->state;
    state->counters.messages++;
    state->counters.data_messages += packet->has_line;
    packet->message.to = (uint8_t)to;
    packet->head = (struct net_head){
        .to = (uint16_t)to, .network = (uint8_t)agent_network_of(spec_of(agent), packet->message.kind)};
    /* As gem5's random tester: some are delayed a little, some much. Those of L1s stay in order. */
    if (spec_of(agent)->jitter && !is_below(agent, packet->message.kind)) {
        uint64_t link = spec_of(agent)->topology.latency_ps;
        delay_ps += rng_below(&state->rng, 4) * link / 4;
        if (rng_below(&state->rng, 8) == 0)
            delay_ps += 10 * link + rng_below(&state->rng, 16) * link / 4;
    }
    if (to == AGENT_MEMORY)
        delay_ps += agent->memory_latency_ps;
    component_schedule(agent->component, delay_ps, to == AGENT_MEMORY ? EVENT_MEMORY : EVENT_SEND, packet,
                       packet_bytes(agent, packet));
}

/* ---- operations ---- */

/* The client hears of it in an event of its own: it may then ask for more. */
static void tell_client(struct agent *agent, const struct coherence_op *op)
{
    component_schedule(agent->component, agent->latency_ps, EVENT_DONE, op, sizeof *op);
}

static void done(struct agent *agent, struct agent_waiting *waiting, struct entry *entry,
                 const uint64_t *found)
{
    const struct protocol *protocol = spec_of(agent)->protocol;
    if (agent->role != COH_GPU_L2) {
        struct coherence_op op = waiting->op;
        if (found)
            op.value = *found;
        tell_client(agent, &op);
        return;
    }
    bool is_load = waiting->op.op == COH_LOAD;
    unsigned kind = is_load ? protocol->below.data : protocol->below.ack;
    struct packet packet = {.message = {.kind = (uint8_t)kind,
                                        .from = (uint8_t)agent->id,
                                        .requester = waiting->whose,
                                        .count = protocol->kinds[kind].weight},
                            .line = entry->line,
                            .address = waiting->op.address,
                            .word = found ? *found : 0,
                            .has_line = is_load};
    if (is_load)
        memcpy(packet.data, entry->data, spec_of(agent)->line_bytes);
    agent_send(agent, &packet, waiting->whose, agent->latency_ps);
}

static void store_word(const struct agent *agent, struct entry *entry, uint64_t address, uint64_t value,
                       bool adds, uint64_t *before)
{
    uint8_t *word = word_at(agent, entry, address);
    memcpy(before, word, COHERENCE_WORD);
    uint64_t now = adds ? *before + value : value;
    memcpy(word, &now, COHERENCE_WORD);
}

/* Ends an operation if the effect serves it. `told` is what a message brought: the word that a write-through
 * found. */
static bool serve(struct agent *agent, struct entry *entry, const struct coh_effect *effect,
                  struct agent_waiting *waiting, const struct packet *told)
{
    uint64_t found = 0;
    bool is_load = waiting->op.op == COH_LOAD || waiting->op.op == COH_DMA_READ;
    if (is_load) {
        if (!effect->serves_load)
            return false;
        memcpy(&found, word_at(agent, entry, waiting->op.address), COHERENCE_WORD);
        done(agent, waiting, entry, &found);
        return true;
    }
    if (effect->serves_store)
        store_word(agent, entry, waiting->op.address, waiting->op.value, waiting->op.adds, &found);
    else if (!effect->done)
        return false;
    else if (told) /* it was written elsewhere */
        found = told->word;
    done(agent, waiting, entry, waiting->op.adds ? &found : NULL);
    return true;
}

static void send_all(struct agent *agent, const struct entry *entry, const struct coh_effect *effect,
                     const struct agent_waiting *store, const struct packet *answer_to, uint64_t found)
{
    const struct coherence_spec *spec = spec_of(agent);
    for (unsigned i = 0; i < effect->count; i++) {
        const struct coh_sending *sending = &effect->sends[i];
        struct packet packet = {.message = sending->message, .line = entry->line};
        bool has_data = spec->protocol->kinds[sending->message.kind].has_data;
        if (sending->of_store && store) {
            packet.address = store->op.address;
            packet.word = store->op.value;
            packet.adds = store->op.adds;
        } else if (has_data) {
            packet.has_line = true;
            memcpy(packet.data, entry->data, spec->line_bytes);
        } else if (effect->performs && answer_to) {
            packet.address = answer_to->address;
            packet.word = found;
        }
        uint64_t delay = agent->latency_ps;
        if (agent->role == COH_HOME && packet.has_line && !spec->protocol->memory_apart)
            delay += agent->memory_latency_ps;
        for (uint64_t left = sending->to; left; left &= left - 1)
            agent_send(agent, &packet, (uint32_t)__builtin_ctzll(left), delay);
    }
}

/* ---- events ---- */

static void settle(struct agent *agent, struct entry *entry);

/* One event at a line. The operation that it is, if it is one, or the message. Returns false if it waits. */
static bool meet(struct agent *agent, struct entry *entry, unsigned event, uint32_t own,
                 const struct packet *packet)
{
    const struct coherence_spec *spec = spec_of(agent);
    struct coh_place place = {.self = (uint8_t)agent->id,
                              .home = (uint8_t)agent_home_of(agent, entry->line),
                              .memory = AGENT_MEMORY,
                              .caches = (uint8_t)(spec->cpus + (spec->l1s > 0))};
    const struct coh_message *message = packet ? &packet->message : NULL;
    const struct coh_row *row = coh_row_of(&agent->controller, &entry->state, event, message);
    struct coh_effect effect;
    uint64_t found = 0;
    if (!row) {
        component_fail(agent->component, "protocol %s: %s of line %llu met state %s: there is no such row",
                       spec->protocol->name, coh_event_name(spec->protocol, event),
                       (unsigned long long)entry->line,
                       agent->controller.table->states[entry->state.state].name);
        return true;
    }
    coh_apply(&agent->controller, &place, row, &entry->state, message, &effect);
    if (effect.performs) {
        store_word(agent, entry, packet->address, packet->word, packet->adds, &found);
    } else if (effect.take && packet) {
        memcpy(entry->data, packet->data, spec->line_bytes);
    }
    const struct agent_waiting *store = own              ? waiting_at(agent, own)
                                        : entry->current ? waiting_at(agent, entry->current)
                                                         : NULL;
    struct agent_waiting kept;
    if (store) {
        kept = *store; /* `done` may use its place again */
        store = &kept;
    }
    bool is_served = false;
    if (entry->current && serve(agent, entry, &effect, waiting_at(agent, entry->current), packet)) {
        waiting_give(agent, entry->current);
        entry->current = 0;
    }
    if (own && !effect.stall) {
        is_served = serve(agent, entry, &effect, waiting_at(agent, own), NULL);
        if (is_served)
            waiting_give(agent, own);
        else if (entry->current) {
            component_fail(agent->component,
                           "protocol %s: state %s accepts a second operation while one waits",
                           spec->protocol->name, agent->controller.table->states[row->state].name);
            waiting_give(agent, own);
        } else
            entry->current = own;
        agent->state->counters.hits += is_served && !effect.count;
        agent->state->counters.misses += !(is_served && !effect.count);
    }
    send_all(agent, entry, &effect, store, packet, found);
    return !effect.stall;
}

/* Nothing is known of the line that must be kept. */
static bool is_idle(const struct entry *entry)
{
    return entry->state.state == 0 && !entry->state.awaited && !entry->current && !entry->first;
}

static void leave_way(struct agent *agent, struct entry *entry)
{
    if (entry->slot == AGENT_NOT_RESIDENT)
        return;
    agent_slots(agent)[entry->slot] = 0;
    tags_unpin(agent_tags(agent), entry->slot);
    tags_drop(agent_tags(agent), entry->slot);
    entry->slot = AGENT_NOT_RESIDENT;
}

static bool evict(struct agent *agent, struct entry *entry)
{
    if (entry->state.state != 0 && !meet(agent, entry, COH_EVICT, 0, NULL))
        return false;
    agent->state->counters.evictions++;
    leave_way(agent, entry);
    if (is_idle(entry))
        entry_free(agent, entry);
    return true;
}

/* A way for a line. Lines under way are pinned. */
static bool take_way(struct agent *agent, struct entry *entry)
{
    struct tags *tags = agent_tags(agent);
    if (!agent->slots || entry->slot != AGENT_NOT_RESIDENT)
        return true;
    uint32_t slot = tags_victim(tags, entry->line);
    if (slot == TAGS_NONE)
        return false;
    if (agent_slots(agent)[slot] && !evict(agent, entry_at(agent, agent_slots(agent)[slot])))
        return false;
    tags_fill(tags, slot, entry->line, TAGS_NORMAL);
    tags_pin(tags, slot);
    agent_slots(agent)[slot] = (uint32_t)(entry - entry_at(agent, 1)) + 1;
    entry->slot = slot;
    return true;
}

/* Whether what waits would bring the line here. */
static bool needs_way(const struct agent *agent, const struct agent_waiting *waiting)
{
    const struct coh_kind *kinds = spec_of(agent)->protocol->kinds;
    if (waiting->is_message)
        return agent->role == COH_HOME && kinds[waiting->packet.message.kind].class == COH_REQUEST;
    return waiting->op.op == COH_LOAD || (waiting->op.op == COH_STORE && agent->stores_allocate);
}

static bool has_way(struct agent *agent, struct entry *entry, const struct agent_waiting *waiting)
{
    bool has =
        !agent->slots || entry->state.state != 0 || !needs_way(agent, waiting) || take_way(agent, entry);
    if (entry->wants_way == has) {
        entry->wants_way = !has;
        agent->state->wanting += has ? UINT64_MAX : 1;
    }
    return has;
}

/* A copy engine waits until a home that is a cache has evicted the line. */
static void make_way_for_copies(struct agent *agent, struct entry *entry, const struct agent_waiting *waiting)
{
    bool is_copy = waiting->op.op == COH_DMA_READ || waiting->op.op == COH_DMA_WRITE;
    if (is_copy && agent->slots && entry->state.state != 0 && !entry->current &&
        coh_state_is(agent->controller.table, entry->state.state, COH_REST) &&
        meet(agent, entry, COH_EVICT, 0, NULL)) {
        agent->state->counters.evictions++;
        leave_way(agent, entry);
    }
}

static bool try_waiting(struct agent *agent, struct entry *entry, uint32_t number)
{
    struct agent_waiting *waiting = waiting_at(agent, number);
    if (!has_way(agent, entry, waiting))
        return false;
    if (!waiting->is_message) {
        make_way_for_copies(agent, entry, waiting);
        return meet(agent, entry, waiting->op.op, number, NULL);
    }
    if (!meet(agent, entry, coh_event_of(waiting->packet.message.kind), 0, &waiting->packet))
        return false;
    waiting_give(agent, number);
    return true;
}

/* Tries what waits, in order, until nothing changes any more. A line that is at rest and empty is forgotten.
 */
static void settle(struct agent *agent, struct entry *entry)
{
    bool changed = true;
    for (int passes = 0; changed; passes++) {
        changed = false;
        if (passes == SETTLE_MOST) {
            component_fail(agent->component,
                           "protocol %s: what waits at line %llu changes its state for ever",
                           spec_of(agent)->protocol->name, (unsigned long long)entry->line);
            return;
        }
        uint32_t before = 0;
        for (uint32_t at = entry->first; at;) {
            uint32_t next = waiting_at(agent, at)->next;
            uint8_t state = entry->state.state;
            bool went = try_waiting(agent, entry, at);
            changed |= entry->state.state != state;
            if (went) {
                changed = true;
                if (before)
                    waiting_at(agent, before)->next = next;
                else
                    entry->first = next;
                if (entry->last == at)
                    entry->last = before;
            } else
                before = at;
            at = next;
        }
    }
    if (entry->slot != AGENT_NOT_RESIDENT) {
        bool rests = coh_state_is(agent->controller.table, entry->state.state, COH_REST) && !entry->current;
        if (rests && !entry->first)
            tags_unpin(agent_tags(agent), entry->slot);
        else
            tags_pin(agent_tags(agent), entry->slot);
        if (rests)
            tags_touch(agent_tags(agent), entry->slot);
    }
    if (is_idle(entry))
        entry_free(agent, entry);
}

/* Whether an operation may ask for a line that is not here. */
static bool has_mshr(const struct agent *agent)
{
    uint32_t most = spec_of(agent)->mshrs, busy = 0;
    if (!most || agent->role == COH_HOME)
        return true;
    for (uint64_t i = 1; i <= agent->state->entries_used; i++) {
        const struct entry *entry = entry_at(agent, i);
        busy += entry->in_use && (entry->current || entry->first || entry->state.awaited);
    }
    return busy < most;
}

/* Something new for a line: it waits its turn behind what waits already, and is tried at once. */
static void arrive_at_line(struct agent *agent, uint64_t line, uint32_t number)
{
    struct agent_state *state = agent->state;
    struct entry *entry = entry_find(agent, line);
    if (!entry && (waiting_at(agent, number)->is_message || has_mshr(agent)))
        entry = entry_make(agent, line);
    if (!entry) { /* too many lines are under way */
        REQUIRE(!waiting_at(agent, number)->is_message || agent->role == COH_GPU_L2);
        waiting_at(agent, number)->next = 0;
        if (state->blocked_last)
            waiting_at(agent, state->blocked_last)->next = number;
        else
            state->blocked_first = number;
        state->blocked_last = number;
        return;
    }
    waiting_append(agent, entry, number);
    uint32_t waits = entry->first;
    settle(agent, entry);
    state->counters.waits += entry->in_use && entry->line == line && entry->first == waits && waits != 0;
}

/* Operations that found no room: those whose lines may have it now. */
static void retry_blocked(struct agent *agent)
{
    struct agent_state *state = agent->state;
    uint32_t number = (uint32_t)state->blocked_first;
    state->blocked_first = state->blocked_last = 0;
    while (number) {
        uint32_t next = waiting_at(agent, number)->next;
        const struct agent_waiting *waiting = waiting_at(agent, number);
        uint64_t line = waiting->is_message ? waiting->packet.line : line_of(agent, waiting->op.address);
        arrive_at_line(agent, line, number);
        struct entry *entry = state->released ? entry_find(agent, line) : NULL;
        if (entry) /* the operation came before the release */
            entry->releases = true;
        number = next;
    }
}

/* Lines of a full set wait for one that rests: after each change of another, they are tried. */
static void wake_neighbours(struct agent *agent)
{
    for (uint64_t i = 1; agent->state->wanting && i <= agent->state->entries_used; i++) {
        struct entry *entry = entry_at(agent, i);
        if (entry->in_use && entry->wants_way)
            settle(agent, entry);
    }
}

/* A release meets the lines that were here when it was asked for, behind what waits there. It is over when no
 * row makes it wait. */
static void finish_release(struct agent *agent)
{
    struct agent_state *state = agent->state;
    bool waits = state->blocked_first != 0; /* for lines that are yet to come */
    if (!state->released)
        return;
    for (uint64_t i = 1; i <= state->entries_used; i++) {
        struct entry *entry = entry_at(agent, i);
        if (!entry->in_use || !entry->releases)
            continue;
        entry->releases = entry->first || !meet(agent, entry, COH_RELEASE, 0, NULL);
        waits |= entry->releases;
        settle(agent, entry);
    }
    if (waits)
        return;
    tell_client(agent, &waiting_at(agent, state->released)->op);
    waiting_give(agent, (uint32_t)state->released);
    state->released = 0;
}

static void begin_release(struct agent *agent, const struct coherence_op *op)
{
    struct agent_state *state = agent->state;
    REQUIRE(!state->released);
    state->released = waiting_take(agent);
    waiting_at(agent, state->released)->op = *op;
    for (uint64_t i = 1; i <= state->entries_used; i++)
        entry_at(agent, i)->releases = entry_at(agent, i)->in_use;
    finish_release(agent);
}

static void acquire(struct agent *agent)
{
    for (uint64_t i = 1; i <= agent->state->entries_used; i++) {
        struct entry *entry = entry_at(agent, i);
        if (entry->in_use) {
            meet(agent, entry, COH_ACQUIRE, 0, NULL);
            settle(agent, entry);
        }
    }
}

/* Acquire and release meet every line of an L1; other caches are coherent without. */
static void fence(struct agent *agent, const struct coherence_op *op)
{
    if (agent->role == COH_L1 && op->op == COH_RELEASE) {
        begin_release(agent, op);
        return;
    }
    if (agent->role == COH_L1)
        acquire(agent);
    tell_client(agent, op);
}

/* ---- for clients ---- */

void agent_ask(struct agent *agent, const struct coherence_op *op)
{
    if (op->op == COH_ACQUIRE || op->op == COH_RELEASE) {
        fence(agent, op);
        return;
    }
    uint32_t number = waiting_take(agent);
    struct agent_waiting *waiting = waiting_at(agent, number);
    waiting->op = *op;
    waiting->whose = (uint8_t)agent->id;
    arrive_at_line(agent, line_of(agent, op->address), number);
}

void agent_later(struct agent *agent, uint64_t delay_ps, uint64_t what)
{
    component_schedule(agent->component, delay_ps, EVENT_CLIENT, &what, sizeof what);
}

uint64_t agent_now(const struct agent *agent)
{
    return component_now(agent->component);
}

uint32_t agent_id(const struct agent *agent)
{
    return agent->id;
}

void *agent_user(const struct agent *agent)
{
    return agent->user;
}

/* ---- the component ---- */

/* A message is here, and has the room of a virtual network (plus 1) until it is done with; 0: it did not come
 * by the network. What L1s ask of an L2 are operations there. */
static void take_packet(struct agent *agent, const struct packet *packet, uint32_t network)
{
    const struct coh_below *below = &spec_of(agent)->protocol->below;
    uint32_t number = waiting_take(agent);
    struct agent_waiting *waiting = waiting_at(agent, number);
    unsigned kind = packet->message.kind;
    waiting->network = (uint8_t)(spec_of(agent)->room ? network : 0);
    if (agent->role == COH_GPU_L2 && is_below(agent, kind)) {
        waiting->whose = packet->message.from;
        waiting->op = (struct coherence_op){
            .op = kind == below->get ? COH_LOAD : COH_STORE,
            .address = packet->address ? packet->address : packet->line * spec_of(agent)->line_bytes,
            .value = packet->word,
            .adds = packet->adds};
    } else {
        waiting->is_message = true;
        memcpy(&waiting->packet, packet, packet_bytes(agent, packet));
    }
    arrive_at_line(agent, packet->line, number);
    retry_blocked(agent);
    wake_neighbours(agent);
    finish_release(agent);
}

/* Memory behind a home that is a cache. */
static void memory_answers(struct agent *agent, const struct packet *request)
{
    const struct protocol *protocol = spec_of(agent)->protocol;
    uint8_t *memory = entry_memory(agent, request->line);
    bool is_read = request->message.kind == protocol->memory_read;
    struct packet answer = {.message = {.kind = is_read ? protocol->memory_data : protocol->memory_ack,
                                        .from = AGENT_MEMORY,
                                        .to = (uint8_t)agent->id,
                                        .requester = request->message.requester},
                            .line = request->line,
                            .has_line = is_read};
    if (is_read)
        memcpy(answer.data, memory, spec_of(agent)->line_bytes);
    else
        memcpy(memory, request->data, spec_of(agent)->line_bytes);
    take_packet(agent, &answer, 0);
}

static void agent_start(struct component *self, void *state)
{
    struct agent *agent = agent_of(self);
    agent->state = state;
    rng_init(&agent->state->rng, component_seed(self), component_name(self));
    agent_clear(agent);
    if (agent->client && agent->client->start)
        agent->client->start(agent, agent_client(agent));
}

static void agent_event(struct component *self, void *state, const struct event *event)
{
    struct agent *agent = agent_of(self);
    (void)state;
    if (event->kind == EVENT_CLIENT) {
        uint64_t what;
        memcpy(&what, event->payload, sizeof what);
        agent->client->event(agent, agent_client(agent), what);
        return;
    }
    if (event->kind == EVENT_DONE) {
        struct coherence_op op;
        memcpy(&op, event->payload, sizeof op);
        if (agent->client && agent->client->done)
            agent->client->done(agent, agent_client(agent), &op);
        return;
    }
    struct packet packet;
    memcpy(&packet, event->payload, event->bytes);
    if (event->kind == EVENT_MEMORY)
        memory_answers(agent, &packet);
    else
        put_on_wire(self, agent, &packet);
}

static void agent_arrive(struct component *self, void *state, struct port *port)
{
    struct packet packet;
    const struct event *event = port_head(port);
    (void)state;
    memcpy(&packet, event->payload, event->bytes);
    port_pop(port);
    take_packet(agent_of(self), &packet, packet.head.network + 1u);
}

/* When nothing happens any more: what waits? */
static bool agent_waits(const struct component *self, const void *state, struct text *text)
{
    const struct agent *agent = agent_of(self);
    (void)state;
    for (uint64_t i = 1; i <= agent->state->entries_used; i++) {
        const struct entry *entry = entry_at(agent, i);
        if (!entry->in_use || (!entry->current && !entry->first && !entry->state.awaited))
            continue;
        text_add(text, "line %llu in state %s", (unsigned long long)entry->line,
                 agent->controller.table->states[entry->state.state].name);
        return true;
    }
    return false;
}

const struct component_ops agent_ops = {
    .type = "agent",
    .start = agent_start,
    .event = agent_event,
    .arrive = agent_arrive,
    .waits = agent_waits,
    .archive = agent_archive,
};
