/* Any bytes as a kernel of Accel-Sim's, or (the first byte is odd) as a list. What is taken becomes a trace
 * that can be read again, with as many instructions as were counted. */
#include "base/bits.h"
#include "base/log.h"
#include "exchange/accelsim.h"
#include "itrace/iwalk.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/fuzz_itrace.XXXXXX";
static const _Atomic int interrupt;

static const char *path_of(const char *name, char path[96])
{
    snprintf(path, 96, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t count)
{
    char path[96];
    FILE *file = fopen(path_of(name, path), "wb");
    REQUIRE(file && fwrite(bytes, 1, count, file) == count && !fclose(file));
}

static void remove_all(void)
{
    static const char *const names[] = {"kernel.traceg", "kernelslist.g", "made/index", "made/blocks"};
    char path[96];
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(path_of(names[i], path));
    rmdir(path_of("made", path));
    rmdir(folder);
}

static void read_back(const char *path)
{
    struct err err;
    struct itrace_reader *reader = itrace_reader_new(path, &err);
    REQUIRE(reader);
    const struct itrace *trace = itrace_reader_trace(reader);
    for (size_t i = 0; i < trace->launch_count; i++) {
        struct launch_result counts = {0};
        struct iwalk *walk = iwalk_new(reader, i);
        REQUIRE(iwalk_count(walk, 0, iwalk_blocks(walk), &counts, &err));
        REQUIRE(counts.warp_instructions == trace->launches[i].counts.warp_instructions);
        REQUIRE(counts.thread_instructions_pred_on == trace->launches[i].counts.thread_instructions_pred_on);
        iwalk_free(walk);
    }
    itrace_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    static bool begun;
    char path[96], made[96];
    struct err err = {0};
    if (!begun) {
        REQUIRE(mkdtemp(folder));
        atexit(remove_all);
        log_set_level(LOG_error);
        begun = true;
    }
    if (!count || (count > 3 && (!memcmp(data + 1, "\x1f\x8b", 2) || !memcmp(data + 1, "\xfd\x37", 2))))
        return 0; /* would start programs */
    const char *name = data[0] & 1 ? "kernelslist.g" : "kernel.traceg";
    write_file(name, data + 1, count - 1);
    path_of("made", made);
    if (accelsim_import(path_of(name, path), made, &interrupt, &err)) {
        read_back(made);
        unlink(path_of("made/index", path));
        unlink(path_of("made/blocks", path));
        rmdir(made);
    } else {
        REQUIRE(err.text[0] && !strchr(err.text, '\n'));
    }
    return 0;
}
