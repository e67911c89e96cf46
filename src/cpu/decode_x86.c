/* x86-64. Registers: 0..15 general, 16..47 vectors, then flags, the x87 stack, masks. */
#include "cpu/decode.h"

enum {
    VECTORS = 16,
    FLAGS = 48,
    X87 = 49,
    MASKS = 50,
    ACC = 0,
    COUNTER = 1,
    DATA = 2,
    STACK = 4,
    SI = 6,
    DI = 7
};

struct x86 {
    const uint8_t *at, *end;
    struct cpu_insn *insn;
    uint8_t rex_r, rex_x, rex_b; /* 0 or 8 */
    uint8_t prefix;              /* 66, f2 or f3 that selects an instruction, or 0 */
    bool vex, evex, locked;
    uint8_t vvvv, map, opcode;
    bool has_modrm, memory;
    uint8_t mod, reg, rm;
};

static uint8_t next(struct x86 *x)
{
    return x->at < x->end ? *x->at++ : 0;
}

/* ---- prefixes and operands ---- */

static void read_vex(struct x86 *x, uint8_t first)
{
    uint8_t one = next(x), two = one, wide = 0;
    static const uint8_t prefixes[] = {0, 0x66, 0xf3, 0xf2};
    x->vex = true;
    x->rex_r = one & 0x80 ? 0 : 8;
    x->map = 1;
    if (first != 0xc5) {
        x->rex_x = one & 0x40 ? 0 : 8;
        x->rex_b = one & 0x20 ? 0 : 8;
        x->map = one & (first == 0x62 ? 7 : 31);
        two = next(x);
    }
    if (first == 0x62) {
        uint8_t three = next(x);
        x->evex = true;
        wide = (uint8_t)(three & 8 ? 0 : 16);
    }
    x->vvvv = (uint8_t)((~two >> 3 & 15) | wide);
    x->prefix = prefixes[two & 3];
    x->opcode = next(x);
}

static void read_opcode(struct x86 *x)
{
    for (;;) {
        uint8_t byte = next(x);
        switch (byte) {
        case 0x66:
        case 0xf2:
        case 0xf3:
            x->prefix = x->prefix && byte == 0x66 ? x->prefix : byte;
            continue;
        case 0xf0:
            x->locked = true;
            continue;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0x67:
            continue;
        case 0x62:
        case 0xc4:
        case 0xc5:
            read_vex(x, byte);
            return;
        }
        if ((byte & 0xf0) == 0x40) {
            x->rex_r = byte & 4 ? 8 : 0;
            x->rex_x = byte & 2 ? 8 : 0;
            x->rex_b = byte & 1 ? 8 : 0;
            continue;
        }
        x->opcode = byte;
        if (byte == 0x0f) {
            x->map = 1;
            x->opcode = next(x);
            if (x->opcode == 0x38 || x->opcode == 0x3a) {
                x->map = x->opcode == 0x38 ? 2 : 3;
                x->opcode = next(x);
            }
        }
        return;
    }
}

/* Reads ModRM; registers of an address become bases. */
static void read_modrm(struct x86 *x)
{
    uint8_t byte = next(x);
    x->has_modrm = true;
    x->mod = byte >> 6;
    x->reg = (uint8_t)((byte >> 3 & 7) | x->rex_r);
    x->rm = byte & 7;
    x->memory = x->mod != 3;
    if (x->memory && x->rm == 4) {
        uint8_t sib = next(x), index = (uint8_t)((sib >> 3 & 7) | x->rex_x), base = sib & 7;
        if (base != 5 || x->mod)
            decode_base(x->insn, base | x->rex_b);
        if (index != 4)
            decode_base(x->insn, index);
    } else if (x->memory && !(x->rm == 5 && !x->mod)) {
        decode_base(x->insn, x->rm | x->rex_b);
    }
    x->rm |= x->rex_b;
}

/* ---- what operands do ---- */

static void read_rm(struct x86 *x, uint32_t kind)
{
    if (!x->memory)
        decode_reads(x->insn, kind + x->rm);
}

static void write_rm(struct x86 *x, uint32_t kind)
{
    if (!x->memory)
        decode_writes(x->insn, kind + x->rm);
}

