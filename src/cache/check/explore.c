#include "cache/check/check.h"
#include "base/mem.h"
#include "cache/check/litmus.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* All states that were met, by number, in the order of the fewest steps; and the steps between them. */
struct search {
    struct model model;
    struct check_result *result;
    uint8_t *codes;
    size_t code_bytes, code_room;
    uint64_t *offsets; /* of codes, by state */
    size_t offset_room;
    uint32_t *parents;
    size_t parent_room;
    uint32_t *slots; /* a hash table of states, plus 1 */
    size_t slot_count;
    uint32_t *from, *to; /* of steps */
    size_t from_room, to_room, step_count, state_count;
};

enum { STEPS_MOST = 256 };
#define NO_PARENT UINT32_MAX

static uint64_t hash_of(const uint8_t *bytes, size_t count)
{
    uint64_t hash = 0x9e3779b97f4a7c15u ^ count;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash ^ (hash >> 29);
}

static size_t bytes_of(const struct search *search, size_t state)
{
    size_t end = state + 1 < search->state_count ? search->offsets[state + 1] : search->code_bytes;
    return end - search->offsets[state];
}

static void grow_table(struct search *search)
{
    size_t count = search->slot_count ? 2 * search->slot_count : 1 << 12;
    mem_free(search->slots);
    search->slots = mem_alloc(count, sizeof *search->slots);
    search->slot_count = count;
    for (size_t i = 0; i < search->state_count; i++) {
        size_t slot = hash_of(search->codes + search->offsets[i], bytes_of(search, i)) & (count - 1);
        while (search->slots[slot])
            slot = (slot + 1) & (count - 1);
        search->slots[slot] = (uint32_t)(i + 1);
    }
}

/* The number of a state; `is_new` says whether it was not known yet. */
static uint32_t number_of(struct search *search, const struct model_state *state, uint32_t parent,
                          bool *is_new)
{
    uint8_t code[MODEL_CODE_MOST];
    size_t bytes = model_encode(&search->model, state, code);
    if (2 * search->state_count >= search->slot_count)
        grow_table(search);
    size_t slot = hash_of(code, bytes) & (search->slot_count - 1);
    for (; search->slots[slot]; slot = (slot + 1) & (search->slot_count - 1)) {
        size_t known = search->slots[slot] - 1;
        if (bytes_of(search, known) == bytes &&
            !memcmp(search->codes + search->offsets[known], code, bytes)) {
            *is_new = false;
            return (uint32_t)known;
        }
    }
    while (search->code_bytes + bytes > search->code_room) {
        size_t room = search->code_room ? 2 * search->code_room : 1 << 16;
        search->codes = mem_resize(search->codes, search->code_room, room, 1);
        search->code_room = room;
    }
    mem_grow(search->offsets, search->state_count, search->offset_room);
    mem_grow(search->parents, search->state_count, search->parent_room);
    memcpy(search->codes + search->code_bytes, code, bytes);
    search->offsets[search->state_count] = search->code_bytes;
    search->parents[search->state_count] = parent;
    search->code_bytes += bytes;
    search->slots[slot] = (uint32_t)++search->state_count;
    *is_new = true;
    return (uint32_t)(search->state_count - 1);
}

static void note_step(struct search *search, uint32_t from, uint32_t to)
{
    mem_grow(search->from, search->step_count, search->from_room);
    mem_grow(search->to, search->step_count, search->to_room);
    search->from[search->step_count] = from;
    search->to[search->step_count++] = to;
}

/* ---- the way to what is wrong ---- */

/* Steps from the start, with real numbers of agents: of all steps of a state, the one whose result stands for
 * the next state on the way. */
