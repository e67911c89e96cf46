/* Operands for the vectors: values at the edges of their type, and random ones, from a seeded stream. */
#ifndef ORACLE_VALUES_H
#define ORACLE_VALUES_H

#include "base/rng.h"

/* What an operand holds: elements of so many bits, of these a fraction (0: an integer), so many side by side.
 */
#define VALUES(V)                                                                                            \
    /* name  bits fraction count */                                                                          \
    V(none, 0, 0, 0)                                                                                         \
    V(pred, 1, 0, 1)                                                                                         \
    V(b16, 16, 0, 1)                                                                                         \
    V(b32, 32, 0, 1)                                                                                         \
    V(b64, 64, 0, 1)                                                                                         \
    V(f16, 16, 10, 1)                                                                                        \
    V(bf16, 16, 7, 1)                                                                                        \
    V(f32, 32, 23, 1)                                                                                        \
    V(f64, 64, 52, 1)                                                                                        \
    V(f16x2, 16, 10, 2)                                                                                      \
    V(f16x4, 16, 10, 4)                                                                                      \
    V(bf16x2, 16, 7, 2)                                                                                      \
    V(bf16x4, 16, 7, 4)                                                                                      \
    V(f32x2, 32, 23, 2)                                                                                      \
    V(e4m3x2, 8, 3, 2)                                                                                       \
    V(e4m3x4, 8, 3, 4)                                                                                       \
    V(e5m2x2, 8, 2, 2)                                                                                       \
    V(e5m2x4, 8, 2, 4)

enum value {
#define V(name, bits, fraction, count) VALUE_##name,
    VALUES(V)
#undef V
};

/* Of a register that holds it; a predicate's are those of a word that is 0 or 1. */
unsigned value_bytes(enum value value);

/* The value of this name ("f16x2"), or VALUE_none. */
enum value value_of(const char *name);

/* Any bits, with a taste for edges. `before` is the operand before it, if it is of the same type, which this
 * one may be near to or cancel. */
uint64_t value_any(struct rng *rng, enum value value, uint64_t before);

/* Numbers with exponents from -spread to spread, no infinities and no NaN: what sums can be made of. Of
 * integers any. */
uint64_t value_tame(struct rng *rng, enum value value, unsigned spread);

#endif
