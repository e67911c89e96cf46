#include "cases.h"
#include "case_list.h"
#include "base/err.h"
#include "base/mem.h"
#include "ptx_run/alu.h"

#include <stdio.h>
#include <string.h>

/* --- the list ---------------------------------------------------------------------------------------------
 */

struct oracle_case *case_add(struct oracle_cases *cases, const char *name, unsigned groups)
{
    mem_grow(cases->at, cases->count, cases->capacity);
    struct oracle_case *c = &cases->at[cases->count++];
    *c = (struct oracle_case){.name = mem_text(name), .groups = groups};
    return c;
}

void case_source(struct oracle_case *c, enum value value)
{
    REQUIRE(c->source_count < CASE_SOURCES);
    c->sources[c->source_count++] = value;
}

void case_result(struct oracle_case *c, enum value value)
{
    REQUIRE(c->result_count < CASE_RESULTS);
    c->results[c->result_count++] = value;
}

static bool is_listed(const struct oracle_cases *cases, const char *name)
{
    for (size_t i = 0; i < cases->count; i++)
        if (!strcmp(cases->at[i].name, name))
            return true;
    return false;
}

/* Adds values from their names: "b32 b32 pred". */
static void add_values(struct oracle_case *c, const char *names, void add(struct oracle_case *, enum value))
{
    char name[16];
    for (int length; sscanf(names, " %15s%n", name, &length) == 1; names += length) {
        enum value value = value_of(name);
        REQUIRE(value != VALUE_none);
        add(c, value);
    }
}

/* --- rows of alu.def
 * ---------------------------------------------------------------------------------------- */

/* A row has floats as bits where it only moves them; then the opcode's last part tells. */
static enum value row_value(enum isa_type type, const char *opcode)
{
    static const enum value values[] = {
        [TYPE_nil] = VALUE_none,  [TYPE_u16] = VALUE_b16, [TYPE_s16] = VALUE_b16, [TYPE_f16] = VALUE_f16,
        [TYPE_bf16] = VALUE_bf16, [TYPE_u32] = VALUE_b32, [TYPE_s32] = VALUE_b32, [TYPE_f32] = VALUE_f32,
        [TYPE_u64] = VALUE_b64,   [TYPE_s64] = VALUE_b64, [TYPE_f64] = VALUE_f64, [TYPE_pred] = VALUE_pred,
    };
    enum value last = value_of(strrchr(opcode, '.') + 1), plain = values[type];
    bool bits = plain == VALUE_b16 || plain == VALUE_b32 || plain == VALUE_b64;
    return bits && last != VALUE_none && value_bytes(last) == value_bytes(plain) ? last : plain;
}

