/* Cases of matrix instructions. mma has its fragments in registers; those of wmma are loaded and stored by
 * its own instructions, as where a lane has what is theirs alone to know. */
#include "case_list.h"
#include "base/err.h"
#include "base/mem.h"
#include "ptx_run/matrix.h"

enum { GROUPS = 32 };

static enum value register_of(enum matrix_type type)
{
    switch (type) {
    case MATRIX_f16:
        return VALUE_f16x2;
    case MATRIX_bf16:
        return VALUE_bf16x2;
    case MATRIX_tf32:
    case MATRIX_f32:
        return VALUE_f32;
    case MATRIX_f64:
        return VALUE_f64;
    case MATRIX_e4m3:
        return VALUE_e4m3x4;
    case MATRIX_e5m2:
        return VALUE_e5m2x4;
    default:
        return VALUE_b32;
    }
}

static void add_list(struct text *text, char letter, unsigned first, unsigned count)
{
    text_add(text, "{");
    for (unsigned i = 0; i < count; i++)
        text_add(text, "%s%%%c%u", i ? ", " : "", letter, first + i);
    text_add(text, "}");
}

static void add_mma(struct oracle_cases *cases, const char *opcode)
{
    struct matrix_form form;
    struct text body = {0};
    bool known = matrix_parse(opcode, &form);
    REQUIRE(known);
    struct oracle_case *c = case_add(cases, opcode, GROUPS);
    c->tame = true;
    for (unsigned i = 0; i < form.d.registers; i++)
        case_result(c, register_of(form.d.type));
    const struct matrix_operand *const sources[] = {&form.a, &form.b, &form.c};
    text_add(&body, "%s ", opcode);
    add_list(&body, 'd', 0, form.d.registers);
    for (unsigned s = 0; s < COUNT_OF(sources); s++) {
        text_add(&body, ", ");
        add_list(&body, 's', c->source_count, sources[s]->registers);
        for (unsigned i = 0; i < sources[s]->registers; i++)
            case_source(c, register_of(sources[s]->type));
    }
    text_add(&body, ";");
    c->body = body.at;
}

/* A case for each word that can stand for the # of the pattern. */
static void add_each(struct oracle_cases *cases, void add(struct oracle_cases *, const char *),
                     const char *pattern, const char *const *words)
{
    for (; *words; words++) {
        struct text opcode = {0};
        for (const char *at = pattern; *at; at++)
            text_add_bytes(&opcode, *at == '#' ? *words : at, *at == '#' ? strlen(*words) : 1);
        add(cases, opcode.at);
        text_fini(&opcode);
    }
}