static void read_reg(struct x86 *x, uint32_t kind)
{
    decode_reads(x->insn, kind + x->reg);
}

static void write_reg(struct x86 *x, uint32_t kind)
{
    decode_writes(x->insn, kind + x->reg);
}

static void set(struct x86 *x, enum cpu_class class)
{
    x->insn->class = (uint8_t) class;
}

static void jump(struct x86 *x, enum cpu_jump kind)
{
    x->insn->class = CPU_branch;
    x->insn->jump = (uint8_t)kind;
}

static void write_flags(struct x86 *x)
{
    decode_writes(x->insn, FLAGS);
}

/* op rm, reg or op reg, rm: both are read, the first is written. */
static void two_operands(struct x86 *x, bool to_rm, bool writes)
{
    bool clears = !x->memory && x->reg == x->rm;
    if (!(clears && writes && x->map == 0 && (x->opcode & 0xf8) == 0x30) && /* xor, sub of itself: zero */
        !(clears && writes && x->map == 0 && (x->opcode & 0xf8) == 0x28)) {
        read_rm(x, 0);
        read_reg(x, 0);
    }
    if (writes && to_rm)
        write_rm(x, 0);
    else if (writes)
        write_reg(x, 0);
    write_flags(x);
}

/* ---- the first map ---- */

static void group3(struct x86 *x)
{
    uint8_t which = x->reg & 7;
    read_rm(x, 0);
    if (which < 2) {
        write_flags(x);
    } else if (which < 4) {
        write_rm(x, 0);
    } else {
        set(x, which < 6 ? CPU_mul : CPU_div);
        decode_reads(x->insn, ACC);
        if (which >= 6)
            decode_reads(x->insn, DATA);
        decode_writes(x->insn, ACC);
        decode_writes(x->insn, DATA);
    }
}

static void group5(struct x86 *x)
{
    read_rm(x, 0);
    switch (x->reg & 7) {
    case 0:
    case 1:
        write_rm(x, 0);
        write_flags(x);
        break;
    case 2:
    case 3:
        jump(x, CPU_CALLS_FAR);
        break;
    case 4:
    case 5:
        jump(x, CPU_JUMPS_FAR);
        break;
    default:
        set(x, CPU_move); /* push */
    }
}

static void string_op(struct x86 *x)
{
    bool reads = x->opcode <= 0xa7 || x->opcode >= 0xac;
    if (reads)
        decode_base(x->insn, SI);
    decode_base(x->insn, x->opcode >= 0xac && x->opcode <= 0xad ? SI : DI);
    if (x->opcode == 0xaa || x->opcode == 0xab)
        decode_reads(x->insn, ACC);
    if (x->opcode == 0xac || x->opcode == 0xad)
        decode_writes(x->insn, ACC);
    if (x->opcode == 0xa6 || x->opcode == 0xa7 || x->opcode >= 0xae)
        write_flags(x);
}

static void with_modrm(struct x86 *x)
{
    uint8_t op = x->opcode;
    read_modrm(x);
    if (op < 0x40) {
        two_operands(x, !(op & 2), (op & 0x38) != 0x38);
    } else if (op == 0x63) {
        read_rm(x, 0);
        write_reg(x, 0);
    } else if (op == 0x69 || op == 0x6b) {
        set(x, CPU_mul);
        read_rm(x, 0);
        write_reg(x, 0);
    } else if (op >= 0x80 && op <= 0x83) {
        read_rm(x, 0);
        if ((x->reg & 7) != 7)
            write_rm(x, 0);
        write_flags(x);
    } else if (op == 0x84 || op == 0x85) {
        two_operands(x, true, false);
    } else if (op == 0x86 || op == 0x87) {
        x->locked |= x->memory;
        read_rm(x, 0);
        read_reg(x, 0);
        write_reg(x, 0);
        write_rm(x, 0);
    } else if (op == 0x88 || op == 0x89) {
        set(x, CPU_move);
        read_reg(x, 0);
        write_rm(x, 0);
    } else if (op == 0x8a || op == 0x8b) {
        set(x, CPU_move);
        read_rm(x, 0);
        write_reg(x, 0);
    } else if (op == 0x8d) { /* lea: its address is what it computes */
        for (uint32_t i = 0; i < CPU_BASES; i++) {
            if (x->insn->bases[i] != CPU_NO_REG)
                decode_reads(x->insn, x->insn->bases[i]);
            x->insn->bases[i] = CPU_NO_REG;
        }
        write_reg(x, 0);
    } else if (op == 0x8f || op == 0xc6 || op == 0xc7) {
        set(x, CPU_move);
        write_rm(x, 0);
    } else if (op == 0xc0 || op == 0xc1 || (op >= 0xd0 && op <= 0xd3)) {
        read_rm(x, 0);
        if (op >= 0xd2)
            decode_reads(x->insn, COUNTER);
        write_rm(x, 0);
        write_flags(x);
    } else if (op >= 0xd8 && op <= 0xdf) {
        uint8_t which = x->reg & 7;
        set(x, which == 1 || which == 4 ? CPU_fmul : which >= 6 && op != 0xd9 ? CPU_fdiv : CPU_fadd);
        if (x->memory && (which == 0 || which == 5) && op != 0xd8 && op != 0xdc)
            set(x, CPU_move); /* loads */
        else
            decode_reads(x->insn, X87);
        decode_writes(x->insn, X87);
    } else if (op == 0xf6 || op == 0xf7) {
        group3(x);
    } else if (op == 0xfe || op == 0xff) {
        group5(x);
    }
}