/* Arithmetic of floats has most to get wrong, comparisons the least. */
static unsigned row_groups(const char *opcode)
{
    static const char *const exacting[] = {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"};
    const char *last = strrchr(opcode, '.') + 1;
    if (!strncmp(opcode, "set", 3) || !strncmp(opcode, "testp", 5) || !strncmp(opcode, "slct", 4))
        return 8;
    for (size_t i = 0; i < COUNT_OF(exacting); i++)
        if (!strncmp(opcode, exacting[i], strlen(exacting[i])) && (*last == 'f' || !strncmp(last, "bf", 2)))
            return 64;
    return 32;
}

/* Approximations have models of their own, and tests; the table of lop3 is a constant of the instruction;
 * what has a - in it is no PTX, but what ptxas makes of several instructions. */
static bool is_elsewhere(const char *opcode)
{
    return strchr(opcode, '-') || strstr(opcode, ".approx") || strstr(opcode, ".full") ||
           !strcmp(opcode, "lop3.b32");
}

static void add_row_text(struct oracle_cases *cases, const struct alu_row *row, const char *opcode)
{
    if (is_elsewhere(opcode))
        return;
    struct text body = {0};
    struct oracle_case *c = case_add(cases, opcode, row_groups(opcode));
    case_result(c, row_value(row->d, opcode));
    text_add(&body, "%s %%d0", opcode);
    for (unsigned i = 0; i < COUNT_OF(row->s) && row->s[i] != TYPE_nil; i++) {
        case_source(c, row_value(row->s[i], opcode));
        text_add(&body, ", %%s%u", i);
    }
    text_add(&body, ";");
    c->body = body.at;
}

static void add_rows(struct oracle_cases *cases)
{
    for (int i = 0; i < alu_row_count; i++) {
        char *texts = mem_text(alu_rows[i].texts), *rest = texts;
        for (char *opcode; (opcode = strsep(&rest, "|"));)
            add_row_text(cases, &alu_rows[i], opcode);
        mem_free(texts);
    }
}

/* --- conversions
 * ---------------------------------------------------------------------------------------------- */

/* Those that ptxas takes for sm_90: any of the modifiers with any of the pairs, destination.source. "-" is
 * none. */
static const struct {
    const char *modifiers, *pairs;
} conversions[] = {
    {"- sat",
     "u8.s8 u8.u16 u8.s16 u8.u32 u8.s32 u8.u64 u8.s64 s8.u8 s8.u16 s8.s16 s8.u32 s8.s32 s8.u64 s8.s64 "
     "u16.s8 u16.s16 u16.u32 u16.s32 u16.u64 u16.s64 s16.u16 s16.u32 s16.s32 s16.u64 s16.s64 u32.s8 "
     "u32.s16 u32.s32 u32.u64 u32.s64 s32.u32 s32.u64 s32.s64 u64.s8 u64.s16 u64.s32 u64.s64 s64.u64 "
     "f64.f16"},
    {"-",
     "u8.u8 s8.s8 u16.u8 u16.u16 s16.u8 s16.s8 s16.s16 u32.u8 u32.u16 u32.u32 s32.u8 s32.s8 s32.u16 "
     "s32.s16 s32.s32 u64.u8 u64.u16 u64.u32 u64.u64 s64.u8 s64.s8 s64.u16 s64.s16 s64.u32 s64.s32 s64.s64"},
    {"rni rni.sat rzi rzi.sat rmi rmi.sat rpi rpi.sat",
     "u8.f16 u8.f32 u8.f64 s8.f16 s8.f32 s8.f64 u16.f16 u16.f32 u16.f64 s16.f16 s16.f32 s16.f64 u32.f16 "
     "u32.f32 u32.f64 s32.f16 s32.f32 s32.f64 u64.f16 u64.f32 u64.f64 s64.f16 s64.f32 s64.f64"},
    {"rni.ftz rni.ftz.sat rzi.ftz rzi.ftz.sat rmi.ftz rmi.ftz.sat rpi.ftz rpi.ftz.sat",
     "u8.f32 s8.f32 u16.f32 s16.f32 u32.f32 s32.f32 u64.f32 s64.f32"},
    {"rni rzi rmi rpi", "u16.bf16 s16.bf16 u32.bf16 s32.bf16 u64.bf16 s64.bf16"},
    {"rn rn.sat rz rz.sat rm rm.sat rp rp.sat",
     "f16.u8 f16.s8 f16.u16 f16.s16 f16.u32 f16.s32 f16.u64 f16.s64 f16.f32 f16.f64 f32.u8 f32.s8 f32.u16 "
     "f32.s16 f32.u32 f32.s32 f32.u64 f32.s64 f32.f64 f64.u8 f64.s8 f64.u16 f64.s16 f64.u32 f64.s32 f64.u64 "
     "f64.s64"},
    {"rn.ftz rn.ftz.sat rz.ftz rz.ftz.sat rm.ftz rm.ftz.sat rp.ftz rp.ftz.sat",
     "f32.u8 f32.s8 f32.u16 f32.s16 f32.u32 f32.s32 f32.u64 f32.s64 f32.f64 f16.f32"},
    {"- sat rni rni.sat rzi rzi.sat rmi rmi.sat rpi rpi.sat", "f16.f16 f32.f32 f64.f64"},
    {"ftz ftz.sat rni.ftz rni.ftz.sat rzi.ftz rzi.ftz.sat rmi.ftz rmi.ftz.sat rpi.ftz rpi.ftz.sat",
     "f32.f32"},
    {"- sat ftz ftz.sat", "f32.f16 f64.f32"},
    {"- rni rzi rmi rpi", "bf16.bf16"},
    {"- rn rz rm rp", "f16.bf16 bf16.f16 f64.bf16"},
    {"- ftz rn rn.ftz rz rz.ftz rm rm.ftz rp rp.ftz", "f32.bf16"},
    {"rn rz rm rp", "bf16.u16 bf16.s16 bf16.u32 bf16.s32 bf16.u64 bf16.s64 bf16.f64"},
    {"rn rn.ftz rz rz.ftz rm rm.ftz rp rp.ftz", "bf16.f32"},
    {"rn.satfinite rn.relu rn.satfinite.relu rz.satfinite rz.relu rz.satfinite.relu", "f16.f32 bf16.f32"},
    {"rn rn.satfinite rn.relu rn.satfinite.relu rz rz.satfinite rz.relu rz.satfinite.relu",
     "f16x2.f32 bf16x2.f32"},
    {"rn rn.relu rz rz.relu rna rna.satfinite", "tf32.f32"},
    {"rn rn.relu", "f16x2.e4m3x2 f16x2.e5m2x2"},
    {"rn.satfinite rn.satfinite.relu", "e4m3x2.f32 e4m3x2.f16x2 e5m2x2.f32 e5m2x2.f16x2"},
};

static enum value conversion_value(const char *type)
{
    enum value value = value_of(type);
    if (value != VALUE_none)
        return value;
    unsigned bits = (unsigned)(type[strlen(type) - 1] - '0'); /* the last digit does: 8, 16, 32 or 64 */
    return bits == 8 || bits == 6 ? VALUE_b16 : bits == 2 ? VALUE_b32 : VALUE_b64;
}

/* In registers of the types' width, or in wider ones, which PTX allows as well. */
static void add_conversion(struct oracle_cases *cases, const char *modifiers, const char *to,
                           const char *from, bool wider)
{
    char name[80];
    bool plain = !strcmp(modifiers, "-"), two = strstr(to, "x2") && !strstr(from, "x2");
    snprintf(name, sizeof name, "cvt.%s%s%s.%s%s", plain ? "" : modifiers, plain ? "" : ".", to, from,
             wider ? " wider" : "");
    if (is_listed(cases, name))
        return;
    bool whole = *from != 'f' && *to != 'f';
    struct oracle_case *c = case_add(cases, name, whole ? 8 : 32);
    struct text body = {0};
    case_source(c, wider ? VALUE_b64 : conversion_value(from));
    if (two)
        case_source(c, conversion_value(from));
    case_result(c, wider ? VALUE_b64 : conversion_value(to));
    text_add(&body, "%.*s %%d0, %%s0%s;", (int)strcspn(name, " "), name, two ? ", %s1" : "");
    c->body = body.at;
}

static void add_pairs(struct oracle_cases *cases, const char *modifiers, const char *pairs)
{
    char to[16], from[16];
    for (int length; sscanf(pairs, " %15[^.].%15s%n", to, from, &length) == 2; pairs += length) {
        add_conversion(cases, modifiers, to, from, false);
        if (strchr("us", *to) && strchr("us", *from))
            add_conversion(cases, modifiers, to, from, true);
    }
}

static void add_conversions(struct oracle_cases *cases)
{
    char modifiers[24];
    for (size_t i = 0; i < COUNT_OF(conversions); i++) {
        const char *rest = conversions[i].modifiers;
        for (int length; sscanf(rest, " %23s%n", modifiers, &length) == 1; rest += length)
            add_pairs(cases, modifiers, conversions[i].pairs);
    }
}

/* --- instructions that are no rows
 * ---------------------------------------------------------------------------- */

static const struct {
    const char *name, *sources, *results, *body;
} others[] = {
    /* what is packed */
    {"mov.b32 of halves", "b16 b16", "b32", "mov.b32 %d0, {%s0, %s1};"},
    {"mov.b32 to halves", "b32", "b16 b16", "mov.b32 {%d0, %d1}, %s0;"},
    {"mov.b64 of halves", "b16 b16 b16 b16", "b64", "mov.b64 %d0, {%s0, %s1, %s2, %s3};"},
    {"mov.b64 to halves", "b64", "b16 b16 b16 b16", "mov.b64 {%d0, %d1, %d2, %d3}, %s0;"},
    {"mov.b64 of words", "b32 b32", "b64", "mov.b64 %d0, {%s0, %s1};"},
    {"mov.b64 to words", "b64", "b32 b32", "mov.b64 {%d0, %d1}, %s0;"},
    /* comparisons with two results, and combined with a predicate */
    {"setp.lt.s32 p|q", "b32 b32", "pred pred", "setp.lt.s32 %d0|%d1, %s0, %s1;"},
    {"setp.geu.f32 p|q", "f32 f32", "pred pred", "setp.geu.f32 %d0|%d1, %s0, %s1;"},
    {"setp.lt.and.u64 p|q", "b64 b64 pred", "pred pred", "setp.lt.and.u64 %d0|%d1, %s0, %s1, %s2;"},
    {"setp.ge.or.s16 p|q", "b16 b16 pred", "pred pred", "setp.ge.or.s16 %d0|%d1, %s0, %s1, !%s2;"},
    {"setp.num.xor.f64 p|q", "f64 f64 pred", "pred pred", "setp.num.xor.f64 %d0|%d1, %s0, %s1, %s2;"},
    {"setp.leu.and.ftz.f32 p|q", "f32 f32 pred", "pred pred",
     "setp.leu.and.ftz.f32 %d0|%d1, %s0, %s1, !%s2;"},
    {"setp.lt.f16x2 p|q", "f16x2 f16x2", "pred pred", "setp.lt.f16x2 %d0|%d1, %s0, %s1;"},
    {"setp.neu.ftz.f16x2 p|q", "f16x2 f16x2", "pred pred", "setp.neu.ftz.f16x2 %d0|%d1, %s0, %s1;"},
    {"setp.gtu.or.bf16x2 p|q", "bf16x2 bf16x2 pred", "pred pred",
     "setp.gtu.or.bf16x2 %d0|%d1, %s0, %s1, %s2;"},
    /* lanes together */
    {"shfl.sync.up.b32", "b32 b32 b32", "b32 pred", "shfl.sync.up.b32 %d0|%d1, %s0, %s1, %s2, -1;"},
    {"shfl.sync.down.b32", "b32 b32 b32", "b32 pred", "shfl.sync.down.b32 %d0|%d1, %s0, %s1, %s2, -1;"},
    {"shfl.sync.bfly.b32", "b32 b32 b32", "b32 pred", "shfl.sync.bfly.b32 %d0|%d1, %s0, %s1, %s2, -1;"},
    {"shfl.sync.idx.b32", "b32 b32 b32", "b32 pred", "shfl.sync.idx.b32 %d0|%d1, %s0, %s1, %s2, -1;"},
    {"vote.sync.all.pred", "pred pred", "pred", "or.pred %s0, %s0, %s1; vote.sync.all.pred %d0, %s0, -1;"},
    {"vote.sync.any.pred", "pred pred", "pred", "and.pred %s0, %s0, %s1; vote.sync.any.pred %d0, !%s0, -1;"},
    {"vote.sync.uni.pred", "pred", "pred", "vote.sync.uni.pred %d0, %s0, -1;"},
    {"vote.sync.ballot.b32", "pred", "b32", "vote.sync.ballot.b32 %d0, %s0, -1;"},
    {"match.any.sync.b32", "b32", "b32", "and.b32 %s0, %s0, 7; match.any.sync.b32 %d0, %s0, -1;"},
    {"match.any.sync.b64", "b64", "b32", "and.b64 %s0, %s0, 7; match.any.sync.b64 %d0, %s0, -1;"},
    {"match.all.sync.b32", "b32", "b32 pred", "match.all.sync.b32 %d0|%d1, %s0, -1;"},
    {"match.all.sync.b64", "b64", "b32 pred", "and.b64 %s0, %s0, 0; match.all.sync.b64 %d0|%d1, %s0, -1;"},
};

/* A case from a pattern, in which # stands for the type. */
static void add_pattern(struct oracle_cases *cases, const char *name, const char *sources,
                        const char *results, const char *pattern, const char *type, unsigned groups)
{
    struct oracle_case *c = case_add(cases, name, groups);
    struct text body = {0};
    for (; *pattern; pattern++)
        text_add_bytes(&body, *pattern == '#' ? type : pattern, *pattern == '#' ? strlen(type) : 1);
    add_values(c, sources, case_source);
    add_values(c, results, case_result);
    c->body = body.at;
}

static void add_others(struct oracle_cases *cases)
{
    for (size_t i = 0; i < COUNT_OF(others); i++)
        add_pattern(cases, others[i].name, others[i].sources, others[i].results, others[i].body, "", 32);
}

/* Chains of sums that pass a carry on: three words, so that it is made, passed and taken. */
static void add_carries(struct oracle_cases *cases)
{
    static const char *const
        types[] = {"u32", "s32", "u64", "s64"},
        *const chains[] = {
            "add.cc.# %d0, %s0, %s1; addc.cc.# %d1, %s2, %s3; addc.# %d2, %s4, %s5;",
            "sub.cc.# %d0, %s0, %s1; subc.cc.# %d1, %s2, %s3; subc.# %d2, %s4, %s5;",
            "mad.lo.cc.# %d0, %s0, %s1, %s2; madc.hi.cc.# %d1, %s0, %s1, %s3; madc.lo.# %d2, %s4, %s5, %s0;",
            "mad.hi.cc.# %d0, %s0, %s1, %s2; madc.lo.cc.# %d1, %s0, %s1, %s3; madc.hi.# %d2, %s4, %s5, %s0;",
        };
    for (size_t t = 0; t < COUNT_OF(types); t++)
        for (size_t i = 0; i < COUNT_OF(chains); i++) {
            char name[40];
            bool wide = strstr(types[t], "64");
            snprintf(name, sizeof name, "%.*s%s and on", (int)strcspn(chains[i], "#"), chains[i], types[t]);
            add_pattern(cases, name, wide ? "b64 b64 b64 b64 b64 b64" : "b32 b32 b32 b32 b32 b32",
                        wide ? "b64 b64 b64" : "b32 b32 b32", chains[i], types[t], 32);
        }
}

/* Each lane with a word of its own: the old value, and the word afterwards. */
static void add_atomic(struct oracle_cases *cases, const char *op, const char *value, bool shared)
{
    char name[40], sources[40], results[40], type[16];
    const char *space = shared ? "shared" : "global";
    bool cas = !strncmp(op, "cas", 3);
    struct text body = {0};
    snprintf(name, sizeof name, "atom.%s.%s", space, op);
    snprintf(sources, sizeof sources, "%s %s %s", value, value, cas ? value : "");
    snprintf(results, sizeof results, "%s %s", value, value);
    snprintf(type, sizeof type, "%s.b%u", space, 8 * value_bytes(value_of(value)));
    text_add(&body, "%s st.# [%%cell], %%s0; %s %%d0, [%%cell], %%s1%s; ld.# %%d1, [%%cell];",
             shared ? ".shared .align 8 .b8 cells[256]; .reg .b32 %cell; mov.u32 %cell, cells; "
                      "mad.lo.u32 %cell, %lane, 8, %cell;"
                    : ".reg .b64 %cell; add.u64 %cell, %own, 256;",
             name, cas ? ", %s2" : "");
    add_pattern(cases, name, sources, results, body.at, type, 8);
    text_fini(&body);
}

static void add_atomics(struct oracle_cases *cases)
{
    static const char *const atomics[][2] = {
        {"add.u32", "b32"},           {"add.s32", "b32"},         {"add.u64", "b64"},
        {"add.f32", "f32"},           {"add.f64", "f64"},         {"add.noftz.f16", "f16"},
        {"add.noftz.f16x2", "f16x2"}, {"add.noftz.bf16", "bf16"}, {"add.noftz.bf16x2", "bf16x2"},
        {"inc.u32", "b32"},           {"dec.u32", "b32"},         {"min.u32", "b32"},
        {"max.u32", "b32"},           {"min.s32", "b32"},         {"max.s32", "b32"},
        {"min.u64", "b64"},           {"max.u64", "b64"},         {"min.s64", "b64"},
        {"max.s64", "b64"},           {"and.b32", "b32"},         {"or.b32", "b32"},
        {"xor.b32", "b32"},           {"and.b64", "b64"},         {"or.b64", "b64"},
        {"xor.b64", "b64"},           {"exch.b32", "b32"},        {"exch.b64", "b64"},
        {"cas.b16", "b16"},           {"cas.b32", "b32"},         {"cas.b64", "b64"},
    };
    for (size_t i = 0; i < COUNT_OF(atomics); i++) {
        add_atomic(cases, atomics[i][0], atomics[i][1], false);
        add_atomic(cases, atomics[i][0], atomics[i][1], true);
    }
}

static void add_reductions(struct oracle_cases *cases)
{
    static const char *const kinds[] = {"add.u32", "add.s32", "min.u32", "max.u32", "min.s32",
                                        "max.s32", "and.b32", "or.b32",  "xor.b32"};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        char name[40];
        snprintf(name, sizeof name, "redux.sync.%s", kinds[i]);
        add_pattern(cases, name, "b32", "b32", "redux.sync.# %d0, %s0, -1;", kinds[i], 8);
    }
}

