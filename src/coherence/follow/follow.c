#include "coherence/follow/follow.h"
#include "base/bits.h"
#include "base/mem.h"
#include "coherence/follow/parts.h"

#include <string.h>

enum { MESSAGE_BYTES = 8, STORE_BYTES = 16, MEETINGS_MOST = 100000 };

static const struct stat_row follow_rows[] = {FOLLOW_STATS(STAT_ROW, follow_counts)};
const struct stat_table follow_stats = {follow_rows, COUNT_OF(follow_rows)};

static enum coh_role role_of(const struct follow *follow, uint32_t agent)
{
    return agent < follow->spec.cpus ? COH_CACHE : agent < follow->caches ? COH_GPU_L2 : COH_HOME;
}

/* Of a line's states. */
static uint32_t place_of(const struct follow *follow, uint32_t agent)
{
    return agent < follow->caches ? agent : follow->caches;
}

static uint64_t bit_of(const struct follow *follow, uint32_t agent)
{
    return UINT64_C(1) << (agent == FOLLOW_MEMORY ? FOLLOW_MEMORY : place_of(follow, agent));
}

uint32_t follow_home_of(const struct follow *follow, uint64_t line)
{
    return follow->caches + (uint32_t)(line % follow->spec.homes);
}

static uint8_t flags_of(const struct follow *follow, const struct follow_line *line, uint32_t agent)
{
    return follow->controllers[role_of(follow, agent)]
        .table->states[line->at[place_of(follow, agent)].state]
        .flags;
}

static uint64_t latency_of(const struct follow *follow, uint32_t agent)
{
    const struct follow_spec *spec = &follow->spec;
    return agent < spec->cpus       ? spec->cpu.latency_ps
           : agent < follow->caches ? spec->gpu.latency_ps
                                    : spec->home.latency_ps;
}

/* ---- messages on their way ---- */

static void push(struct follow *follow, struct follow_message message)
{
    mem_grow(follow->queue, follow->queue_count, follow->queue_capacity);
    message.order = follow->order++;
    follow->queue[follow->queue_count++] = message;
}

/* The earliest; there are few. */
static struct follow_message pop(struct follow *follow)
{
    size_t first = 0;
    for (size_t i = 1; i < follow->queue_count; i++) {
        const struct follow_message *a = &follow->queue[i], *b = &follow->queue[first];
        if (a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->order < b->order))
            first = i;
    }
    struct follow_message message = follow->queue[first];
    follow->queue[first] = follow->queue[--follow->queue_count];
    return message;
}

static void send(struct follow *follow, struct follow_message message, uint32_t to, bool has_data,
                 bool of_store)
{
    uint32_t from = message.message.from, bytes = (has_data   ? MESSAGE_BYTES + follow->spec.line_bytes
                                                   : of_store ? STORE_BYTES
                                                              : MESSAGE_BYTES);
    message.message.to = (uint8_t)to;
    follow->counts.messages++;
    follow->counts.data_messages += has_data;
    if (to != FOLLOW_MEMORY)
        message.time_ps =
            follow_ways_pass(&follow->ways, from, to, bytes, message.time_ps, &follow->counts.hops);
    push(follow, message);
}

static void send_all(struct follow *follow, struct follow_line *line, uint32_t agent,
                     const struct coh_effect *effect, uint64_t now)
{
    const struct protocol *protocol = follow->spec.protocol;
    for (unsigned i = 0; i < effect->count; i++) {
        const struct coh_sending *sending = &effect->sends[i];
        bool has_data = protocol->kinds[sending->message.kind].has_data && !sending->of_store;
        struct follow_message message = {.time_ps = now + latency_of(follow, agent),
                                         .message = sending->message,
                                         .misses = (line->misses & bit_of(follow, agent)) != 0,
                                         .source = FOLLOW_FROM_CACHE};
        if (has_data && agent >= follow->caches) {
            enum follow_from from = follow->fetched ? FOLLOW_FROM_MEMORY : FOLLOW_FROM_HOME;
            if (!protocol->memory_apart)
                message.time_ps = follow_memory_read(follow, agent, line->line, message.time_ps, &from);
            message.source = (uint8_t)from;
        }
        for (uint64_t left = sending->to; left; left &= left - 1)
            send(follow, message, (uint32_t)__builtin_ctzll(left), has_data, sending->of_store);
    }
}

