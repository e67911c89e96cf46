/* The L1 data cache: sectors, misses in flight, write-through; and the messages to and from memory. */
#include "core/l1.h"
#include "core/counted.h"
#include "exec/atomics.h"
#include "exec/tensormap.h"
#include "base/mem.h"

#include <string.h>

/* On the crossbar, as one H200's SM was seen to send: more for a sector that is written in part; what an
 * atomic operation needs for a lane, and at most for a sector. */
enum { PARTIAL_BYTES = 12, LANE_BYTES = 12, SECTOR_BYTES = 48 };

uint64_t l1_tag(struct sm *sm, uint64_t address)
{
    if (UNLIKELY(address - sm->last_block.at >= sm->last_block.bytes)) {
        struct space_block found = space_find(sm->config.space, address);
        if (!found.bytes)
            BUG("address 0x%llx is in no memory", (unsigned long long)address);
        sm->last_block = found;
    }
    return space_tag(&sm->last_block, address);
}

/* What a line is called in the cache. */
static uint64_t key_of(const struct sm *sm, uint64_t line)
{
    bool is_virtual = sm->config.spec->l1_tags == L1_TAGS_VIRTUAL;
    return (is_virtual ? line : tag_physical(line)) >> sm->l1.line_shift;
}

/* Whose lines the cache holds in one that it calls this: those of the tag, or of all its aliases. */
static uint64_t line_of(const struct sm *sm, uint64_t key)
{
    uint64_t line = key << sm->l1.line_shift;
    return sm->config.spec->l1_tags == L1_TAGS_VIRTUAL ? line : tag_any(line);
}

/* Messages */

static bool try_send(struct sm *sm, const struct outgoing *message, const void *payload)
{
    uint64_t now = component_now(sm->component);
    return port_send_sized(sm->requests, message->to, message->at > now ? message->at - now : 0,
                           message->kind, payload, message->bytes, message->wire_bytes);
}

/* A message without its payload, which is apart. */
static void send_translated(struct sm *sm, const struct outgoing *message, const void *payload)
{
    if (!sm->outgoing_count && try_send(sm, message, payload))
        return;
    if (sm->outgoing_count == sm->outgoing_capacity) { /* the ring grows, and begins at its start again */
        uint32_t more = sm->outgoing_capacity ? 2 * sm->outgoing_capacity : 64;
        struct outgoing *ring = mem_alloc(more, sizeof *ring);
        for (uint32_t i = 0; i < sm->outgoing_count; i++)
            ring[i] = sm->outgoing[(sm->outgoing_first + i) % sm->outgoing_capacity];
        mem_free(sm->outgoing);
        sm->outgoing = ring;
        sm->outgoing_first = 0;
        sm->outgoing_capacity = more;
    }
    struct outgoing *one = &sm->outgoing[(sm->outgoing_first + sm->outgoing_count++) % sm->outgoing_capacity];
    memcpy(one, message, offsetof(struct outgoing, payload));
    memcpy(one->payload, payload, message->bytes);
}

/* Whether the page of a line is known. If it is not, it is asked for at this time, unless it has been. */
static bool knows_page(struct sm *sm, uint64_t page, uint64_t at, struct sm_counters *counters)
{
    struct translation asked = {page};
    for (uint32_t i = 0; i < sm->untranslated_count; i++)
        if (sm->untranslated[i].page == page)
            return false;
    if (sm->tlb.entries && tlb_has(&sm->tlb, page))
        return true;
    uint64_t now = component_now(sm->component);
    counters->tlb_misses++;
    tell_translation(sm, PROBE_BEGINS, page);
    REQUIRE(
        port_send(sm->translations, 0, at > now ? at - now : 0, TRANSLATION_WANTED, &asked, sizeof asked));
    return false;
}

static struct untranslated *untranslated_add(struct sm *sm, uint64_t page)
{
    mem_grow(sm->untranslated, sm->untranslated_count, sm->untranslated_capacity);
    struct untranslated *one = &sm->untranslated[sm->untranslated_count++];
    one->page = page;
    one->load = NO_SLOT;
    return one;
}

/* A message waits for its page, and so do those behind it to the same page. False: the page is known. */
static bool waits_for_page(struct sm *sm, uint64_t line, const struct outgoing *message, const void *payload,
                           struct sm_counters *counters)
{
    uint64_t page = line / sm->config.tlb->page;
    if (knows_page(sm, page, message->at, counters))
        return false;
    struct untranslated *one = untranslated_add(sm, page);
    memcpy(&one->message, message, offsetof(struct outgoing, payload));
    memcpy(one->message.payload, payload, message->bytes);
    return true;
}

/* A cache that knows lines by physical addresses cannot be looked into before. What it has is taken now, as
 * the thread may write there next, but counts when the page is known. */
