/* Foreign traces as sources. A format is a row: its name, how it is known, and a function that reads it. */
#ifndef TRACE_IMPORT_H
#define TRACE_IMPORT_H

#include "trace/input.h"
#include "trace/source.h"

#include <inttypes.h>
#include <string.h>

enum { IMPORT_FOUND_MOST = 6 }; /* accesses of one line or record */

struct import {
    struct source source;
    const struct import_format *format;
    struct input input;
    uint64_t line;                                  /* being read, from 1 on; or the record, from 0 on */
    uint64_t instructions;                          /* counted so far */
    uint64_t given, skip;                           /* accesses; how many of the first are left out */
    struct trace_access waiting[IMPORT_FOUND_MOST]; /* for which there was no room: from waiting_at on */
    uint32_t waiting_at, waiting_count;
    uint64_t strange_lines, first_strange; /* lines that were left out, and are told of at the end */
    uint64_t quiet_from;                   /* bytes of the input where the last access was */
    bool ended;                            /* and that was told */
    bool fetches;                          /* din: instruction fetches were seen */
    uint64_t last;                         /* csv: the last instruction count */
    struct csv_columns {
        uint8_t of[16]; /* what the n-th field is */
        uint32_t count; /* 0: they are not known yet */
        char separator;
    } columns;
};

struct import_format {
    const char *name, *help;
    const char *ending; /* of the file's name, without that of what packed it: ".din"; or NULL */
    /* Whether the beginning of the file looks like it. */
    bool (*looks_so)(const char *bytes, size_t count);
    long (*read)(struct source *source, struct trace_access *into, size_t most, struct err *err);
};

extern const struct import_format import_lackey, import_din, import_champsim, import_csv;
extern const struct import_format *const import_formats[]; /* ends in NULL */

/* What the ending of the name says, without that of what packed it; or NULL. */
const struct import_format *import_format_of_name(const char *path);

/* Says where: "FILE:LINE: ...", and what the line has. IMPORT_BAD. */
int import_refuse(const struct import *import, const char *line, const char *end, const char *expected,
                  struct err *err);

/* Instruction counts beyond what an access can have. */
int import_refuse_count(const struct import *import, struct err *err);

/* Whether too much was read without an access in it: what never ends, such as a device, is given up then.
 * What had accesses may go without for longer: a program that computes. */
enum { IMPORT_QUIET_FIRST_MIB = 64, IMPORT_QUIET_MIB = 4096 };
bool import_is_quiet(const struct import *import, struct err *err);

/* At the end of all: 0, or -1 where there was no access. */
long import_end(struct import *import, struct err *err);

/* ---- reading ---- */

enum { IMPORT_BAD = -1, IMPORT_END = -2, IMPORT_LINE_MOST = 1 << 12 };

/* The accesses of the next line or record go to `found`; how many, or IMPORT_BAD or IMPORT_END. */
typedef int import_next(struct import *import, struct trace_access found[IMPORT_FOUND_MOST], struct err *err);

static inline __attribute__((always_inline)) long import_all(struct import *import, struct trace_access *into,
                                                             size_t most, import_next *next, struct err *err)
{
    size_t count = 0;
    int got = 0;
    while (count < most) {
        if (import->waiting_at < import->waiting_count) {
            into[count++] = import->waiting[import->waiting_at++];
            continue;
        }
        bool fits = most - count >= IMPORT_FOUND_MOST;
        got = next(import, fits ? into + count : import->waiting, err);
        if (!got &&
            __builtin_expect(import->input.bytes - import->quiet_from > IMPORT_QUIET_FIRST_MIB << 20, 0) &&
            import_is_quiet(import, err))
            got = IMPORT_BAD;
        if (got < 0)
            break;
        if (got)
            import->quiet_from = import->input.bytes;
        count += fits ? (size_t)got : 0;
        import->waiting_count = fits ? 0 : (uint32_t)got;
        import->waiting_at = 0;
    }
    import->given += count;
    if (got == IMPORT_BAD)
        return -1;
    return count || !most ? (long)count : import_end(import, err);
}

/* The next line from `*line` to `*end`, without its end; 0, or IMPORT_BAD or IMPORT_END. */
int import_slow_line(struct import *import, const char **line, const char **end, struct err *err);

static inline int import_line(struct import *import, const char **line, const char **end, struct err *err)
{
    struct input *input = &import->input;
    const char *at = input->at, *newline = memchr(at, '\n', (size_t)(input->end - at));
    if (__builtin_expect(!newline || newline - at > IMPORT_LINE_MOST, 0))
        return import_slow_line(import, line, end, err);
    import->line++;
    input->at += newline - at + 1;
    *line = at;
    *end = newline - (newline > at && newline[-1] == '\r');
    return 0;
}

/* ---- numbers ---- */

/* The value of a hexadecimal digit, or over 15. */
static inline unsigned hex_digit(char c)
{
    unsigned digit = (unsigned)(unsigned char)c - '0', letter = ((unsigned)(unsigned char)c | 0x20) - 'a';
    return digit < 10 ? digit : letter < 6 ? letter + 10 : 16;
}

/* Up to 16 digits from `*at` on, which moves behind them; false: none, or more. */
static inline bool import_hex(const char **at, const char *end, uint64_t *value)
{
    const char *from = *at;
    uint64_t number = 0;
    unsigned digit;
    while (*at < end && (digit = hex_digit(**at)) < 16) {
        number = number << 4 | digit;
        ++*at;
    }
    *value = number;
    return *at > from && *at - from <= 16;
}

/* As many as fit 64 bits. */
static inline bool import_decimal(const char **at, const char *end, uint64_t *value)
{
    const char *from = *at;
    uint64_t number = 0;
    bool fits = true;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        unsigned digit = (unsigned)(**at - '0');
        fits &= number <= (UINT64_MAX - digit) / 10;
        number = number * 10 + digit;
    }
    *value = number;
    return *at > from && fits;
}

static inline void skip_blanks(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
}

#endif
