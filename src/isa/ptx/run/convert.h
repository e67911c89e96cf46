/* Any cvt, one lane at a time. Frequent ones are also rows of alu.def, with vectors and the same results. */
#ifndef PTX_RUN_CONVERT_H
#define PTX_RUN_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/number.h"

struct conversion_type;

struct conversion {
    const struct conversion_type *to, *from;
    uint8_t to_bits, from_bits; /* 8 .. 64, of a whole operand: 32 for f16x2 */
    bool to_signed;             /* a wider destination is filled with the sign */
    bool two;                   /* has two sources; the first becomes the upper half */
    enum rounding rounding;
    bool whole; /* .rni, .rzi, .rmi, .rpi: to a whole number */
    bool ftz, sat, satfinite, relu;
};

/* False if it is no conversion known here. */
bool conversion_parse(const char *opcode, struct conversion *how);

/* Only as many bits of the sources count as their type has; the result's other bits are 0. */
uint64_t convert(const struct conversion *how, uint64_t a, uint64_t b);

/* It only cuts and extends integers: tells whether their sign counts. */
bool convert_extends(const struct conversion *how, bool *from_signed);

#endif