/* Memory behind a home that is a cache. */
static void meet_memory(struct follow *follow, struct follow_line *line, const struct follow_message *asked)
{
    const struct protocol *protocol = follow->spec.protocol;
    uint32_t home = asked->message.from;
    bool is_read = asked->message.kind == protocol->memory_read;
    uint64_t memory = bit_of(follow, FOLLOW_MEMORY);
    struct follow_message answer = {
        .time_ps = asked->time_ps,
        .message = {.kind = is_read ? protocol->memory_data : protocol->memory_ack,
                    .from = FOLLOW_MEMORY,
                    .to = (uint8_t)home,
                    .requester = asked->message.requester},
        .misses = (line->misses & memory) != 0};
    if (is_read) {
        enum follow_from from;
        answer.time_ps = follow_memory_read(follow, home, line->line, asked->time_ps, &from);
        follow->fetched = true;
    } else {
        line->misses = asked->misses ? line->misses | memory : line->misses & ~memory;
        follow_memory_write(follow, home, line->line, asked->time_ps);
    }
    push(follow, answer);
}

/* ---- events meet lines ---- */

/* A store at an agent's copy: all others miss it now. */
static void note_store(struct follow *follow, struct follow_line *line, uint32_t agent)
{
    line->misses |= ~bit_of(follow, agent);
}

/* What the access gets, if the effect serves it. */
static void serve(struct follow *follow, struct follow_line *line, const struct coh_effect *effect,
                  uint64_t now)
{
    uint64_t own = bit_of(follow, follow->agent);
    bool loads = follow->op == COH_LOAD || follow->op == COH_DMA_READ;
    if (loads ? !effect->serves_load : !effect->serves_store && !effect->done)
        return;
    if (effect->serves_store && !loads) {
        if (!follow->performed)
            note_store(follow, line, follow->agent);
        else if (!follow->missed_before)
            line->misses &= ~own;
    }
    follow->waits = false;
    follow->reply.done_ps = now + latency_of(follow, follow->agent);
    follow->reply.stale = (loads || follow->reply.took) && line->misses & own;
    follow->counts.stale += follow->reply.stale;
}

static void drop_room(struct follow *follow, uint32_t agent, uint64_t line);

static void tell_losses(struct follow *follow, const struct follow_line *line, uint32_t agent, uint8_t before)
{
    uint8_t now = flags_of(follow, line, agent);
    if (agent >= follow->caches || agent == follow->agent)
        return;
    bool gone = before & COH_READ && !(now & COH_READ), tamed = before & COH_WRITE && !(now & COH_WRITE);
    if (agent >= follow->spec.cpus) {
        if (gone)
            drop_room(follow, agent, line->line);
        return;
    }
    if (!gone && !tamed)
        return;
    follow->counts.probes++;
    follow->client.lose(follow->client.user, agent, line->line, gone);
}

static void take_data(struct follow *follow, struct follow_line *line, uint32_t agent,
                      const struct coh_effect *effect, const struct follow_message *message)
{
    uint64_t bit = bit_of(follow, agent);
    if (effect->performs) {
        follow->missed_before = (line->misses & bit_of(follow, follow->agent)) != 0;
        follow->performed = true;
        line->misses |= ~bit;
        follow_memory_write(follow, agent, line->line, message->time_ps);
        return;
    }
    line->misses = message->misses ? line->misses | bit : line->misses & ~bit;
    if (agent >= follow->caches && !follow->spec.protocol->memory_apart)
        follow_memory_write(follow, agent, line->line, message->time_ps);
    if (agent == follow->agent) {
        follow->reply.took = true;
        follow->reply.from = (enum follow_from)message->source;
        follow->counts.transfers += message->source == FOLLOW_FROM_CACHE;
    }
}

