/* Instructions from their bytes: unit, registers, jumps. */
#include "check.h"
#include "cpu/decode.h"

#include <stdio.h>
#include <string.h>

/* "class >to <from @base jump", each register as often as there is one. */
static void show(const struct cpu_insn *insn, char *text, size_t bytes)
{
    static const char *const classes[] = {
#define X(name, units, latency, gap, help) #name,
        CPU_CLASSES(X)
#undef X
    };
    static const char *const jumps[] = {"", " if", " jump", " jump-far", " call", " call-far", " return"};
    size_t at = (size_t)snprintf(text, bytes, "%s", classes[insn->class]);
    for (int i = 0; i < CPU_DESTINATIONS && insn->destinations[i] != CPU_NO_REG; i++)
        at += (size_t)snprintf(text + at, bytes - at, " >%d", insn->destinations[i]);
    for (int i = 0; i < CPU_SOURCES && insn->sources[i] != CPU_NO_REG; i++)
        at += (size_t)snprintf(text + at, bytes - at, " <%d", insn->sources[i]);
    for (int i = 0; i < CPU_BASES && insn->bases[i] != CPU_NO_REG; i++)
        at += (size_t)snprintf(text + at, bytes - at, " @%d", insn->bases[i]);
    snprintf(text + at, bytes - at, "%s%s", jumps[insn->jump], insn->atomic ? " atomic" : "");
}

struct row {
    const char *bytes, *expected, *what;
};

static void check_rows(decode_fn *decode, const struct row *rows)
{
    for (; rows->bytes; rows++) {
        uint8_t bytes[16];
        uint32_t count = 0;
        int used;
        char text[200];
        struct cpu_insn insn;
        unsigned value;
        for (const char *at = rows->bytes; sscanf(at, "%2x%n", &value, &used) == 1; at += used)
            bytes[count++] = (uint8_t)value;
        decode_insn(decode, bytes, count, 0x1000, NULL, &insn);
        show(&insn, text, sizeof text);
        if (strcmp(text, rows->expected))
            fail_msg("%s: '%s', expected '%s'", rows->what, text, rows->expected);
    }
}

static void x86_64(void **state)
{
    static const struct row rows[] = {
        {"48 01 d8", "alu >0 >48 <0 <3", "add rax, rbx"},
        {"31 c0", "alu >0 >48", "xor eax, eax"},
        {"48 8b 44 cb 08", "move >0 @3 @1", "mov rax, [rbx + rcx*8 + 8]"},
        {"4c 89 24 24", "move <12 @4", "mov [rsp], r12"},
        {"48 8d 14 0f", "alu >2 <7 <1", "lea rdx, [rdi + rcx]"},
        {"48 0f af c3", "mul >0 <3 <0", "imul rax, rbx"},
        {"48 f7 f3", "div >0 >2 <3 <0 <2", "div rbx"},
        {"74 05", "branch <48 if", "je"},
        {"0f 85 00 01 00 00", "branch <48 if", "jne"},
        {"e8 00 00 00 00", "branch call", "call"},
        {"ff 25 00 00 00 00", "branch jump-far", "jmp [rip]"},
        {"c3", "branch return", "ret"},
        {"f2 0f 58 c1", "fadd >16 <17 <16", "addsd xmm0, xmm1"},
        {"f2 0f 5e c1", "fdiv >16 <17 <16", "divsd xmm0, xmm1"},
        {"66 0f ef c0", "move >16", "pxor xmm0, xmm0"},
        {"0f 10 07", "move >16 @7", "movups xmm0, [rdi]"},
        {"0f 11 06", "move <16 @6", "movups [rsi], xmm0"},
        {"c5 f5 58 c2", "fadd >16 <18 <17", "vaddpd ymm0, ymm1, ymm2"},
        {"c4 e2 f5 b8 c2", "fma >16 <18 <17 <16", "vfmadd231pd ymm0, ymm1, ymm2"},
        {"f0 48 0f b1 0f", "alu >0 <1 <0 @7 atomic", "lock cmpxchg [rdi], rcx"},
        {"87 07", "alu >0 <0 @7 atomic", "xchg [rdi], eax"},
        {"0f ae f0", "serial", "mfence"},
        {"f3 0f 1e fa", "move", "endbr64"},
        {NULL, NULL, NULL},
    };
    (void)state;
    check_rows(decode_x86_64, rows);
}

static void riscv64(void **state)
{
    static const struct row rows[] = {
        {"33 85 c5 00", "alu >10 <11 <12", "add a0, a1, a2"},
        {"33 85 c5 02", "mul >10 <11 <12", "mul a0, a1, a2"},
        {"33 c5 c5 02", "div >10 <11 <12", "div a0, a1, a2"},
        {"03 b5 85 00", "move >10 @11", "ld a0, 8(a1)"},
        {"23 b4 a5 00", "move <10 @11", "sd a0, 8(a1)"},
        {"63 04 b5 00", "branch <10 <11 if", "beq a0, a1"},
        {"ef 00 00 00", "branch >1 call", "jal ra"},
        {"82 80", "branch <1 return", "c.jr ra"},
        {"2e 95", "alu >10 <11 <10", "c.add a0, a1"},
        {"53 75 c5 02", "fadd >42 <42 <44", "fadd.d fa0, fa0, fa2"},
        {"2f 35 b5 00", "alu >10 <11 @10 atomic", "amoadd.d a0, a1, (a0)"},
        {NULL, NULL, NULL},
    };
    (void)state;
    check_rows(decode_riscv64, rows);
}

static void aarch64(void **state)
{
    static const struct row rows[] = {
        {"20 00 02 8b", "alu >0 <1 <2", "add x0, x1, x2"},
        {"20 7c 02 9b", "mul >0 <1 <2", "mul x0, x1, x2"},
        {"20 0c c2 9a", "div >0 <1 <2", "sdiv x0, x1, x2"},
        {"20 04 40 f9", "move >0 @1", "ldr x0, [x1, 8]"},
        {"20 04 00 f9", "move <0 @1", "str x0, [x1, 8]"},
        {"e0 07 41 a9", "move >0 >1 @31", "ldp x0, x1, [sp, 16]"},
        {"40 00 00 54", "branch <64 if", "b.eq"},
        {"00 00 00 94", "branch >30 call", "bl"},
        {"c0 03 5f d6", "branch <30 return", "ret"},
        {"20 28 62 1e", "fadd >32 <33 <34", "fadd d0, d1, d2"},
        {NULL, NULL, NULL},
    };
    (void)state;
    check_rows(decode_aarch64, rows);
}

static void comparison_and_jump_are_fused(void **state)
{
    static const uint8_t compare[] = {0x48, 0x39, 0xd8}, move[] = {0x48, 0x89, 0xd8}, jump[] = {0x74, 0x05};
    struct cpu_insn before, insn;
    (void)state;
    decode_insn(decode_x86_64, compare, sizeof compare, 0x1000, NULL, &before);
    decode_insn(decode_x86_64, jump, sizeof jump, 0x1003, &before, &insn);
    assert_true(insn.fused);
    decode_insn(decode_x86_64, move, sizeof move, 0x1000, NULL, &before);
    decode_insn(decode_x86_64, jump, sizeof jump, 0x1003, &before, &insn);
    assert_false(insn.fused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_64),
        cmocka_unit_test(riscv64),
        cmocka_unit_test(aarch64),
        cmocka_unit_test(comparison_and_jump_are_fused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
