/* Cases of video instructions, and of vector atomics. */
#include "case_list.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { GROUPS = 4, TYPE_SETS = 8 };

static const char *const types[] = {"u32", "s32"};
static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static const char *const seconds[] = {"", ".add", ".min", ".max"};

/* What is selected of the operands is drawn from a stream that the opcode seeds. */
struct drawn {
    struct rng rng;
    char text[16];
};

static const char *draw_part(struct drawn *drawn)
{
    static const char *const parts[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    return parts[rng_below(&drawn->rng, COUNT_OF(parts))];
}

/* A selector of lanes: ".h31", ".b7040". */
static const char *draw_lanes(struct drawn *drawn, unsigned count)
{
    unsigned length = (unsigned)snprintf(drawn->text, sizeof drawn->text, count == 2 ? ".h" : ".b");
    for (unsigned i = 0; i < count; i++)
        drawn->text[length++] = (char)('0' + rng_below(&drawn->rng, 2 * count));
    drawn->text[length] = 0;
    return drawn->text;
}

/* The lanes that are written: some, from the highest down. */
static const char *draw_mask(struct drawn *drawn, unsigned count)
{
    unsigned mask = 1 + (unsigned)rng_below(&drawn->rng, (1u << count) - 1);
    unsigned length = (unsigned)snprintf(drawn->text, sizeof drawn->text, count == 2 ? ".h" : ".b");
    for (unsigned i = count; i-- > 0;)
        if (mask >> i & 1)
            drawn->text[length++] = (char)('0' + i);
    drawn->text[length] = 0;
    return drawn->text;
}

static void add_case(struct oracle_cases *cases, const char *name, const char *body)
{
    struct oracle_case *c = case_add(cases, name, GROUPS);
    for (unsigned i = 0; i < 3; i++)
        case_source(c, VALUE_b32);
    case_result(c, VALUE_b32);
    c->body = mem_text(body);
}

/* One value: alone, combined with a third operand, and put into a part of it. */
static void add_scalars(struct oracle_cases *cases, const char *opcode)
{
    char name[80], body[160];
    struct drawn drawn;
    rng_init(&drawn.rng, 1, opcode);
    for (size_t s = 0; s < COUNT_OF(seconds); s++)
        for (int whole = 1; whole >= 0; whole--) {
            const char *a = whole ? "" : draw_part(&drawn), *b = whole ? "" : draw_part(&drawn);
            if (whole && !*seconds[s])
                continue; /* what is a row of alu.def is tried there, and below with parts */
            snprintf(name, sizeof name, "%s%s %s %s", opcode, seconds[s], a, b);
            snprintf(body, sizeof body, "%s%s %%d0, %%s0%s, %%s1%s%s;", opcode, seconds[s], a, b,
                     *seconds[s] ? ", %s2" : "");
            add_case(cases, name, body);
        }
    for (int i = 0; i < 2; i++) {
        const char *a = draw_part(&drawn), *b = draw_part(&drawn), *to = "";
        while (!*to)
            to = draw_part(&drawn);
        snprintf(name, sizeof name, "%s into %s %s %s %d", opcode, to, a, b, i);
        snprintf(body, sizeof body, "%s %%d0%s, %%s0%s, %%s1%s, %%s2;", opcode, to, a, b);
        add_case(cases, name, body);
    }
}

/* Several lanes: merged with a third operand, and added to it. */
static void add_lanes(struct oracle_cases *cases, const char *opcode, const char *sum, unsigned count)
{
    char name[80], body[160], mask[16], a[16], b[16];
    struct drawn drawn;
    rng_init(&drawn.rng, 1, opcode);
    for (int adds = 0; adds < (sum ? 2 : 1); adds++)
        for (int i = 0; i < 2; i++) {
            snprintf(mask, sizeof mask, "%s", draw_mask(&drawn, count));
            snprintf(a, sizeof a, "%s", draw_lanes(&drawn, count));
            snprintf(b, sizeof b, "%s", draw_lanes(&drawn, count));
            snprintf(name, sizeof name, "%s%s %s %s %s %d", opcode, adds ? sum : "", mask, a, b, i);
            snprintf(body, sizeof body, "%s%s %%d0%s, %%s0%s, %%s1%s, %%s2;", opcode, adds ? sum : "", mask,
                     a, b);
            add_case(cases, name, body);
        }
}

/* Of whole registers, all lanes. */
static void add_plain(struct oracle_cases *cases, const char *op, const char *triple, const char *ending,
                      bool simd)
{
    char opcode[64], body[96];
    snprintf(opcode, sizeof opcode, "%s.%s%s", op, triple, ending);
    snprintf(body, sizeof body, "%s %%d0, %%s0, %%s1%s;", opcode, simd ? ", %s2" : "");
    struct oracle_case *c = case_add(cases, opcode, 8 * GROUPS);
    for (int i = 0; i < (simd ? 3 : 2); i++)
        case_source(c, VALUE_b32);
    case_result(c, VALUE_b32);
    c->body = mem_text(body);
}

static void add_whole(struct oracle_cases *cases, const char *triple)
{
    static const char *const ops[] = {"add", "sub", "absdiff", "min", "max", "avrg"};
    static const char *const endings[] = {"", ".sat", ".add"};
    char op[16];
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        for (size_t e = 0; e < COUNT_OF(endings); e++)
            for (unsigned lanes = 1; lanes <= 4; lanes *= 2) {
                if (lanes == 1 && (e == 2 || i == 5))
                    continue;
                snprintf(op, sizeof op, lanes > 1 ? "v%s%u" : "v%s", ops[i], lanes);
                add_plain(cases, op, triple, endings[e], lanes > 1);
            }
}

static void add_arithmetic(struct oracle_cases *cases, const char *triple)
{
    static const char *const scalar[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax"};
    static const char *const simd[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"};
    char opcode[64];
    for (size_t i = 0; i < COUNT_OF(scalar); i++)
        for (int sat = 0; sat < 2; sat++) {
            snprintf(opcode, sizeof opcode, "%s.%s%s", scalar[i], triple, sat ? ".sat" : "");
            add_scalars(cases, opcode);
        }
    for (size_t i = 0; i < COUNT_OF(simd); i++)
        for (unsigned count = 2; count <= 4; count += 2)
            for (int sat = 0; sat < 2; sat++) {
                snprintf(opcode, sizeof opcode, "%s%u.%s%s", simd[i], count, triple, sat ? ".sat" : "");
                add_lanes(cases, opcode, sat ? NULL : ".add", count);
            }
}

static void add_products(struct oracle_cases *cases, const char *triple)
{
    static const char *const scales[] = {"", ".shr7", ".shr15"};
    static const char *const forms[][4] = {/* .po, signs of a, b and c */
                                           {"", "", "", ""},
                                           {"", "-", "", ""},
                                           {"", "", "-", ""},
                                           {"", "", "", "-"},
                                           {".po", "", "", ""}};
    char name[96], body[160];
    struct drawn drawn;
    rng_init(&drawn.rng, 1, triple);
    for (size_t i = 0; i < COUNT_OF(forms) * COUNT_OF(scales) * 2; i++) {
        const char *const *form = forms[i % COUNT_OF(forms)];
        const char *scale = scales[i / 2 / COUNT_OF(forms)], *sat = i / COUNT_OF(forms) % 2 ? ".sat" : "";
        const char *a = draw_part(&drawn), *b = draw_part(&drawn);
        bool is_signed = strchr(triple + 3, 's') || *form[1] || *form[2] || *form[3];
        bool wide = (!*a && triple[4] == 'u') || (!*b && triple[8] == 'u');
        if ((*scale || *sat) && (!is_signed || wide))
            continue; /* what ptxas makes of these is not what the manual says: Heddle refuses them */
        snprintf(name, sizeof name, "vmad.%s%s%s%s %sa%s %sb%s %sc", triple, form[0], sat, scale, form[1], a,
                 form[2], b, form[3]);
        snprintf(body, sizeof body, "vmad.%s%s%s%s %%d0, %s%%s0%s, %s%%s1%s, %s%%s2;", triple, form[0], sat,
                 scale, form[1], a, form[2], b, form[3]);
        add_case(cases, name, body);
    }
}

static void add_shifts(struct oracle_cases *cases, const char *pair)
{
    char opcode[64];
    for (int i = 0; i < 8; i++) {
        snprintf(opcode, sizeof opcode, "%s.%s.u32%s%s", i & 1 ? "vshr" : "vshl", pair, i & 2 ? ".sat" : "",
                 i & 4 ? ".wrap" : ".clamp");
        add_scalars(cases, opcode);
    }
}

static void add_comparisons(struct oracle_cases *cases, const char *pair)
{
    char opcode[64], sum[64];
    for (size_t i = 0; i < COUNT_OF(comparisons); i++) {
        snprintf(opcode, sizeof opcode, "vset.%s.%s", pair, comparisons[i]);
        add_scalars(cases, opcode);
        for (unsigned count = 2; count <= 4; count += 2) {
            snprintf(opcode, sizeof opcode, "vset%u.%s.%s", count, pair, comparisons[i]);
            snprintf(sum, sizeof sum, ".add");
            add_lanes(cases, opcode, sum, count);
        }
    }
}

void add_video(struct oracle_cases *cases)
{
    char set[32];
    for (unsigned i = 0; i < TYPE_SETS; i++) {
        snprintf(set, sizeof set, "%s.%s.%s", types[i & 1], types[i >> 1 & 1], types[i >> 2]);
        add_arithmetic(cases, set);
        add_products(cases, set);
    }
    add_whole(cases, "u32.u32.u32");
    add_whole(cases, "s32.s32.s32");
    for (unsigned i = 0; i < 4; i++) {
        snprintf(set, sizeof set, "%s.%s", types[i & 1], types[i >> 1]);
        add_shifts(cases, set);
        add_comparisons(cases, set);
    }
}

/* --- vector atomics ---------------------------------------------------------------------------------------
 */

static void add_registers(struct text *text, const char *name, unsigned count)
{
    text_add(text, "{");
    for (unsigned i = 0; i < count; i++)
        text_add(text, "%s%%%s%u", i ? ", " : "", name, i);
    text_add(text, "}");
}

/* Each lane has a cell of its own: what is there before, as words or pieces of their width, the operands,
 * the old values, and what is there afterwards. Of halves two are in a word of the results. */
static void add_vector(struct oracle_cases *cases, const char *op, const char *type, unsigned count,
                       bool returns)
{
    char name[64];
    enum value value = value_of(type);
    unsigned bytes = value_bytes(value), words = count * bytes / 4;
    struct text body = {0};
    snprintf(name, sizeof name, "%s.global.v%u.%s.%s", returns ? "atom" : "red", count, type, op);
    struct oracle_case *c = case_add(cases, name, 2 * GROUPS);
    for (unsigned i = 0; i < 2 * count; i++)
        case_source(c, value);
    for (unsigned i = 0; i < (returns ? 2 : 1) * words; i++)
        case_result(c, VALUE_b32);
    text_add(&body, ".reg .b64 %%cell; mad.wide.u32 %%cell, %%lane, %u, %%out; .reg .b%u %%x<%u>;\n",
             count * bytes, 8 * bytes, count);
    for (unsigned i = 0; i < count; i++)
        text_add(&body, "st.global.b%u [%%cell+%u], %%s%u;\n", 8 * bytes, i * bytes, count + i);
    text_add(&body, "%s ", name);
    if (returns) {
        add_registers(&body, "x", count);
        text_add(&body, ", ");
    }
    text_add(&body, "[%%cell], ");
    add_registers(&body, "s", count);
    text_add(&body, ";\n");
    for (unsigned i = 0; i < words; i++)
        text_add(&body, "ld.global.b32 %%d%u, [%%cell+%u];\n", i, 4 * i);
    for (unsigned i = 0; i < words && returns; i++)
        if (bytes == 4)
            text_add(&body, "mov.b32 %%d%u, %%x%u;\n", words + i, i);
        else
            text_add(&body, "mov.b32 %%d%u, {%%x%u, %%x%u};\n", words + i, 2 * i, 2 * i + 1);
    text_add(&body, "bar.warp.sync -1;\n"); /* the cells are where results go */
    c->body = body.at;
}

void add_vector_atomics(struct oracle_cases *cases)
{
    static const char *const ops[] = {"add.noftz", "min.noftz", "max.noftz"};
    static const char *const halves[] = {"f16", "bf16"}, *const pairs[] = {"f16x2", "bf16x2"};
    for (int returns = 0; returns < 2; returns++) {
        for (unsigned count = 2; count <= 4; count *= 2)
            add_vector(cases, "add", "f32", count, returns);
        for (size_t i = 0; i < COUNT_OF(ops) * 2; i++) {
            for (unsigned count = 2; count <= 8; count *= 2)
                add_vector(cases, ops[i / 2], halves[i % 2], count, returns);
            for (unsigned count = 2; count <= 4; count *= 2)
                add_vector(cases, ops[i / 2], pairs[i % 2], count, returns);
        }
    }
}