static bool fail(struct follow *follow, const struct follow_line *line, uint32_t agent, unsigned event)
{
    const struct protocol *protocol = follow->spec.protocol;
    const struct coh_table *table = follow->controllers[role_of(follow, agent)].table;
    if (!*follow->failure.text)
        err_set(&follow->failure, "protocol %s: %s of line %llu met state %s of a %s: there is no such row",
                protocol->name, coh_event_name(protocol, event), (unsigned long long)line->line,
                table->states[line->at[place_of(follow, agent)].state].name, table->name);
    return true;
}

/* False: it waits. */
static bool meet(struct follow *follow, struct follow_line *line, uint32_t agent, unsigned event,
                 const struct follow_message *asked)
{
    const struct coh_controller *controller = &follow->controllers[role_of(follow, agent)];
    struct coh_place place = {.self = (uint8_t)agent,
                              .home = (uint8_t)follow_home_of(follow, line->line),
                              .memory = FOLLOW_MEMORY,
                              .caches = (uint8_t)follow->caches};
    struct coh_line *state = &line->at[place_of(follow, agent)];
    const struct coh_message *message = asked->is_op ? NULL : &asked->message;
    const struct coh_row *row = coh_row_of(controller, state, event, message);
    struct coh_effect effect;
    uint8_t before = flags_of(follow, line, agent);
    if (!row)
        return fail(follow, line, agent, event);
    coh_apply(controller, &place, row, state, message, &effect);
    if (effect.take && message)
        take_data(follow, line, agent, &effect, asked);
    if (asked->is_op && !effect.stall && asked->op == follow->op && agent == follow->agent) {
        follow->waits = asked->op != COH_EVICT;
        follow->counts.hits += !effect.count && (asked->op == COH_LOAD || asked->op == COH_STORE);
    }
    if (follow->waits && agent == follow->agent)
        serve(follow, line, &effect, asked->time_ps);
    tell_losses(follow, line, agent, before);
    send_all(follow, line, agent, &effect, asked->time_ps);
    return !effect.stall;
}

/* A CPU writes a line that it alone has without telling: what comes must find it changed. */
static void learn_writes(struct follow *follow, struct follow_line *line, uint32_t agent, uint64_t now)
{
    struct follow_message store = {.time_ps = now, .is_op = true, .op = COH_STORE};
    enum coh_op op = follow->op;
    follow->op = COH_NO_OP;
    meet(follow, line, agent, COH_STORE, &store);
    follow->op = op;
    note_store(follow, line, agent);
}

static void deliver(struct follow *follow, struct follow_line *line, struct follow_message message)
{
    uint32_t agent = message.is_op ? follow->agent : message.message.to;
    if (agent == FOLLOW_MEMORY) {
        meet_memory(follow, line, &message);
        return;
    }
    if (agent < follow->spec.cpus && agent != follow->agent && flags_of(follow, line, agent) & COH_WRITE &&
        follow->client.is_dirty(follow->client.user, agent, line->line))
        learn_writes(follow, line, agent, message.time_ps);
    unsigned event = message.is_op ? message.op : coh_event_of(message.message.kind);
    if (!meet(follow, line, agent, event, &message)) {
        mem_grow(follow->stalled, follow->stalled_count, follow->stalled_capacity);
        follow->stalled[follow->stalled_count++] = message;
        return;
    }
    for (size_t i = 0; i < follow->stalled_count;) { /* the line has changed there: what waits may go on */
        struct follow_message waiting = follow->stalled[i];
        uint32_t whose = waiting.is_op ? follow->agent : waiting.message.to;
        unsigned what = waiting.is_op ? waiting.op : coh_event_of(waiting.message.kind);
        waiting.time_ps = max_u64(waiting.time_ps, message.time_ps);
        if (whose != agent || !meet(follow, line, agent, what, &waiting)) {
            i++;
            continue;
        }
        follow->stalled_count--;
        memmove(&follow->stalled[i], &follow->stalled[i + 1],
                (follow->stalled_count - i) * sizeof *follow->stalled);
        i = 0;
    }
}

/* No cache has it, and memory has all of it: whom a home still lists as a sharer does not matter. A home that
 * is a cache has it, as long as it has a place. */