static void hold_for_page(struct sm *sm, struct load *load, uint64_t line, uint64_t cycle)
{
    uint64_t page = line / sm->config.tlb->page;
    if (knows_page(sm, page, sm_time(sm, cycle), &load->warp->kernel->counters))
        return;
    load->lines_left++;
    untranslated_add(sm, page)->load = (uint32_t)(load - sm->loads);
}

void translation_came(struct sm *sm, uint64_t page)
{
    uint32_t left = 0;
    bool is_first = sm->config.spec->l1_tags == L1_TAGS_PHYSICAL; /* the way from L1 comes after it */
    uint64_t leaves = is_first ? sm_time(sm, sm->cycle + sm->config.spec->l1_to_noc_cycles) : 0;
    tell_translation(sm, PROBE_ENDS, page);
    if (sm->tlb.entries)
        tlb_add(&sm->tlb, page);
    for (uint32_t i = 0; i < sm->untranslated_count; i++) {
        struct untranslated *one = &sm->untranslated[i];
        if (one->page != page) {
            sm->untranslated[left++] = *one;
        } else if (one->load == NO_SLOT) {
            one->message.at = max_u64(one->message.at, leaves);
            send_translated(sm, &one->message, one->message.payload);
        } else {
            load_line_done(sm, &sm->loads[one->load], sm->cycle + sm->config.spec->l1_latency);
        }
    }
    sm->untranslated_count = left;
}

void translation_shot(struct sm *sm, const struct event *event)
{
    struct shootdown shot;
    memcpy(&shot, event->payload, sizeof shot);
    if (sm->tlb.entries)
        tlb_drop(&sm->tlb, sm->config.tlb->page, &shot);
    REQUIRE(port_send(sm->translations, event->from, 0, TRANSLATION_DROPPED, &shot, sizeof shot));
}

/* `wire_bytes`: as many go over the crossbar, beside what each message has. */
static void send(struct sm *sm, struct sm_counters *counters, uint64_t line, uint64_t cycle, uint8_t kind,
                 struct memsys_request *request, uint32_t bytes, uint32_t wire_bytes)
{
    request->id |= l1_serial(sm);
    struct outgoing message; /* but for its payload */
    message.at = sm_time(sm, cycle + sm->config.spec->l1_to_noc_cycles);
    message.to = memsys_target(sm->config.mem, sm->number, tag_physical(line));
    message.bytes = (uint16_t)bytes;
    message.wire_bytes = wire_bytes + sm->overhead_bytes;
    message.kind = kind;
    if (probe_wants(sm->config.probe, PROBE_REQUEST))
        tell_request(sm, PROBE_BEGINS, memsys_kinds[kind].name, cycle, request, bytes);
    if (LIKELY(!sm->translates) || !waits_for_page(sm, line, &message, request, counters))
        send_translated(sm, &message, request);
}

void l1_send_waiting(struct sm *sm)
{
    while (sm->outgoing_count) {
        const struct outgoing *one = &sm->outgoing[sm->outgoing_first];
        if (!try_send(sm, one, one->payload))
            return;
        sm->outgoing_first = (sm->outgoing_first + 1) % sm->outgoing_capacity;
        sm->outgoing_count--;
    }
}

/* About these sectors of a line of L1. */
static struct memsys_request request_of(const struct sm *sm, uint64_t line, uint32_t sectors)
{
    uint32_t before = l1_sectors_before(sm, line);
    return (struct memsys_request){.line = tag_physical(line) - before * MEM_SECTOR,
                                   .sectors = (uint8_t)(sectors << before)};
}

void l1_ask(struct sm *sm, struct sm_counters *counters, uint64_t line, uint8_t sectors, uint32_t id,
            uint64_t cycle)
{
    counters->bytes_from_l2 += (uint32_t)__builtin_popcount(sectors) * MEM_SECTOR;
    struct memsys_request request = request_of(sm, line, sectors);
    request.id = id;
    request.count = (id & TO_KIND) == TO_MISS ? MEM_MAY_BE_OLD : 0;
    send(sm, counters, line, cycle, MEM_READ, &request, sizeof request, sizeof request);
}

/* Loads under way */

struct load *load_take(struct sm *sm)
{
    sm->loads_under_way++;
    if (sm->free_load != NO_SLOT) {
        struct load *load = &sm->loads[sm->free_load];
        sm->free_load = load->next;
        return load;
    }
    if (sm->load_count == sm->load_capacity) {
        uint32_t more = 2 * sm->load_capacity;
        REQUIRE(more <= TO_SERIAL);
        sm->loads = mem_resize(sm->loads, sm->load_capacity, more, sizeof *sm->loads);
        sm->load_capacity = more;
    }
    return &sm->loads[sm->load_count++];
}

/* Those that a load brings, from the code's slots_at on. */
static const uint16_t *registers_of(const struct load *load)
{
    return load->code->registers + load->timing->registers + load->timing->reads;
}

