/* RISC-V of 64 bits, with compressed instructions. Registers: 1..31 general (0 is none), 32..63 of floating
 * point. */
#include "cpu/decode.h"
#include "base/bits.h"

enum { FLOATS = 32, RETURN_ADDRESS = 1 };

static void reads(struct cpu_insn *insn, uint32_t number)
{
    if (number)
        decode_reads(insn, number);
}

static void writes(struct cpu_insn *insn, uint32_t number)
{
    if (number)
        decode_writes(insn, number);
}

static void base(struct cpu_insn *insn, uint32_t number)
{
    if (number)
        decode_base(insn, number);
}

static void jump(struct cpu_insn *insn, enum cpu_jump kind)
{
    insn->class = CPU_branch;
    insn->jump = (uint8_t)kind;
}

static void far_jump(struct cpu_insn *insn, uint32_t to, uint32_t link)
{
    jump(insn, link ? CPU_CALLS_FAR : to == RETURN_ADDRESS ? CPU_RETURNS : CPU_JUMPS_FAR);
    reads(insn, to);
    writes(insn, link);
}

/* ---- of two bytes ---- */

static void compressed_0(uint32_t word, struct cpu_insn *insn)
{
    uint32_t low = (word >> 2 & 7) + 8, high = (word >> 7 & 7) + 8, kind = word >> 13 & 7;
    bool is_float = kind == 1 || kind == 5;
    if (!kind) { /* addi4spn */
        reads(insn, 2);
        writes(insn, low);
        return;
    }
    insn->class = CPU_move;
    base(insn, high);
    if (kind < 4)
        writes(insn, is_float ? FLOATS + low : low);
    else
        reads(insn, is_float ? FLOATS + low : low);
}

static void compressed_1(uint32_t word, struct cpu_insn *insn)
{
    uint32_t number = word >> 7 & 31, high = (word >> 7 & 7) + 8, low = (word >> 2 & 7) + 8;
    switch (word >> 13 & 7) {
    case 0:
    case 1:
        reads(insn, number);
        writes(insn, number);
        break;
    case 2:
    case 3:
        writes(insn, number);
        break;
    case 4:
        reads(insn, high);
        if ((word >> 10 & 3) == 3)
            reads(insn, low);
        writes(insn, high);
        break;
    case 5:
        jump(insn, CPU_JUMPS);
        break;
    default:
        jump(insn, CPU_CONDITIONAL);
        reads(insn, high);
    }
}

static void compressed_2(uint32_t word, struct cpu_insn *insn)
{
    uint32_t number = word >> 7 & 31, other = word >> 2 & 31, kind = word >> 13 & 7;
    if (kind == 0) {
        reads(insn, number);
        writes(insn, number);
    } else if (kind < 4) {
        insn->class = CPU_move;
        base(insn, 2);
        writes(insn, kind == 1 ? FLOATS + number : number);
    } else if (kind > 4) {
        insn->class = CPU_move;
        base(insn, 2);
        reads(insn, kind == 5 ? FLOATS + other : other);
    } else if (!other) {
        if (number)
            far_jump(insn, number, word >> 12 & 1 ? RETURN_ADDRESS : 0);
    } else {
        reads(insn, other);
        if (word >> 12 & 1)
            reads(insn, number);
        else
            insn->class = CPU_move;
        writes(insn, number);
    }
}

/* ---- of four bytes ---- */

static void floating(uint32_t word, struct cpu_insn *insn)
{
    static const uint8_t classes[32] = {
        [0] = CPU_fadd, [1] = CPU_fadd, [2] = CPU_fmul, [3] = CPU_fdiv, [11] = CPU_fdiv};
    uint32_t kind = word >> 27, d = word >> 7 & 31, a = word >> 15 & 31, b = word >> 20 & 31;
    bool to_general = kind == 20 || kind == 24 || kind == 28, from_general = kind == 26 || kind == 30;
    insn->class = classes[kind] ? classes[kind] : CPU_fadd;
    if (from_general)
        reads(insn, a);
    else
        reads(insn, FLOATS + a);
    if (kind < 8 || kind == 20)
        reads(insn, FLOATS + b);
    writes(insn, to_general ? d : FLOATS + d);
}

static void whole(uint32_t word, struct cpu_insn *insn)
{
    uint32_t d = word >> 7 & 31, a = word >> 15 & 31, b = word >> 20 & 31, kind = word >> 12 & 7;
    switch (word & 0x7f) {
    case 0x03: /* loads */
    case 0x07:
        insn->class = CPU_move;
        base(insn, a);
        writes(insn, (word & 0x7f) == 0x07 ? FLOATS + d : d);
        break;
    case 0x23: /* stores */
    case 0x27:
        insn->class = CPU_move;
        base(insn, a);
        reads(insn, (word & 0x7f) == 0x27 ? FLOATS + b : b);
        break;
    case 0x0f:
        insn->class = CPU_serial;
        break;
    case 0x13: /* with a constant */
    case 0x1b:
        reads(insn, a);
        writes(insn, d);
        break;
    case 0x33:
    case 0x3b:
        if (word >> 25 == 1)
            insn->class = kind < 4 ? CPU_mul : CPU_div;
        reads(insn, a);
        reads(insn, b);
        writes(insn, d);
        break;
    case 0x37:
    case 0x17:
        writes(insn, d);
        break;
    case 0x2f:
        insn->atomic = true;
        base(insn, a);
        reads(insn, b);
        writes(insn, d);
        break;
    case 0x43:
    case 0x47:
    case 0x4b:
    case 0x4f:
        insn->class = CPU_fma;
        reads(insn, FLOATS + a);
        reads(insn, FLOATS + b);
        reads(insn, FLOATS + (word >> 27));
        writes(insn, FLOATS + d);
        break;
    case 0x53:
        floating(word, insn);
        break;
    case 0x63:
        jump(insn, CPU_CONDITIONAL);
        reads(insn, a);
        reads(insn, b);
        break;
    case 0x67:
        far_jump(insn, a, d);
        break;
    case 0x6f:
        jump(insn, d ? CPU_CALLS : CPU_JUMPS);
        writes(insn, d);
        break;
    case 0x73:
        writes(insn, d);
        break;
    }
}

void decode_riscv64(const uint8_t *bytes, uint32_t count, struct cpu_insn *insn)
{
    uint32_t word = count >= 4 ? unaligned_u32(bytes) : count >= 2 ? unaligned_u16(bytes) : 0;
    switch (word & 3) {
    case 0:
        compressed_0(word, insn);
        break;
    case 1:
        compressed_1(word, insn);
        break;
    case 2:
        compressed_2(word, insn);
        break;
    default:
        whole(word, insn);
    }
}