static void add_mmas(struct oracle_cases *cases)
{
    static const char *const halves[] = {"f16.f16.f16.f16", "f32.f16.f16.f32", 0};
    static const char *const mixed[] = {"f16.f16.f16.f16", "f32.f16.f16.f32", "f32.f16.f16.f16", 0};
    static const char *const fp8[] = {"f32.e4m3.e4m3.f32",
                                      "f32.e4m3.e5m2.f32",
                                      "f32.e5m2.e4m3.f32",
                                      "f32.e5m2.e5m2.f32",
                                      "f16.e4m3.e4m3.f16",
                                      "f16.e5m2.e4m3.f16",
                                      0};
    static const char *const bytes[] = {"s32.s8.s8.s32", "s32.s8.u8.s32", "s32.u8.s8.s32", "s32.u8.u8.s32",
                                        0};
    static const char *const nibbles[] = {"s32.s4.s4.s32", "s32.s4.u4.s32", "s32.u4.s4.s32", "s32.u4.u4.s32",
                                          0};
    static const char *const bits[] = {"xor.popc", "and.popc", 0};
    static const struct {
        const char *pattern, *const *types;
    } forms[] = {
        {"mma.sync.aligned.m8n8k4.row.col.#", mixed},
        {"mma.sync.aligned.m8n8k4.row.row.#", halves},
        {"mma.sync.aligned.m8n8k4.col.col.#", halves},
        {"mma.sync.aligned.m8n8k4.col.row.#", mixed},
        {"mma.sync.aligned.m16n8k8.row.col.#", halves},
        {"mma.sync.aligned.m16n8k16.row.col.#", halves},
        {"mma.sync.aligned.m16n8k16.row.col.#", fp8},
        {"mma.sync.aligned.m16n8k32.row.col.#", fp8},
        {"mma.sync.aligned.m8n8k16.row.col.#", bytes},
        {"mma.sync.aligned.m8n8k16.row.col.satfinite.#", bytes},
        {"mma.sync.aligned.m16n8k16.row.col.#", bytes},
        {"mma.sync.aligned.m16n8k16.row.col.satfinite.#", bytes},
        {"mma.sync.aligned.m16n8k32.row.col.#", bytes},
        {"mma.sync.aligned.m16n8k32.row.col.satfinite.#", bytes},
        {"mma.sync.aligned.m8n8k32.row.col.#", nibbles},
        {"mma.sync.aligned.m8n8k32.row.col.satfinite.#", nibbles},
        {"mma.sync.aligned.m16n8k32.row.col.#", nibbles},
        {"mma.sync.aligned.m16n8k64.row.col.#", nibbles},
        {"mma.sync.aligned.m16n8k64.row.col.satfinite.#", nibbles},
        {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.#", bits},
        {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.#", bits},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.#", bits},
    };
    static const char *const single[] = {
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
    };
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        add_each(cases, add_mma, forms[i].pattern, forms[i].types);
    for (size_t i = 0; i < COUNT_OF(single); i++)
        add_mma(cases, single[i]);
}

/* --- wmma
 * ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned bits;
} types[] = {
#define T(name, bits) {#name, bits},
    MATRIX_TYPES(T)
#undef T
};

/* What 8 bytes of memory hold. */
static enum value slot_of(enum matrix_type type)
{
    switch (type) {
    case MATRIX_f16:
        return VALUE_f16x4;
    case MATRIX_bf16:
        return VALUE_bf16x4;
    case MATRIX_tf32:
    case MATRIX_f32:
        return VALUE_f32x2;
    case MATRIX_f64:
        return VALUE_f64;
    default:
        return VALUE_b64;
    }
}

/* How many operands of 32 slots a matrix fills. */
static unsigned slots_of(const struct matrix_operand *o)
{
    unsigned bytes = o->rows * o->columns * types[o->type].bits / 8, room = CASE_LANES * CASE_SLOT;
    return (bytes + room - 1) / room;
}

/* wmma.load or wmma.store */
static void move_part(const struct matrix_form *form, const struct matrix_operand *o, char letter,
                      unsigned offset, struct text *body)
{
    struct text registers = {0};
    bool stores = letter == 'd';
    unsigned stride = o->by_column ? o->rows : o->columns;
    add_list(&registers, letter, 0, o->registers);
    text_add(body, "wmma.%s.%c.sync.aligned.%s.m%un%uk%u.global.%s ", stores ? "store" : "load", letter,
             o->by_column ? "col" : "row", form->m, form->n, form->k, types[o->type].name);
    if (stores)
        text_add(body, "[%%out], %s, %u; ", registers.at, stride);
    else
        text_add(body, "%s, [%%in+%u], %u; ", registers.at, offset, stride);
    text_fini(&registers);
}

static void declare_part(const struct matrix_operand *o, char letter, struct text *body)
{
    text_add(body, ".reg .b%u %%%c<%u>; ", o->type == MATRIX_f64 ? 64 : 32, letter, o->registers);
}

static void add_wmma(struct oracle_cases *cases, const char *opcode)
{
    struct matrix_form form;
    struct text body = {0};
    bool known = matrix_parse(opcode, &form);
    REQUIRE(known);
    struct oracle_case *c = case_add(cases, opcode, GROUPS);
    c->tame = c->in_memory = true;
    form.c.by_column = form.b.by_column;
    form.d.by_column = form.a.by_column;
    const struct matrix_operand *const sources[] = {&form.a, &form.b, &form.c};
    declare_part(&form.d, 'd', &body);
    for (unsigned s = 0; s < COUNT_OF(sources); s++) {
        declare_part(sources[s], (char)('a' + s), &body);
        move_part(&form, sources[s], (char)('a' + s), c->source_count * CASE_LANES * CASE_SLOT, &body);
        for (unsigned i = slots_of(sources[s]); i; i--)
            case_source(c, slot_of(sources[s]->type));
    }
    text_add(&body, "%s ", opcode);
    add_list(&body, 'd', 0, form.d.registers);
    for (unsigned s = 0; s < COUNT_OF(sources); s++) {
        text_add(&body, ", ");
        add_list(&body, (char)('a' + s), 0, sources[s]->registers);
    }
    text_add(&body, "; ");
    move_part(&form, &form.d, 'd', 0, &body);
    for (unsigned i = slots_of(&form.d); i; i--)
        case_result(c, slot_of(form.d.type));
    c->body = body.at;
}

static void add_wmmas(struct oracle_cases *cases)
{
    static const char *const halves[] = {"f16.f16",
                                         "f16.f32",
                                         "f32.f16",
                                         "f32.f32",
                                         "f32.bf16.bf16.f32",
                                         "s32.s8.s8.s32",
                                         "s32.u8.u8.s32",
                                         "s32.s8.s8.s32.satfinite",
                                         0};
    static const char *const layouts[] = {"row.row", "row.col", "col.row", "col.col", 0};
    static const struct {
        const char *pattern, *const *types;
    } forms[] = {
        {"wmma.mma.sync.aligned.row.col.m16n16k16.#", halves},
        {"wmma.mma.sync.aligned.col.row.m16n16k16.#", halves},
        {"wmma.mma.sync.aligned.row.row.m32n8k16.#", halves},
        {"wmma.mma.sync.aligned.col.col.m32n8k16.#", halves},
        {"wmma.mma.sync.aligned.col.row.m8n32k16.#", halves},
        {"wmma.mma.sync.aligned.row.col.m8n32k16.#", halves},
        {"wmma.mma.sync.aligned.#.m16n16k8.f32.tf32.tf32.f32", layouts},
        {"wmma.mma.sync.aligned.#.m8n8k4.f64.f64.f64.f64", layouts},
    };
    static const char *const single[] = {
        "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32",
        "wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32",
        "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32.satfinite",
        "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
        "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
    };
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        add_each(cases, add_wmma, forms[i].pattern, forms[i].types);
    for (size_t i = 0; i < COUNT_OF(single); i++)
        add_wmma(cases, single[i]);
}

/* --- moves of 8 x 8 matrices
 * -------------------------------------------------------------------------------------- */

/* Rows of 16 bytes in shared memory, %at being where the lane's own is. */
#define ROWS                                                                                                 \
    ".shared .align 16 .b8 rows[512]; .reg .b32 %%at; mov.u32 %%at, rows; mad.lo.u32 %%at, %%lane, 16, "     \
    "%%at; "

static void add_move(struct oracle_cases *cases, unsigned count, const char *modifiers, bool stores)
{
    struct text name = {0}, body = {0}, registers = {0};
    text_add(&name, "%s.sync.aligned.m8n8.x%u%s.shared.b16", stores ? "stmatrix" : "ldmatrix", count,
             modifiers);
    struct oracle_case *c = case_add(cases, name.at, 4);
    add_list(&registers, stores ? 's' : 'd', 0, count);
    if (stores)
        text_add(&body,
                 ROWS
                 ".reg .b64 %%zero; mov.u64 %%zero, 0; st.shared.v2.b64 [%%at], {%%zero, %%zero}; "
                 "bar.warp.sync -1; %s [%%at], %s; bar.warp.sync -1; ld.shared.v2.b64 {%%d0, %%d1}, [%%at];",
                 name.at, registers.at);
    else
        text_add(&body, ROWS "st.shared.v2.b64 [%%at], {%%s0, %%s1}; bar.warp.sync -1; %s %s, [%%at];",
                 name.at, registers.at);
    for (unsigned i = 0; i < count; i++)
        (stores ? case_source : case_result)(c, VALUE_b32);
    for (unsigned i = 0; i < 2; i++)
        (stores ? case_result : case_source)(c, VALUE_b64);
    c->body = body.at;
    text_fini(&name);
    text_fini(&registers);
}

static void add_moves(struct oracle_cases *cases)
{
    for (unsigned count = 1; count <= 4; count *= 2)
        for (int stores = 0; stores < 2; stores++) {
            add_move(cases, count, "", stores);
            add_move(cases, count, ".trans", stores);
        }
    struct oracle_case *c = case_add(cases, "movmatrix.sync.aligned.m8n8.trans.b16", 4);
    case_source(c, VALUE_b32);
    case_result(c, VALUE_b32);
    c->body = mem_text("movmatrix.sync.aligned.m8n8.trans.b16 %d0, %s0;");
}

void add_matrices(struct oracle_cases *cases)
{
    add_mmas(cases);
    add_wmmas(cases);
    add_moves(cases);
}