/* The warp has waited for one of its registers, and may go on. */
static void note_awaited(const struct sm *sm, const struct load *load)
{
    struct sm_warp *w = load->warp;
    const uint16_t *registers = registers_of(load);
    bool is_awaited = UNLIKELY(load->timing->counters) && counted_is_awaited(load);
    for (uint32_t i = 0; i < load->writes && !is_awaited; i++)
        is_awaited = w->waits_for == load->code->slots_at + registers[i];
    if (!is_awaited)
        return;
    if (load->result == RESULT_SHORT)
        w->reason = STALL_short_scoreboard;
    if (load->profile && sm->cycle > w->since)
        load->profile->awaited += sm->cycle - w->since;
}

/* All bytes are there that gathered. */
static void complete(const struct load *load)
{
    const struct delivery *of = &load->of;
    const struct isa_ops *isa = load->warp->kernel->isa;
    if (of->kind == REQUEST_PIECES) {
        isa->complete(load->warp->exec, of, load->stage);
        return;
    }
    EACH_LANE (i, of->lanes)
        isa->deliver(of, of->at[i], load->stage + (size_t)i * of->bytes, UINT64_C(1) << i);
}

void load_line_done(struct sm *sm, struct load *load, uint64_t cycle)
{
    struct sm_warp *w = load->warp;
    load->ready_at = max_u64(load->ready_at, cycle);
    if (--load->lines_left)
        return;
    uint64_t *board = w->board + load->code->slots_at;
    const uint16_t *registers = registers_of(load);
    for (uint32_t i = 0; i < load->writes; i++)
        board[registers[i]] = load->ready_at * RESULT_KINDS + load->result;
    if (UNLIKELY(load->timing->counters))
        counted_done(load, load->ready_at * RESULT_KINDS + load->result);
    if (load->of.is_async || load->of.stage_bytes)
        complete(load);
    if (UNLIKELY(load->of.targets))
        dsm_put_signals(sm, w, &load->of, true, sm->cycle);
    if (load_is_of_group(load))
        w->group_left[load->group]--;
    if (load->of.acquires)
        l1_acquire(sm, w);
    load->ready_at = 0;
    load->next = sm->free_load;
    sm->free_load = (uint32_t)(load - sm->loads);
    sm->loads_under_way--;
    w->loads--;
    if (w->state == WARP_REGISTER)
        note_awaited(sm, load);
    if (w->state != WARP_READY)
        sm_warp_release(sm, w);
}

struct arrived { /* sectors of a line, whose virtual address this is */
    uint64_t line;
    uint32_t sectors;
    const unsigned char *data;
};

/* What is among them of some bytes of memory. */
static void take_bytes(void *to, uint64_t at, uint32_t bytes, const struct arrived *some)
{
    uint64_t from = max_u64(at, some->line), end = min_u64(at + bytes, some->line + MEM_LINE_MOST);
    for (uint64_t next; from < end; from = next) { /* sector by sector */
        next = min_u64((from / MEM_SECTOR + 1) * MEM_SECTOR, end);
        if (some->sectors >> (from - some->line) / MEM_SECTOR & 1)
            memcpy((char *)to + (from - at), some->data + (from - some->line), next - from);
    }
}

void load_keep_pieces(struct load *load, const struct request *request)
{
    load->piece_count = 0;
    while (load->piece_capacity < request->piece_count)
        mem_grow(load->pieces, load->piece_capacity, load->piece_capacity);
    memcpy(load->pieces, request->pieces, request->piece_count * sizeof *load->pieces);
    load->piece_count = request->piece_count;
    load->pieces_ascend = true;
    for (size_t i = 0; i < load->piece_count; i++)
        load->pieces_ascend &=
            load->pieces[i].bytes <= MEM_LINE_MOST && (!i || load->pieces[i - 1].at < load->pieces[i].at);
}

/* Large copies have thousands of pieces, of which a line has a few. */
const struct piece *load_pieces_near(const struct load *load, uint64_t line, const struct piece **end)
{
    size_t low = 0, high = load->piece_count, from = line > MEM_LINE_MOST ? line - MEM_LINE_MOST : 0;
    *end = load->pieces + load->piece_count;
    if (!load->pieces_ascend)
        return load->pieces;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (load->pieces[middle].at <= from)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < load->piece_count && load->pieces[high].at < line + MEM_LINE_MOST;)
        high++;
    *end = load->pieces + high;
    return load->pieces + low;
}

static void gather(const struct load *load, const struct arrived *some)
{
    const struct delivery *of = &load->of;
    const struct piece *piece, *end;
    if (of->kind != REQUEST_PIECES)
        EACH_LANE (i, of->lanes)
            take_bytes(load->stage + (size_t)i * of->bytes, of->at[i], of->bytes, some);
    else
        for (piece = load_pieces_near(load, some->line, &end); piece < end; piece++)
            if (LIKELY(piece->host || of->stage_bytes))
                take_bytes(piece->host ? piece->host : (char *)load->stage + piece->stage_at, piece->at,
                           piece->bytes, some);
}