static void print_way(struct search *search, uint32_t last, const struct model_step *final, const char *what)
{
    struct text *text = &search->result->text;
    size_t length = 0;
    for (uint32_t at = last; at != NO_PARENT; at = search->parents[at])
        length++;
    uint32_t *way = mem_alloc(length, sizeof *way);
    uint32_t at = last;
    for (size_t i = length; i-- > 0; at = search->parents[at])
        way[i] = at;
    text_add(text, "%s, after %zu steps:\n", what, length - 1 + (final != NULL));
    struct model_state state;
    struct model_step steps[STEPS_MOST];
    model_start(&search->model, &state);
    for (size_t i = 1; i < length; i++) {
        size_t count = model_steps(&search->model, &state, steps, STEPS_MOST);
        for (size_t j = 0; j < count; j++) {
            struct model_state next = state;
            struct model_finding finding;
            uint8_t code[MODEL_CODE_MOST];
            if (model_try(&search->model, &next, &steps[j], &finding) != MODEL_STEP)
                continue;
            size_t bytes = model_encode(&search->model, &next, code);
            if (bytes != bytes_of(search, way[i]) ||
                memcmp(code, search->codes + search->offsets[way[i]], bytes))
                continue;
            text_add(text, "  %2zu. ", i);
            model_describe(&search->model, &state, &steps[j], text);
            text_add(text, "  ->  ");
            model_print_state(&search->model, &next, text);
            text_add(text, "\n");
            state = next;
            break;
        }
    }
    if (final) { /* the step itself is wrong: it was found from the state's code, so agents may have other
                    numbers */
        struct model_state coded;
        model_decode(&search->model, search->codes + search->offsets[last], &coded);
        text_add(text, "  %2zu. ", length);
        model_describe(&search->model, &coded, final, text);
        text_add(text, "  <- wrong; agents numbered by: ");
        model_print_state(&search->model, &coded, text);
        text_add(text, "\n");
    }
    mem_free(way);
}

/* ---- states that cannot come to rest ---- */

static bool all_can_rest(struct search *search)
{
    size_t count = search->state_count;
    uint32_t *first = mem_alloc(count + 2, sizeof *first),
             *sources = mem_alloc(search->step_count + 1, sizeof *sources);
    uint32_t *queue = mem_alloc(count + 1, sizeof *queue);
    uint8_t *good = mem_alloc(count + 1, 1);
    size_t head = 0, tail = 0;
    for (size_t i = 0; i < search->step_count; i++)
        first[search->to[i] + 2]++;
    for (size_t i = 2; i < count + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < search->step_count; i++)
        sources[first[search->to[i] + 1]++] = search->from[i];
    for (uint32_t i = 0; i < count; i++) {
        struct model_state state;
        model_decode(&search->model, search->codes + search->offsets[i], &state);
        if (search->model.setup->litmus ? litmus_ended(&search->model, &state)
                                        : model_rests(&search->model, &state)) {
            good[i] = 1;
            queue[tail++] = i;
        }
    }
    while (head < tail) {
        uint32_t state = queue[head++];
        for (uint32_t i = first[state]; i < first[state + 1]; i++)
            if (!good[sources[i]]) {
                good[sources[i]] = 1;
                queue[tail++] = sources[i];
            }
    }
    uint32_t stuck = NO_PARENT;
    for (uint32_t i = 0; i < count && stuck == NO_PARENT; i++)
        if (!good[i])
            stuck = i;
    if (stuck != NO_PARENT) {
        search->result->wrong = true;
        print_way(search, stuck, NULL, "stuck: from here no state of rest can be reached");
    }
    mem_free(first);
    mem_free(sources);
    mem_free(queue);
    mem_free(good);
    return stuck == NO_PARENT;
}

/* ---- all of it ---- */

static void note_outcome(struct check_result *result, const char *outcome)
{
    for (unsigned i = 0; i < result->outcome_count; i++)
        if (!strcmp(result->outcomes[i], outcome))
            return;
    if (result->outcome_count < CHECK_OUTCOMES)
        snprintf(result->outcomes[result->outcome_count++], sizeof *result->outcomes, "%s", outcome);
}