static void forget_if_idle(struct follow *follow, struct follow_line *line)
{
    const struct coh_line *home = &line->at[follow->caches];
    bool apart = follow->spec.protocol->memory_apart;
    uint64_t below = apart ? bit_of(follow, FOLLOW_MEMORY) : UINT64_C(1) << follow->caches;
    for (uint32_t i = 0; i < follow->caches; i++)
        if (line->at[i].state || line->at[i].awaited)
            return;
    bool rests =
        apart ? !home->state : coh_state_is(follow->controllers[COH_HOME].table, home->state, COH_REST);
    if (rests && !home->awaited && !(line->misses & below))
        follow_line_free(&follow->lines, line);
}

static struct follow_line *line_of(struct follow *follow, uint64_t number)
{
    struct follow_line *line = follow_line_find(&follow->lines, number);
    if (line)
        return line;
    line = follow_line_make(&follow->lines, number);
    for (uint32_t i = 0; i <= follow->caches; i++)
        line->at[i].owner = line->at[i].noted = COH_NOBODY;
    return line;
}

/* From the operation until all is at rest. */
static struct follow_reply run_access(struct follow *follow, uint32_t agent, struct follow_line *line,
                                      enum coh_op op, uint64_t time_ps)
{
    uint32_t meetings = 0;
    follow->agent = agent;
    follow->op = op;
    follow->waits = follow->performed = follow->missed_before = follow->fetched = false;
    follow->reply = (struct follow_reply){.done_ps = time_ps};
    for (uint32_t cpu = 0; cpu < follow->spec.cpus; cpu++) { /* what was stored in silence, others miss */
        if (cpu != agent && flags_of(follow, line, cpu) & COH_WRITE &&
            follow->client.is_dirty(follow->client.user, cpu, line->line))
            note_store(follow, line, cpu);
    }
    push(follow, (struct follow_message){.time_ps = time_ps, .is_op = true, .op = (uint8_t)op});
    while (follow->queue_count && !*follow->failure.text && meetings++ < MEETINGS_MOST)
        deliver(follow, line, pop(follow));
    if ((follow->waits || follow->stalled_count || follow->queue_count) && !*follow->failure.text)
        err_set(&follow->failure, "protocol %s: %s of line %llu is never done", follow->spec.protocol->name,
                coh_event_name(follow->spec.protocol, op), (unsigned long long)line->line);
    follow->queue_count = follow->stalled_count = 0;
    follow->reply.may_write = flags_of(follow, line, agent) & COH_WRITE;
    return follow->reply;
}

/* ---- room ---- */

static struct tags *tags_of(const struct follow *follow, uint32_t agent)
{
    if (agent < follow->spec.cpus)
        return NULL;
    if (agent < follow->caches)
        return follow->gpu_tags[agent - follow->spec.cpus];
    return follow->spec.protocol->memory_apart ? follow->home_tags[agent - follow->caches] : NULL;
}

/* A home has every n-th line: its sets are for these. */
static uint64_t tag_of(const struct follow *follow, uint32_t agent, uint64_t line)
{
    return agent < follow->caches ? line : line / follow->spec.homes;
}

static uint64_t line_of_tag(const struct follow *follow, uint32_t agent, uint64_t tag)
{
    return agent < follow->caches ? tag : tag * follow->spec.homes + (agent - follow->caches);
}

static void evict(struct follow *follow, uint32_t agent, uint64_t number, uint64_t time_ps)
{
    struct follow_line *line = follow_line_find(&follow->lines, number);
    if (!line)
        return;
    if (line->at[place_of(follow, agent)].state)
        run_access(follow, agent, line, COH_EVICT, time_ps);
    forget_if_idle(follow, line);
}

/* What leaves does so beside the access: nobody waits for it. */
static void make_room(struct follow *follow, uint32_t agent, uint64_t line, uint64_t time_ps)
{
    struct tags *tags = tags_of(follow, agent);
    uint64_t tag = tag_of(follow, agent, line);
    if (!tags)
        return;
    uint32_t slot = tags_find(tags, tag);
    if (slot != TAGS_NONE) {
        tags_touch(tags, slot);
        return;
    }
    slot = tags_victim(tags, tag);
    if (tags_holds(tags, slot)) {
        follow->counts.evictions++;
        evict(follow, agent, line_of_tag(follow, agent, tags_line(tags, slot)), time_ps);
    }
    tags_fill(tags, slot, tag, TAGS_NORMAL);
}

