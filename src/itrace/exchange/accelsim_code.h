/* The code of kernels that are imported: instructions are found as warps execute them. An instruction is
 * known by its address, its opcode and its registers. Functions that a kernel calls have addresses of their
 * own from 0 on: where two instructions have the same address, the second one is in another layer. A layer
 * becomes a function of the trace's kernel. */
#ifndef EXCHANGE_ACCELSIM_CODE_H
#define EXCHANGE_ACCELSIM_CODE_H

#include "exchange/accelsim_line.h"
#include "exchange/accelsim_opcodes.h"
#include "itrace/istream.h"
#include "itrace/itrace.h"

enum { SASS_STEP = 16, SASS_LAYERS = 64, SASS_PC_MOST = 1 << 24 }; /* bytes */

struct sass_row {
    uint64_t digest; /* of its text; 0: nothing is known here */
    const struct sass_opcode *opcode;
    char *text;               /* of the opcode */
    uint8_t bytes;            /* of a lane's access */
    uint8_t operation;        /* of an atomic one */
    bool exits, keeps, waits; /* waits: a barrier that does */
};

struct sass_layer {
    struct isa_code code;
    struct istream_code stream;
    struct isa_timing *timing;
    struct isa_step *steps;
    struct sass_row *rows;
    uint32_t *context;
    uint32_t capacity;
    uint16_t *registers;
    size_t register_count, register_capacity;
};

struct sass_kernel {
    char *name;
    struct sass_layer *layers[SASS_LAYERS];
    uint32_t layer_count, context_count;
    uint32_t max_registers;
    uint64_t local_bytes, shared_bytes;
    bool used[SASS_REGISTERS];
};

struct sass_place {
    struct sass_layer *layer;
    uint32_t number; /* of the instruction */
};

/* The instruction of a line; `last` is the one before it. False: its opcode is not known, or there are too
 * many. */
bool sass_kernel_find(struct sass_kernel *kernel, const struct import *import,
                      const struct accelsim_line *line, const struct sass_place *last,
                      struct sass_place *found, struct err *err);

/* As a kernel of the trace; registers are numbered densely. */
void sass_kernel_finish(struct sass_kernel *kernel, struct itrace *trace, struct itrace_kernel *to);
void sass_kernel_free(struct sass_kernel *kernel);

#endif
