/* What the warps of a running block use. */
#include "base/mem.h"
#include "exec/atomics.h"
#include "itrace/races_parts.h"

/* ---- words of a line, by warp ---- */

static inline void users_add(struct users *users, uint32_t mask, uint32_t warp)
{
    uint32_t new = mask & ~users->any;
    if (!(mask & ~users->many))
        return;
    if (new != mask) { /* some words have users: is it this one? */
        uint32_t differ = 0;
        for (uint32_t b = 0; b < WARP_BITS; b++)
            differ |= users->id[b] ^ (0 - (warp >> b & 1));
        users->many |= mask & users->any & differ;
    }
    if (!new)
        return;
    for (uint32_t b = 0; b < WARP_BITS; b++)
        users->id[b] = (users->id[b] & ~new) | (new &(0 - (warp >> b & 1)));
    users->any |= new;
}

static inline uint32_t users_differ(const struct users *a, const struct users *b)
{
    uint32_t differ = a->many | b->many;
    for (uint32_t i = 0; i < WARP_BITS; i++)
        differ |= a->id[i] ^ b->id[i];
    return a->any & b->any & differ;
}

static void users_part(struct users *to, const struct users *from, uint32_t part)
{
    to->any = part_of(from->any, part);
    to->many = part_of(from->many, part);
    for (uint32_t b = 0; b < WARP_BITS; b++)
        to->id[b] = part_of(from->id[b], part);
}

static void words_part(struct words *to, const struct words *from, uint32_t part)
{
    to->epoch = from->epoch;
    to->plain = part_of(from->plain, part);
    users_part(&to->readers, &from->readers, part);
    users_part(&to->writers, &from->writers, part);
}

static inline enum races_found words_use(struct words *words, uint32_t epoch, uint32_t mask, uint32_t warp,
                                         uint32_t use)
{
    if (words->epoch != epoch)
        *words = (struct words){.epoch = epoch};
    if (use & USE_READS)
        users_add(&words->readers, mask, warp);
    if (use & USE_WRITES)
        users_add(&words->writers, mask, warp);
    if (use & USE_PLAIN)
        words->plain |= mask;
    if (LIKELY(!(words->writers.any & mask)))
        return RACES_NONE;
    if (UNLIKELY(users_differ(&words->readers, &words->writers) & mask))
        return RACES_READS;
    return UNLIKELY(words->writers.many & words->plain & mask) ? RACES_WRITES : RACES_NONE;
}

/* ---- the table of the block ---- */

static uint32_t free_slot(const struct races_block *own, uint64_t number)
{
    uint32_t slot = (uint32_t)(hash_of(number) >> (64 - own->slot_bits));
    while (own->slots[slot])
        slot = (slot + 1) & ((1u << own->slot_bits) - 1);
    return slot;
}

static void grow_slots(struct races_block *own)
{
    mem_free(own->slots);
    own->slot_bits++;
    own->slots = mem_alloc((size_t)1 << own->slot_bits, sizeof *own->slots);
    for (size_t i = 0; i < own->line_count; i++) {
        struct used_line *used = &own->lines[i];
        used->slot = free_slot(own, used->number);
        own->slots[used->slot] = (uint32_t)i + 1;
    }
}

struct used_line *races_add_line(struct races_block *own, uint64_t number)
{
    if (own->line_count == LINES_MOST)
        races_merge(own);
    if (2 * own->line_count >= (size_t)1 << own->slot_bits)
        grow_slots(own);
    mem_grow(own->lines, own->line_count, own->line_capacity);
    struct used_line *made = &own->lines[own->line_count++];
    *made = (struct used_line){.number = number, .slot = free_slot(own, number)};
    own->slots[made->slot] = (uint32_t)own->line_count;
    return made;
}

static inline struct used_line *find_line(struct races_block *own, uint64_t number)
{
    uint32_t slot = (uint32_t)(hash_of(number) >> (64 - own->slot_bits));
    for (uint32_t place; (place = own->slots[slot]) != 0; slot = (slot + 1) & ((1u << own->slot_bits) - 1))
        if (own->lines[place - 1].number == number)
            return &own->lines[place - 1];
    return races_add_line(own, number);
}

/* What one warp uses, and how. */
struct user {
    struct races_block *own;
    uint32_t warp, use;
    enum races_found most;
};