static bool map0_has_modrm(uint8_t op)
{
    return (op < 0x40 && (op & 7) < 4) || op == 0x63 || op == 0x69 || op == 0x6b ||
           (op >= 0x80 && op <= 0x8f) || op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 ||
           (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 ||
           op == 0xfe || op == 0xff;
}

static void map0(struct x86 *x)
{
    uint8_t op = x->opcode, low = (uint8_t)((op & 7) | x->rex_b);
    if (map0_has_modrm(op)) {
        with_modrm(x);
    } else if (op < 0x40) { /* accumulator, constant */
        decode_reads(x->insn, ACC);
        if (op < 0x38)
            decode_writes(x->insn, ACC);
        write_flags(x);
    } else if (op <= 0x5f) { /* push, pop: the stack pointer is kept track of before renaming */
        set(x, CPU_move);
        if (op < 0x58)
            decode_reads(x->insn, low);
        else
            decode_writes(x->insn, low);
    } else if (op >= 0x70 && op <= 0x7f) {
        jump(x, CPU_CONDITIONAL);
        x->insn->fused = true;
        decode_reads(x->insn, FLAGS);
    } else if (op >= 0x91 && op <= 0x97) {
        decode_reads(x->insn, low);
        decode_reads(x->insn, ACC);
        decode_writes(x->insn, low);
        decode_writes(x->insn, ACC);
    } else if (op == 0x98 || op == 0x99) {
        decode_reads(x->insn, ACC);
        decode_writes(x->insn, op == 0x98 ? ACC : DATA);
    } else if ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf)) {
        string_op(x);
    } else if (op == 0xa8 || op == 0xa9) {
        decode_reads(x->insn, ACC);
        write_flags(x);
    } else if (op >= 0xb0 && op <= 0xbf) {
        set(x, CPU_move);
        decode_writes(x->insn, low);
    } else if (op == 0xc2 || op == 0xc3) {
        jump(x, CPU_RETURNS);
    } else if (op == 0xe8) {
        jump(x, CPU_CALLS);
    } else if (op == 0xe9 || op == 0xeb) {
        jump(x, CPU_JUMPS);
    } else if (op >= 0xe0 && op <= 0xe3) {
        jump(x, CPU_CONDITIONAL);
        decode_reads(x->insn, COUNTER);
    } else if (op == 0x90 || op == 0x68 || op == 0x6a || op == 0xc9) { /* nop, push, leave */
        set(x, CPU_move);
    }
}

/* ---- vectors and floating point: maps 1 to 3 ---- */