static void add_lop3(struct oracle_cases *cases)
{
    for (unsigned table = 0; table < 256; table++) {
        char name[40], number[8];
        snprintf(number, sizeof number, "0x%02x", table);
        snprintf(name, sizeof name, "lop3.b32 %s", number);
        add_pattern(cases, name, "b32 b32 b32", "b32", "lop3.b32 %d0, %s0, %s1, %s2, #;", number, 2);
    }
}

void cases_init(struct oracle_cases *cases)
{
    *cases = (struct oracle_cases){0};
    add_rows(cases);
    add_conversions(cases);
    add_others(cases);
    add_carries(cases);
    add_atomics(cases);
    add_reductions(cases);
    add_lop3(cases);
    add_matrices(cases);
    add_video(cases);
    add_vector_atomics(cases);
}

void cases_fini(struct oracle_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        mem_free(cases->at[i].name);
        mem_free(cases->at[i].body);
    }
    mem_free(cases->at);
}

/* --- operands and kernels
 * --------------------------------------------------------------------------------------- */

size_t case_source_bytes(const struct oracle_case *c)
{
    return (size_t)c->source_count * CASE_LANES * CASE_SLOT;
}

size_t case_result_bytes(const struct oracle_case *c)
{
    return (size_t)c->result_count * CASE_LANES * CASE_SLOT;
}

