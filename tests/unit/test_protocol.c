/* Coherence protocols: their tables, the model checker, and what it finds. */
#include "check.h"
#include "base/bits.h"
#include "cache/check/check.h"
#include "cache/check/litmus.h"

static void tables_are_valid(void **state)
{
    (void)state;
    for (size_t i = 0; protocols[i]; i++) {
        struct err err = {""};
        if (!protocol_valid(protocols[i], &err))
            fail_msg("%s", err.text);
    }
}

static void small_systems_are_right(void **state)
{
    (void)state;
    for (size_t i = 0; protocols[i]; i++) {
        struct check_setup setups[16];
        struct check_result result;
        check_setups(protocols[i], false, setups, COUNT_OF(setups));
        check_run(protocols[i], &setups[0], &result);
        if (result.wrong != protocols[i]->is_incoherent)
            fail_msg("%s: %s", protocols[i]->name, result.wrong ? result.text.at : "found nothing");
        assert_false(result.gave_up);
        check_result_fini(&result);
    }
}

/* Virtual networks: where a message waits, one of a later class is what it waits for. */
static void messages_wait_for_later_classes(void **state)
{
    (void)state;
    for (size_t i = 0; protocols[i]; i++)
        for (int role = 0; role < COH_ROLE_COUNT; role++) {
            const struct coh_table *table = protocols[i]->tables[role];
            for (size_t k = 0; table && k < table->row_count; k++) {
                const struct coh_row *row = &table->rows[k];
                if (row->event < COH_OP_COUNT || row->actions[0].verb != COH_DO_STALL)
                    continue;
                uint8_t class = protocols[i]->kinds[row->event - COH_OP_COUNT].class;
                bool ends = false;
                for (size_t j = 0; j < table->row_count; j++) {
                    const struct coh_row *other = &table->rows[j];
                    ends |= other->state == row->next && other->event >= COH_OP_COUNT &&
                            other->actions[0].verb != COH_DO_STALL &&
                            protocols[i]->kinds[other->event - COH_OP_COUNT].class > class;
                }
                if (!ends)
                    fail_msg("%s, %s: %s waits in %s for nothing of a later class", protocols[i]->name,
                             table->name, coh_event_name(protocols[i], row->event),
                             table->states[row->state].name);
            }
        }
}

/* State counts are part of what is documented: docs/coherence.md. */
static void counts_states(void **state)
{
    (void)state;
    struct check_result result;
    check_run(protocol_find("mi"), &(struct check_setup){.cpus = 2, .lines = 2}, &result);
    assert_int_equal(result.states, 9204);
    assert_int_equal(result.steps, 25952);
    check_result_fini(&result);
}

static char *scratch(const char *content)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/heddle-protocol-%d", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
    return path;
}

static void reads_what_it_prints(void **state)
{
    (void)state;
    for (size_t i = 0; protocols[i]; i++) {
        struct text first = {0}, second = {0};
        struct err err = {""};
        protocol_print(protocols[i], &first);
        char *path = scratch(first.at);
        struct protocol *read = protocol_read(path, &err);
        unlink(path);
        if (!read)
            fail_msg("%s", err.text);
        protocol_print(read, &second);
        assert_string_equal(first.at, second.at);
        assert_int_equal(read->gpu_l2_writes_through, protocols[i]->gpu_l2_writes_through);
        assert_int_equal(read->gpu_l2_writes_through, !strcmp(read->name, "viper"));
        text_fini(&first);
        text_fini(&second);
        protocol_free(read);
    }
}

/* A file that differs from a good one in one line. */
static void expect_error(const char *old, const char *new, const char *wanted)
{
    struct text text = {0}, changed = {0};
    struct err err = {""};
    protocol_print(protocol_find("mi"), &text);
    char *at = strstr(text.at, old);
    assert_non_null(at);
    text_add(&changed, "%.*s%s%s", (int)(at - text.at), text.at, new, at + strlen(old));
    char *path = scratch(changed.at);
    struct protocol *read = protocol_read(path, &err);
    unlink(path);
    assert_null(read);
    if (!strstr(err.text, wanted))
        fail_msg("'%s' does not say '%s'", err.text, wanted);
    assert_null(strchr(err.text, '\n'));
    text_fini(&text);
    text_fini(&changed);
}

static void refuses_bad_files(void **state)
{
    (void)state;
    expect_error("  IL   load      -> IL: wait\n", "", "state IL has no row for 'load'");
    expect_error("  M    evict     -> MI: send Put to home for-self\n", "", "state M has no row for 'evict'");
    expect_error("-> IL: send Get to home", "-> XX: send Get to home",
                 "expected the name of a state, not 'XX'");
    expect_error("send Get to home", "send Got to home", "expected the name of a message, not 'Got'");
    expect_error("send Get to home", "send Get to nowhere", "expected a receiver, not 'nowhere'");
    expect_error("table home", "table house", "expected cache, home, l1 or gpu-l2, not 'house'");
    expect_error("protocol mi", "mi", "expected 'protocol NAME' first, not 'mi'");
    expect_error("  M    load      -> M: load\n",
                 "  M    load      -> M: load\n  M    load      -> I: load\n", "is never reached");
    expect_error("message Get request", "gpu-l2-writes-through\nmessage Get request",
                 "gpu-l2-writes-through needs a table of L1s");
    expect_error("message Get request", "message Get question",
                 "expected request, forward, response or unblock");
}

static void seeded_bugs_are_found(void **state)
{
    (void)state;
    static const char *const names[] = {"mi", "moesi"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct mutation_score score;
        check_mutations(protocol_find(names[i]), 7, 60, &score);
        assert_true(score.made > 20);
        assert_true(100 * score.found >= 90 * (score.made - score.same)); /* few are drawn: docs have all */
        text_fini(&score.survivors);
    }
}

/* Message passing between two L1s of a GPU: right with scopes, weak without. */
static bool litmus_sees(const struct protocol *protocol, const char *name)
{
    const struct litmus *litmus = litmus_tests;
    while (strcmp(litmus->name, name))
        litmus++;
    uint8_t places[] = {3, 4}; /* behind the L2, the home and memory */
    struct check_setup setup = {.l1s = 2, .lines = 2, .litmus = litmus, .places = places};
    struct check_result result;
    bool seen = false;
    check_run(protocol, &setup, &result);
    assert_false(result.wrong);
    assert_true(result.outcome_count > 1);
    for (unsigned i = 0; i < result.outcome_count; i++)
        seen |= litmus_is_forbidden(litmus, result.outcomes[i]);
    check_result_fini(&result);
    return seen;
}

static void scopes_matter(void **state)
{
    (void)state;
    assert_false(litmus_sees(protocol_find("viper"), "MP+stale"));
    assert_false(litmus_sees(protocol_find("moesi_hsc"), "MP+stale"));
    assert_true(litmus_sees(protocol_find("viper"), "SB"));
    assert_false(litmus_sees(protocol_find("viper"), "SB+sync"));
    assert_false(litmus_sees(protocol_find("viper"), "CoRR"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_valid),        cmocka_unit_test(messages_wait_for_later_classes),
        cmocka_unit_test(small_systems_are_right), cmocka_unit_test(counts_states),
        cmocka_unit_test(reads_what_it_prints),    cmocka_unit_test(refuses_bad_files),
        cmocka_unit_test(seeded_bugs_are_found),   cmocka_unit_test(scopes_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
