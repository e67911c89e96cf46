/* heddle trace info: what a trace holds; every block of it is read. */
#include "cli/trace.h"
#include "base/mem.h"
#include "trace/file.h"

#include <inttypes.h>
#include <stdio.h>

struct sums {
    uint64_t accesses, writes, bytes, first, last;
};

static void add_block(struct sums *sums, const struct trace_access *accesses, uint32_t count)
{
    if (!sums->accesses)
        sums->first = trace_instruction(accesses[0]);
    sums->last = trace_instruction(accesses[count - 1]);
    sums->accesses += count;
    for (uint32_t i = 0; i < count; i++) {
        sums->writes += trace_writes(accesses[i]);
        sums->bytes += trace_bytes(accesses[i]);
    }
}

static void print_sums(const char *path, const struct trace_file *file, const struct sums *sums)
{
    printf("%s\n", path);
    printf("  accesses       %" PRIu64 ": %" PRIu64 " reads, %" PRIu64 " writes\n", sums->accesses,
           sums->accesses - sums->writes, sums->writes);
    printf("  instructions   %" PRIu64 " to %" PRIu64 "\n", sums->first, sums->last);
    printf("  bytes          %.2f of an access on average\n", (double)sums->bytes / (double)sums->accesses);
    printf("  file           %" PRIu64 " bytes, %.3f an access, in %" PRIu64 " blocks\n",
           trace_file_bytes(file), (double)trace_file_bytes(file) / (double)sums->accesses,
           trace_file_blocks(file));
}

static bool tell(const char *path, struct trace_access *accesses, struct err *err)
{
    struct trace_file *file = trace_file_open(path, err);
    struct sums sums = {0};
    bool good = file;
    for (uint64_t i = 0; good && i < trace_file_blocks(file); i++) {
        good = trace_block_read(file, i, accesses, err);
        if (good)
            add_block(&sums, accesses, trace_file_block(file, i)->count);
    }
    if (good)
        print_sums(path, file, &sums);
    trace_file_close(file);
    return good;
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    (void)user, (void)row, (void)value, (void)err;
    return true;
}

static int run(int count, char **words)
{
    struct err err;
    if (!options_parse(NULL, count, words, NULL, took, &err))
        return complain(EXIT_USAGE, &err);
    if (!count) {
        err_set(&err, "trace info: expected a trace");
        return complain(EXIT_USAGE, &err);
    }
    struct trace_access *accesses = mem_alloc(TRACE_BLOCK_ACCESSES, sizeof *accesses);
    bool good = true;
    for (int i = 0; i < count && good; i++)
        good = tell(words[i], accesses, &err);
    mem_free(accesses);
    return good ? EXIT_GOOD : complain(EXIT_FAILED, &err);
}

const struct command trace_info_command = {
    .name = "trace info",
    .arguments = "FILE...",
    .help = "tell what traces hold, and check them",
    .run = run,
};