void case_fill(const struct oracle_case *c, uint64_t *slots)
{
    static const unsigned spreads[] = {0, 1, 3, 6, 10, 14, 30, 60};
    struct rng rng;
    rng_init(&rng, 1, c->name);
    for (unsigned g = 0; g < c->groups; g++, slots += c->source_count * CASE_LANES)
        for (unsigned lane = 0; lane < CASE_LANES; lane++)
            for (unsigned s = 0; s < c->source_count; s++) {
                bool alike = s && c->sources[s] == c->sources[s - 1];
                uint64_t before = alike ? slots[(s - 1) * CASE_LANES + lane] : 0;
                unsigned spread = spreads[g % COUNT_OF(spreads)];
                slots[s * CASE_LANES + lane] = c->tame && spread ? value_tame(&rng, c->sources[s], spread)
                                                                 : value_any(&rng, c->sources[s], before);
            }
}

void case_write_head(struct text *text)
{
    text_add(text, ".version 8.7\n.target sm_90\n.address_size 64\n");
}

static void declare(char letter, const enum value *values, unsigned count, struct text *text)
{
    for (unsigned i = 0; i < count; i++)
        if (values[i] == VALUE_pred)
            text_add(text, ".reg .pred %%%c%u;\n.reg .b32 %%%c%uw;\n", letter, i, letter, i);
        else
            text_add(text, ".reg .b%u %%%c%u;\n", 8 * value_bytes(values[i]), letter, i);
}

