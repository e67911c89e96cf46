/* valgrind --tool=lackey --trace-mem=yes:
 *
 *   I  04001000,3        an instruction: those before an access are its instruction count
 *    L 1ffefffe7c,4      reads
 *    S 1ffefffe7c,4      writes
 *    M 0421c7cc,4        reads, then writes
 *
 * Valgrind's own lines begin with == or --; what the program printed between is left out, and told of. */
#include "trace/import.h"
#include "base/bits.h"

#include <string.h>

static bool is_access(const char *line, const char *end)
{
    return end - line > 3 && ((line[0] == ' ' && strchr("LSM", line[1]) && line[1]) || line[0] == 'I') &&
           line[2] == ' ' && (line[0] == ' ' || line[1] == ' ') && hex_digit(line[3]) < 16;
}

static bool looks_so(const char *bytes, size_t count)
{
    const char *all_end = bytes + count;
    for (const char *line = bytes; line < all_end;) {
        const char *end = memchr(line, '\n', (size_t)(all_end - line));
        if (!end)
            break;
        if (is_access(line, end) && memchr(line, ',', (size_t)(end - line)))
            return true;
        line = end + 1;
    }
    return false;
}

static void leave_out(struct import *import, const char *line, const char *end)
{
    bool valgrinds = end == line || (end - line > 1 && (!memcmp(line, "==", 2) || !memcmp(line, "--", 2)));
    if (valgrinds)
        return;
    if (!import->strange_lines++)
        import->first_strange = import->line;
}

static inline int next(struct import *import, struct trace_access *found, struct err *err)
{
    uint64_t address, bytes;
    const char *line, *end;
    int got = import_line(import, &line, &end, err);
    if (got < 0)
        return got;
    const char *at = line + 3;
    if (UNLIKELY(!is_access(line, end))) {
        leave_out(import, line, end);
        return 0;
    }
    if (UNLIKELY(!import_hex(&at, end, &address) || at == end || *at++ != ',' ||
                 !import_decimal(&at, end, &bytes) || at != end || bytes < 1 || bytes > 65535))
        return import_refuse(import, line, end, "a hexadecimal address, a comma and the bytes (1 to 65535)",
                             err);
    if (line[0] == 'I') {
        import->instructions++;
        return 0;
    }
    uint64_t before = import->instructions - (import->instructions > 0);
    if (UNLIKELY(before > TRACE_INSTRUCTIONS_MOST))
        return import_refuse_count(import, err);
    found[0] = trace_access(address, before, (uint32_t)bytes, line[1] == 'S');
    found[1] = trace_access(address, before, (uint32_t)bytes, true);
    return 1 + (line[1] == 'M');
}

static long read_lackey(struct source *source, struct trace_access *into, size_t most, struct err *err)
{
    return import_all((struct import *)source, into, most, next, err);
}

const struct import_format import_lackey = {
    .name = "lackey",
    .help = "text of valgrind --tool=lackey --trace-mem=yes",
    .looks_so = looks_so,
    .read = read_lackey,
};
