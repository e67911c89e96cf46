/* heddle trace convert and print: the accesses of a trace of any kind, as a trace of ours or of others.
 * Where a folder stands, it is a trace of instructions. */
#include "cli/trace.h"
#include "cli/trace_itrace.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/progress.h"
#include "exchange/accelsim.h"
#include "exchange/accesses.h"
#include "trace/export.h"
#include "trace/import.h"
#include "trace/writer.h"

#include <string.h>

static const struct option_row print_options[] = {
    {"--skip", "N", "leave out the first N accesses"},
    {"--accesses", "N", "take N accesses at most"},
    ITRACE_PART_OPTIONS,
    {"--limit", "N", "of a trace of instructions: print N instructions at most"},
    {NULL, NULL, NULL},
};

static const struct option_row convert_options[] = {
    {"--skip", "N", "leave out the first N accesses"},
    {"--accesses", "N", "take N accesses at most"},
    ITRACE_PART_OPTIONS,
    {"--format", "NAME", "what is written; else the name of the output says so"},
    {"--output", "PATH", "where it goes, if not behind the input"},
    {NULL, NULL, NULL},
};

struct copy_request {
    const char *command;
    const char *from, *to;          /* to: print has "-" */
    uint64_t skip, most;            /* most: 0 for all */
    uint64_t limit;                 /* of lines; 0: none */
    const char *format;             /* or NULL */
    const struct export_format *as; /* NULL: a trace of ours */
    struct itrace_part part;
    bool has_part;
};

/* ---- where they go ---- */

struct sink {
    struct trace_writer *ours; /* or NULL: the export */
    struct export foreign;
};

static bool sink_open(struct sink *sink, const struct copy_request *request, struct err *err)
{
    *sink = (struct sink){0};
    if (!request->as)
        return (sink->ours = trace_writer_new(request->to, err));
    return export_open(&sink->foreign, request->as, request->to, err);
}

static bool sink_put(struct sink *sink, const struct trace_access *accesses, size_t count, struct err *err)
{
    return sink->ours ? trace_write(sink->ours, accesses, count, err)
                      : export_put(&sink->foreign, accesses, count, err);
}

/* With `good` false nothing stays. */
static bool sink_close(struct sink *sink, bool good, struct err *err)
{
    if (!sink->ours)
        return export_close(&sink->foreign, good, err);
    if (good)
        return trace_writer_close(sink->ours, err);
    trace_writer_abandon(sink->ours);
    return false;
}

/* ---- copying ---- */

static bool copy_all(const struct copy_request *request, struct source *source, struct sink *sink,
                     struct err *err)
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

static int copy(const struct copy_request *request)
{
    struct err err;
    struct sink sink;
    catch_interrupts();
    struct source *source = cmd_trace_is_folder(request->from)
                                ? exchange_accesses(request->from, &request->part, &err)
                                : source_open(request->from, request->skip, &err);
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
    struct copy_request *request = user;
    bool taken;
    if (!cmd_trace_part_took(&request->part, row, value, &taken, err))
        return false;
    request->has_part |= taken;
    if (taken)
        return true;
    if (row && !strcmp(row->name, "--skip"))
        return cmd_trace_count_parse(row->name, value, 0, &request->skip, err);
    if (row && !strcmp(row->name, "--accesses"))
        return cmd_trace_count_parse(row->name, value, 1, &request->most, err);
    if (row && !strcmp(row->name, "--limit"))
        return cmd_trace_count_parse(row->name, value, 1, &request->limit, err);
    if (row && !strcmp(row->name, "--format")) {
        request->format = value;
        return true;
    }
    if (row ? request->to != NULL : request->from && request->to)
        return err_set(err, "%s: unexpected word '%.120s'", request->command, value);
    *(row || request->from ? &request->to : &request->from) = value;
    return true;
}

/* Options of traces of instructions alone, or of traces of accesses alone. */
static bool fits_input(const struct copy_request *request, bool is_folder, struct err *err)
{
    if (!is_folder && (request->has_part || request->limit))
        return err_set(
            err, "%s: --kernels, --blocks and --limit are for traces of instructions, which are folders",
            request->command);
    return !is_folder || !request->skip ||
           err_set(err, "%s: --skip is for traces of accesses; of a folder, --kernels and --blocks choose",
                   request->command);
}