static void drop_room(struct follow *follow, uint32_t agent, uint64_t line)
{
    struct tags *tags = tags_of(follow, agent);
    uint32_t slot = tags ? tags_find(tags, tag_of(follow, agent, line)) : TAGS_NONE;
    if (slot != TAGS_NONE)
        tags_drop(tags, slot);
}

/* ---- for callers ---- */

static bool is_copy(enum coh_op op)
{
    return op == COH_DMA_READ || op == COH_DMA_WRITE;
}

/* A copy engine's access: a home that is a cache gives the line up for it. */
static struct follow_reply copy_line(struct follow *follow, uint32_t home, uint64_t line, enum coh_op op,
                                     uint64_t time_ps)
{
    bool reads = op == COH_DMA_READ, apart = follow->spec.protocol->memory_apart;
    enum follow_from from;
    if (apart && tags_of(follow, home)) {
        evict(follow, home, line, time_ps);
        drop_room(follow, home, line);
    }
    *(reads ? &follow->counts.copies_read : &follow->counts.copies_written) += 1;
    struct follow_line *at = line_of(follow, line);
    struct follow_reply reply = run_access(follow, home, at, op, time_ps);
    if (!apart && !reads)
        follow_memory_write(follow, home, line, reply.done_ps);
    else if (!apart && !reply.took) /* else it came from a cache */
        reply.done_ps = follow_memory_read(follow, home, line, reply.done_ps, &from);
    forget_if_idle(follow, at);
    return reply;
}

struct follow_reply follow_access(struct follow *follow, uint32_t agent, uint64_t line, enum coh_op op,
                                  uint64_t time_ps)
{
    uint32_t home = follow_home_of(follow, line);
    bool is_gpu = role_of(follow, agent) == COH_GPU_L2,
         is_through = is_gpu && op == COH_STORE && follow->spec.protocol->gpu_l2_writes_through;
    if (is_copy(op))
        return copy_line(follow, home, line, op, time_ps);
    if (!is_through)
        make_room(follow, agent, line, time_ps);
    make_room(follow, home, line, time_ps);
    follow->counts.accesses++;
    struct follow_line *at = line_of(follow, line);
    struct follow_reply reply = run_access(follow, agent, at, op, time_ps);
    if (is_gpu)
        reply.data = follow_copy(follow, agent, line);
    if (is_through && !reply.data)
        forget_if_idle(follow, at);
    return reply;
}

void follow_leave(struct follow *follow, uint32_t cpu, uint64_t line, bool dirty, uint64_t time_ps)
{
    struct follow_line *at = follow_line_find(&follow->lines, line);
    if (at && dirty && flags_of(follow, at, cpu) & COH_WRITE)
        learn_writes(follow, at, cpu, time_ps);
    evict(follow, cpu, line, time_ps);
}

void follow_leave_all(struct follow *follow, uint32_t agent, uint64_t time_ps)
{
    for (uint32_t i = 0; i < follow->lines.used; i++) {
        uint64_t line = follow_line_at(&follow->lines, i)->line;
        if (line != UINT64_MAX && follow_line_at(&follow->lines, i)->at[agent].state) {
            drop_room(follow, agent, line);
            evict(follow, agent, line, time_ps);
        }
    }
}

void *follow_copy(struct follow *follow, uint32_t gpu_agent, uint64_t line)
{
    struct follow_line *at = follow_line_find(&follow->lines, line);
    if (!at || !at->at[gpu_agent].state)
        return NULL;
    return (char *)&at->at[follow->caches + 1] +
           (size_t)(gpu_agent - follow->spec.cpus) * follow->spec.line_bytes;
}

bool follow_is_incoherent(const struct follow *follow)
{
    return follow->spec.protocol->is_incoherent;
}

const struct follow_counts *follow_counts(const struct follow *follow)
{
    return &follow->counts;
}