static void saw(struct user *user, enum races_found what)
{
    user->most = what > user->most ? what : user->most;
}

static inline void use_line(struct user *user, struct used_line *line, uint32_t mask)
{
    const struct races_block *own = user->own;
    line->at_all.read |= user->use & USE_READS ? mask : 0;
    line->at_all.written |= user->use & USE_WRITES ? mask : 0;
    line->at_all.plain |= user->use & USE_PLAIN ? mask : 0;
    if (own->warp_count > 1)
        saw(user, words_use(&line->now, own->epoch, mask, user->warp, user->use));
}

/* Words of a line whose parts are in the table. */
static void use_parts(struct user *user, uint64_t number, uint32_t mask)
{
    for (uint32_t part = 0; part < PARTS; part++)
        if (part_of(mask, part))
            use_line(user, find_line(user->own, PART | (PARTS * number + part)), part_of(mask, part));
}

/* Words of a line. */
static inline void use_global(struct user *user, uint64_t number, uint32_t mask)
{
    struct used_line *line = find_line(user->own, number);
    if (UNLIKELY(line->in_parts))
        use_parts(user, number, mask);
    else
        use_line(user, line, mask);
}

/* Bytes of a part. */
static void use_global_bytes(struct user *user, uint64_t number, uint32_t mask)
{
    struct races_block *own = user->own;
    if (own->line_count + 1 + PARTS > LINES_MOST) /* a line and its parts come and go together */
        races_merge(own);
    struct used_line *line = find_line(own, number / PARTS);
    if (!line->in_parts) {
        struct used_line whole = *line;
        line->in_parts = true;
        line->at_all = (struct masks){0};
        for (uint32_t part = 0; part < PARTS; part++) {
            struct used_line *made = find_line(own, PART | (number / PARTS * PARTS + part));
            made->at_all = masks_part(&whole.at_all, part);
            words_part(&made->now, &whole.now, part);
        }
    }
    use_line(user, find_line(own, PART | number), mask);
}

static inline void use_shared(struct user *user, uint64_t number, uint32_t mask)
{
    struct races_block *own = user->own;
    if (UNLIKELY(number >= own->shared_lines))
        return;
    if (LIKELY(!own->shared_part || !own->shared_in_parts[number])) {
        saw(user, words_use(&own->shared[number], own->epoch, mask, user->warp, user->use));
        return;
    }
    for (uint32_t part = 0; part < PARTS; part++)
        if (part_of(mask, part))
            saw(user, words_use(&own->shared_part[PARTS * number + part], own->epoch, part_of(mask, part),
                                user->warp, user->use));
}

static void use_shared_bytes(struct user *user, uint64_t number, uint32_t mask)
{
    struct races_block *own = user->own;
    uint64_t line = number / PARTS;
    if (UNLIKELY(line >= own->shared_lines))
        return;
    if (!own->shared_part) {
        own->shared_part = mem_alloc_lines(PARTS * own->shared_lines, sizeof *own->shared_part);
        own->shared_in_parts = mem_alloc(own->shared_lines, sizeof *own->shared_in_parts);
    }
    for (uint32_t part = 0; part < PARTS && !own->shared_in_parts[line]; part++)
        words_part(&own->shared_part[PARTS * line + part], &own->shared[line], part);
    own->shared_in_parts[line] = true;
    saw(user, words_use(&own->shared_part[number], own->epoch, mask, user->warp, user->use));
}

/* How a user uses words of a line, or bytes of a part. */
typedef void use_mask(struct user *user, uint64_t number, uint32_t mask);

static inline void use_units(struct user *user, uint64_t first, uint64_t end, use_mask *use)
{
    while (first < end) {
        uint64_t low = first % 32, count = min_u64(end - first, 32 - low);
        use(user, first / 32, (uint32_t)(((UINT64_C(1) << count) - 1) << low));
        first += count;
    }
}

/* Any bytes from one address on. */
static inline void use_range(struct user *user, uint64_t at, uint64_t bytes, use_mask *words, use_mask *parts)
{
    if (LIKELY(!((at | bytes) % 4)))
        use_units(user, at / 4, (at + bytes) / 4, words);
    else
        use_units(user, at, at + bytes, parts);
}

