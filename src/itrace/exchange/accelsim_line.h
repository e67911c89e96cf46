/* A line of a kernel's trace: an instruction of a warp. */
#ifndef EXCHANGE_ACCELSIM_LINE_H
#define EXCHANGE_ACCELSIM_LINE_H

#include "isa/isa.h"
#include "trace/import.h"

enum { SASS_SOURCES = 5, SASS_LANES = 32, SASS_BOX_MOST = 1024 };
enum { SASS_ZERO = 255, SASS_UNIFORM = 256, SASS_REGISTERS = 320, SASS_NO_REGISTER = 0xffff };

struct accelsim_line {
    uint32_t pc, mask;
    uint16_t to, from[SASS_SOURCES]; /* registers: uniform ones from SASS_UNIFORM on */
    uint32_t from_count;
    const char *what, *opcode; /* what: all that makes the instruction, from the destination to the sources */
    size_t what_length, opcode_length;
    uint32_t width; /* bytes of a lane; 0: no addresses */
    uint64_t at[SASS_LANES];
    uint64_t immediates[2];
    uint32_t immediate_count;
    uint64_t *boxes; /* of TMA: addresses; with room for SASS_BOX_MOST */
    uint32_t box_count, box_bytes;
};

struct accelsim_form {
    bool line_numbers; /* before each instruction */
    bool leads;        /* versions before 3: block and warp before each */
    bool two;          /* Accel-Sim 2: two immediates, flags of GMMA */
    bool values;       /* version 6: Val and the values of registers behind all, or NoVal */
};

/* PC and mask; `at` moves behind them. Gives 0, or IMPORT_BAD. */
int accelsim_line_begin(const struct import *import, const struct accelsim_form *form, const char *begin,
                        const char **at, const char *end, struct accelsim_line *line, struct err *err);
/* The rest. */
int accelsim_line_rest(const struct import *import, const struct accelsim_form *form, const char *begin,
                       const char *at, const char *end, struct accelsim_line *line, struct err *err);

#endif
