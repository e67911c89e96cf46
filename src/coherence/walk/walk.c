#include "coherence/walk/walk.h"
#include "base/bits.h"
#include "base/mem.h"
#include "coherence/walk/parts.h"

#include <string.h>

enum { MESSAGE_BYTES = 8, STORE_BYTES = 16, MEETINGS_MOST = 100000 };

static const struct stat_row walk_rows[] = {WALK_STATS(STAT_ROW, walk_counts)};
const struct stat_table walk_stats = {walk_rows, COUNT_OF(walk_rows)};

static enum coh_role role_of(const struct walk *walk, uint32_t agent)
{
    return agent < walk->spec.cpus ? COH_CACHE : agent < walk->caches ? COH_GPU_L2 : COH_HOME;
}

/* Of a line's states. */
static uint32_t place_of(const struct walk *walk, uint32_t agent)
{
    return agent < walk->caches ? agent : walk->caches;
}

static uint64_t bit_of(const struct walk *walk, uint32_t agent)
{
    return UINT64_C(1) << (agent == WALK_MEMORY ? WALK_MEMORY : place_of(walk, agent));
}

uint32_t walk_home_of(const struct walk *walk, uint64_t line)
{
    return walk->caches + (uint32_t)(line % walk->spec.homes);
}

static uint8_t flags_of(const struct walk *walk, const struct walk_line *line, uint32_t agent)
{
    return walk->controllers[role_of(walk, agent)].table->states[line->at[place_of(walk, agent)].state].flags;
}

static uint64_t latency_of(const struct walk *walk, uint32_t agent)
{
    const struct walk_spec *spec = &walk->spec;
    return agent < spec->cpus     ? spec->cpu.latency_ps
           : agent < walk->caches ? spec->gpu.latency_ps
                                  : spec->home.latency_ps;
}

/* ---- messages on their way ---- */

static void push(struct walk *walk, struct walk_message message)
{
    mem_grow(walk->queue, walk->queue_count, walk->queue_capacity);
    message.order = walk->order++;
    walk->queue[walk->queue_count++] = message;
}

/* The earliest; there are few. */
static struct walk_message pop(struct walk *walk)
{
    size_t first = 0;
    for (size_t i = 1; i < walk->queue_count; i++) {
        const struct walk_message *a = &walk->queue[i], *b = &walk->queue[first];
        if (a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->order < b->order))
            first = i;
    }
    struct walk_message message = walk->queue[first];
    walk->queue[first] = walk->queue[--walk->queue_count];
    return message;
}

static void send(struct walk *walk, struct walk_message message, uint32_t to, bool has_data, bool of_store)
{
    uint32_t from = message.message.from, bytes = (has_data   ? MESSAGE_BYTES + walk->spec.line_bytes
                                                   : of_store ? STORE_BYTES
                                                              : MESSAGE_BYTES);
    message.message.to = (uint8_t)to;
    walk->counts.messages++;
    walk->counts.data_messages += has_data;
    if (to != WALK_MEMORY)
        message.time_ps = walk_ways_pass(&walk->ways, from, to, bytes, message.time_ps, &walk->counts.hops);
    push(walk, message);
}

static void send_all(struct walk *walk, struct walk_line *line, uint32_t agent,
                     const struct coh_effect *effect, uint64_t now)
{
    const struct protocol *protocol = walk->spec.protocol;
    for (unsigned i = 0; i < effect->count; i++) {
        const struct coh_sending *sending = &effect->sends[i];
        bool has_data = protocol->kinds[sending->message.kind].has_data && !sending->of_store;
        struct walk_message message = {.time_ps = now + latency_of(walk, agent),
                                       .message = sending->message,
                                       .misses = (line->misses & bit_of(walk, agent)) != 0,
                                       .source = WALK_FROM_CACHE};
        if (has_data && agent >= walk->caches) {
            enum walk_from from = walk->fetched ? WALK_FROM_MEMORY : WALK_FROM_HOME;
            if (!protocol->memory_apart)
                message.time_ps = walk_memory_read(walk, agent, line->line, message.time_ps, &from);
            message.source = (uint8_t)from;
        }
        for (uint64_t left = sending->to; left; left &= left - 1)
            send(walk, message, (uint32_t)__builtin_ctzll(left), has_data, sending->of_store);
    }
}

