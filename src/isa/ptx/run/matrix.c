/* Matrix instructions: from the text of an opcode to the shapes, types and layouts of its operands. */
#include "ptx_run/matrix.h"

#include "base/bits.h"

#include <string.h>

/* --- the forms there are ------------------------------------------------------------------------------- */

#define TYPE(name) (1u << MATRIX_##name)
#define HALVES     TYPE(f16)
#define FP8        (TYPE(e4m3) | TYPE(e5m2))
#define BYTES      (TYPE(s8) | TYPE(u8))
#define NIBBLES    (TYPE(s4) | TYPE(u4))
#define F16_OR_F32 (TYPE(f16) | TYPE(f32))

enum { MMA, WMMA, SPARSE };
struct shape {
    uint8_t of;
    uint16_t m, n, k;
    uint32_t inputs, results; /* types of A and B; of C and D */
};
static const struct shape shapes[] = {
    {MMA, 8, 8, 4, HALVES, F16_OR_F32},         {MMA, 16, 8, 8, HALVES, F16_OR_F32},
    {MMA, 16, 8, 16, HALVES, F16_OR_F32},       {MMA, 16, 8, 8, TYPE(bf16), TYPE(f32)},
    {MMA, 16, 8, 16, TYPE(bf16), TYPE(f32)},    {MMA, 16, 8, 4, TYPE(tf32), TYPE(f32)},
    {MMA, 16, 8, 8, TYPE(tf32), TYPE(f32)},     {MMA, 16, 8, 16, FP8, F16_OR_F32},
    {MMA, 16, 8, 32, FP8, F16_OR_F32},          {MMA, 8, 8, 4, TYPE(f64), TYPE(f64)},
    {MMA, 16, 8, 4, TYPE(f64), TYPE(f64)},      {MMA, 16, 8, 8, TYPE(f64), TYPE(f64)},
    {MMA, 16, 8, 16, TYPE(f64), TYPE(f64)},     {MMA, 8, 8, 16, BYTES, TYPE(s32)},
    {MMA, 16, 8, 16, BYTES, TYPE(s32)},         {MMA, 16, 8, 32, BYTES, TYPE(s32)},
    {MMA, 8, 8, 32, NIBBLES, TYPE(s32)},        {MMA, 16, 8, 32, NIBBLES, TYPE(s32)},
    {MMA, 16, 8, 64, NIBBLES, TYPE(s32)},       {MMA, 8, 8, 128, TYPE(b1), TYPE(s32)},
    {MMA, 16, 8, 128, TYPE(b1), TYPE(s32)},     {MMA, 16, 8, 256, TYPE(b1), TYPE(s32)},
    {WMMA, 16, 16, 16, HALVES, F16_OR_F32},     {WMMA, 32, 8, 16, HALVES, F16_OR_F32},
    {WMMA, 8, 32, 16, HALVES, F16_OR_F32},      {WMMA, 16, 16, 16, TYPE(bf16), TYPE(f32)},
    {WMMA, 32, 8, 16, TYPE(bf16), TYPE(f32)},   {WMMA, 8, 32, 16, TYPE(bf16), TYPE(f32)},
    {WMMA, 16, 16, 8, TYPE(tf32), TYPE(f32)},   {WMMA, 8, 8, 4, TYPE(f64), TYPE(f64)},
    {WMMA, 16, 16, 16, BYTES, TYPE(s32)},       {WMMA, 32, 8, 16, BYTES, TYPE(s32)},
    {WMMA, 8, 32, 16, BYTES, TYPE(s32)},        {WMMA, 8, 8, 32, NIBBLES, TYPE(s32)},
    {WMMA, 8, 8, 128, TYPE(b1), TYPE(s32)},     {SPARSE, 16, 8, 16, HALVES, F16_OR_F32},
    {SPARSE, 16, 8, 32, HALVES, F16_OR_F32},    {SPARSE, 16, 8, 16, TYPE(bf16), TYPE(f32)},
    {SPARSE, 16, 8, 32, TYPE(bf16), TYPE(f32)}, {SPARSE, 16, 8, 8, TYPE(tf32), TYPE(f32)},
    {SPARSE, 16, 8, 16, TYPE(tf32), TYPE(f32)}, {SPARSE, 16, 8, 64, FP8, TYPE(f32)},
    {SPARSE, 16, 8, 32, BYTES, TYPE(s32)},      {SPARSE, 16, 8, 64, BYTES, TYPE(s32)},
    {SPARSE, 16, 8, 64, NIBBLES, TYPE(s32)},    {SPARSE, 16, 8, 128, NIBBLES, TYPE(s32)},
};

