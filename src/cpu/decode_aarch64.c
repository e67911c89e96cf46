/* AArch64. Registers: 0..30 general, 31 the stack pointer where it is one, 32..63 vectors, 64 flags. */
#include "cpu/decode.h"
#include "base/bits.h"

enum { ZERO = 31, VECTORS = 32, FLAGS = 64 };

static void reads(struct cpu_insn *insn, uint32_t number)
{
    if (number != ZERO)
        decode_reads(insn, number);
}

static void writes(struct cpu_insn *insn, uint32_t number)
{
    if (number != ZERO)
        decode_writes(insn, number);
}

static void jump(struct cpu_insn *insn, enum cpu_jump kind)
{
    insn->class = CPU_branch;
    insn->jump = (uint8_t)kind;
}

static void memory(uint32_t word, struct cpu_insn *insn)
{
    uint32_t t = word & 31, n = word >> 5 & 31, t2 = word >> 10 & 31, kind = word >> 26 & 1 ? VECTORS : 0;
    bool pair = (word >> 27 & 7) == 5, exclusive = (word >> 24 & 0x3f) == 8,
         literal = (word >> 27 & 7) == 3 && !(word >> 29 & 1);
    bool loads = literal || (pair || exclusive ? word >> 22 & 1 : (word >> 22 & 3) != 0);
    insn->class = CPU_move;
    insn->atomic = exclusive || ((word & 0x3b200c00) == 0x38200000);
    if (!literal)
        decode_base(insn, n);
    if (!literal && !pair && (word & 0x3b200c00) == 0x38200800) /* an index */
        decode_base(insn, word >> 16 & 31);
    if (loads) {
        writes(insn, kind + t);
        if (pair)
            writes(insn, kind + t2);
    } else {
        reads(insn, kind + t);
        if (pair)
            reads(insn, kind + t2);
    }
}

static void branches(uint32_t word, struct cpu_insn *insn)
{
    if ((word >> 26 & 31) == 5) {
        jump(insn, word >> 31 ? CPU_CALLS : CPU_JUMPS);
        if (word >> 31)
            writes(insn, 30);
    } else if ((word >> 25 & 0x3f) == 0x1a) { /* cbz */
        jump(insn, CPU_CONDITIONAL);
        reads(insn, word & 31);
    } else if ((word >> 25 & 0x3f) == 0x1b) { /* tbz */
        jump(insn, CPU_CONDITIONAL);
        reads(insn, word & 31);
    } else if (word >> 24 == 0x54) {
        jump(insn, CPU_CONDITIONAL);
        insn->fused = true;
        decode_reads(insn, FLAGS);
    } else if (word >> 25 == 0x6b) {
        uint32_t kind = word >> 21 & 15;
        jump(insn, kind == 1 ? CPU_CALLS_FAR : kind == 2 ? CPU_RETURNS : CPU_JUMPS_FAR);
        reads(insn, word >> 5 & 31);
    } else if ((word & 0xfffff000) == 0xd5033000) { /* barriers */
        insn->class = CPU_serial;
    } else if ((word & 0xfffff000) == 0xd5032000) { /* hints */
        insn->class = CPU_move;
    } else {
        writes(insn, word & 31);
    }
}

static void by_constant(uint32_t word, struct cpu_insn *insn)
{
    uint32_t group = word >> 23 & 7, d = word & 31, n = word >> 5 & 31;
    if (group >= 2 && group != 5)
        decode_reads(insn, n);
    if (group == 5 && (word >> 29 & 3) == 3) /* movk keeps the rest */
        reads(insn, d);
    if ((group == 2 && word >> 29 & 1) || (group == 4 && (word >> 29 & 3) == 3))
        decode_writes(insn, FLAGS);
    if (d != ZERO || (group == 2 && !(word >> 29 & 1)))
        decode_writes(insn, d);
}

static void by_register(uint32_t word, struct cpu_insn *insn)
{
    uint32_t d = word & 31, n = word >> 5 & 31, m = word >> 16 & 31, group = word >> 24 & 31;
    reads(insn, n);
    reads(insn, m);
    if (group == 0x1b) {
        insn->class = CPU_mul;
        reads(insn, word >> 10 & 31);
    } else if (group == 0x1a && (word >> 21 & 7) == 6 && !(word >> 30 & 1) && (word >> 10 & 0x3e) == 2) {
        insn->class = CPU_div;
    } else if (group == 0x1a && (word >> 21 & 7) == 4) {
        decode_reads(insn, FLAGS);
    }
    if ((group == 0x0b && word >> 29 & 1) || (group == 0x0a && (word >> 29 & 3) == 3) ||
        (group == 0x1a && (word >> 21 & 7) == 2))
        decode_writes(insn, FLAGS);
    writes(insn, d);
}

static void vectors(uint32_t word, struct cpu_insn *insn)
{
    uint32_t d = word & 31, n = word >> 5 & 31, m = word >> 16 & 31;
    bool scalar = (word >> 24 & 0x5f) == 0x1e || (word >> 24 & 0x5f) == 0x1f;
    insn->class = CPU_vec;
    if ((word >> 24 & 0x5f) == 0x1f) {
        insn->class = CPU_fma;
        decode_reads(insn, VECTORS + (word >> 10 & 31));
    } else if (scalar && (word >> 10 & 3) == 2) { /* two sources */
        uint32_t kind = word >> 12 & 15;
        insn->class = kind == 1 ? CPU_fdiv : kind == 0 || kind == 8 ? CPU_fmul : CPU_fadd;
    } else if (scalar && (word >> 10 & 63) == 0) { /* conversions with general registers */
        uint32_t kind = word >> 16 & 7;
        insn->class = CPU_fadd;
        bool from_general = kind == 2 || kind == 3 || kind == 7;
        decode_reads(insn, from_general ? n : VECTORS + n);
        decode_writes(insn, from_general ? VECTORS + d : d);
        return;
    } else if (scalar && (word >> 10 & 15) == 8) { /* comparisons */
        insn->class = CPU_fadd;
        decode_reads(insn, VECTORS + n);
        decode_reads(insn, VECTORS + m);
        decode_writes(insn, FLAGS);
        return;
    } else if (!scalar && (word >> 24 & 0x1f) == 0x0e && word >> 21 & 1 && word >> 10 & 1) {
        uint32_t kind = word >> 11 & 31;
        insn->class = kind == 0x19                     ? CPU_fma
                      : kind == 0x1b                   ? CPU_fmul
                      : kind == 0x1f && word >> 29 & 1 ? CPU_fdiv
                      : kind >= 0x18                   ? CPU_fadd
                      : kind == 0x13 || kind == 0x12   ? CPU_vmul
                                                       : CPU_vec;
        if (insn->class == CPU_fma)
            decode_reads(insn, VECTORS + d);
    }
    decode_reads(insn, VECTORS + n);
    decode_reads(insn, VECTORS + m);
    decode_writes(insn, VECTORS + d);
}

void decode_aarch64(const uint8_t *bytes, uint32_t count, struct cpu_insn *insn)
{
    uint32_t word = count >= 4 ? unaligned_u32(bytes) : 0, group = word >> 25 & 15;
    if ((group & 5) == 4)
        memory(word, insn);
    else if ((group & 14) == 8)
        by_constant(word, insn);
    else if ((group & 14) == 10)
        branches(word, insn);
    else if ((group & 7) == 5)
        by_register(word, insn);
    else if ((group & 7) == 7)
        vectors(word, insn);
}
