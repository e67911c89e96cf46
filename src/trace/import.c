#include "trace/import.h"
#include "trace/own.h"
#include "base/bits.h"
#include "base/log.h"
#include "base/mem.h"

#include <ctype.h>

const struct import_format *const import_formats[] = {&import_lackey, &import_din, &import_csv,
                                                      &import_champsim, NULL};

int import_refuse(const struct import *import, const char *line, const char *end, const char *expected,
                  struct err *err)
{
    char shown[81];
    size_t count = (size_t)min_u64((uint64_t)(end - line), sizeof shown - 1);
    for (size_t i = 0; i < count; i++)
        shown[i] = isprint((unsigned char)line[i]) ? line[i] : '?';
    shown[count] = 0;
    err_set(err, "%s:%" PRIu64 ": expected %s, not '%s'", import->input.name, import->line, expected, shown);
    return IMPORT_BAD;
}

int import_refuse_count(const struct import *import, struct err *err)
{
    err_set(err, "%s:%" PRIu64 ": more than 2^47 instructions", import->input.name, import->line);
    return IMPORT_BAD;
}

bool import_is_quiet(const struct import *import, struct err *err)
{
    uint64_t most = import->quiet_from ? IMPORT_QUIET_MIB : IMPORT_QUIET_FIRST_MIB;
    if (import->input.bytes - import->quiet_from <= most << 20)
        return false;
    err_set(err, "%s: no access in %" PRIu64 " MiB%s: is this a trace of %s?", import->input.name, most,
            import->quiet_from ? " behind the last one" : "", import->format->name);
    return true;
}

long import_end(struct import *import, struct err *err)
{
    if (import->given <= import->skip) {
        err_set(err, "%s: there is no access in it", import->input.name);
        if (import->given)
            err_set(err, "%s: it has only %" PRIu64 " accesses: %" PRIu64 " cannot be left out",
                    import->input.name, import->given, import->skip);
        return -1;
    }
    if (import->strange_lines && !import->ended)
        log_warn("%s: %" PRIu64 " lines are not of %s and were left out, the first is line %" PRIu64,
                 import->input.name, import->strange_lines, import->format->name, import->first_strange);
    import->ended = true;
    return 0;
}

int import_slow_line(struct import *import, const char **line, const char **end, struct err *err)
{
    struct input *input = &import->input;
    char *newline;
    while (!(newline = memchr(input->at, '\n', (size_t)(input->end - input->at))) && !input->ended &&
           input->end - input->at <= IMPORT_LINE_MOST) {
        if (!input_more(input, err))
            return IMPORT_BAD;
    }
    if (input->at == input->end)
        return IMPORT_END;
    import->line++;
    *line = input->at;
    *end = newline ? newline : input->end;
    if (*end - *line > IMPORT_LINE_MOST)
        return import_refuse(import, *line, *end, "lines of at most 4096 bytes", err);
    if (!newline) { /* a number in it may be cut, which nobody could tell */
        err_set(err, "%s:%" PRIu64 ": the last line has no end: the trace was cut", input->name,
                import->line);
        return IMPORT_BAD;
    }
    input->at = newline + 1;
    *end -= *end > *line && (*end)[-1] == '\r';
    return 0;
}

/* ---- which format ---- */

/* The name without its folder, and without what packers add. */
static size_t name_length(const char *path)
{
    static const char *const packed[] = {".zst", ".gz", ".xz"};
    size_t length = strlen(path);
    for (size_t i = 0; i < COUNT_OF(packed); i++) {
        size_t own = strlen(packed[i]);
        if (length > own && !strcmp(path + length - own, packed[i]))
            return length - own;
    }
    return length;
}

static bool ends_so(const char *path, size_t length, const char *ending)
{
    size_t own = ending ? strlen(ending) : 0;
    return own && length > own && !strncasecmp(path + length - own, ending, own);
}

const struct import_format *import_format_of_name(const char *path)
{
    size_t length = name_length(path);
    for (size_t i = 0; import_formats[i]; i++) {
        if (ends_so(path, length, import_formats[i]->ending))
            return import_formats[i];
    }
    return NULL;
}

static const struct import_format *format_of(const char *path, const struct input *input)
{
    const struct import_format *format = import_format_of_name(path);
    if (format)
        return format;
    for (size_t i = 0; import_formats[i]; i++) {
        if (import_formats[i]->looks_so(input->at, (size_t)(input->end - input->at)))
            return import_formats[i];
    }
    return NULL;
}

/* "din:FILE": the format is said. Gives what is behind it. */
static const char *said_format(const char *path, const struct import_format **format)
{
    const char *colon = strchr(path, ':');
    for (size_t i = 0; colon && import_formats[i]; i++) {
        size_t length = strlen(import_formats[i]->name);
        if ((size_t)(colon - path) == length && !memcmp(path, import_formats[i]->name, length)) {
            *format = import_formats[i];
            return colon + 1;
        }
    }
    return path;
}

const char *source_file(const char *path)
{
    const struct import_format *format;
    return said_format(path, &format);
}

/* ---- opening ---- */

static long import_read(struct source *source, struct trace_access *into, size_t most, struct err *err)
{
    return ((struct import *)source)->format->read(source, into, most, err);
}

static void import_close(struct source *source)
{
    struct import *import = (struct import *)source;
    input_close(&import->input);
    mem_free(import);
}

static const struct source_ops import_ops = {import_read, import_close, NULL};

static bool skip_accesses(struct import *import, struct err *err)
{
    enum { AT_ONCE = 4096 };
    struct trace_access *dropped = mem_alloc(AT_ONCE, sizeof *dropped);
    bool good = true;
    while (good && import->given < import->skip)
        good = source_read(&import->source, dropped, (size_t)min_u64(import->skip - import->given, AT_ONCE),
                           err) > 0;
    mem_free(dropped);
    return good;
}

static bool import_start(struct import *import, const char *path, struct err *err)
{
    struct input *input = &import->input;
    if (!input_open(input, path, err))
        return false;
    if (input->at == input->end)
        return err_set(err, "%s: it is empty", input->name);
    if (!import->format)
        import->format = format_of(path, input);
    if (own_looks_so(input->at, (size_t)(input->end - input->at)))
        return err_set(
            err, "%s: a trace of Heddle's is read from its end: it must be a file, and not packed once more",
            input->name);
    if (!import->format) {
        err_set(err, "%s: this is no trace that Heddle knows: expected its own,", input->name);
        for (size_t i = 0; import_formats[i]; i++)
            err_add(err, " %s%s", import_formats[i]->name, import_formats[i + 1] ? "," : "");
        err_add(err, "; lackey:FILE reads it as lackey");
        return false;
    }
    return skip_accesses(import, err);
}

static struct source *import_open(const struct import_format *format, const char *path, uint64_t skip,
                                  struct err *err)
{
    struct import *import = mem_alloc(1, sizeof *import);
    import->source.ops = &import_ops;
    import->format = format;
    import->skip = skip;
    if (import_start(import, path, err))
        return &import->source;
    import_close(&import->source);
    return NULL;
}

struct source *source_open(const char *path, uint64_t skip, struct err *err)
{
    const struct import_format *format = NULL;
    const char *file = said_format(path, &format);
    return !format && own_is(file) ? own_open(file, skip, err) : import_open(format, file, skip, err);
}