static const struct {
    const char *name;
    uint8_t bits;
} types[] = {
#define T(name, bits) {#name, bits},
    MATRIX_TYPES(T)
#undef T
};

/* From published measurements (arXiv 2511.10909, 2512.07004); sm_90 was compared with an H200, bit by bit. */
static const struct matrix_model models[] = {
    {.sm = 70, .group_bytes = 8, .fraction_bits = 23},
    {.sm = 75, .group_bytes = 16, .fraction_bits = 24},
    {.sm = 89, .group_bytes = 16, .fraction_bits = 24, .fp8_fraction_bits = 13},
    {.sm = 90, .group_bytes = 32, .fraction_bits = 25, .emulates = true},
};

const struct matrix_model *matrix_model(unsigned sm)
{
    const struct matrix_model *found = &models[0];
    for (size_t i = 0; i < COUNT_OF(models); i++)
        if (models[i].sm <= sm)
            found = &models[i];
    return found;
}

/* --- layouts -------------------------------------------------------------------------------------------
 * Tensor cores multiply 16 x k by k x 8: what is called the wide operand here has 16 lines, the narrow one 8,
 * and a line is a row of A or a column of B. A group of four lanes holds a line, each lane a register of it
 * at a time. wmma puts two such products together; of m8n32k16 B is the wide operand, and all is turned. */

struct step {
    uint8_t line, place;
};

static void put_lanes(struct matrix_operand *o, bool turned, const struct step steps[MATRIX_LANE_BITS])
{
    for (unsigned i = 0; i < MATRIX_LANE_BITS; i++) {
        o->steps[i].row = turned ? steps[i].place : steps[i].line;
        o->steps[i].column = turned ? steps[i].line : steps[i].place;
    }
}

static void put_element(struct matrix_operand *o, bool turned, unsigned *bit, unsigned line, unsigned place)
{
    o->steps[MATRIX_LANE_BITS + *bit].row = (uint8_t)(turned ? place : line);
    o->steps[MATRIX_LANE_BITS + *bit].column = (uint8_t)(turned ? line : place);
    ++*bit;
}

/* Registers beyond those that hold every element once (f16 of wmma) repeat the others: bits without a step.
 */
static void lay_input(struct matrix_operand *o, bool turned, bool wide)
{
    unsigned lines = turned ? o->columns : o->rows, depth = turned ? o->rows : o->columns, bit = 0;
    uint8_t per = o->elements, twice = (uint8_t)(2 * per);
    put_lanes(o, turned, (struct step[]){{0, per}, {0, twice}, {1, 0}, {2, 0}, {4, 0}});
    for (unsigned place = 1; place < per; place *= 2)
        put_element(o, turned, &bit, 0, place);
    if (wide && lines > 8)
        put_element(o, turned, &bit, 8, 0);
    for (unsigned place = 4 * per; place < depth; place *= 2)
        put_element(o, turned, &bit, 0, place);
    for (unsigned line = wide ? 16 : 8; line < lines; line *= 2)
        put_element(o, turned, &bit, line, 0);
}

static void lay_result(struct matrix_operand *o, bool turned)
{
    unsigned lines = turned ? o->columns : o->rows, depth = turned ? o->rows : o->columns, bit = 0;
    put_lanes(o, turned, (struct step[]){{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}});
    put_element(o, turned, &bit, 0, 1);
    if (lines > 8)
        put_element(o, turned, &bit, 8, 0);
    if (depth > 8)
        put_element(o, turned, &bit, 0, 8);
    if (lines > 16)
        put_element(o, turned, &bit, 16, 0);
}

/* mma.m8n8k4 with f16: four products. Lanes 0-3 and 16-19 do the first, 4-7 and 20-23 the second, and so on.
 */