/* Memory behind a home that is a cache. */
static void meet_memory(struct walk *walk, struct walk_line *line, const struct walk_message *asked)
{
    const struct protocol *protocol = walk->spec.protocol;
    uint32_t home = asked->message.from;
    bool is_read = asked->message.kind == protocol->memory_read;
    uint64_t memory = bit_of(walk, WALK_MEMORY);
    struct walk_message answer = {.time_ps = asked->time_ps,
                                  .message = {.kind = is_read ? protocol->memory_data : protocol->memory_ack,
                                              .from = WALK_MEMORY,
                                              .to = (uint8_t)home,
                                              .requester = asked->message.requester},
                                  .misses = (line->misses & memory) != 0};
    if (is_read) {
        enum walk_from from;
        answer.time_ps = walk_memory_read(walk, home, line->line, asked->time_ps, &from);
        walk->fetched = true;
    } else {
        line->misses = asked->misses ? line->misses | memory : line->misses & ~memory;
        walk_memory_write(walk, home, line->line, asked->time_ps);
    }
    push(walk, answer);
}

/* ---- events meet lines ---- */

/* A store at an agent's copy: all others miss it now. */
static void note_store(struct walk *walk, struct walk_line *line, uint32_t agent)
{
    line->misses |= ~bit_of(walk, agent);
}

/* What the access gets, if the effect serves it. */
static void serve(struct walk *walk, struct walk_line *line, const struct coh_effect *effect, uint64_t now)
{
    uint64_t own = bit_of(walk, walk->agent);
    bool loads = walk->op == COH_LOAD || walk->op == COH_DMA_READ;
    if (loads ? !effect->serves_load : !effect->serves_store && !effect->done)
        return;
    if (effect->serves_store && !loads) {
        if (!walk->performed)
            note_store(walk, line, walk->agent);
        else if (!walk->missed_before)
            line->misses &= ~own;
    }
    walk->waits = false;
    walk->reply.done_ps = now + latency_of(walk, walk->agent);
    walk->reply.stale = (loads || walk->reply.took) && line->misses & own;
    walk->counts.stale += walk->reply.stale;
}

static void tell_losses(struct walk *walk, const struct walk_line *line, uint32_t agent, uint8_t before)
{
    uint8_t now = flags_of(walk, line, agent);
    if (agent >= walk->spec.cpus || agent == walk->agent)
        return;
    bool gone = before & COH_READ && !(now & COH_READ), tamed = before & COH_WRITE && !(now & COH_WRITE);
    if (!gone && !tamed)
        return;
    walk->counts.probes++;
    walk->client.lose(walk->client.user, agent, line->line, gone);
}

static void take_data(struct walk *walk, struct walk_line *line, uint32_t agent,
                      const struct coh_effect *effect, const struct walk_message *message)
{
    uint64_t bit = bit_of(walk, agent);
    if (effect->performs) {
        walk->missed_before = (line->misses & bit_of(walk, walk->agent)) != 0;
        walk->performed = true;
        line->misses |= ~bit;
        walk_memory_write(walk, agent, line->line, message->time_ps);
        return;
    }
    line->misses = message->misses ? line->misses | bit : line->misses & ~bit;
    if (agent >= walk->caches && !walk->spec.protocol->memory_apart)
        walk_memory_write(walk, agent, line->line, message->time_ps);
    if (agent == walk->agent) {
        walk->reply.took = true;
        walk->reply.from = (enum walk_from)message->source;
        walk->counts.transfers += message->source == WALK_FROM_CACHE;
    }
}

static bool fail(struct walk *walk, const struct walk_line *line, uint32_t agent, unsigned event)
{
    const struct protocol *protocol = walk->spec.protocol;
    const struct coh_table *table = walk->controllers[role_of(walk, agent)].table;
    if (!*walk->failure.text)
        err_set(&walk->failure, "protocol %s: %s of line %llu met state %s of a %s: there is no such row",
                protocol->name, coh_event_name(protocol, event), (unsigned long long)line->line,
                table->states[line->at[place_of(walk, agent)].state].name, table->name);
    return true;
}

