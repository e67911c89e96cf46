/* What a core model knows of an instruction: decoded once from its bytes, whatever the instruction set. */
#ifndef CPU_INSN_H
#define CPU_INSN_H

#include <stdbool.h>
#include <stdint.h>

/* Registers are small numbers, of all kinds in one row: general ones, vectors, flags. */
enum { CPU_REGS = 96, CPU_NO_REG = 255, CPU_SOURCES = 4, CPU_BASES = 2, CPU_DESTINATIONS = 2 };

/* The units of a core. Defaults: how many there are, cycles until the result can be used, and cycles until
 * the unit takes the next one. Accesses to memory have units of their own beside that of the operation. */
/*    name   units latency gap help */
#define CPU_CLASSES(X)                                                                                       \
    X(move, 0, 0, 0, "copies between registers, which renaming does; nothing to compute")                    \
    X(alu, 4, 1, 1, "integer arithmetic, shifts")                                                            \
    X(mul, 1, 3, 1, "integer products")                                                                      \
    X(div, 1, 12, 6, "integer quotients")                                                                    \
    X(branch, 2, 1, 1, "jumps, calls, returns")                                                              \
    X(fadd, 2, 3, 1, "sums and comparisons of floating point, conversions")                                  \
    X(fmul, 2, 3, 1, "products of floating point")                                                           \
    X(fma, 2, 4, 1, "fused products and sums")                                                               \
    X(fdiv, 1, 13, 5, "quotients and roots of floating point")                                               \
    X(vec, 4, 1, 1, "integer vectors, shuffles, bits of floating point")                                     \
    X(vmul, 2, 3, 1, "products of integer vectors")                                                          \
    X(load, 3, 0, 1, "loads: latency comes from the caches")                                                 \
    X(store, 2, 1, 1, "stores")                                                                              \
    X(serial, 1, 20, 1, "fences and others that wait for all before them")

enum cpu_class {
#define X(name, units, latency, gap, help) CPU_##name,
    CPU_CLASSES(X)
#undef X
        CPU_CLASS_COUNT,
};

/* How an instruction may leave the order of addresses. */
enum cpu_jump {
    CPU_FALLS,       /* it does not */
    CPU_CONDITIONAL, /* taken or not */
    CPU_JUMPS,       /* always, to a place that the instruction names */
    CPU_JUMPS_FAR,   /* always, to a place from a register or memory */
    CPU_CALLS,
    CPU_CALLS_FAR,
    CPU_RETURNS,
};

struct cpu_insn {
    uint64_t pc;
    uint8_t length;
    uint8_t class; /* enum cpu_class */
    uint8_t jump;  /* enum cpu_jump */
    bool fused;    /* with the one before it: takes no room of its own */
    bool atomic;   /* its accesses are seen by others as one */
    uint8_t destinations[CPU_DESTINATIONS];
    uint8_t sources[CPU_SOURCES]; /* of the operation */
    uint8_t bases[CPU_BASES];     /* of addresses: what accesses wait for */
};

enum cpu_access_kind { CPU_LOAD = 1, CPU_STORE = 2, CPU_BOTH = 3 };

struct cpu_access {
    uint64_t address;
    uint32_t bytes;
    uint32_t kind; /* enum cpu_access_kind */
};

/* An instruction as it was executed. */
struct cpu_step {
    const struct cpu_insn *insn;
    const struct cpu_access *accesses;
    uint32_t access_count;
    bool taken;      /* the next one is elsewhere: */
    uint64_t target; /* there */
};

#endif