/* Lanes, on or off, whose addresses are in these sectors of a line. */
FOR_EACH_HOST static lane_mask lanes_in(const struct delivery *of, uint64_t line, uint32_t sectors)
{
    lane_mask who = 0;
    for (uint32_t half = 0; half < of->width; half += 32) {
        uint32_t here = 0;
        for (uint32_t i = 0; i < 32; i++) {
            uint64_t offset = of->at[half + i] - line;
            here |= (uint32_t)(offset < MEM_LINE_MOST && (sectors >> (offset / MEM_SECTOR & 3) & 1)) << i;
        }
        who |= (lane_mask)here << half;
    }
    return who;
}

/* What sectors of a line, whose virtual address this is, bring to those who wait for them. */
static void deliver_at(struct sm *sm, const struct load *load, uint64_t line, uint32_t sectors,
                       const unsigned char *data)
{
    const struct delivery *of = &load->of;
    if (UNLIKELY(of->kind == REQUEST_PIECES || of->stage_bytes)) {
        unsigned char rounded[MEM_LINE_MOST];
        if (UNLIKELY(of->rounds)) {
            memcpy(rounded, data, sizeof rounded);
            tensormap_round(of->rounds, rounded, sizeof rounded);
            data = rounded;
        }
        gather(load, &(struct arrived){line, sectors, data});
        if (UNLIKELY(of->targets))
            dsm_pass_on(sm, load, line, sectors, data);
        return;
    }
    load->warp->kernel->isa->deliver(of, line, data, lanes_in(of, line, sectors) & of->lanes);
}

/* Lines do not cross blocks. A line may have several virtual addresses, all of which a load may have used. */
void load_deliver(struct sm *sm, const struct load *load, uint64_t line, uint32_t sectors,
                  const unsigned char *data)
{
    const struct space_block *last = &sm->last_block;
    uint64_t physical = tag_physical(line);
    if (l1_is_local(line))
        return; /* the values are there already */
    if (LIKELY(physical - last->to.packed < last->bytes && !last->has_aliases)) {
        deliver_at(sm, load, last->at + (physical - last->to.packed), sectors, data);
        return;
    }
    uint32_t alias = tag_alias(line);
    struct space_block name;
    for (uint32_t i = 0; (name = space_name(sm->config.space, physical_unpack(physical), i)).bytes; i++)
        if (alias == SPACE_ANY_ALIAS || alias == name.alias)
            deliver_at(sm, load, name.at + (physical - name.to.packed), sectors, data);
}

/* Looking up, filling */

/* Global memory is written through; what is dirty of local memory goes to L2 when its line leaves. */
static void write_back(struct sm *sm, struct sm_counters *counters, uint64_t line, uint32_t sectors,
                       uint64_t cycle)
{
    struct {
        struct memsys_request request;
        struct memsys_write writes[MEM_SECTORS_MOST];
    } message = {.request = request_of(sm, line, sectors)};
    message.request.id = TO_NOBODY;
    uint32_t count = (uint32_t)__builtin_popcount(sectors);
    for (uint32_t i = 0; i < count; i++)
        message.writes[i].mask = UINT32_MAX;
    counters->l1_local_written_back += count;
    counters->bytes_to_l2 += count * MEM_SECTOR;
    sm->stores_under_way++;
    uint32_t bytes = (uint32_t)(sizeof message.request + count * sizeof message.writes[0]);
    send(sm, counters, line, cycle, MEM_WRITE, &message.request, bytes, bytes);
}

/* Room for a line, or TAGS_NONE. */
static uint32_t make_room(struct sm *sm, struct sm_counters *counters, uint64_t line, uint64_t cycle)
{
    uint32_t slot = cache_victim(&sm->l1, key_of(sm, line));
    if (slot == TAGS_NONE)
        return slot;
    if (UNLIKELY(sm->l1_has_local) && cache_holds(&sm->l1, slot) && *cache_dirty(&sm->l1, slot)) {
        struct cache_victim old = cache_take_dirty(&sm->l1, slot);
        write_back(sm, counters, old.line << sm->l1.line_shift, old.sectors, cycle);
    }
    sm->l1_has_local |= l1_is_local(line);
    cache_place(&sm->l1, slot, key_of(sm, line), TAGS_NORMAL);
    return slot;
}

static bool keeps(const struct sm *sm, uint64_t line)
{
    return LIKELY(sm->config.spec->l1_keeps == L1_KEEPS_GLOBAL) || l1_is_local(line);
}

/* With the sectors that come along with those that are missing. */
static uint32_t with_neighbours(const struct sm *sm, uint32_t slot, uint32_t missing)
{
    uint32_t step = (uint32_t)sm->config.spec->l1_fill_sectors, some = (1u << step) - 1, all = 0;
    for (uint32_t first = 0; first < sm->l1.sectors; first += step)
        all |= missing >> first & some ? some << first : 0;
    return cache_missing(&sm->l1, slot, all);
}