/* False: it waits. */
static bool meet(struct walk *walk, struct walk_line *line, uint32_t agent, unsigned event,
                 const struct walk_message *asked)
{
    const struct coh_controller *controller = &walk->controllers[role_of(walk, agent)];
    struct coh_place place = {.self = (uint8_t)agent,
                              .home = (uint8_t)walk_home_of(walk, line->line),
                              .memory = WALK_MEMORY,
                              .caches = (uint8_t)walk->caches};
    struct coh_line *state = &line->at[place_of(walk, agent)];
    const struct coh_message *message = asked->is_op ? NULL : &asked->message;
    const struct coh_row *row = coh_row_of(controller, state, event, message);
    struct coh_effect effect;
    uint8_t before = flags_of(walk, line, agent);
    if (!row)
        return fail(walk, line, agent, event);
    coh_apply(controller, &place, row, state, message, &effect);
    if (effect.take && message)
        take_data(walk, line, agent, &effect, asked);
    if (asked->is_op && !effect.stall && asked->op == walk->op && agent == walk->agent) {
        walk->waits = asked->op != COH_EVICT;
        walk->counts.hits += !effect.count;
    }
    if (walk->waits && agent == walk->agent)
        serve(walk, line, &effect, asked->time_ps);
    tell_losses(walk, line, agent, before);
    send_all(walk, line, agent, &effect, asked->time_ps);
    return !effect.stall;
}

/* A CPU writes a line that it alone has without telling: what comes must find it changed. */
static void learn_writes(struct walk *walk, struct walk_line *line, uint32_t agent, uint64_t now)
{
    struct walk_message store = {.time_ps = now, .is_op = true, .op = COH_STORE};
    if (!line->at[agent].dirty) {
        enum coh_op op = walk->op;
        walk->op = COH_NO_OP;
        meet(walk, line, agent, COH_STORE, &store);
        walk->op = op;
    }
    note_store(walk, line, agent);
}

static void deliver(struct walk *walk, struct walk_line *line, struct walk_message message)
{
    uint32_t agent = message.is_op ? walk->agent : message.message.to;
    if (agent == WALK_MEMORY) {
        meet_memory(walk, line, &message);
        return;
    }
    if (agent < walk->spec.cpus && agent != walk->agent && flags_of(walk, line, agent) & COH_WRITE &&
        walk->client.is_dirty(walk->client.user, agent, line->line))
        learn_writes(walk, line, agent, message.time_ps);
    unsigned event = message.is_op ? message.op : coh_event_of(message.message.kind);
    if (!meet(walk, line, agent, event, &message)) {
        mem_grow(walk->stalled, walk->stalled_count, walk->stalled_capacity);
        walk->stalled[walk->stalled_count++] = message;
        return;
    }
    for (size_t i = 0; i < walk->stalled_count;) { /* the line has changed there: what waits may go on */
        struct walk_message waiting = walk->stalled[i];
        uint32_t whose = waiting.is_op ? walk->agent : waiting.message.to;
        unsigned what = waiting.is_op ? waiting.op : coh_event_of(waiting.message.kind);
        waiting.time_ps = max_u64(waiting.time_ps, message.time_ps);
        if (whose != agent || !meet(walk, line, agent, what, &waiting)) {
            i++;
            continue;
        }
        walk->stalled_count--;
        memmove(&walk->stalled[i], &walk->stalled[i + 1], (walk->stalled_count - i) * sizeof *walk->stalled);
        i = 0;
    }
}

/* Memory has all of it. */
static void forget_if_idle(struct walk *walk, struct walk_line *line)
{
    uint64_t below =
        walk->spec.protocol->memory_apart ? bit_of(walk, WALK_MEMORY) : UINT64_C(1) << walk->caches;
    for (uint32_t i = 0; i <= walk->caches; i++)
        if (line->at[i].state || line->at[i].awaited)
            return;
    if (!(line->misses & below))
        walk_line_free(&walk->lines, line);
}

static struct walk_line *line_of(struct walk *walk, uint64_t number)
{
    struct walk_line *line = walk_line_find(&walk->lines, number);
    if (line)
        return line;
    line = walk_line_make(&walk->lines, number);
    for (uint32_t i = 0; i <= walk->caches; i++)
        line->at[i].owner = line->at[i].noted = COH_NOBODY;
    return line;
}

/* From the operation until all is at rest. */
static struct walk_reply follow(struct walk *walk, uint32_t agent, struct walk_line *line, enum coh_op op,
                                uint64_t time_ps)
{
    uint32_t meetings = 0;
    walk->agent = agent;
    walk->op = op;
    walk->waits = walk->performed = walk->missed_before = walk->fetched = false;
    walk->reply = (struct walk_reply){.done_ps = time_ps};
    push(walk, (struct walk_message){.time_ps = time_ps, .is_op = true, .op = (uint8_t)op});
    while (walk->queue_count && !*walk->failure.text && meetings++ < MEETINGS_MOST)
        deliver(walk, line, pop(walk));
    if ((walk->waits || walk->stalled_count || walk->queue_count) && !*walk->failure.text)
        err_set(&walk->failure, "protocol %s: %s of line %llu is never done", walk->spec.protocol->name,
                coh_event_name(walk->spec.protocol, op), (unsigned long long)line->line);
    walk->queue_count = walk->stalled_count = 0;
    walk->reply.may_write = flags_of(walk, line, agent) & COH_WRITE;
    return walk->reply;
}

