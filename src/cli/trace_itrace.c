/* heddle trace info, print and cut, of traces of instructions. */
#include "cli/trace_itrace.h"
#include "cli/timing.h"
#include "cli/trace.h"
#include "base/demangle.h"
#include "base/file.h"
#include "itrace/tell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool cmd_trace_is_folder(const char *path)
{
    struct stat info;
    return path && !stat(path, &info) && S_ISDIR(info.st_mode);
}

bool cmd_trace_part_took(struct itrace_part *part, const struct option_row *row, const char *value,
                         bool *taken, struct err *err)
{
    bool is_blocks = row && !strcmp(row->name, "--blocks");
    struct err why;
    *taken = is_blocks || (row && !strcmp(row->name, "--kernels"));
    if (is_blocks)
        return timing_launch_range(row->name, value, &part->first_block, &part->end_block, &why) ||
               err_set(err, "--blocks: expected numbers of blocks from 0, such as 3-5, 3 or 3-, not '%.80s'",
                       value);
    return !*taken || timing_launch_range(row->name, value, &part->first_launch, &part->end_launch, err);
}

/* ---- info ---- */

static uint64_t index_bytes(const char *folder)
{
    struct text path = {0};
    struct stat info;
    text_add(&path, "%s/index", folder);
    uint64_t bytes = stat(path.at, &info) ? 0 : (uint64_t)info.st_size;
    text_fini(&path);
    return bytes;
}

static void print_doubts(const struct itrace_launch *launch)
{
    const char *between = "  ";
    for (uint32_t i = 0; i < DOUBT_COUNT; i++)
        if (launch->doubts >> i & 1) {
            printf("%s%s", between, itrace_doubt_text(i));
            between = "; ";
        }
}

static void print_launch(const struct itrace *trace, const struct itrace_launch *launch)
{
    struct text name = {0};
    char grid[40], block[40];
    uint64_t bytes = itrace_launch_bytes(launch), count = launch->counts.warp_instructions;
    snprintf(grid, sizeof grid, "%ux%ux%u", launch->grid[0], launch->grid[1], launch->grid[2]);
    snprintf(block, sizeof block, "%ux%ux%u", launch->block[0], launch->block[1], launch->block[2]);
    name_shorten(demangled(trace->kernels[launch->kernel].facts.name), 30, &name);
    printf("%8" PRIu64 "  %-30s %14s %12s ", launch->number, name.at ? name.at : "", grid, block);
    if (launch->recorded)
        printf("%14" PRIu64 " %12" PRIu64 " %8.3f", count, bytes,
               (double)bytes / (double)(count ? count : 1));
    else
        printf("%14s", "not recorded");
    print_doubts(launch);
    putchar('\n');
    text_fini(&name);
}

static void print_settings(const char *settings)
{
    for (size_t length; *settings; settings += length + (settings[length] != 0)) {
        length = strcspn(settings, "\n");
        printf("                 %.*s\n", (int)length, settings);
    }
}

bool cmd_trace_itrace_info(const char *folder, struct err *err)
{
    struct itrace_reader *reader = itrace_reader_new(folder, err);
    if (!reader)
        return false;
    const struct itrace *trace = itrace_reader_trace(reader);
    uint64_t recorded = 0, count = 0, bytes = itrace_reader_bytes(reader) + index_bytes(folder);
    for (size_t i = 0; i < trace->launch_count; i++) {
        recorded += trace->launches[i].recorded;
        count += trace->launches[i].recorded ? trace->launches[i].counts.warp_instructions : 0;
    }
    printf("%s\n", folder);
    printf("  program        %s\n", trace->command ? trace->command : "");
    printf("  system         %s\n", trace->system ? trace->system : "");
    print_settings(trace->settings ? trace->settings : "");
    printf("  instructions   %" PRIu64 " of warps of %u lanes, of %s\n", count, trace->lanes,
           trace->isa ? trace->isa : "no kernel");
    printf("  bytes          %" PRIu64 ", %.3f of an instruction\n", bytes,
           (double)bytes / (double)(count ? count : 1));
    printf("  calls          %zu", trace->call_count);
    if (itrace_threads(trace) > 1)
        printf(" of %" PRIu64 " threads", itrace_threads(trace));
    putchar('\n');
    printf("  launches       %zu, %" PRIu64 " of them recorded\n", trace->launch_count, recorded);
    if (trace->why_cut)
        printf("  cut            it ends before the program did: %s\n", trace->why_cut);
    if (trace->launch_count)
        printf("\n%8s  %-30s %14s %12s %14s %12s %8s  %s\n", "launch", "kernel", "grid", "block",
               "instructions", "bytes", "of one", "doubts");
    for (size_t i = 0; i < trace->launch_count; i++)
        print_launch(trace, &trace->launches[i]);
    itrace_reader_free(reader);
    return true;
}

/* ---- print ---- */