static void look_up(struct sm *sm, struct load *load, uint64_t line, uint8_t sectors, uint64_t *hits,
                    uint64_t cycle)
{
    const struct sm_spec *spec = sm->config.spec;
    struct sm_counters *counters = &load->warp->kernel->counters;
    load->lines_left++;
    if (!load->of.keep || !keeps(sm, line)) {
        l1_ask(sm, counters, line, sectors, TO_LOAD | (uint32_t)(load - sm->loads), cycle);
        return;
    }
    if (UNLIKELY(sm->translates) && spec->l1_tags == L1_TAGS_PHYSICAL)
        hold_for_page(sm, load, line, cycle);
    struct cache *l1 = &sm->l1;
    uint64_t key = key_of(sm, line);
    uint32_t slot = cache_find(l1, key), missing = cache_missing(l1, slot, sectors);
    if (!missing) {
        *hits += (uint32_t)__builtin_popcount(sectors);
        cache_touch(l1, slot);
        if (probe_wants(sm->config.probe, PROBE_REQUEST))
            tell_hit(sm, TO_LOAD | l1_serial(sm) | (uint32_t)(load - sm->loads), tag_physical(line), cycle);
        load_deliver(sm, load, line_of(sm, key), sectors, cache_data(l1, slot));
        load_line_done(sm, load, cycle + spec->l1_latency);
        return;
    }
    if (sectors & ~missing) /* at once: what the thread itself writes next must not be read by it */
        load_deliver(sm, load, line_of(sm, key), sectors & ~missing, cache_data(l1, slot));
    uint32_t entry = cache_miss(l1, key);
    uint32_t coming = entry == MSHR_NONE ? 0 : cache_miss_at(l1, entry)->pending; /* counts as a hit */
    *hits += (uint32_t)__builtin_popcount(sectors & ~(missing & ~coming));
    if (entry == MSHR_NONE) {
        if (slot == TAGS_NONE)
            slot = make_room(sm, counters, line, cycle);
        else
            cache_touch(l1, slot);
        if (slot != TAGS_NONE)
            entry = cache_begin(l1, key, slot, l1_is_local(line));
    }
    if (entry == MSHR_NONE || !cache_is_current(l1, cache_miss_at(l1, entry)) ||
        !cache_wait(l1, entry, (uint32_t)(load - sm->loads))) {
        l1_ask(sm, counters, line, (uint8_t)missing, TO_LOAD | (uint32_t)(load - sm->loads), cycle);
        return;
    }
    uint32_t wanted = LIKELY(spec->l1_fill_sectors == 1) ? missing : with_neighbours(sm, slot, missing);
    uint8_t more = (uint8_t)cache_ask(l1, entry, wanted);
    if (more)
        l1_ask(sm, counters, line, more, TO_MISS | entry, cycle);
}

void l1_load(struct sm *sm, struct load *load, uint64_t address, uint8_t sectors, uint64_t cycle)
{
    struct sm_counters *counters = &load->warp->kernel->counters;
    counters->l1_load_sectors += (uint32_t)__builtin_popcount(sectors);
    look_up(sm, load, l1_tag(sm, address), sectors, &counters->l1_load_hits, cycle);
}

void l1_load_around(struct sm *sm, struct load *load, uint64_t address, uint8_t sectors, uint64_t cycle)
{
    load->lines_left++;
    l1_ask(sm, &load->warp->kernel->counters, l1_tag(sm, address), sectors,
           TO_LOAD | (uint32_t)(load - sm->loads), cycle);
}

void l1_load_local(struct sm *sm, struct load *load, uint64_t line, uint8_t sectors, uint64_t cycle)
{
    struct sm_counters *counters = &load->warp->kernel->counters;
    counters->l1_local_sectors += (uint32_t)__builtin_popcount(sectors);
    look_up(sm, load, line, sectors, &counters->l1_local_hits, cycle);
}

/* What is written of a sector needs nothing of the rest of it. */
void l1_store_local(struct sm *sm, struct sm_counters *counters, uint64_t line, uint8_t sectors,
                    uint64_t cycle)
{
    uint32_t slot = cache_find(&sm->l1, key_of(sm, line));
    counters->l1_local_sectors += (uint32_t)__builtin_popcount(sectors);
    if (slot == TAGS_NONE) {
        slot = make_room(sm, counters, line, cycle);
    } else {
        counters->l1_local_hits += (uint32_t)__builtin_popcount(sectors & *cache_valid(&sm->l1, slot));
        cache_touch(&sm->l1, slot);
    }
    if (slot == TAGS_NONE) {
        write_back(sm, counters, line, sectors, cycle);
        return;
    }
    for (uint32_t left = sectors; left; left &= left - 1)
        cache_write(&sm->l1, slot, (uint32_t)__builtin_ctz(left), UINT32_MAX, NULL, CACHE_WRITE_BACK);
}

