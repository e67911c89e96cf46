#include "cpu/decode.h"
#include "base/bits.h"

#include <string.h>

static const struct {
    const char *target;
    decode_fn *decode;
} targets[] = {
    {"x86_64", decode_x86_64},
    {"riscv64", decode_riscv64},
    {"aarch64", decode_aarch64},
};

void decode_unknown(const uint8_t *bytes, uint32_t count, struct cpu_insn *insn)
{
    (void)bytes, (void)count;
    insn->class = CPU_alu;
}

decode_fn *decode_for(const char *target)
{
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        if (!strcmp(targets[i].target, target))
            return targets[i].decode;
    }
    return decode_unknown;
}

static bool writes(const struct cpu_insn *insn, uint8_t number)
{
    return insn->destinations[0] == number || insn->destinations[1] == number;
}

void decode_insn(decode_fn *decode, const uint8_t *bytes, uint32_t count, uint64_t pc,
                 const struct cpu_insn *before, struct cpu_insn *insn)
{
    *insn = (struct cpu_insn){.pc = pc, .length = (uint8_t)count, .class = CPU_alu};
    memset(insn->destinations, CPU_NO_REG, sizeof insn->destinations);
    memset(insn->sources, CPU_NO_REG, sizeof insn->sources);
    memset(insn->bases, CPU_NO_REG, sizeof insn->bases);
    decode(bytes, count, insn);
    if (insn->fused && (!before || before->class != CPU_alu || !writes(before, insn->sources[0])))
        insn->fused = false; /* a decoder says only that it may be */
}
