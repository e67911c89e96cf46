/* Plain CSV. The first line names the columns, in any order; only the address must be there. Separated by
 * commas, semicolons or tabs. Numbers are decimal, or hexadecimal behind 0x.
 *
 *   address,kind,size,instruction
 *   0x7ffc0010,write,8,120
 */
#include "trace/import.h"
#include "base/bits.h"
#include "base/log.h"

#include <strings.h>

enum column { ADDRESS, KIND, SIZE, INSTRUCTION, UNUSED };

static const struct {
    const char *name;
    enum column column;
} column_names[] = {
    {"address", ADDRESS},
    {"addr", ADDRESS},
    {"kind", KIND},
    {"rw", KIND},
    {"type", KIND},
    {"op", KIND},
    {"size", SIZE},
    {"bytes", SIZE},
    {"instruction", INSTRUCTION},
    {"icount", INSTRUCTION},
    {"instructions", INSTRUCTION},
};

static const struct {
    const char *name;
    bool writes;
} kind_names[] = {
    {"r", false}, {"w", true},     {"read", false}, {"write", true}, {"l", false},
    {"s", true},  {"load", false}, {"store", true}, {"0", false},    {"1", true},
};

static bool is_word(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) == length && !strncasecmp(at, word, length);
}

static void trim(const char **at, const char **end)
{
    while (*at < *end && (**at == ' ' || **at == '\t' || **at == '"'))
        ++*at;
    while (*at < *end && ((*end)[-1] == ' ' || (*end)[-1] == '\t' || (*end)[-1] == '"'))
        --*end;
}

/* ---- the header ---- */

static enum column column_of(const char *at, const char *end)
{
    for (size_t i = 0; i < COUNT_OF(column_names); i++) {
        if (is_word(at, end, column_names[i].name))
            return column_names[i].column;
    }
    return UNUSED;
}

static char separator_of(const char *line, const char *end)
{
    for (; line < end; line++) {
        if (*line == ',' || *line == ';' || *line == '\t')
            return *line;
    }
    return ',';
}

static bool read_header(struct import *import, const char *line, const char *end, struct err *err)
{
    struct csv_columns *columns = &import->columns;
    const char expected[] =
        "the names of the columns: address, and kind, size, instruction or not, each once";
    uint32_t seen = 0;
    columns->separator = separator_of(line, end);
    for (const char *at = line; at <= end; columns->count++) {
        const char *stop = memchr(at, columns->separator, (size_t)(end - at));
        stop = stop ? stop : end;
        const char *from = at, *to = stop;
        trim(&from, &to);
        enum column column = column_of(from, to);
        if (columns->count == COUNT_OF(columns->of) || (column != UNUSED && seen >> column & 1))
            return import_refuse(import, line, end, expected, err), false;
        if (column == UNUSED)
            log_warn("%s:%" PRIu64 ": the column '%.*s' is not used", import->input.name, import->line,
                     (int)(to - from), from);
        columns->of[columns->count] = (uint8_t)column;
        seen |= 1u << column;
        at = stop + 1;
    }
    return seen >> ADDRESS & 1 || (import_refuse(import, line, end, expected, err), false);
}

/* ---- rows ---- */

static bool read_number(const char *at, const char *end, uint64_t *value)
{
    bool hex = end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x';
    at += hex ? 2 : 0;
    return (hex ? import_hex(&at, end, value) : import_decimal(&at, end, value)) && at == end;
}

static bool read_kind(const char *at, const char *end, uint64_t *value)
{
    for (size_t i = 0; i < COUNT_OF(kind_names); i++) {
        if (is_word(at, end, kind_names[i].name)) {
            *value = kind_names[i].writes;
            return true;
        }
    }
    return false;
}

/* A value of its column. Gives NULL, or what was expected. */
static const char *read_field(enum column column, const char *at, const char *end, uint64_t *values)
{
    if (UNLIKELY(at < end && (*at <= ' ' || *at == '"' || end[-1] <= ' ' || end[-1] == '"')))
        trim(&at, &end);
    switch (column) {
    case ADDRESS:
        return read_number(at, end, &values[ADDRESS]) ? NULL : "an address, such as 4096 or 0x1000";
    case KIND:
        return read_kind(at, end, &values[KIND]) ? NULL
                                                 : "a kind: read or write (r, w, l, s, load, store, 0, 1)";
    case SIZE:
        return read_number(at, end, &values[SIZE]) && values[SIZE] >= 1 && values[SIZE] <= 65535
                   ? NULL
                   : "a size of 1 to 65535 bytes";
    case INSTRUCTION:
        return read_number(at, end, &values[INSTRUCTION]) && values[INSTRUCTION] <= TRACE_INSTRUCTIONS_MOST
                   ? NULL
                   : "an instruction count below 2^47";
    default:
        return NULL;
    }
}

static const char *read_row(struct import *import, const char *line, const char *end, uint64_t *values)
{
    const struct csv_columns *columns = &import->columns;
    uint32_t count = 0;
    for (const char *at = line; at <= end; count++) {
        const char *stop = at;
        while (stop < end && *stop != columns->separator)
            stop++;
        const char *why = count < columns->count
                              ? read_field((enum column)columns->of[count], at, stop, values)
                              : "as many fields as the first line names";
        if (why)
            return why;
        at = stop + 1;
    }
    return count == columns->count ? NULL : "as many fields as the first line names";
}

static inline int next(struct import *import, struct trace_access *found, struct err *err)
{
    const char *line, *end;
    int got = import_line(import, &line, &end, err);
    if (got < 0)
        return got;
    if (line == end || *line == '#')
        return 0;
    if (UNLIKELY(!import->columns.count))
        return read_header(import, line, end, err) ? 0 : IMPORT_BAD;
    uint64_t values[] = {[ADDRESS] = 0, [KIND] = 0, [SIZE] = 1, [INSTRUCTION] = import->instructions};
    const char *why = read_row(import, line, end, values);
    if (!why && values[INSTRUCTION] < import->last)
        why = "an instruction count that does not go back";
    if (why)
        return import_refuse(import, line, end, why, err);
    if (values[INSTRUCTION] > TRACE_INSTRUCTIONS_MOST)
        return import_refuse_count(import, err);
    import->last = values[INSTRUCTION];
    import->instructions++;
    found[0] = trace_access(values[ADDRESS], values[INSTRUCTION], (uint32_t)values[SIZE], values[KIND]);
    return 1;
}

static long read_csv(struct source *source, struct trace_access *into, size_t most, struct err *err)
{
    return import_all((struct import *)source, into, most, next, err);
}

static bool looks_so(const char *bytes, size_t count)
{
    const char *line = bytes, *end;
    size_t left = count;
    while (left && (*line == '#' || *line == '\n')) { /* comments */
        end = memchr(line, '\n', left);
        size_t taken = end ? (size_t)(end + 1 - line) : left;
        line += taken;
        left -= taken;
    }
    end = memchr(line, '\n', left);
    end = end ? end : line + left;
    char separator = separator_of(line, end);
    for (const char *at = line; at < end;) {
        const char *stop = memchr(at, separator, (size_t)(end - at));
        const char *from = at, *to = stop ? stop : end;
        at = to + 1;
        to -= to > from && to[-1] == '\r';
        trim(&from, &to);
        if (column_of(from, to) == ADDRESS)
            return true;
    }
    return false;
}

const struct import_format import_csv = {
    .name = "csv",
    .help = "CSV with the names of the columns in its first line: address, kind, size, instruction",
    .ending = ".csv",
    .looks_so = looks_so,
    .read = read_csv,
};