/* Who waits for it goes on. It may ask again at once, so the entry is gone by then. */
void loads_end_miss(struct sm *sm, struct cache *cache, uint32_t entry, uint64_t ready)
{
    uint32_t count = 0;
    for (uint32_t w = cache_miss_at(cache, entry)->first; w != MSHR_NONE;
         w = mshr_waiter(cache->misses, w)->next) {
        mem_grow(sm->ending, count, sm->ending_capacity);
        sm->ending[count++] = mshr_waiter(cache->misses, w)->who;
    }
    cache_end(cache, entry);
    for (uint32_t i = 0; i < count; i++)
        load_line_done(sm, &sm->loads[sm->ending[i]], ready);
}

static void fill(struct sm *sm, const struct memsys_reply *reply, const unsigned char *data)
{
    uint32_t entry = reply->id & TO_MASK;
    const struct mshr_entry *miss = cache_miss_at(&sm->l1, entry);
    uint32_t sectors = reply->sectors >> l1_sectors_before(sm, miss->line << sm->l1.line_shift);
    unsigned char line[MEM_LINE_MOST];
    cache_unpack(&sm->l1, data, sectors, line);
    if (cache_is_current(&sm->l1, miss) && cache_has_place(&sm->l1, miss))
        cache_fill(&sm->l1, entry, sectors, line);
    else
        cache_came(&sm->l1, entry, sectors);
    for (uint32_t w = miss->first; w != MSHR_NONE; w = mshr_waiter(sm->l1.misses, w)->next)
        load_deliver(sm, &sm->loads[mshr_waiter(sm->l1.misses, w)->who], line_of(sm, miss->line), sectors,
                     line);
    if (!miss->pending)
        loads_end_miss(sm, &sm->l1, entry, sm->cycle + sm->config.spec->l1_fill_cycles);
}

/* The line is written while it is under way: who asks from now on asks memory again. */
static void make_stale(struct sm *sm, uint64_t line)
{
    uint32_t entry = cache_miss(&sm->l1, key_of(sm, line));
    if (entry != MSHR_NONE)
        cache_miss_at(&sm->l1, entry)->stale = UINT16_MAX;
}

/* Sectors of a slot that stores went to, for counting: all of it is written through. */
static uint8_t *written_before(const struct sm *sm, uint32_t slot)
{
    return cache_note(&sm->l1, slot);
}

/* Who is told when a write is done: its block; of one that is counted, that, too. */
static uint32_t write_begins(struct sm *sm, struct sm_warp *w, struct load *counted, uint64_t cycle)
{
    sm_block_write_begins(sm, w, cycle);
    if (LIKELY(!counted))
        return TO_BLOCK | w->block->writes;
    counted->lines_left++;
    return TO_STORE | (uint32_t)(counted - sm->loads);
}

void l1_store(struct sm *sm, struct sm_warp *w, struct load *counted, uint64_t address,
              const unsigned char data[MEM_LINE_MOST], const uint32_t masks[MEM_SECTORS_MOST], uint64_t cycle)
{
    enum cache_write how = (enum cache_write)sm->config.spec->l1_write;
    struct sm_counters *counters = &w->kernel->counters;
    struct {
        struct memsys_request request;
        struct memsys_write writes[MEM_SECTORS_MOST];
    } message;
    uint64_t line = l1_tag(sm, address);
    uint32_t sectors = 0, count = 0, partial = 0, slot = cache_find(&sm->l1, key_of(sm, line));
    make_stale(sm, line);
    if (slot == TAGS_NONE && how == CACHE_ALLOCATE && keeps(sm, line))
        slot = make_room(sm, counters, line, cycle);
    for (uint32_t s = 0; s < MEM_SECTORS_MOST; s++) {
        if (!masks[s])
            continue;
        sectors |= 1u << s;
        struct memsys_write *write = &message.writes[count++];
        write->mask = masks[s];
        partial += masks[s] != UINT32_MAX;
        memcpy(write->data, data + s * MEM_SECTOR, MEM_SECTOR);
        for (uint32_t b = 0; masks[s] != UINT32_MAX && b < MEM_SECTOR; b++)
            if (!(masks[s] >> b & 1))
                write->data[b] = 0;
        if (slot == TAGS_NONE)
            continue;
        counters->l1_store_hits += (*cache_valid(&sm->l1, slot) | *written_before(sm, slot)) >> s & 1;
        *written_before(sm, slot) |= (uint8_t)(1u << s);
        cache_write(&sm->l1, slot, s, masks[s], write->data, how);
    }
    message.request = request_of(sm, line, sectors);
    message.request.id = write_begins(sm, w, counted, cycle);
    counters->l1_store_sectors += count;
    counters->bytes_to_l2 += count * MEM_SECTOR;
    uint32_t bytes = (uint32_t)(sizeof message.request + count * sizeof message.writes[0]);
    send(sm, counters, line, cycle, MEM_WRITE, &message.request, bytes, bytes + partial * PARTIAL_BYTES);
}

