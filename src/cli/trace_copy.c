/* heddle trace convert and print: the accesses of a trace of any kind, as a trace of ours or as CSV. */
#include "cli/trace.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/progress.h"
#include "trace/csv.h"
#include "trace/import.h"
#include "trace/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct option_row options[] = {
    {"--skip", "N", "leave out the first N accesses"},
    {"--accesses", "N", "take N accesses at most"},
    {NULL, NULL, NULL},
};

struct request {
    const char *command;
    const char *from, *to; /* to: print has "-" */
    uint64_t skip, most;   /* most: 0 for all */
    bool csv;
};

/* ---- where they go ---- */

struct sink {
    struct trace_writer *ours; /* or NULL: the file */
    struct file_writer csv;
    char *text;
};

static bool sink_open(struct sink *sink, const struct request *request, struct err *err)
{
    *sink = (struct sink){0};
    if (!request->csv)
        return (sink->ours = trace_writer_new(request->to, err));
    if (!file_open(&sink->csv, request->to, err))
        return false;
    sink->text = mem_alloc(TRACE_AT_ONCE, TRACE_CSV_ROW_MOST);
    fputs(TRACE_CSV_HEADER, sink->csv.stream);
    return true;
}

static bool sink_put(struct sink *sink, const struct trace_access *accesses, size_t count, struct err *err)
{
    if (sink->ours)
        return trace_write(sink->ours, accesses, count, err);
    size_t bytes = trace_csv_rows(accesses, count, sink->text);
    return fwrite(sink->text, 1, bytes, sink->csv.stream) == bytes ||
           err_set(err, "cannot write %s: %s", sink->csv.path, strerror(errno));
}

/* With `good` false nothing stays. */
static bool sink_close(struct sink *sink, bool good, struct err *err)
{
    if (sink->ours) {
        if (good)
            return trace_writer_close(sink->ours, err);
        trace_writer_abandon(sink->ours);
        return false;
    }
    mem_free(sink->text);
    if (good)
        return file_close(&sink->csv, err);
    file_abandon(&sink->csv);
    return false;
}

/* ---- copying ---- */

static bool copy_all(const struct request *request, struct source *source, struct sink *sink, struct err *err)
{
    struct trace_access *accesses = mem_alloc(TRACE_AT_ONCE, sizeof *accesses);
    uint64_t left = request->most ? request->most : UINT64_MAX, done = 0;
    struct progress progress;
    bool good = true;
    progress_init(&progress, request->command, "accesses");
    while (good && left) {
        long got = source_read(source, accesses, (size_t)min_u64(left, TRACE_AT_ONCE), err);
        if (!got)
            break;
        good = got > 0 && sink_put(sink, accesses, (size_t)got, err);
        if (good && interrupted)
            good = err_set(err, "%s: interrupted; nothing was written", request->command);
        left -= good ? (uint64_t)got : 0;
        done += good ? (uint64_t)got : 0;
        progress_update(&progress, request->most ? (double)done / (double)request->most : -1, done);
    }
    progress_fini(&progress);
    mem_free(accesses);
    return good;
}

static int copy(const struct request *request)
{
    struct err err;
    struct sink sink;
    catch_interrupts();
    struct source *source = source_open(request->from, request->skip, &err);
    bool good = source && sink_open(&sink, request, &err);
    if (good) {
        good = copy_all(request, source, &sink, &err);
        good = sink_close(&sink, good, &err);
    }
    source_close(source);
    return good ? EXIT_GOOD : complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, &err);
}

/* ---- the commands ---- */

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *request = user;
    if (row && !strcmp(row->name, "--skip"))
        return cmd_trace_count_parse(row->name, value, 0, &request->skip, err);
    if (row)
        return cmd_trace_count_parse(row->name, value, 1, &request->most, err);
    if (request->from && request->to)
        return err_set(err, "%s: unexpected word '%.120s'", request->command, value);
    *(request->from ? &request->to : &request->from) = value;
    return true;
}

static int run_print(int count, char **words)
{
    struct err err;
    struct request request = {.command = "trace print", .to = "-", .csv = true};
    if (!options_parse(options, count, words, &request, took, &err))
        return complain(EXIT_USAGE, &err);
    if (!request.from) {
        err_set(&err, "trace print: expected a trace, or - for standard input");
        return complain(EXIT_USAGE, &err);
    }
    return copy(&request);
}

static int run_convert(int count, char **words)
{
    struct err err;
    struct request request = {.command = "trace convert"};
    if (!options_parse(options, count, words, &request, took, &err))
        return complain(EXIT_USAGE, &err);
    if (!request.to) {
        err_set(&err, "trace convert: expected a trace (- for standard input), and the file to write");
        return complain(EXIT_USAGE, &err);
    }
    const char *from = source_file(request.from);
    if (strcmp(from, "-") && file_same(from, request.to)) {
        err_set(&err, "trace convert: it would write over %.200s, which is read", from);
        return complain(EXIT_USAGE, &err);
    }
    const struct import_format *format = import_format_of_name(request.to);
    size_t length = strlen(request.to);
    request.csv = length > 4 && !strcmp(request.to + length - 4, ".csv");
    if (format && !request.csv) {
        err_set(&err,
                "trace convert: %.200s would hold a trace of Heddle's, not %s; expected a name that ends "
                "in .htrace or .csv",
                request.to, format->name);
        return complain(EXIT_USAGE, &err);
    }
    return copy(&request);
}

const struct cmd cmd_trace_print = {
    .name = "trace print",
    .arguments = "FILE [options]",
    .help = "print the accesses of a trace, as CSV",
    .options = options,
    .run = run_print,
};

static void formats_print(void)
{
    puts("\nFormats:");
    for (size_t i = 0; import_formats[i]; i++)
        printf("  %-26s %s\n", import_formats[i]->name, import_formats[i]->help);
}

const struct cmd cmd_trace_convert = {
    .name = "trace convert",
    .arguments = "IN OUT [options]",
    .help = "read a trace of any kind and write one of Heddle's, or CSV",
    .more = "IN is a trace of Heddle's or of a format below, packed by zstd, gzip or xz or not; - is\n"
            "standard input. FORMAT:FILE says which where its name and contents do not. OUT is CSV where\n"
            "its name ends in .csv.",
    .options = options,
    .run = run_convert,
    .help_more = formats_print,
};