const char *follow_failure(const struct follow *follow)
{
    return follow->failure.text;
}

uint8_t follow_flags(const struct follow *follow, uint32_t agent, uint64_t line)
{
    const struct follow_line *at = follow_line_find(&follow->lines, line);
    return at ? flags_of(follow, at, agent)
              : follow->controllers[role_of(follow, agent)].table->states[0].flags;
}

/* ---- making ---- */

static bool check(const struct follow_spec *spec, struct err *err)
{
    if (spec->cpus + spec->gpus + spec->homes >= FOLLOW_MEMORY || spec->gpus > 16)
        return err_set(err, "coherence: %u CPUs, %u GPUs and %u homes are too many (%d in all, 16 GPUs)",
                       spec->cpus, spec->gpus, spec->homes, FOLLOW_MEMORY - 1);
    if (!spec->homes || !(spec->cpus + spec->gpus))
        return err_set(err, "coherence: a home and a cache are needed");
    if (spec->protocol->memory_apart && !spec->home.ways)
        return err_set(err, "coherence: protocol %s needs a cache at home (cpu.l3.on)", spec->protocol->name);
    return protocol_valid(spec->protocol, err);
}

static struct tags *tags_for(const struct follow_cache *cache)
{
    return cache->ways ? tags_new(&(struct tags_spec){
                             .sets = cache->sets, .ways = cache->ways, .policy = REPLACE_LRU})
                       : NULL;
}

/* Where a protocol knows no GPUs, their L2 is a cache as any other. */
static void init_controllers(struct follow *follow, const struct protocol *protocol)
{
    const struct coh_table *cache = protocol_table(protocol, COH_CACHE),
                           *gpu = protocol_table(protocol, COH_GPU_L2);
    coh_controller_init(&follow->controllers[COH_CACHE], protocol, cache);
    coh_controller_init(&follow->controllers[COH_GPU_L2], protocol, gpu ? gpu : cache);
    coh_controller_init(&follow->controllers[COH_HOME], protocol, protocol_table(protocol, COH_HOME));
}

struct follow *follow_new(const struct follow_spec *spec, const struct follow_client *client, struct err *err)
{
    if (!check(spec, err))
        return NULL;
    struct follow *follow = mem_alloc(1, sizeof *follow);
    struct net_graph graph;
    follow->spec = *spec;
    follow->client = *client;
    follow->caches = spec->cpus + spec->gpus;
    init_controllers(follow, spec->protocol);
    follow_lines_init(&follow->lines, sizeof(struct follow_line) +
                                          (follow->caches + 1) * sizeof(struct coh_line) +
                                          (size_t)spec->gpus * spec->line_bytes);
    for (uint32_t i = 0; i < spec->gpus; i++)
        follow->gpu_tags[i] = tags_for(&spec->gpu);
    for (uint32_t i = 0; i < spec->homes; i++)
        follow->home_tags[i] = tags_for(&spec->home);
    follow->memory_period_ps = follow_narrow_period(spec->memory_bytes_per_s);
    follow->memory = follow->memory_period_ps ? mem_alloc(1, sizeof *follow->memory) : NULL;
    topology_make(&spec->topology,
                  &(struct topology_agents){.count = follow->caches + spec->homes,
                                            .cpus = spec->cpus,
                                            .homes = spec->homes,
                                            .first_home = follow->caches},
                  &graph);
    bool good = follow_ways_init(&follow->ways, &graph, err);
    net_graph_fini(&graph);
    if (good)
        return follow;
    follow_free(follow);
    return NULL;
}

void follow_free(struct follow *follow)
{
    if (!follow)
        return;
    for (uint32_t i = 0; i < follow->spec.gpus; i++)
        tags_free(follow->gpu_tags[i]);
    for (uint32_t i = 0; i < follow->spec.homes; i++)
        tags_free(follow->home_tags[i]);
    follow_lines_fini(&follow->lines);
    follow_ways_fini(&follow->ways);
    mem_free(follow->memory);
    mem_free(follow->queue);
    mem_free(follow->stalled);
    mem_free(follow);
}