static void lay_quads(struct matrix_form *form)
{
    struct matrix_operand *results[] = {&form->c, &form->d};
    unsigned bit = 0;
    form->count = 4;
    bool turned = form->a.by_column;
    put_lanes(&form->a, false,
              turned ? (struct step[]){{0, 1}, {0, 2}, {8, 0}, {16, 0}, {4, 0}}
                     : (struct step[]){{1, 0}, {2, 0}, {8, 0}, {16, 0}, {4, 0}});
    put_element(&form->a, turned, &bit, 0, 1);
    put_element(&form->a, turned, &bit, 0, 2);
    bit = 0;
    turned = form->b.by_column;
    put_lanes(&form->b, true,
              turned ? (struct step[]){{1, 0}, {2, 0}, {8, 0}, {16, 0}, {4, 0}}
                     : (struct step[]){{0, 1}, {0, 2}, {8, 0}, {16, 0}, {4, 0}});
    put_element(&form->b, turned, &bit, 0, 1);
    put_element(&form->b, turned, &bit, 0, 2);
    for (unsigned i = 0; i < COUNT_OF(results); i++) {
        bool half = results[i]->type == MATRIX_f16;
        bit = 0;
        put_lanes(results[i], false,
                  half ? (struct step[]){{1, 0}, {2, 0}, {8, 0}, {16, 0}, {4, 0}}
                       : (struct step[]){{1, 0}, {0, 2}, {8, 0}, {16, 0}, {4, 0}});
        put_element(results[i], false, &bit, 0, 1);
        put_element(results[i], false, &bit, half ? 0 : 2, half ? 2 : 0);
        put_element(results[i], false, &bit, 0, 4);
    }
}

static void size_operand(struct matrix_operand *o, enum matrix_type type, unsigned rows, unsigned columns,
                         bool by_column)
{
    o->type = type;
    o->rows = (uint16_t)rows;
    o->columns = (uint16_t)columns;
    o->by_column = by_column;
    o->elements = types[type].bits < 32 ? (uint8_t)(32 / types[type].bits) : 1;
    o->registers = (uint8_t)(rows * columns / WARP_LANES / o->elements);
}

/* --- reading opcodes ----------------------------------------------------------------------------------- */

/* What the words of an opcode say; their order matters only among types and among layouts. */
struct words {
    unsigned m, n, k, count;
    enum matrix_type types[4];
    bool by_column[2];
    unsigned type_count, layout_count;
    char operand; /* of wmma: a, b, c or d */
    bool transpose, saturate, by_and, by_xor, sparse;
};

static bool is(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && !memcmp(word, text, length);
}

static bool is_any(const char *word, size_t length, const char *const *texts)
{
    while (*texts && !is(word, length, *texts))
        texts++;
    return *texts;
}

static unsigned number(const char **at, char mark)
{
    unsigned n = 0;
    if (**at != mark)
        return 0;
    for (++*at; **at >= '0' && **at <= '9' && n < 1000; ++*at)
        n = n * 10 + (unsigned)(**at - '0');
    return n;
}

static bool read_word(const char *word, size_t length, struct words *w)
{
    static const char *const known[] = {"sync",
                                        "aligned",
                                        "load",
                                        "store",
                                        "mma",
                                        "mma_async",
                                        "popc",
                                        "rn",
                                        "shared",
                                        "shared::cta",
                                        "global",
                                        "trans",
                                        "satfinite",
                                        "and",
                                        "xor",
                                        "sp",
                                        "sp::ordered_metadata",
                                        NULL};
    if (*word == 'm' && length > 1 && word[1] >= '0' && word[1] <= '9') { /* m16n8k16 */
        const char *at = word;
        w->m = number(&at, 'm');
        w->n = number(&at, 'n');
        w->k = number(&at, 'k');
        return at == word + length;
    }
    for (unsigned i = 0; i < COUNT_OF(types); i++)
        if (is(word, length, types[i].name)) {
            w->types[w->type_count & 3] = i;
            return ++w->type_count <= 4;
        }
    if (is(word, length, "row") || is(word, length, "col")) {
        w->by_column[w->layout_count & 1] = *word == 'c';
        return ++w->layout_count <= 2;
    }
    if (length == 2 && *word == 'x' && strchr("124", word[1])) {
        w->count = (unsigned)(word[1] - '0');
        return true;
    }
    if (length == 1 && strchr("abcd", *word)) {
        w->operand = *word;
        return true;
    }
    w->transpose |= is(word, length, "trans");
    w->saturate |= is(word, length, "satfinite");
    w->by_and |= is(word, length, "and");
    w->by_xor |= is(word, length, "xor");
    w->sparse |= is(word, length, "sp") || is(word, length, "sp::ordered_metadata");
    return is_any(word, length, known);
}