/* What lanes of a sector want is sent for each lane, or as the whole sector where that is less. */
static uint32_t atoms_wire_bytes(const struct memsys_atom *atoms, uint32_t count)
{
    uint32_t bytes = 0;
    uint8_t in[MEM_SECTORS_MOST] = {0}; /* lanes of each */
    for (uint32_t i = 0; i < count; i++)
        in[atoms[i].offset / MEM_SECTOR]++;
    for (uint32_t s = 0; s < MEM_SECTORS_MOST; s++)
        bytes += in[s] * LANE_BYTES < SECTOR_BYTES ? in[s] * LANE_BYTES : SECTOR_BYTES;
    return bytes;
}

void l1_atomic(struct sm *sm, struct sm_warp *w, struct load *load, const struct request *request,
               uint64_t address, lane_mask who, uint64_t cycle)
{
    struct {
        struct memsys_request request;
        struct memsys_atom atoms[MEM_ATOMS];
    } message;
    uint64_t line = l1_tag(sm, address);
    uint32_t slot = cache_find(&sm->l1, key_of(sm, line)), count = 0;
    make_stale(sm, line);
    const struct atomic_row *row = &atomic_rows[request->of.operation];
    uint8_t floats = row->floats ? MEM_ON_FLOATS : 0;
    bool wants_old = request->of.returns;
    uint32_t before = l1_sectors_before(sm, line);
    message.request = request_of(sm, line, 0);
    message.request.operation = (uint8_t)(request->of.operation | floats);
    for (lane_mask rest = who; rest; rest &= rest - 1) {
        uint32_t lane = first_lane(rest);
        uint8_t offset = (uint8_t)(request->of.at[lane] & (sm->memory_line - 1));
        message.request.sectors |= (uint8_t)(1 << offset / MEM_SECTOR);
        message.atoms[count++] = (struct memsys_atom){.operand = request->operand[lane],
                                                      .compare = request->compare[lane],
                                                      .offset = offset,
                                                      .lane = (uint8_t)lane,
                                                      .bytes = row->bytes};
        if (row->bytes == ATOMIC_WIDE_BYTES) /* MEM_ATOMS is even: both are in one message */
            message.atoms[count++] = (struct memsys_atom){.operand = request->operand_upper[lane],
                                                          .compare = request->compare_upper[lane],
                                                          .offset = (uint8_t)(offset + 8),
                                                          .lane = (uint8_t)(lane + ISA_LANES)};
        if (count < MEM_ATOMS && (rest & (rest - 1)))
            continue;
        message.request.count = (uint8_t)(count | (wants_old ? MEM_WANTS_OLD : 0));
        if (wants_old) {
            load->lines_left++;
            message.request.id = TO_LOAD | (uint32_t)(load - sm->loads);
        } else {
            message.request.id = write_begins(sm, w, load, cycle);
            sm->reductions_under_way += count;
        }
        if (slot != TAGS_NONE)
            cache_invalidate(&sm->l1, slot, message.request.sectors >> before);
        w->kernel->counters.bytes_to_l2 += count * 8u;
        send(sm, &w->kernel->counters, line, cycle, MEM_ATOMIC, &message.request,
             (uint32_t)(sizeof message.request + count * sizeof message.atoms[0]),
             (uint32_t)sizeof message.request + atoms_wire_bytes(message.atoms, count));
        count = message.request.sectors = 0;
    }
}

void l1_reduce(struct sm *sm, struct sm_warp *w, const struct delivery *of, uint64_t address,
               const unsigned char data[MEM_LINE_MOST], const uint32_t masks[MEM_SECTORS_MOST],
               uint64_t cycle)
{
    struct request request; /* of lanes side by side, as l1_atomic wants them */
    const uint32_t bytes = atomic_rows[of->operation].bytes;
    request.of.operation = of->operation;
    request.of.returns = false;
    lane_mask who = 0;
    for (uint32_t at = 0, lane = 0; at < MEM_LINE_MOST; at += bytes) {
        if (masks[at / MEM_SECTOR] >> at % MEM_SECTOR & 1) {
            request.operand[lane] = request.compare[lane] = 0;
            memcpy(&request.operand[lane], data + at, bytes);
            request.of.at[lane] = address + at;
            who |= UINT64_C(1) << lane++;
        }
    }
    l1_atomic(sm, w, NULL, &request, address, who, cycle);
}

static void deliver_olds(struct load *load, const unsigned char *data, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct memsys_old old;
        memcpy(&old, data + i * sizeof old, sizeof old);
        load->warp->kernel->isa->deliver_old(&load->of, old.lane, old.value);
    }
}

/* A write by the unit of constants is done: its caches may have what was there before. */
static void written(struct sm *sm, const struct load *load)
{
    const struct isa_step *step = &load->code->steps[load->timing->first_step];
    if (UNLIKELY(step->unit == UNIT_CONST))
        fetch_forget_constants(sm, sm_time(sm, sm->cycle));
}