/* Words of lines near each other, such as those of a table: each line is used once. */
struct window {
    uint64_t first; /* line */
    uint32_t used;  /* a bit for each of the 32 */
    uint32_t masks[32];
};

static inline void window_add(struct window *window, struct user *user, uint64_t line, uint32_t mask,
                              use_mask *use)
{
    uint64_t place = line - window->first;
    if (UNLIKELY(place >= 32)) {
        use(user, line, mask);
        return;
    }
    uint32_t bit = UINT32_C(1) << place;
    window->masks[place] = (window->used & bit ? window->masks[place] : 0) | mask;
    window->used |= bit;
}

static inline void window_use(const struct window *window, struct user *user, use_mask *use)
{
    EACH_LANE (i, window->used)
        use(user, window->first + i, window->masks[i]);
}

/* The same number of bytes for each lane. Lanes that follow each other mostly use the same line. */
#define USE_LANES(user, at, lanes, bytes, use, use_bytes)                                                    \
    do {                                                                                                     \
        uint64_t line = UINT64_MAX, ones = (UINT64_C(1) << (bytes) / 4) - 1;                                 \
        uint64_t near = (at)[first_lane(lanes)] / LINE_BYTES;                                                \
        struct window window = {.first = near > 16 ? near - 16 : 0};                                         \
        uint32_t mask = 0;                                                                                   \
        EACH_LANE (i, lanes) {                                                                               \
            uint64_t word = (at)[i] / 4, bits = ones << word % 32;                                           \
            if (UNLIKELY(((at)[i] | (bytes)) % 4)) {                                                         \
                use_units(user, (at)[i], (at)[i] + (bytes), use_bytes);                                      \
                continue;                                                                                    \
            }                                                                                                \
            if (word / 32 != line) {                                                                         \
                if (mask)                                                                                    \
                    window_add(&window, user, line, mask, use);                                              \
                line = word / 32;                                                                            \
                mask = 0;                                                                                    \
            }                                                                                                \
            mask |= (uint32_t)bits;                                                                          \
            if (UNLIKELY(bits >> 32))                                                                        \
                window_add(&window, user, line + 1, (uint32_t)(bits >> 32), use);                            \
        }                                                                                                    \
        if (mask)                                                                                            \
            window_add(&window, user, line, mask, use);                                                      \
        window_use(&window, user, use);                                                                      \
    } while (0)

/* Whether 32 lanes use bytes that follow each other. */
FOR_EACH_HOST static bool are_dense(const uint64_t at[32], uint64_t bytes)
{
    uint64_t differ = 0;
    for (uint32_t i = 0; i < 32; i++)
        differ |= at[i] ^ (at[0] + bytes * i);
    return !differ;
}

/* The same in shared memory. */
FOR_EACH_HOST static bool are_dense_shared(const uint32_t at[32], uint32_t bytes)
{
    uint32_t differ = 0;
    for (uint32_t i = 0; i < 32; i++)
        differ |= at[i] ^ (at[0] + bytes * i);
    return !differ;
}

/* The words of 32 lanes, if they are all in one line of shared memory; else 0. A lane has 4, 8 or 16 bytes,
 * and is aligned to these. */
FOR_EACH_HOST static uint32_t words_of_line(const uint32_t at[32], uint32_t bytes)
{
    uint32_t differ = 0, low = 0, mask = 0, ones = (UINT32_C(1) << bytes / 4) - 1;
    for (uint32_t i = 0; i < 32; i++) {
        differ |= at[i] ^ at[0];
        low |= at[i];
        mask |= ones << (at[i] / 4 % 32);
    }
    return differ < LINE_BYTES && !(low & (bytes - 1)) ? mask : 0;
}

static void use_global_lanes(struct user *user, const uint64_t at[], lane_mask lanes, uint64_t bytes,
                             uint32_t layout)
{
    if (layout == LAYOUT_SAME)
        use_range(user, at[0], bytes, use_global, use_global_bytes);
    else if (layout == LAYOUT_DENSE || (lanes == UINT32_MAX && are_dense(at, bytes)))
        use_range(user, at[0], isa_count_lanes(lanes) * bytes, use_global, use_global_bytes);
    else
        USE_LANES(user, at, lanes, bytes, use_global, use_global_bytes);
}

