/* Registers and constants. */
#include "gcn3/print.h"

#include <inttypes.h>
#include <string.h>

struct special {
    uint8_t number;
    const char *name; /* of two registers; one alone is its _lo or _hi */
};

static const struct special pairs[] = {
    {GCN3_FLAT_SCRATCH, "flat_scratch"},
    {GCN3_XNACK_MASK, "xnack_mask"},
    {GCN3_VCC, "vcc"},
    {GCN3_TBA, "tba"},
    {GCN3_TMA, "tma"},
    {GCN3_EXEC, "exec"},
};

static const struct special singles[] = {
    {GCN3_M0, "m0"},
    {GCN3_SHARED_BASE, "src_shared_base"},
    {GCN3_SHARED_LIMIT, "src_shared_limit"},
    {GCN3_PRIVATE_BASE, "src_private_base"},
    {GCN3_PRIVATE_LIMIT, "src_private_limit"},
    {GCN3_POPS_EXITING_WAVE_ID, "src_pops_exiting_wave_id"},
    {GCN3_VCCZ, "src_vccz"},
    {GCN3_EXECZ, "src_execz"},
    {GCN3_SCC, "src_scc"},
    {GCN3_LDS_DIRECT, "src_lds_direct"},
};

static void print_special(const struct gcn3_operand *operand, struct text *text)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if ((operand->number & ~1) == pairs[i].number) {
            const char *half = operand->number & 1 ? "_hi" : "_lo";
            text_add(text, "%s%s", pairs[i].name, operand->dwords == 2 ? "" : half);
        }
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        if (operand->number == singles[i].number)
            text_add(text, "%s", singles[i].name);
}

static void print_registers(const char *name, const struct gcn3_operand *operand, struct text *text)
{
    if (operand->dwords == 1)
        text_add(text, "%s%u", name, operand->number);
    else
        text_add(text, "%s[%u:%u]", name, operand->number, operand->number + operand->dwords - 1);
}

/* The inline floats as f16, f32 and f64, and their text. */
static const struct {
    uint16_t f16;
    uint32_t f32;
    const char *text, *text64;
} floats[] = {
    {0x3800, 0x3f000000, "0.5", "0.5"},
    {0xb800, 0xbf000000, "-0.5", "-0.5"},
    {0x3c00, 0x3f800000, "1.0", "1.0"},
    {0xbc00, 0xbf800000, "-1.0", "-1.0"},
    {0x4000, 0x40000000, "2.0", "2.0"},
    {0xc000, 0xc0000000, "-2.0", "-2.0"},
    {0x4400, 0x40800000, "4.0", "4.0"},
    {0xc400, 0xc0800000, "-4.0", "-4.0"},
    {0x3118, 0x3e22f983, "0.15915494", "0.15915494309189532"},
};
enum { FLOATS = sizeof floats / sizeof *floats };

static bool print_small(int32_t value, struct text *text)
{
    bool small = value >= -16 && value <= 64;
    if (small)
        text_add(text, "%" PRId32, value);
    return small;
}

/* A literal that could have been an inline constant is shown as that. */
static bool print_inline(uint32_t bits, struct text *text)
{
    if (print_small((int32_t)bits, text))
        return true;
    for (int i = 0; i < FLOATS; i++)
        if (bits == floats[i].f32) {
            text_add(text, "%s", floats[i].text);
            return true;
        }
    return false;
}

void gcn3_print_bits(uint32_t bits, struct text *text)
{
    if (!print_inline(bits, text))
        text_add(text, "0x%" PRIx32, bits);
}

static void print_bits_f16(uint16_t bits, struct text *text)
{
    if (print_small((int16_t)bits, text))
        return;
    for (int i = 0; i < FLOATS; i++)
        if (bits == floats[i].f16) {
            text_add(text, "%s", floats[i].text);
            return;
        }
    text_add(text, "0x%x", bits);
}

static void print_literal(const struct gcn3_operand *operand, struct text *text)
{
    if (gcn3_type_bits(operand->type) == 64)
        text_add(text, "0x%" PRIx32, operand->value);
    else if (operand->type == GCN3_TYPE_f16)
        print_bits_f16((uint16_t)operand->value, text);
    else if (!print_inline(operand->value, text))
        text_add(text, "0x%" PRIx32, operand->value & (gcn3_type_bits(operand->type) == 16 ? 0xffff : ~0u));
}

static void print_float(const struct gcn3_operand *operand, struct text *text)
{
    int i = operand->number - 240;
    if (operand->type == GCN3_TYPE_i16 || operand->type == GCN3_TYPE_u16)
        text_add(text, "0x%x", floats[i].f16);
    else
        text_add(text, "%s", gcn3_type_bits(operand->type) == 64 ? floats[i].text64 : floats[i].text);
}

static void print_value(const struct gcn3_operand *operand, struct text *text)
{
    switch (operand->kind) {
    case GCN3_VGPR:
        print_registers("v", operand, text);
        break;
    case GCN3_SGPR:
        print_registers("s", operand, text);
        break;
    case GCN3_TTMP:
        print_registers("ttmp", operand, text);
        break;
    case GCN3_SPECIAL:
        print_special(operand, text);
        break;
    case GCN3_INTEGER:
        text_add(text, "%" PRId32, (int32_t)operand->value);
        break;
    case GCN3_FLOAT:
        print_float(operand, text);
        break;
    case GCN3_LITERAL:
        print_literal(operand, text);
        break;
    }
}

void gcn3_print_operand(const struct gcn3_inst *inst, const struct gcn3_operand *operand, struct text *text)
{
    (void)inst;
    bool constant = operand->kind == GCN3_INTEGER || operand->kind == GCN3_FLOAT;
    const char *neg = !operand->neg ? "" : constant && !operand->abs ? "neg(" : "-";
    text_add(text, "%s%s%s", neg, operand->abs ? "|" : "", operand->sext ? "sext(" : "");
    print_value(operand, text);
    text_add(text, "%s%s%s", operand->sext ? ")" : "", operand->abs ? "|" : "", neg[0] == 'n' ? ")" : "");
}
