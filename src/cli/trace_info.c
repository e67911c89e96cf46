/* heddle trace info: what traces hold; every access of them is read, every block checked. */
#include "cli/trace.h"
#include "cli/trace_itrace.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/progress.h"
#include "trace/file.h"
#include "trace/own.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 64 };

static const struct option_row options[] = {
    {"--footprint", NULL, "count the lines of 64 bytes that are used, too: takes memory for each"},
    {NULL, NULL, NULL},
};

struct info_request {
    bool footprint;
    const char **paths;
    int count;
};

/* ---- lines that were used ---- */

struct lines {
    uint64_t *table; /* line + 1, or 0 */
    size_t count, capacity;
};

static bool lines_put(uint64_t *table, size_t capacity, uint64_t line)
{
    size_t at = digest_word(1, line) & (capacity - 1);
    while (table[at] && table[at] != line + 1)
        at = (at + 1) & (capacity - 1);
    bool is_new = !table[at];
    table[at] = line + 1;
    return is_new;
}

static void lines_grow(struct lines *lines)
{
    size_t capacity = lines->capacity ? 2 * lines->capacity : 1 << 16;
    uint64_t *table = mem_alloc(capacity, sizeof *table);
    for (size_t i = 0; i < lines->capacity; i++) {
        if (lines->table[i])
            lines_put(table, capacity, lines->table[i] - 1);
    }
    mem_free(lines->table);
    lines->table = table;
    lines->capacity = capacity;
}

static void lines_add(struct lines *lines, struct trace_access access)
{
    uint64_t first = access.address / LINE, last = (access.address + trace_bytes(access) - 1) / LINE;
    for (uint64_t line = first;; line = line == UINT64_MAX / LINE ? 0 : line + 1) {
        if (lines->count >= lines->capacity / 2)
            lines_grow(lines);
        lines->count += lines_put(lines->table, lines->capacity, line);
        if (line == last)
            return;
    }
}

/* ---- a trace ---- */

struct sums {
    uint64_t accesses, writes, bytes, first, last;
    struct lines lines;
};

static void add_some(struct sums *sums, const struct trace_access *accesses, size_t count, bool footprint)
{
    if (!sums->accesses)
        sums->first = trace_instruction(accesses[0]);
    sums->last = trace_instruction(accesses[count - 1]);
    sums->accesses += count;
    for (size_t i = 0; i < count; i++) {
        sums->writes += trace_writes(accesses[i]);
        sums->bytes += trace_bytes(accesses[i]);
    }
    for (size_t i = 0; footprint && i < count; i++)
        lines_add(&sums->lines, accesses[i]);
}

static void print_sums(const char *path, const struct trace_file *file, const struct sums *sums,
                       bool footprint)
{
    printf("%s\n", path);
    printf("  accesses       %" PRIu64 ": %" PRIu64 " reads, %" PRIu64 " writes\n", sums->accesses,
           sums->accesses - sums->writes, sums->writes);
    printf("  instructions   %" PRIu64 " to %" PRIu64 "\n", sums->first, sums->last);
    printf("  bytes          %.2f of an access, on average\n", (double)sums->bytes / (double)sums->accesses);
    if (footprint)
        printf("  footprint      %zu lines of %d bytes, %.1f accesses of each\n", sums->lines.count, LINE,
               (double)sums->accesses / (double)sums->lines.count);
    if (file)
        printf("  file           %" PRIu64 " bytes, %.3f of an access, in %" PRIu64 " blocks\n",
               trace_file_bytes(file), (double)trace_file_bytes(file) / (double)sums->accesses,
               trace_file_blocks(file));
}

static bool sum_up(struct source *source, const struct trace_file *file, bool footprint, struct sums *sums,
                   struct err *err)
{
    struct trace_access *accesses = mem_alloc(TRACE_AT_ONCE, sizeof *accesses);
    struct progress progress;
    long got;
    progress_init(&progress, "trace info", "accesses");
    while ((got = source_read(source, accesses, TRACE_AT_ONCE, err)) > 0) {
        add_some(sums, accesses, (size_t)got, footprint);
        double share = file ? (double)sums->accesses / (double)trace_file_accesses(file) : -1;
        progress_update(&progress, share, sums->accesses);
    }
    progress_fini(&progress);
    mem_free(accesses);
    return !got;
}

static bool tell(const char *path, bool footprint, struct err *err)
{
    if (cmd_trace_is_folder(path))
        return cmd_trace_itrace_info(path, err);
    struct sums sums = {0};
    struct trace_file *file = NULL;
    struct source *source = source_open(path, 0, err);
    bool good = source;
    if (good && own_is(path))
        good = (file = trace_file_open(path, err));
    good = good && sum_up(source, file, footprint, &sums, err);
    if (good)
        print_sums(path, file, &sums, footprint);
    source_close(source);
    trace_file_close(file);
    mem_free(sums.lines.table);
    return good;
}

/* ---- the command ---- */

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    (void)err;
    struct info_request *request = user;
    if (row)
        request->footprint = true;
    else
        request->paths[request->count++] = value;
    return true;
}

static int run(int count, char **words)
{
    struct err err;
    struct info_request request = {.paths = mem_alloc((size_t)count + 1, sizeof *request.paths)};
    bool good = options_parse(options, count, words, &request, took, &err);
    if (good && !request.count)
        good = err_set(&err, "trace info: expected a trace, or - for standard input");
    int status = good ? EXIT_GOOD : EXIT_USAGE;
    for (int i = 0; good && i < request.count; i++) {
        good = tell(request.paths[i], request.footprint, &err);
        status = good ? EXIT_GOOD : EXIT_FAILED;
    }
    mem_free(request.paths);
    return good ? EXIT_GOOD : complain(status, &err);
}

const struct cmd cmd_trace_info = {
    .name = "trace info",
    .arguments = "FILE|FOLDER... [options]",
    .help = "tell what traces of any kind hold, and check them",
    .options = options,
    .run = run,
};