static void use_shared_lanes(struct user *user, const uint32_t at[], lane_mask lanes, uint32_t bytes,
                             uint32_t layout)
{
    if (LIKELY(layout)) {
        use_range(user, at[0], layout == LAYOUT_SAME ? bytes : isa_count_lanes(lanes) * bytes, use_shared,
                  use_shared_bytes);
        return;
    }
    bool even = bytes == 4 || bytes == 8 || bytes == 16;
    uint32_t words = lanes == UINT32_MAX && even ? words_of_line(at, bytes) : 0;
    if (LIKELY(words))
        use_shared(user, at[0] / LINE_BYTES, words);
    else if (lanes == UINT32_MAX && are_dense_shared(at, bytes))
        use_range(user, at[0], UINT64_C(32) * bytes, use_shared, use_shared_bytes);
    else
        USE_LANES(user, at, lanes, bytes, use_shared, use_shared_bytes);
}

static void see_shared(struct user *user, const struct request *request)
{
    static const uint8_t uses[] = {[SHARED_READ] = USE_READS,
                                   [SHARED_WRITE] = USE_WRITES | USE_PLAIN,
                                   [SHARED_COMMUTES] = USE_WRITES,
                                   [SHARED_CHANGE] = USE_READS | USE_WRITES | USE_PLAIN,
                                   [SHARED_SYNC] = 0};
    uint32_t bytes = request->shared_bytes;
    user->use = uses[request->shared_use];
    if (request->shared_use == SHARED_SYNC) {
        races_opened(user->own);
        return;
    }
    if (LIKELY(!request->shared_gap)) {
        use_shared_lanes(user, request->shared_at, request->shared, bytes, request->shared_layout);
        return;
    }
    uint32_t second[ISA_LANES];
    EACH_LANE (i, request->shared)
        second[i] = request->shared_at[i] + request->shared_gap;
    use_shared_lanes(user, request->shared_at, request->shared, bytes / 2, LAYOUT_UNKNOWN);
    use_shared_lanes(user, second, request->shared, bytes / 2, LAYOUT_UNKNOWN);
}

static void see_global(struct user *user, const struct request *request)
{
    const struct delivery *of = &request->of;
    switch ((enum request_kind)of->kind) {
    case REQUEST_NONE:
    case REQUEST_CONSTANT:
    case REQUEST_SIGNAL:
        return;
    case REQUEST_LOAD:
        user->use = USE_READS;
        break;
    case REQUEST_STORE:
        user->use = USE_WRITES | USE_PLAIN;
        break;
    case REQUEST_ATOMIC:
        user->use = of->returns                           ? USE_READS | USE_WRITES | USE_PLAIN
                    : atomic_rows[of->operation].commutes ? USE_WRITES
                                                          : USE_WRITES | USE_PLAIN;
        break;
    case REQUEST_PIECES:
        user->use = request->writes ? USE_WRITES | USE_PLAIN : USE_READS;
        for (size_t i = 0; i < request->piece_count; i++)
            if (request->pieces[i].at >= PIECE_AT_MOST)
                use_range(user, request->pieces[i].at, request->pieces[i].bytes, use_global,
                          use_global_bytes);
        return;
    }
    use_global_lanes(user, of->at, of->lanes & ~request->cluster, of->bytes, of->layout);
}

void races_use(struct races_block *own, uint32_t warp, const struct request *request)
{
    if (UNLIKELY(atomic_load_explicit(&own->races->found, memory_order_relaxed) == RACES_READS))
        return; /* there is nothing worse to be found */
    struct user user = {.own = own, .warp = warp};
    if (request->shared && own->warp_count > 1)
        see_shared(&user, request);
    if (request->of.kind)
        see_global(&user, request);
    if (UNLIKELY(user.most))
        races_note(own->races, user.most);
}

void races_opened(struct races_block *own)
{
    if (UNLIKELY(!++own->epoch)) { /* no state is as old as the epoch that follows */
        own->epoch = 1;
        for (uint64_t i = 0; i < own->shared_lines; i++)
            own->shared[i].epoch = 0;
        for (uint64_t i = 0; own->shared_part && i < PARTS * own->shared_lines; i++)
            own->shared_part[i].epoch = 0;
        for (size_t i = 0; i < own->line_count; i++)
            own->lines[i].now.epoch = 0;
    }
}