static int run_print(int count, char **words)
{
    struct err err;
    struct copy_request request = {.command = "trace print", .to = "-", .as = export_find("csv")};
    if (!options_parse(print_options, count, words, &request, took, &err))
        return complain(EXIT_USAGE, &err);
    if (!request.from) {
        err_set(&err, "trace print: expected a trace, or - for standard input");
        return complain(EXIT_USAGE, &err);
    }
    bool is_folder = cmd_trace_is_folder(request.from);
    if (!fits_input(&request, is_folder, &err) ||
        (is_folder && request.most &&
         !err_set(&err, "trace print: --accesses is for traces of accesses; of a folder, --limit is")))
        return complain(EXIT_USAGE, &err);
    if (!is_folder)
        return copy(&request);
    catch_interrupts();
    return cmd_trace_itrace_print(request.from, &request.part, request.limit, &err)
               ? EXIT_GOOD
               : complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, &err);
}

static bool choose_format(struct copy_request *request, struct err *err)
{
    const struct import_format *foreign = import_format_of_name(request->to);
    if (request->format && !strcmp(request->format, "htrace"))
        return true;
    request->as = request->format ? export_find(request->format) : export_of_name(request->to);
    if (request->format && !request->as) {
        err_set(err, "trace convert: --format: expected htrace, accelsim,");
        for (size_t i = 0; export_formats[i]; i++)
            err_add(err, " %s%s", export_formats[i]->name, export_formats[i + 1] ? "," : "");
        err_add(err, ", not '%.80s'", request->format);
        return false;
    }
    return !foreign || request->as ||
           err_set(err,
                   "trace convert: %.200s would hold a trace of Heddle's, not %s; expected a name that ends "
                   "in .htrace or .csv",
                   request->to, foreign->name);
}

/* What Accel-Sim has, from it or for it. */
static int exchange(const struct copy_request *request, bool to_accelsim)
{
    struct err err;
    catch_interrupts();
    bool good = to_accelsim ? accelsim_export(request->from, &request->part, request->to, &err)
                            : accelsim_import(request->from, request->to, &interrupted, &err);
    return good ? EXIT_GOOD : complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, &err);
}

static int run_convert(int count, char **words)
{
    struct err err;
    struct copy_request request = {.command = "trace convert"};
    if (!options_parse(convert_options, count, words, &request, took, &err))
        return complain(EXIT_USAGE, &err);
    if (!request.from || !request.to) {
        err_set(&err, "trace convert: expected a trace (- for standard input), and the file to write");
        return complain(EXIT_USAGE, &err);
    }
    const char *from = source_file(request.from);
    if (strcmp(from, "-") && file_same(from, request.to)) {
        err_set(&err, "trace convert: it would write over %.200s, which is read", from);
        return complain(EXIT_USAGE, &err);
    }
    bool is_folder = cmd_trace_is_folder(request.from);
    bool to_accelsim = request.format && !strcmp(request.format, "accelsim");
    if (!fits_input(&request, is_folder, &err))
        return complain(EXIT_USAGE, &err);
    if (to_accelsim && !is_folder) {
        err_set(&err,
                "trace convert: --format accelsim: expected a trace of instructions, which is a folder");
        return complain(EXIT_USAGE, &err);
    }
    if (to_accelsim || (!is_folder && !request.format && accelsim_is(request.from)))
        return exchange(&request, to_accelsim);
    if (!choose_format(&request, &err))
        return complain(EXIT_USAGE, &err);
    return copy(&request);
}

const struct cmd cmd_trace_print = {
    .name = "trace print",
    .arguments = "FILE|FOLDER [options]",
    .help = "print the accesses of a trace, as CSV; or the instructions of one",
    .options = print_options,
    .run = run_print,
};

static void formats_print(void)
{
    puts("\nFormats that are read:");
    for (size_t i = 0; import_formats[i]; i++)
        printf("  %-26s %s\n", import_formats[i]->name, import_formats[i]->help);
    printf("  %-26s %s\n", "accelsim",
           "Accel-Sim's instructions, kernelslist.g or a .traceg: becomes a folder");
    puts("\nFormats that are written:");
    printf("  %-26s %s\n", "htrace", "Heddle's own, unless the name says another");
    printf("  %-26s %s\n", "accelsim", "from a folder: kernelslist.g and its kernels, in a folder");
    for (size_t i = 0; export_formats[i]; i++)
        printf("  %-26s %s\n", export_formats[i]->name, export_formats[i]->help);
}

const struct cmd cmd_trace_convert = {
    .name = "trace convert",
    .arguments = "IN OUT [options]",
    .help = "read a trace of any kind and write one of Heddle's, or of others",
    .more =
        "IN is a trace of Heddle's or of a format below, packed by zstd, gzip or xz or not; - is\n"
        "standard input. FORMAT:FILE says which where its name and contents do not. A folder is a trace of\n"
        "instructions, of which the accesses to global memory are written (docs/replay-exchange.md).",
    .options = convert_options,
    .run = run_convert,
    .help_more = formats_print,
};
