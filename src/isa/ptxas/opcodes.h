/* The machine instructions of each family of opcodes, and what may be moved past it, as rows of opcodes.c. */
#ifndef PTXAS_OPCODES_H
#define PTXAS_OPCODES_H

#include "ptx/ptx.h"

/* How an instruction may be folded into others (plan_fold.c). */
enum opcode_kind {
    KIND_PLAIN,
    KIND_MOVE,   /* mov of one value */
    KIND_RENAME, /* the same bits under another name */
    KIND_PARAM,  /* ld.param */
    KIND_ADD,    /* integers of 16 or 32 bits */
    KIND_SUB,
    KIND_ADD64,
    KIND_MUL,      /* low half, 32 bits */
    KIND_WIDE,     /* mul.wide of 32 bits */
    KIND_WIDE_SUM, /* mad.wide */
    KIND_SHL,      /* 32 bits */
    KIND_SHL64,
    KIND_LOGIC, /* and, or, xor of 32 bits */
    KIND_NOT,
    KIND_NEGATE,  /* neg of 32 bits */
    KIND_SIGN,    /* neg, abs of floats: free in a float instruction's operand */
    KIND_FLOAT,   /* arithmetic with signs for its operands */
    KIND_MINMAX,  /* 32 bits */
    KIND_COMPARE, /* setp of integers or floats */
    KIND_PREDICATES,
    KIND_SELECT,
    KIND_LOAD,
    KIND_STORE,
    KIND_ATOMIC,
    KIND_BRANCH,
    KIND_END, /* ret, exit */
    KIND_CALL,
};

/* What keeps it in its place. */
enum opcode_effect {
    EFFECT_NONE,  /* its operands alone */
    EFFECT_READ,  /* memory, as its space says */
    EFFECT_WRITE, /* memory, also atomics */
    EFFECT_LANES, /* of other lanes: stays in order with its like */
    EFFECT_ALL,   /* nothing moves past it */
};

struct opcode {
    const char *text;  /* the key: the same text is the same pointer */
    const char *steps; /* as in the rows */
    uint8_t kind, effect;
    uint8_t type;        /* enum ptx_type: the last modifier */
    uint8_t space;       /* enum ptx_space, of what touches memory */
    uint8_t bytes;       /* of what it touches there */
    uint8_t vector;      /* 1, 2, 4, 8 elements */
    bool strict;         /* volatile: stays in order with all memory */
    bool orders;         /* acquires or releases: no access to memory moves past it */
    bool constant_space; /* what nobody writes while the kernel runs: .nc, const, parameters */
    bool whole_warp;     /* lanes load or store for each other: not to be guarded, and not just `bytes` */
    bool carry;          /* reads or writes the carry flag */
    bool splits;         /* contraction ends here (contract.c) */
    bool product, sum;   /* may take part in contraction */
};

/* A table of the opcodes met, filled as they are looked up. */
struct opcodes {
    struct opcode *at;
    uint32_t count, capacity;
    uint32_t *table, table_size; /* by pointer: number + 1 */
};

uint32_t opcodes_find(struct opcodes *opcodes, const char *text); /* its number */
void opcodes_fini(struct opcodes *opcodes);

/* The steps that a text of the rows means; gives how many. */
enum { STEPS_MOST = 128 };
uint32_t opcode_steps(const char *text, struct isa_step *steps, uint32_t most);

/* About how many cycles it takes until others can read the result of one that becomes these steps. */
uint32_t opcode_latency(const struct opcode *opcode, const char *steps);

#endif
