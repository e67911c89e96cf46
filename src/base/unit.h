/* Numbers with units, as users write them: 256KiB, 50ns, 4800GB/s, 1.98GHz. Parsing is exact: a value that
 * is no whole number of the base unit (byte, picosecond, byte per second, hertz) is refused. */
#ifndef BASE_UNIT_H
#define BASE_UNIT_H

#include "base/err.h"
#include "base/text.h"

#include <stdint.h>

/*    id     what it is called  an example */
#define UNIT_KINDS(U)                                                                                        \
    U(count, "a whole number", "132")                                                                        \
    U(size, "a size with its unit", "256KiB")                                                                \
    U(time, "a time with its unit", "50ns")                                                                  \
    U(rate, "a rate with its unit", "4800GB/s")                                                              \
    U(freq, "a frequency with its unit", "1980MHz")

enum unit_kind {
#define U(id, called, example) UNIT_##id,
    UNIT_KINDS(U)
#undef U
};

/* 0 needs no unit. The error says what was expected, not where: the caller knows that. */
bool unit_parse(enum unit_kind kind, const char *text, uint64_t *value, struct err *err);

/* Writes the value with the largest unit that leaves a whole number. */
void unit_print(enum unit_kind kind, uint64_t value, struct text *text);

const char *unit_called(enum unit_kind kind);

#endif
