/* The table of rows, and how an opcode finds its row. */
#include "gcn3/gcn3.h"

#include <string.h>

/* The words that rows use. */
enum {
#define F(name) name = GCN3_##name,
    GCN3_FLAGS(F)
#undef F
};
#define BYTES(n)   (UINT64_C(n) << 32)
#define ADDRESS(n) (UINT64_C(n) << 40)

#define INST(id, text, format, gfx8, gfx9, unit, d, a, b, c, flags, ...)                                     \
    [GCN3_##id] = {text,                                                                                     \
                   GCN3_##format,                                                                            \
                   GCN3_UNIT_##unit,                                                                         \
                   GCN3_TYPE_##d,                                                                            \
                   GCN3_TYPE_##a,                                                                            \
                   GCN3_TYPE_##b,                                                                            \
                   GCN3_TYPE_##c,                                                                            \
                   (uint64_t)(flags) >> 32 & 0xff,                                                           \
                   (uint64_t)(flags) >> 40,                                                                  \
                   (uint32_t)(flags)},
const struct gcn3_row gcn3_rows[GCN3_OP_COUNT] = {
#include "gcn3/gcn3.def"
};
#undef INST

/* An array by format and opcode for each target. Two rows with one encoding do not compile: the later would
 * replace the earlier (-Woverride-init). Rows that a target does not have go to places of their own at the
 * end, where nobody looks. */
enum { OPCODES = 1024, ALL_OPCODES = GCN3_FORMAT_COUNT * OPCODES };
enum { NONE = 0x8000, ONLY_900 = 0x1000, ONLY_906 = 0x2000 };
#define GFX900(opcode) ((opcode) | ONLY_900)
#define GFX906(opcode) ((opcode) | ONLY_906)

#define AT(format, opcode, id, without)                                                                      \
    [(opcode) & ((without) | NONE) ? ALL_OPCODES + 2 * GCN3_##id                                             \
                                   : GCN3_##format * OPCODES + ((opcode)&0xfff)] = GCN3_##id,
/* The same in VOP3, where short forms begin at `first`. */
#define LONG(first, opcode, id, without)                                                                     \
    [(opcode) & ((without) | NONE) ? ALL_OPCODES + 2 * GCN3_##id + 1                                         \
                                   : GCN3_VOP3 * OPCODES + (first) + ((opcode)&0xfff)] = GCN3_##id,

#define PLACE_SOP2(...)        AT(SOP2, __VA_ARGS__)
#define PLACE_SOPK(...)        AT(SOPK, __VA_ARGS__)
#define PLACE_SOP1(...)        AT(SOP1, __VA_ARGS__)
#define PLACE_SOPC(...)        AT(SOPC, __VA_ARGS__)
#define PLACE_SOPP(...)        AT(SOPP, __VA_ARGS__)
#define PLACE_SMEM(...)        AT(SMEM, __VA_ARGS__)
#define PLACE_VOP1(...)        AT(VOP1, __VA_ARGS__) LONG(0x140, __VA_ARGS__)
#define PLACE_VOP1_E32(...)    AT(VOP1, __VA_ARGS__)
#define PLACE_VOP2(...)        AT(VOP2, __VA_ARGS__) LONG(0x100, __VA_ARGS__)
#define PLACE_VOP2_K(...)      AT(VOP2, __VA_ARGS__)
#define PLACE_VOPC(...)        AT(VOPC, __VA_ARGS__) LONG(0, __VA_ARGS__)
#define PLACE_VOP3(...)        AT(VOP3, __VA_ARGS__)
#define PLACE_VOP3P(...)       AT(VOP3P, __VA_ARGS__)
#define PLACE_VINTRP(...)      AT(VINTRP, __VA_ARGS__) LONG(0x270, __VA_ARGS__)
#define PLACE_VOP3_INTERP(...) AT(VOP3, __VA_ARGS__)
#define PLACE_DS(...)          AT(DS, __VA_ARGS__)
#define PLACE_FLAT(...)        AT(FLAT, __VA_ARGS__)
#define PLACE_GLOBAL(...)      AT(GLOBAL, __VA_ARGS__)
#define PLACE_SCRATCH(...)     AT(SCRATCH, __VA_ARGS__)
#define PLACE_MUBUF(...)       AT(MUBUF, __VA_ARGS__)
#define PLACE_MTBUF(...)       AT(MTBUF, __VA_ARGS__)
#define PLACE_MIMG(...)        AT(MIMG, __VA_ARGS__)
#define PLACE_EXP(...)         AT(EXP, __VA_ARGS__)

static const uint16_t by_opcode[GCN3_TARGETS][ALL_OPCODES + 2 * GCN3_OP_COUNT] = {
    [GCN3_GFX803] =
        {
#define INST(id, text, format, gfx8, ...) PLACE_##format(gfx8, id, 0)
#include "gcn3/gcn3.def"
#undef INST
        },
    [GCN3_GFX900] =
        {
#define INST(id, text, format, gfx8, gfx9, ...) PLACE_##format(gfx9, id, ONLY_906)
#include "gcn3/gcn3.def"
#undef INST
        },
    [GCN3_GFX906] =
        {
#define INST(id, text, format, gfx8, gfx9, ...) PLACE_##format(gfx9, id, ONLY_900)
#include "gcn3/gcn3.def"
#undef INST
        },
};

enum gcn3_op gcn3_find(enum gcn3_target target, enum gcn3_format format, uint32_t opcode)
{
    return opcode < OPCODES ? by_opcode[target][format * OPCODES + opcode] : GCN3_INVALID;
}

const char *gcn3_name(enum gcn3_op op, enum gcn3_target target, int *length)
{
    const char *text = gcn3_rows[op].text, *bar = strchr(text, '|');
    if (bar && target != GCN3_GFX803)
        text = bar + 1;
    *length = (int)strcspn(text, "|");
    return text;
}