static bool visit(struct search *search, uint32_t number)
{
    struct model_state state, next;
    struct model_step steps[STEPS_MOST];
    struct model_finding finding;
    model_decode(&search->model, search->codes + search->offsets[number], &state);
    size_t count = model_steps(&search->model, &state, steps, STEPS_MOST);
    if (search->model.setup->litmus && litmus_ended(&search->model, &state)) {
        char outcome[16];
        litmus_outcome(&search->model, &state, outcome);
        note_outcome(search->result, outcome);
    }
    for (size_t i = 0; i < count; i++) {
        bool is_new;
        next = state;
        enum model_verdict verdict = model_try(&search->model, &next, &steps[i], &finding);
        if (verdict == MODEL_NO_STEP)
            continue;
        search->result->steps++;
        if (verdict == MODEL_WRONG) {
            search->result->wrong = true;
            print_way(search, number, &steps[i], finding.text);
            return false;
        }
        uint32_t to = number_of(search, &next, number, &is_new);
        note_step(search, number, to);
        search->result->digest += hash_of((const uint8_t *)&(uint32_t[2]){number, to}, 8) ^
                                  hash_of(search->codes + search->offsets[to], bytes_of(search, to));
        if (next.message_count > search->result->messages_most)
            search->result->messages_most = next.message_count;
        if (is_new && !search->model.setup->litmus && !model_holds(&search->model, &next, &finding)) {
            search->result->wrong = true;
            print_way(search, to, NULL, finding.text);
            return false;
        }
    }
    return true;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void check_run_covering(const struct protocol *protocol, const struct check_setup *setup,
                        struct check_cover *cover, struct check_result *result)
{
    struct search search = {.result = result};
    struct model_state start;
    uint64_t most = setup->states_most ? setup->states_most : 20000000;
    bool is_new;
    double begin = seconds_now();
    *result = (struct check_result){0};
    model_init(&search.model, protocol, setup);
    for (int role = 0; cover && role < COH_ROLE_COUNT; role++)
        search.model.covered[role] = cover->taken[role];
    model_start(&search.model, &start);
    number_of(&search, &start, NO_PARENT, &is_new);
    bool good = true;
    for (uint32_t i = 0; good && i < search.state_count && !result->gave_up; i++) {
        good = visit(&search, i);
        result->gave_up = search.state_count > most;
    }
    if (good && !result->gave_up)
        all_can_rest(&search);
    result->states = search.state_count;
    result->seconds = seconds_now() - begin;
    mem_free(search.codes);
    mem_free(search.offsets);
    mem_free(search.parents);
    mem_free(search.slots);
    mem_free(search.from);
    mem_free(search.to);
}

void check_run(const struct protocol *protocol, const struct check_setup *setup, struct check_result *result)
{
    check_run_covering(protocol, setup, NULL, result);
}

void check_result_fini(struct check_result *result)
{
    text_fini(&result->text);
}

/* ---- rows that were taken ---- */

void check_cover_init(struct check_cover *cover, const struct protocol *protocol)
{
    *cover = (struct check_cover){{NULL}};
    for (int role = 0; role < COH_ROLE_COUNT; role++)
        if (protocol_table(protocol, role))
            cover->taken[role] =
                mem_alloc(protocol_table(protocol, role)->row_count / 64 + 1, sizeof(uint64_t));
}

void check_cover_fini(struct check_cover *cover)
{
    for (int role = 0; role < COH_ROLE_COUNT; role++)
        mem_free(cover->taken[role]);
}

size_t check_cover_missing(const struct check_cover *cover, const struct protocol *protocol,
                           struct text *text)
{
    size_t missing = 0;
    for (int role = 0; role < COH_ROLE_COUNT; role++) {
        const struct coh_table *table = protocol->tables[role];
        for (size_t i = 0; table && i < table->row_count; i++) {
            uint64_t taken = cover->taken[role][i / 64];
            if (role == COH_CACHE && protocol_table(protocol, COH_GPU_L2) == table)
                taken |= cover->taken[COH_GPU_L2][i / 64];
            if (taken >> (i % 64) & 1)
                continue;
            missing++;
            text_add(text, "  never taken: %s, %s, %s%s%s\n", table->name,
                     table->states[table->rows[i].state].name, coh_event_name(protocol, table->rows[i].event),
                     table->rows[i].when ? ", if " : "",
                     table->rows[i].when ? coh_condition_name(table->rows[i].when) : "");
        }
    }
    return missing;
}