static const struct shape *find_shape(const struct words *w, unsigned of, uint32_t inputs, uint32_t results)
{
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        const struct shape *s = &shapes[i];
        if (s->of == of && s->m == w->m && s->n == w->n && s->k == w->k && !(inputs & ~s->inputs) &&
            !(results & ~s->results))
            return s;
    }
    return NULL;
}

/* The operands that an mma or wmma has; wmma.load and wmma.store take theirs from here. */
static void lay_operands(const struct shape *s, const enum matrix_type t[4], const bool by_column[2],
                         struct matrix_form *form)
{
    bool turned = s->n > 16, quads = s->of == MMA && s->k == 4 && t[1] == MATRIX_f16;
    unsigned m = quads ? 32 : s->m, n = quads ? 32 : s->n;
    form->m = s->m;
    form->n = s->n;
    form->k = s->k;
    form->count = 1;
    size_operand(&form->d, t[0], m, s->n, false);
    size_operand(&form->a, t[1], m, s->k, by_column[0]);
    size_operand(&form->b, t[2], s->k, n, by_column[1]);
    size_operand(&form->c, t[3], m, s->n, false);
    if (quads) {
        lay_quads(form);
        return;
    }
    lay_input(&form->a, false, !turned);
    lay_input(&form->b, true, turned);
    lay_result(&form->c, turned);
    lay_result(&form->d, turned);
    if (s->of == SPARSE) {
        size_operand(&form->given, t[1], m, s->k / 2u, false);
        lay_input(&form->given, false, true);
        form->sparse = true;
    }
    if (s->of == WMMA && t[1] == MATRIX_f16)
        form->a.registers = form->b.registers = 8;
}

static bool form_mma(const struct words *w, unsigned of, struct matrix_form *form)
{
    bool wmma = of == WMMA;
    enum matrix_type t[4];
    memcpy(t, w->types, sizeof t);
    if (wmma && w->type_count == 2) { /* of D and C; A and B are f16 */
        t[3] = t[1];
        t[1] = t[2] = MATRIX_f16;
    } else if (w->type_count != 4) {
        return false;
    }
    const struct shape *s = find_shape(w, of, 1u << t[1] | 1u << t[2], 1u << t[0] | 1u << t[3]);
    bool bits = t[1] == MATRIX_b1, quads = s && of == MMA && s->k == 4 && t[1] == MATRIX_f16;
    if (!s || w->layout_count != 2 || (w->saturate && t[0] != MATRIX_s32) || bits != (w->by_and || w->by_xor))
        return false;
    bool fixed = (!wmma && !quads) || types[t[1]].bits < 8; /* .row.col, that is */
    if (fixed && (w->by_column[0] || !w->by_column[1]))
        return false;
    form->kind = MATRIX_MMA;
    form->saturate = w->saturate;
    form->by_and = w->by_and;
    lay_operands(s, t, w->by_column, form);
    return true;
}

/* wmma.load of a, b or c, wmma.store of d: the only operand is d. */
static bool form_memory(const struct words *w, bool load, struct matrix_form *form)
{
    bool input = w->operand == 'a' || w->operand == 'b';
    if (w->type_count != 1 || w->layout_count != 1 || !w->operand || load == (w->operand == 'd'))
        return false;
    uint32_t type = 1u << w->types[0];
    const struct shape *s = find_shape(w, WMMA, input ? type : 0, input ? 0 : type);
    if (!s || (types[w->types[0]].bits < 8 && w->by_column[0] != (w->operand == 'b')))
        return false;
    /* of an input only its own type counts, as does of a result; any that fits will do for the others */
    enum matrix_type other = (enum matrix_type)__builtin_ctz(input ? s->results : s->inputs);
    enum matrix_type in = input ? w->types[0] : other, out = input ? other : w->types[0];
    lay_operands(s, (enum matrix_type[]){out, in, in, out}, (bool[]){w->by_column[0], w->by_column[0]}, form);
    if (input)
        form->d = w->operand == 'a' ? form->a : form->b;
    form->d.by_column = w->by_column[0];
    form->a = form->b = form->c = (struct matrix_operand){0};
    form->kind = load ? MATRIX_LOAD : MATRIX_STORE;
    return true;
}