static enum cpu_class class_of_map1(const struct x86 *x)
{
    uint8_t op = x->opcode;
    if (op == 0x51 || op == 0x5e)
        return CPU_fdiv;
    if (op == 0x59)
        return CPU_fmul;
    if (op == 0x2a || op == 0x2c || op == 0x2d || op == 0x2e || op == 0x2f || op == 0x52 || op == 0x53 ||
        op == 0x58 || (op >= 0x5a && op <= 0x5d) || op == 0x5f || op == 0xc2 || op == 0xe6 || op == 0x7c ||
        op == 0x7d || op == 0xd0)
        return CPU_fadd;
    if (op == 0xd5 || op == 0xe4 || op == 0xe5 || op == 0xf4 || op == 0xf5 || op == 0xf6)
        return CPU_vmul;
    if (op == 0x10 || op == 0x11 || op == 0x28 || op == 0x29 || op == 0x6f || op == 0x7f || op == 0x2b ||
        op == 0xe7 || op == 0xd6 || op == 0x6e || op == 0x7e || (op >= 0x12 && op <= 0x13) ||
        (op >= 0x16 && op <= 0x17))
        return x->memory || (op != 0x6e && op != 0x7e) ? CPU_move : CPU_vec;
    return CPU_vec;
}

static bool is_vector_store(const struct x86 *x)
{
    uint8_t op = x->opcode;
    return x->map == 1 && (op == 0x11 || op == 0x13 || op == 0x17 || op == 0x29 || op == 0x2b || op == 0x7f ||
                           op == 0xd6 || op == 0xe7 || (op == 0x7e && x->prefix != 0xf3));
}

static bool is_zeroing(const struct x86 *x) /* pxor, xorps, pcmpeq, psub of a register with itself */
{
    uint8_t op = x->opcode, other = x->vex ? x->vvvv : x->reg;
    return x->map == 1 && !x->memory && x->rm == other &&
           (op == 0xef || op == 0x57 || (op >= 0x74 && op <= 0x76) || (op >= 0xf8 && op <= 0xfb));
}

static void vector_op(struct x86 *x)
{
    uint8_t op = x->opcode;
    enum cpu_class class = CPU_vec;
    bool general_rm = x->map == 1 && (op == 0x2a || op == 0x6e || (op == 0x7e && x->prefix != 0xf3));
    bool general_reg = x->map == 1 && (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xd7 || op == 0xc5);
    if (x->map == 1 && op == 0x77) /* emms, vzeroupper: no ModRM */
        return;
    read_modrm(x);
    if (x->map == 1)
        class = class_of_map1(x);
    else if (x->map == 2 && x->vex && (op & 15) >= 6 && op >= 0x96 && op <= 0xbf)
        class = CPU_fma;
    else if (x->map == 2 &&
             (op == 0x40 || op == 0x28 || op == 0x04 || op == 0x0b || (op >= 0xdb && op <= 0xdf)))
        class = CPU_vmul;
    else if (x->map == 3 && (op >= 0x08 && op <= 0x0b))
        class = CPU_fadd;
    else if (x->map == 3 && op == 0x44)
        class = CPU_vmul;
    set(x, class);
    if (is_zeroing(x)) {
        write_reg(x, VECTORS);
        set(x, CPU_move);
        return;
    }
    bool is_move = class == CPU_move;
    if (is_vector_store(x) || (x->map == 3 && op >= 0x14 && op <= 0x17)) {
        read_reg(x, VECTORS);
        write_rm(x, general_rm || x->map == 3 ? 0 : VECTORS);
        return;
    }
    read_rm(x, general_rm ? 0 : VECTORS);
    if (x->vex && !is_move)
        decode_reads(x->insn, (uint32_t)VECTORS + x->vvvv);
    if ((!x->vex && !is_move && !general_rm && !general_reg && op != 0x70) || class == CPU_fma)
        read_reg(x, VECTORS); /* it is a source, too */
    if (x->map == 1 && (op == 0x2e || op == 0x2f)) {
        read_reg(x, VECTORS);
        write_flags(x);
    } else if (x->map == 2 && op == 0x17) {
        read_reg(x, VECTORS);
        write_flags(x);
    } else {
        write_reg(x, general_reg ? 0 : VECTORS);
    }
}

/* ---- the other instructions of map 1 ---- */

static bool is_integer_map1(uint8_t op)
{
    return op < 0x10 || (op >= 0x18 && op <= 0x1f) || (op >= 0x30 && op <= 0x37) ||
           (op >= 0x40 && op <= 0x4f) || (op >= 0x80 && op <= 0xc1) || op == 0xc3 || op == 0xc7 ||
           (op >= 0xc8 && op <= 0xcf) || op == 0xff;
}

