/* Dinero's .din: "LABEL ADDRESS [BYTES]", address and bytes hexadecimal, an access a line:
 *
 *   0 or r   reads
 *   1 or w   writes
 *   2 or i   fetches an instruction: those before an access are its instruction count
 *
 * Where no bytes are given they are 4, as Dinero IV has it. Until the first fetch each access counts as an
 * instruction: that goes for all of a trace that has none. */
#include "trace/import.h"
#include "base/bits.h"

enum { DIN_BYTES = 4 };

static int label_of(char c)
{
    switch (c) {
    case '0':
    case 'r':
        return 0;
    case '1':
    case 'w':
        return 1;
    case '2':
    case 'i':
        return 2;
    default:
        return -1;
    }
}

static inline int next(struct import *import, struct trace_access *found, struct err *err)
{
    uint64_t address, bytes = DIN_BYTES;
    const char *line, *end;
    int got = import_line(import, &line, &end, err);
    if (got < 0)
        return got;
    const char *at = line;
    skip_blanks(&at, end);
    if (at == end)
        return 0;
    int label = label_of(*at++);
    const char *blanks = at;
    skip_blanks(&at, end);
    if (label < 0 || at == blanks)
        return import_refuse(import, line, end, "0, 1 or 2 (read, write, instruction fetch) and an address",
                             err);
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    bool good = import_hex(&at, end, &address);
    blanks = at;
    skip_blanks(&at, end);
    if (good && at != end) {
        good = at > blanks && import_hex(&at, end, &bytes) && bytes >= 1 && bytes <= 65535;
        skip_blanks(&at, end);
    }
    if (!good || at != end)
        return import_refuse(import, line, end,
                             "a hexadecimal address, and bytes (hexadecimal, 1 to ffff) or nothing", err);
    if (label == 2) {
        import->instructions += import->fetches; /* the first has none before it */
        import->fetches = true;
        return 0;
    }
    if (import->instructions > TRACE_INSTRUCTIONS_MOST)
        return import_refuse_count(import, err);
    found[0] = trace_access(address, import->instructions, (uint32_t)bytes, label == 1);
    import->instructions += !import->fetches;
    return 1;
}

static long read_din(struct source *source, struct trace_access *into, size_t most, struct err *err)
{
    return import_all((struct import *)source, into, most, next, err);
}

static bool looks_so(const char *bytes, size_t count)
{
    uint64_t address;
    const char *at = bytes, *end = bytes + count;
    while (at < end && (*at == '\n' || *at == '\r' || *at == ' '))
        at++;
    if (end - at < 3 || label_of(*at) < 0 || (at[1] != ' ' && at[1] != '\t'))
        return false;
    at++;
    skip_blanks(&at, end);
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    return import_hex(&at, end, &address) &&
           (at == end || *at == '\n' || *at == '\r' || *at == ' ' || *at == '\t');
}

const struct import_format import_din = {
    .name = "din",
    .help = "text of Dinero: 0, 1 or 2 (read, write, instruction fetch) and a hexadecimal address",
    .ending = ".din",
    .looks_so = looks_so,
    .read = read_din,
};
