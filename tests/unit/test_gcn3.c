/* The decoder and printer of GCN3 on stored words; and that no bytes confuse them. tests/gcn3 compares them
 * with LLVM where it is installed. */
#include "check.h"

#include "base/rng.h"
#include "gcn3/gcn3.h"

static const struct word {
    enum gcn3_target target;
    uint32_t words[2];
    const char *text;
} words[] = {
#define WORD(target, low, high, text) {GCN3_##target, {low, high}, text},
#include "gcn3_words.def"
#undef WORD
};
enum { WORDS = sizeof words / sizeof *words };

static void stored_words_have_their_texts(void **state)
{
    (void)state;
    struct text text = {0};
    for (int i = 0; i < WORDS; i++) {
        struct gcn3_inst inst;
        if (!gcn3_decode(words[i].target, words[i].words, 8, &inst))
            fail_msg("no instruction: %s", words[i].text);
        text.length = 0;
        gcn3_print(&inst, &text);
        assert_string_equal(text.at, words[i].text);
    }
    text_fini(&text);
}

static void every_row_has_a_word(void **state)
{
    (void)state;
    static bool seen[GCN3_OP_COUNT];
    for (int i = 0; i < WORDS; i++) {
        struct gcn3_inst inst;
        assert_true(gcn3_decode(words[i].target, words[i].words, 8, &inst));
        seen[inst.op] = true;
    }
    for (int op = GCN3_INVALID + 1; op < GCN3_OP_COUNT; op++)
        if (!seen[op])
            fail_msg("no word for %s", gcn3_rows[op].text);
}

static void an_instruction_that_is_cut_off_is_none(void **state)
{
    (void)state;
    for (int i = 0; i < WORDS; i++) {
        struct gcn3_inst inst;
        assert_true(gcn3_decode(words[i].target, words[i].words, 8, &inst));
        uint32_t bytes = inst.bytes;
        for (uint32_t left = 0; left < bytes; left++) {
            /* in memory of its own, so that a sanitizer sees what is read beyond it */
            char *copy = malloc(left + 1);
            memcpy(copy, words[i].words, left);
            assert_false(gcn3_decode(words[i].target, copy, left, &inst));
            free(copy);
        }
    }
}

static void random_words_decode_and_print(void **state)
{
    (void)state;
    struct rng rng;
    struct text text = {0};
    size_t valid = 0;
    rng_init(&rng, 1, "gcn3");
    for (int i = 0; i < 300000; i++) {
        uint64_t bits[2] = {rng_next(&rng), rng_next(&rng)};
        struct gcn3_inst inst;
        text.length = 0;
        if (gcn3_decode((enum gcn3_target)(i % GCN3_TARGETS), bits, sizeof bits, &inst)) {
            gcn3_print(&inst, &text);
            valid++;
        }
    }
    assert_true(valid > 100000);
    text_fini(&text);
}

static void branches_have_targets(void **state)
{
    (void)state;
    static const uint32_t back = 0xbf84ffed, ahead = 0xbf820001, wait = 0xbf8c0070; /* s_cbranch_scc0 -19 */
    struct gcn3_inst inst;
    uint64_t to = 0;
    assert_true(gcn3_decode(GCN3_GFX803, &back, 4, &inst) && gcn3_branch(&inst, 0xa0, &to));
    assert_int_equal(to, 0x58);
    assert_true(gcn3_decode(GCN3_GFX803, &ahead, 4, &inst) && gcn3_branch(&inst, 0xa4, &to));
    assert_int_equal(to, 0xac);
    assert_true(gcn3_decode(GCN3_GFX803, &wait, 4, &inst));
    assert_false(gcn3_branch(&inst, 0, &to));
}

static void operands_are_uniform(void **state)
{
    (void)state;
    struct gcn3_inst inst;
    /* v_mad_f32 v1, |s2|, -v3, 0.5 */
    static const uint32_t mad[] = {0xd1c10101, 0x43c20602};
    assert_true(gcn3_decode(GCN3_GFX803, mad, 8, &inst));
    assert_int_equal(inst.op, GCN3_V_MAD_F32);
    assert_int_equal(inst.d.kind, GCN3_VGPR);
    assert_int_equal(inst.a.kind, GCN3_SGPR);
    assert_true(inst.a.abs && !inst.a.neg && inst.b.neg && inst.b.number == 3);
    assert_int_equal(inst.c.kind, GCN3_FLOAT);
    assert_int_equal(inst.c.value, 0x3f000000);
    /* v_addc_u32_e32 v0, vcc, v1, v2, vcc: the masks are operands in the short form, too */
    static const uint32_t addc = 0x38000501;
    assert_true(gcn3_decode(GCN3_GFX803, &addc, 4, &inst));
    assert_int_equal(inst.sd.number, GCN3_VCC);
    assert_int_equal(inst.c.number, GCN3_VCC);
    assert_int_equal(inst.c.dwords, 2);
    /* s_load_dwordx4 s[4:7], s[0:1], 0x10 */
    static const uint32_t load[] = {0xc00a0100, 0x10};
    assert_true(gcn3_decode(GCN3_GFX803, load, 8, &inst));
    assert_int_equal(inst.d.dwords, 4);
    assert_int_equal(inst.offset, 0x10);
    assert_int_equal(gcn3_rows[inst.op].memory_bytes, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_words_have_their_texts),
        cmocka_unit_test(every_row_has_a_word),
        cmocka_unit_test(an_instruction_that_is_cut_off_is_none),
        cmocka_unit_test(random_words_decode_and_print),
        cmocka_unit_test(branches_have_targets),
        cmocka_unit_test(operands_are_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
