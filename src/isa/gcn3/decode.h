/* The parts of the decoder. Each returns false for bits that no instruction has. */
#ifndef GCN3_DECODE_H
#define GCN3_DECODE_H

#include "gcn3/gcn3.h"

/* An instruction's bits; what lies behind the end of the code is 0, and must not be used. */
struct gcn3_bits {
    enum gcn3_target target;
    uint32_t words; /* that there are, at most 3 */
    uint32_t word[3];
};

/* Bits `first` to `last` of the first two words, as manuals number them. */
static inline uint32_t gcn3_field(const struct gcn3_bits *bits, int first, int last)
{
    uint64_t all = bits->word[0] | (uint64_t)bits->word[1] << 32;
    return (uint32_t)(all >> first & ((UINT64_C(2) << (last - first)) - 1));
}

static inline bool gcn3_is_gfx9(const struct gcn3_bits *bits)
{
    return bits->target != GCN3_GFX803;
}

/* A source of 9 bits: registers, constants and, where `inst` may have one, the literal behind it. */
bool gcn3_source(const struct gcn3_bits *bits, uint32_t number, enum gcn3_type type, struct gcn3_inst *inst,
                 struct gcn3_operand *operand);
/* A scalar source of 8 bits, or a scalar register of 7. */
bool gcn3_scalar(const struct gcn3_bits *bits, uint32_t number, enum gcn3_type type, struct gcn3_inst *inst,
                 struct gcn3_operand *operand);
bool gcn3_scalar_register(const struct gcn3_bits *bits, uint32_t number, uint32_t dwords,
                          struct gcn3_operand *operand);
bool gcn3_vgprs(uint32_t number, uint32_t dwords, struct gcn3_operand *operand);
bool gcn3_vgpr(uint32_t number, enum gcn3_type type, struct gcn3_operand *operand);
uint32_t gcn3_type_dwords(enum gcn3_type type);

/* Looks the row up, and notes it. */
bool gcn3_begin(const struct gcn3_bits *bits, enum gcn3_format format, uint32_t opcode, uint32_t bytes,
                struct gcn3_inst *inst);

bool gcn3_decode_scalar(const struct gcn3_bits *bits, struct gcn3_inst *inst); /* SOP* */
bool gcn3_decode_short(const struct gcn3_bits *bits, struct gcn3_inst *inst);  /* VOP1, VOP2, VOPC */
bool gcn3_decode_vop3(const struct gcn3_bits *bits, struct gcn3_inst *inst);
bool gcn3_decode_vop3p(const struct gcn3_bits *bits, struct gcn3_inst *inst);
bool gcn3_decode_vintrp(const struct gcn3_bits *bits, struct gcn3_inst *inst);
bool gcn3_decode_interp(const struct gcn3_bits *bits, struct gcn3_inst *inst);
bool gcn3_decode_smem(const struct gcn3_bits *bits, struct gcn3_inst *inst);
bool gcn3_decode_ds(const struct gcn3_bits *bits, struct gcn3_inst *inst);
bool gcn3_decode_flat(const struct gcn3_bits *bits, struct gcn3_inst *inst);
bool gcn3_decode_buffer(const struct gcn3_bits *bits, struct gcn3_inst *inst); /* MUBUF, MTBUF */
bool gcn3_decode_mimg(const struct gcn3_bits *bits, struct gcn3_inst *inst);
bool gcn3_decode_exp(const struct gcn3_bits *bits, struct gcn3_inst *inst);

#endif