struct printing {
    struct itrace_reader *reader;
    const struct itrace *trace;
    const struct itrace_part *part;
    uint64_t left;
    struct text line;
};

static void print_line(struct printing *p)
{
    puts(p->line.at);
    p->line.length = 0;
}

static void print_calls(struct printing *p)
{
    puts("calls");
    for (size_t i = 0; i < p->trace->call_count; i++) {
        text_add(&p->line, "%5zu  ", i);
        itrace_tell_call(&p->trace->calls[i], &p->line);
        print_line(p);
    }
}

static void print_code(struct printing *p, size_t number)
{
    const struct itrace_kernel *kernel = &p->trace->kernels[number];
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        printf("\nkernel %zu %s, function %u\n", number, demangled(kernel->facts.name), i);
        for (uint32_t k = 0; k < kernel->codes[i].code.count; k++) {
            itrace_tell_row(&kernel->codes[i], k, &p->line);
            print_line(p);
        }
    }
}

static bool print_warp(struct printing *p, struct iwalk *walk, const struct itrace_launch *launch,
                       uint64_t block, uint32_t warp, struct err *err)
{
    struct iwalk_step step;
    int got = 0;
    if (!iwalk_begin(walk, block, warp, err))
        return false;
    printf("\nlaunch %" PRIu64 ", block %" PRIu64 ", warp %u\n", launch->number, block, warp);
    for (; p->left && (got = iwalk_next(walk, &step, err)) > 0; p->left--) {
        itrace_tell_step(&p->trace->kernels[launch->kernel], &step, &p->line);
        print_line(p);
    }
    return got >= 0;
}

static bool print_launch_steps(struct printing *p, size_t number, struct err *err)
{
    const struct itrace_launch *launch = &p->trace->launches[number];
    struct iwalk *walk = iwalk_new(p->reader, number);
    uint64_t first, end;
    bool good = true;
    itrace_part_blocks(p->part, launch, &first, &end);
    for (uint64_t block = first; block < end && good && p->left; block++)
        for (uint32_t warp = 0; warp < iwalk_warps(walk) && good && p->left; warp++)
            good = (!interrupted || err_set(err, "interrupted")) &&
                   print_warp(p, walk, launch, block, warp, err);
    iwalk_free(walk);
    return good;
}

bool cmd_trace_itrace_print(const char *folder, const struct itrace_part *part, uint64_t lines,
                            struct err *err)
{
    struct printing p = {.part = part, .left = lines ? lines : UINT64_MAX};
    if (!(p.reader = itrace_reader_new(folder, err)))
        return false;
    p.trace = itrace_reader_trace(p.reader);
    bool *printed = mem_alloc(p.trace->kernel_count + 1, sizeof *printed), good = true;
    print_calls(&p);
    for (size_t i = 0; i < p.trace->launch_count && good; i++) {
        const struct itrace_launch *launch = &p.trace->launches[i];
        if (!itrace_part_has(part, launch))
            continue;
        if (!printed[launch->kernel])
            print_code(&p, launch->kernel);
        printed[launch->kernel] = true;
        good = print_launch_steps(&p, i, err);
    }
    mem_free(printed);
    text_fini(&p.line);
    itrace_reader_free(p.reader);
    return good;
}

/* ---- cut ---- */

struct cut_request {
    const char *from, *to;
    struct itrace_part part;
};

static const struct option_row options[] = {
    ITRACE_PART_OPTIONS,
    {"--output", "FOLDER", "where the smaller trace goes"},
    {NULL, NULL, NULL},
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct cut_request *request = user;
    bool taken;
    if (!cmd_trace_part_took(&request->part, row, value, &taken, err))
        return false;
    if (taken)
        return true;
    if (row)
        request->to = value;
    else if (request->from)
        return err_set(err, "trace cut: unexpected word '%.120s'", value);
    else
        request->from = value;
    return true;
}

static int run(int count, char **words)
{
    struct err err;
    struct cut_request request = {0};
    if (!options_parse(options, count, words, &request, took, &err))
        return complain(EXIT_USAGE, &err);
    if (!request.from || !request.to) {
        err_set(&err, "trace cut: expected the folder of a trace of instructions, and --output FOLDER");
        return complain(EXIT_USAGE, &err);
    }
    if (file_same(request.from, request.to)) {
        err_set(&err, "trace cut: it would write over %.200s, which is read", request.from);
        return complain(EXIT_USAGE, &err);
    }
    return itrace_cut(request.from, &request.part, request.to, &err) ? EXIT_GOOD
                                                                     : complain(EXIT_FAILED, &err);
}

const struct cmd cmd_trace_cut = {
    .name = "trace cut",
    .arguments = "FOLDER [options] --output FOLDER",
    .help = "write a part of a trace of instructions, to be replayed",
    .more =
        "All calls of the program stay; launches that are left out are not recorded. A launch of which some\n"
        "blocks stay has a grid of these blocks alone.",
    .options = options,
    .run = run,
};