/* ---- room ---- */

static struct tags *tags_of(const struct walk *walk, uint32_t agent)
{
    if (agent < walk->spec.cpus)
        return NULL;
    if (agent < walk->caches)
        return walk->gpu_tags[agent - walk->spec.cpus];
    return walk->spec.protocol->memory_apart ? walk->home_tags[agent - walk->caches] : NULL;
}

static void evict(struct walk *walk, uint32_t agent, uint64_t number, uint64_t time_ps)
{
    struct walk_line *line = walk_line_find(&walk->lines, number);
    if (!line)
        return;
    if (line->at[place_of(walk, agent)].state)
        follow(walk, agent, line, COH_EVICT, time_ps);
    forget_if_idle(walk, line);
}

/* What leaves does so beside the access: nobody waits for it. */
static void make_room(struct walk *walk, uint32_t agent, uint64_t line, uint64_t time_ps)
{
    struct tags *tags = tags_of(walk, agent);
    if (!tags)
        return;
    uint32_t slot = tags_find(tags, line);
    if (slot != TAGS_NONE) {
        tags_touch(tags, slot);
        return;
    }
    slot = tags_victim(tags, line);
    if (tags_holds(tags, slot)) {
        walk->counts.evictions++;
        evict(walk, agent, tags_line(tags, slot), time_ps);
    }
    tags_fill(tags, slot, line, TAGS_NORMAL);
}

static void drop_room(struct walk *walk, uint32_t agent, uint64_t line)
{
    struct tags *tags = tags_of(walk, agent);
    uint32_t slot = tags ? tags_find(tags, line) : TAGS_NONE;
    if (slot != TAGS_NONE)
        tags_drop(tags, slot);
}

/* ---- for callers ---- */

static bool is_copy(enum coh_op op)
{
    return op == COH_DMA_READ || op == COH_DMA_WRITE;
}

struct walk_reply walk_access(struct walk *walk, uint32_t agent, uint64_t line, enum coh_op op,
                              uint64_t time_ps)
{
    uint32_t home = walk_home_of(walk, line);
    if (is_copy(op)) { /* a home that is a cache gives the line up for it */
        if (tags_of(walk, home)) {
            evict(walk, home, line, time_ps);
            drop_room(walk, home, line);
        }
        walk->counts.copies_read += op == COH_DMA_READ;
        walk->counts.copies_written += op == COH_DMA_WRITE;
    } else {
        make_room(walk, agent, line, time_ps);
        make_room(walk, home, line, time_ps);
        walk->counts.accesses++;
    }
    struct walk_line *at = line_of(walk, line);
    struct walk_reply reply = follow(walk, agent, at, op, time_ps);
    if (op == COH_DMA_READ && !walk->spec.protocol->memory_apart) {
        enum walk_from from;
        reply.done_ps = walk_memory_read(walk, home, line, reply.done_ps, &from);
    }
    if (role_of(walk, agent) == COH_GPU_L2)
        reply.data = walk_copy(walk, agent, line);
    else if (is_copy(op))
        forget_if_idle(walk, at);
    return reply;
}

void walk_leave(struct walk *walk, uint32_t cpu, uint64_t line, bool dirty, uint64_t time_ps)
{
    struct walk_line *at = walk_line_find(&walk->lines, line);
    if (at && dirty && flags_of(walk, at, cpu) & COH_WRITE)
        learn_writes(walk, at, cpu, time_ps);
    evict(walk, cpu, line, time_ps);
}

void walk_leave_all(struct walk *walk, uint32_t agent, uint64_t time_ps)
{
    for (uint32_t i = 0; i < walk->lines.used; i++) {
        uint64_t line = walk_line_at(&walk->lines, i)->line;
        if (line != UINT64_MAX && walk_line_at(&walk->lines, i)->at[agent].state) {
            drop_room(walk, agent, line);
            evict(walk, agent, line, time_ps);
        }
    }
}

