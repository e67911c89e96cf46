/* SASS, from Volta to Hopper, as a model that keeps time sees it: a row for each opcode. */
#ifndef EXCHANGE_ACCELSIM_OPCODES_H
#define EXCHANGE_ACCELSIM_OPCODES_H

#include "isa/isa.h"

#include <stddef.h>

enum sass_memory {
    SASS_NOTHING,
    SASS_GLOBAL,
    SASS_SHARED,
    SASS_LOCAL,
    SASS_GENERIC,  /* by address */
    SASS_CONSTANT, /* parameters and constants */
    SASS_COPY,     /* from global to shared memory, asynchronously */
    SASS_TMA,      /* whole boxes, asynchronously */
};

enum sass_does { SASS_READS, SASS_WRITES, SASS_ATOMIC, SASS_REDUCES };

struct sass_opcode {
    const char *name;
    uint8_t unit, memory, does, role;
    uint8_t to,
        from; /* registers that the destination and each source are; 0: the width of the access says so */
};

extern const struct sass_opcode sass_opcodes[];
extern const uint32_t sass_opcode_count;

/* By the part of the text before the first '.'; NULL: there is none. */
const struct sass_opcode *sass_find(const char *text, size_t length);

/* Whether ".NAME" is a part of it. */
bool sass_has(const char *text, size_t length, const char *name);

#endif
