/* Seeded bugs: does the checker find what is wrong? */
#include "cache/check/check.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdio.h>
#include <string.h>

/* A protocol with one row changed. */
struct mutant {
    struct protocol protocol;
    struct coh_table table;
    struct coh_row *rows;
    char what[160];
};

enum change {
    CHANGE_NEXT,
    CHANGE_WHEN,
    CHANGE_DROP,
    CHANGE_KIND,
    CHANGE_TARGET,
    CHANGE_LEAVE_OUT,
    CHANGE_COUNT
};

static void describe(struct mutant *mutant, const struct coh_row *row, const char *change)
{
    snprintf(mutant->what, sizeof mutant->what, "%s, %s, %s%s%s: %s", mutant->table.name,
             mutant->table.states[row->state].name, coh_event_name(&mutant->protocol, row->event),
             row->when ? ", if " : "", row->when ? coh_condition_name(row->when) : "", change);
}

/* False: the row has nothing to change in this way. */
static bool change_row(struct mutant *mutant, size_t number, enum change change, struct rng *rng)
{
    struct coh_row *row = &mutant->rows[number];
    const struct coh_row old = *row;
    char text[96];
    size_t actions = 0, sends[COH_ACTIONS_MOST], send_count = 0;
    for (; actions < COH_ACTIONS_MOST && row->actions[actions].verb != COH_DO_NOTHING; actions++)
        if (row->actions[actions].verb == COH_DO_SEND)
            sends[send_count++] = actions;
    struct coh_action *action = actions ? &row->actions[rng_below(rng, actions)] : NULL;
    struct coh_action *send = send_count ? &row->actions[sends[rng_below(rng, send_count)]] : NULL;
    switch (change) {
    case CHANGE_NEXT:
        row->next = (uint8_t)rng_below(rng, mutant->table.state_count);
        snprintf(text, sizeof text, "next state %s, not %s", mutant->table.states[row->next].name,
                 mutant->table.states[old.next].name);
        break;
    case CHANGE_WHEN:
        if (row->when == COH_IF_ANY)
            return false;
        row->when = COH_IF_ANY;
        snprintf(text, sizeof text, "without its condition");
        break;
    case CHANGE_DROP:
        if (!action)
            return false;
        snprintf(text, sizeof text, "without action %d", (int)(action - row->actions) + 1);
        *action = (struct coh_action){0};
        break;
    case CHANGE_KIND:
        if (!send)
            return false;
        send->kind = (uint8_t)rng_below(rng, mutant->protocol.kind_count);
        snprintf(text, sizeof text, "sends %s, not %s", mutant->protocol.kinds[send->kind].name,
                 mutant->protocol.kinds[old.actions[send - row->actions].kind].name);
        break;
    case CHANGE_TARGET:
        if (!send)
            return false;
        send->to = (uint8_t)rng_below(rng, COH_TARGET_COUNT);
        snprintf(text, sizeof text, "sends to another: %u, not %u", send->to,
                 old.actions[send - row->actions].to);
        break;
    default:
        memmove(row, row + 1, (mutant->table.row_count - number - 1) * sizeof *row);
        mutant->table.row_count--;
        describe(mutant, &old, "left out");
        return true;
    }
    describe(mutant, &old, text);
    return memcmp(row, &old, sizeof old) != 0;
}

static void mutant_init(struct mutant *mutant, const struct protocol *protocol, enum coh_role role)
{
    mutant->protocol = *protocol;
    mutant->table = *protocol->tables[role];
    mutant->rows = mem_alloc(mutant->table.row_count, sizeof *mutant->rows);
    memcpy(mutant->rows, mutant->table.rows, mutant->table.row_count * sizeof *mutant->rows);
    mutant->table.rows = mutant->rows;
    mutant->protocol.tables[role] = &mutant->table;
}

/* The original's digest with each setup, to tell what changes nothing. */
struct trial {
    struct check_setup setups[2];
    uint64_t digests[2], states[2];
};

static void trial_init(struct trial *trial, const struct protocol *protocol)
{
    bool has_gpu = protocol_table(protocol, COH_L1) != NULL;
    for (unsigned i = 0; i < 2; i++) {
        struct check_result result;
        trial->setups[i] = (struct check_setup){
            .cpus = has_gpu ? 1 + i : 2 + i, .l1s = has_gpu ? 1 : 0, .lines = 1, .dma = !(has_gpu && i)};
        check_run(protocol, &trial->setups[i], &result);
        trial->digests[i] = result.digest;
        trial->states[i] = result.states;
        check_result_fini(&result);
    }
}

static void judge(const struct trial *trial, const struct mutant *mutant, struct mutation_score *score)
{
    struct err err;
    bool found = !protocol_valid(&mutant->protocol, &err), same = true;
    for (unsigned i = 0; i < 2 && !found; i++) {
        struct check_result result;
        struct check_setup setup = trial->setups[i];
        setup.states_most = 4 * trial->states[i]; /* a mutant that has so many more is broken, too */
        check_run(&mutant->protocol, &setup, &result);
        found = result.wrong || result.gave_up;
        same = same && result.digest == trial->digests[i];
        check_result_fini(&result);
    }
    score->made++;
    score->found += found;
    score->same += !found && same;
    if (!found && !same)
        text_add(&score->survivors, "  %s\n", mutant->what);
}

void check_mutations(const struct protocol *protocol, uint64_t seed, uint64_t most,
                     struct mutation_score *score)
{
    struct trial trial;
    struct rng rng;
    size_t rows = 0;
    *score = (struct mutation_score){0};
    rng_init(&rng, seed, "mutations");
    trial_init(&trial, protocol);
    for (int role = 0; role < COH_ROLE_COUNT; role++)
        rows += protocol->tables[role] ? protocol->tables[role]->row_count : 0;
    uint64_t all = rows * CHANGE_COUNT;
    for (int role = 0; role < COH_ROLE_COUNT; role++)
        for (size_t row = 0; protocol->tables[role] && row < protocol->tables[role]->row_count; row++)
            for (int change = 0; change < CHANGE_COUNT; change++) {
                struct mutant mutant;
                if (all > most && rng_below(&rng, all) >= most)
                    continue;
                mutant_init(&mutant, protocol, role);
                if (change_row(&mutant, row, change, &rng))
                    judge(&trial, &mutant, score);
                mem_free(mutant.rows);
            }
}