void l1_reply(struct sm *sm, const struct event *event)
{
    struct memsys_reply reply;
    memcpy(&reply, event->payload, sizeof reply);
    const unsigned char *data = event->payload + sizeof reply;
    uint32_t number = reply.id & TO_MASK;
    if (probe_wants(sm->config.probe, PROBE_REQUEST))
        tell_request(sm, PROBE_ENDS, memsys_kinds[event->kind].name, sm->cycle, &reply, sizeof reply);
    if (event->kind == MEM_DONE) {
        sm->stores_under_way--;
        sm->reductions_under_way -= reply.count;
        lsu_let_in(sm);
        if ((reply.id & TO_KIND) == TO_STORE) {
            sm_block_write_done(sm, sm->loads[number].block_writes);
            written(sm, &sm->loads[number]);
            load_line_done(sm, &sm->loads[number], sm->cycle);
        } else if ((reply.id & TO_KIND) != TO_NOBODY) {
            sm_block_write_done(sm, number);
        }
        return;
    }
    if (UNLIKELY(event->kind != MEM_DATA && event->kind != MEM_OLD))
        BUG("an SM was sent \"%s\"", memsys_kind_name(event->kind));
    if ((reply.id & TO_KIND) == TO_MISS) {
        fill(sm, &reply, data);
        return;
    }
    if ((reply.id & TO_KIND) == TO_CONSTANT) {
        constant_came(sm, &reply, data);
        return;
    }
    struct load *load = &sm->loads[number];
    uint64_t ready = sm->cycle + sm->config.spec->l1_fill_cycles;
    if (load->of.kind == REQUEST_CONSTANT)
        ready += sm->cost[UNIT_CONST].latency;
    if (event->kind == MEM_OLD) {
        if (load->of.merged) /* each lane is told, and adds its part */
            ready += sm->cost[UNIT_SHUFFLE].latency + sm->cost[UNIT_ALU].latency;
        deliver_olds(load, data, reply.count);
        written(sm, load);
    } else {
        unsigned char line[MEM_LINE_MOST];
        cache_unpack(&sm->l1, data, reply.sectors, line);
        load_deliver(sm, load, tag_any(reply.line), reply.sectors, line);
    }
    load_line_done(sm, load, ready);
}

/* Local memory stays: nobody else changes it. */
static bool line_is_local(const struct cache *cache, uint64_t line)
{
    return l1_is_local(line << cache->line_shift);
}

/* What is read from now on must be as new as what others have made visible. */
void l1_forget(struct sm *sm)
{
    bool keeps_local = UNLIKELY(sm->l1_has_local && sm->blocks_now);
    cache_forget(&sm->l1, keeps_local ? line_is_local : NULL);
    sm->l1_has_local = keeps_local;
}

void l1_acquire(struct sm *sm, struct sm_warp *w)
{
    l1_forget(sm);
    if (LIKELY(!sm->keeps_peers))
        return;
    struct memsys_request request = {.id = write_begins(sm, w, NULL, sm->cycle) | l1_serial(sm)};
    struct outgoing message = {.at = sm_time(sm, sm->cycle + sm->config.spec->l1_to_noc_cycles),
                               .to = memsys_gateway_target(sm->config.mem),
                               .bytes = sizeof request,
                               .wire_bytes = sm->overhead_bytes,
                               .kind = MEM_FORGET};
    send_translated(sm, &message, &request);
}

static uint32_t sets_of(const struct sm_spec *spec, uint64_t bytes)
{
    return (uint32_t)max_u64(bytes / spec->l1_line / spec->l1_ways, 1);
}

void l1_make(struct sm *sm)
{
    const struct sm_spec *spec = sm->config.spec;
    uint32_t misses = (uint32_t)spec->l1_misses;
    cache_init(&sm->l1, &(struct cache_spec){.line_bytes = (uint32_t)spec->l1_line,
                                             .sector_bytes = MEM_SECTOR,
                                             .tags = {.sets = sets_of(spec, spec->l1),
                                                      .ways = (uint32_t)spec->l1_ways,
                                                      .policy = spec->l1_policy,
                                                      .hashed = true,
                                                      .seed = sm->number},
                                             .misses = {.entries = misses, .waiters = 8 * misses},
                                             .has_data = true});
}

/* Where shared memory and L1 are one array, L1 has what shared memory does not. Changing it empties the
 * cache.
 */
void l1_set_shared(struct sm *sm, uint32_t bytes)
{
    const struct sm_spec *spec = sm->config.spec;
    if (spec->l1_apart || sm->l1_shared == bytes || sm->loads_under_way || sm->blocks_now)
        return;
    sm->l1_shared = bytes;
    sm->l1_has_local = false;
    cache_resize(&sm->l1, sets_of(spec, spec->l1 > bytes ? spec->l1 - bytes : 0));
}