static void integer_map1(struct x86 *x)
{
    uint8_t op = x->opcode;
    if (op >= 0x80 && op <= 0x8f) {
        jump(x, CPU_CONDITIONAL);
        x->insn->fused = true;
        decode_reads(x->insn, FLAGS);
        return;
    }
    if (op >= 0xc8) { /* bswap */
        decode_reads(x->insn, (op & 7u) | x->rex_b);
        decode_writes(x->insn, (op & 7u) | x->rex_b);
        return;
    }
    if (op == 0x05 || op == 0x0b || op == 0xa2 || (op >= 0x30 && op <= 0x37)) { /* cpuid, rdtsc and others */
        set(x, op == 0x31 || op == 0x05 ? CPU_alu : CPU_serial);
        if (op == 0x31 || op == 0xa2) {
            decode_writes(x->insn, ACC);
            decode_writes(x->insn, DATA);
        }
        return;
    }
    read_modrm(x);
    if (op >= 0x18 && op <= 0x1f) { /* nop, prefetch, endbr */
        set(x, CPU_move);
    } else if (op >= 0x40 && op <= 0x4f) {
        read_rm(x, 0);
        read_reg(x, 0);
        decode_reads(x->insn, FLAGS);
        write_reg(x, 0);
    } else if (op >= 0x90 && op <= 0x9f) {
        decode_reads(x->insn, FLAGS);
        write_rm(x, 0);
    } else if (op == 0xae) {
        set(x, !x->memory && (x->reg & 7) >= 5 ? CPU_serial : CPU_move);
    } else if (op == 0xaf) {
        set(x, CPU_mul);
        read_rm(x, 0);
        read_reg(x, 0);
        write_reg(x, 0);
    } else if (op == 0xb0 || op == 0xb1) {
        read_rm(x, 0);
        read_reg(x, 0);
        decode_reads(x->insn, ACC);
        write_rm(x, 0);
        decode_writes(x->insn, ACC);
    } else if (op == 0xc0 || op == 0xc1) {
        read_rm(x, 0);
        read_reg(x, 0);
        write_rm(x, 0);
        write_reg(x, 0);
    } else if (op == 0xc3) {
        set(x, CPU_move);
        read_reg(x, 0);
    } else if (op == 0xa3 || op == 0xba) {
        read_rm(x, 0);
        write_flags(x);
        if (op == 0xba && (x->reg & 7) > 4)
            write_rm(x, 0);
    } else if (op == 0xa4 || op == 0xa5 || op == 0xac || op == 0xad || op == 0xab || op == 0xb3 ||
               op == 0xbb) {
        read_rm(x, 0);
        read_reg(x, 0);
        write_rm(x, 0);
        write_flags(x);
    } else { /* movzx, movsx, popcnt, bsf, bsr */
        read_rm(x, 0);
        write_reg(x, 0);
        if (op == 0xb8 || op == 0xbc || op == 0xbd)
            write_flags(x);
    }
}

static void integer_map2(struct x86 *x) /* movbe, crc32, andn, bextr, shlx, pdep */
{
    read_modrm(x);
    read_rm(x, 0);
    if (x->vex)
        decode_reads(x->insn, x->vvvv & 15);
    else
        read_reg(x, 0);
    write_reg(x, 0);
    if (x->opcode == 0xf6 && x->vex)
        set(x, CPU_mul);
}

void decode_x86_64(const uint8_t *bytes, uint32_t count, struct cpu_insn *insn)
{
    struct x86 x = {.at = bytes, .end = bytes + count, .insn = insn};
    read_opcode(&x);
    if (!x.map)
        map0(&x);
    else if (x.map == 1 && !x.vex && is_integer_map1(x.opcode))
        integer_map1(&x);
    else if (x.map == 2 && x.opcode >= 0xf0)
        integer_map2(&x);
    else if (x.map == 1 && x.vex && (x.opcode & 0xf0) == 0x90) /* moves of masks */
        decode_writes(insn, MASKS);
    else
        vector_op(&x);
    insn->atomic = x.locked;
}