void *walk_copy(struct walk *walk, uint32_t gpu_agent, uint64_t line)
{
    struct walk_line *at = walk_line_find(&walk->lines, line);
    if (!at || !at->at[gpu_agent].state)
        return NULL;
    return (char *)&at->at[walk->caches + 1] + (size_t)(gpu_agent - walk->spec.cpus) * walk->spec.line_bytes;
}

bool walk_is_incoherent(const struct walk *walk)
{
    return walk->spec.protocol->is_incoherent;
}

const struct walk_counts *walk_counts(const struct walk *walk)
{
    return &walk->counts;
}

const char *walk_failure(const struct walk *walk)
{
    return walk->failure.text;
}

uint8_t walk_flags(const struct walk *walk, uint32_t agent, uint64_t line)
{
    const struct walk_line *at = walk_line_find(&walk->lines, line);
    return at ? flags_of(walk, at, agent) : walk->controllers[role_of(walk, agent)].table->states[0].flags;
}

/* ---- making ---- */

static bool check(const struct walk_spec *spec, struct err *err)
{
    if (spec->cpus + spec->gpus + spec->homes >= WALK_MEMORY || spec->gpus > 16)
        return err_set(err, "coherence: %u CPUs, %u GPUs and %u homes are too many (%d in all, 16 GPUs)",
                       spec->cpus, spec->gpus, spec->homes, WALK_MEMORY - 1);
    if (!spec->homes || !(spec->cpus + spec->gpus))
        return err_set(err, "coherence: a home and a cache are needed");
    if (spec->protocol->memory_apart && !spec->home.ways)
        return err_set(err, "coherence: protocol %s needs a cache at home (cpu.l3.on)", spec->protocol->name);
    return protocol_valid(spec->protocol, err);
}

static struct tags *tags_for(const struct walk_cache *cache)
{
    return cache->ways ? tags_new(&(struct tags_spec){
                             .sets = cache->sets, .ways = cache->ways, .policy = REPLACE_LRU})
                       : NULL;
}

/* Where a protocol knows no GPUs, their L2 is a cache as any other. */
static void init_controllers(struct walk *walk, const struct protocol *protocol)
{
    const struct coh_table *cache = protocol_table(protocol, COH_CACHE),
                           *gpu = protocol_table(protocol, COH_GPU_L2);
    coh_controller_init(&walk->controllers[COH_CACHE], protocol, cache);
    coh_controller_init(&walk->controllers[COH_GPU_L2], protocol, gpu ? gpu : cache);
    coh_controller_init(&walk->controllers[COH_HOME], protocol, protocol_table(protocol, COH_HOME));
}

struct walk *walk_new(const struct walk_spec *spec, const struct walk_client *client, struct err *err)
{
    if (!check(spec, err))
        return NULL;
    struct walk *walk = mem_alloc(1, sizeof *walk);
    struct net_graph graph;
    walk->spec = *spec;
    walk->client = *client;
    walk->caches = spec->cpus + spec->gpus;
    init_controllers(walk, spec->protocol);
    walk_lines_init(&walk->lines, sizeof(struct walk_line) + (walk->caches + 1) * sizeof(struct coh_line) +
                                      (size_t)spec->gpus * spec->line_bytes);
    for (uint32_t i = 0; i < spec->gpus; i++)
        walk->gpu_tags[i] = tags_for(&spec->gpu);
    for (uint32_t i = 0; i < spec->homes; i++)
        walk->home_tags[i] = tags_for(&spec->home);
    walk->memory_period_ps = walk_narrow_period(spec->memory_bytes_per_s);
    walk->memory = walk->memory_period_ps ? mem_alloc(1, sizeof *walk->memory) : NULL;
    topology_make(&spec->topology,
                  &(struct topology_agents){.count = walk->caches + spec->homes,
                                            .cpus = spec->cpus,
                                            .homes = spec->homes,
                                            .first_home = walk->caches},
                  &graph);
    bool good = walk_ways_init(&walk->ways, &graph, err);
    net_graph_fini(&graph);
    if (good)
        return walk;
    walk_free(walk);
    return NULL;
}

void walk_free(struct walk *walk)
{
    if (!walk)
        return;
    for (uint32_t i = 0; i < walk->spec.gpus; i++)
        tags_free(walk->gpu_tags[i]);
    for (uint32_t i = 0; i < walk->spec.homes; i++)
        tags_free(walk->home_tags[i]);
    walk_lines_fini(&walk->lines);
    walk_ways_fini(&walk->ways);
    mem_free(walk->memory);
    mem_free(walk->queue);
    mem_free(walk->stalled);
    mem_free(walk);
}