/* ldmatrix, stmatrix and movmatrix */
static bool form_m8n8(const struct words *w, enum matrix_kind kind, struct matrix_form *form)
{
    if (w->m != 8 || w->n != 8 || w->k || w->type_count != 1 || w->types[0] != MATRIX_b16)
        return false;
    form->kind = kind;
    form->m = form->n = 8;
    form->count = (uint8_t)(kind == MATRIX_MOVMATRIX ? 1 : w->count);
    form->transpose = w->transpose;
    size_operand(&form->d, MATRIX_b16, 8u * form->count, 8, false);
    return form->count && (kind != MATRIX_MOVMATRIX || w->transpose);
}

static bool read_words(const char *opcode, struct words *w)
{
    for (const char *at = opcode + strcspn(opcode, "."); *at; at += strcspn(at, ".")) {
        at++;
        if (!read_word(at, strcspn(at, "."), w))
            return false;
    }
    return true;
}

bool matrix_parse(const char *opcode, struct matrix_form *form)
{
    struct words w = {0};
    memset(form, 0, sizeof *form);
    size_t first = strcspn(opcode, ".");
    if (!read_words(opcode, &w))
        return false;
    if (is(opcode, first, "mma"))
        return form_mma(&w, w.sparse ? SPARSE : MMA, form);
    if (w.sparse)
        return false;
    if (!strncmp(opcode, "wmma.mma.", 9))
        return form_mma(&w, WMMA, form);
    if (!strncmp(opcode, "wmma.load.", 10))
        return form_memory(&w, true, form);
    if (!strncmp(opcode, "wmma.store.", 11))
        return form_memory(&w, false, form);
    if (is(opcode, first, "ldmatrix"))
        return form_m8n8(&w, MATRIX_LDMATRIX, form);
    if (is(opcode, first, "stmatrix"))
        return form_m8n8(&w, MATRIX_STMATRIX, form);
    return is(opcode, first, "movmatrix") && form_m8n8(&w, MATRIX_MOVMATRIX, form);
}

/* wgmma: of integers, N goes in steps of 16 from 32 on. */
static bool has_columns(const struct words *w, enum matrix_type result)
{
    return w->n && w->n % 8 == 0 && w->n <= 256 && (result != MATRIX_s32 || w->n <= 24 || w->n % 16 == 0);
}

bool matrix_parse_group(const char *opcode, struct matrix_form *tile, unsigned *columns)
{
    struct words w = {0};
    memset(tile, 0, sizeof *tile);
    if (strncmp(opcode, "wgmma.mma_async.", 16) || !read_words(opcode, &w) || w.type_count != 3 ||
        w.m != 64 || w.layout_count || w.by_xor)
        return false;
    /* a warp computes 16 rows, and 8 columns at a time as one of these */
    enum matrix_type t[] = {w.types[0], w.types[1], w.types[2], w.types[0]};
    unsigned k = w.sparse ? w.k / 2 : w.k;
    const struct words of = {.m = 16, .n = 8, .k = k};
    bool bits = t[1] == MATRIX_b1, is_half = t[1] == MATRIX_f16 || t[1] == MATRIX_bf16;
    const struct shape *dense = find_shape(&of, MMA, 1u << t[1] | 1u << t[2], 1u << t[0]);
    if (!dense || !has_columns(&w, t[0]) || (w.saturate && (t[0] != MATRIX_s32 || bits)) ||
        bits != w.by_and || (bits && w.sparse) || (is_half && t[1] != t[2]) || k * types[t[1]].bits != 256 ||
        types[t[1]].bits == 4 || t[0] == MATRIX_f64)
        return false;
    const struct shape shape = {w.sparse ? SPARSE : MMA, 16, 8, (uint16_t)w.k, 0, 0};
    tile->kind = MATRIX_MMA;
    tile->saturate = w.saturate;
    tile->by_and = w.by_and;
    lay_operands(&shape, t, (bool[]){false, true}, tile);
    *columns = w.n;
    return true;
}