static void load_sources(const struct oracle_case *c, struct text *text)
{
    for (unsigned i = 0; i < c->source_count; i++) {
        unsigned bits = 8 * value_bytes(c->sources[i]), offset = i * CASE_LANES * CASE_SLOT;
        bool is_pred = c->sources[i] == VALUE_pred;
        text_add(text, "ld.global.b%u %%s%u%s, [%%from+%u];\n", bits, i, is_pred ? "w" : "", offset);
        if (is_pred)
            text_add(text, "setp.ne.u32 %%s%u, %%s%uw, 0;\n", i, i);
    }
}

static void store_results(const struct oracle_case *c, struct text *text)
{
    for (unsigned i = 0; i < c->result_count; i++) {
        unsigned bits = 8 * value_bytes(c->results[i]), offset = i * CASE_LANES * CASE_SLOT;
        bool is_pred = c->results[i] == VALUE_pred;
        if (is_pred)
            text_add(text, "selp.u32 %%d%uw, 1, 0, %%d%u;\n", i, i);
        text_add(text, "st.global.b%u [%%own+%u], %%d%u%s;\n", bits, offset, i, is_pred ? "w" : "");
    }
}

void case_write_kernel(const struct oracle_case *c, const char *kernel, struct text *text)
{
    text_add(text,
             ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n"
             ".reg .b64 %%in, %%out, %%from, %%own;\n.reg .b32 %%lane, %%group;\n",
             kernel);
    declare('s', c->sources, c->in_memory ? 0 : c->source_count, text);
    declare('d', c->results, c->in_memory ? 0 : c->result_count, text);
    text_add(text,
             "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\n"
             "mov.u32 %%lane, %%tid.x;\nmov.u32 %%group, %%ctaid.x;\n"
             "mad.wide.u32 %%in, %%group, %zu, %%in;\nmad.wide.u32 %%out, %%group, %zu, %%out;\n"
             "mad.wide.u32 %%from, %%lane, %d, %%in;\nmad.wide.u32 %%own, %%lane, %d, %%out;\n",
             case_source_bytes(c), case_result_bytes(c), CASE_SLOT, CASE_SLOT);
    if (!c->in_memory)
        load_sources(c, text);
    text_add(text, "%s\n", c->body);
    if (!c->in_memory)
        store_results(c, text);
    text_add(text, "ret;\n}\n");
}
