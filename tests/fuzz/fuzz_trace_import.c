/* Any bytes as a foreign trace: the first says of which format, or that its contents shall say so; the
 * second, how many accesses are read at once. What is read is in order of instruction counts, and the same in
 * pieces of any size. */
#include "memory_file.h"
#include "base/bits.h"
#include "base/log.h"
#include "trace/import.h"

static struct memory_file file;

/* A digest of all accesses, or of the error. */
static uint64_t read_all(const char *path, size_t at_once)
{
    struct err err;
    struct trace_access accesses[64];
    struct source *source = source_open(path, 0, &err);
    uint64_t digest = 0, last = 0;
    long got = source ? 0 : -1;
    while (source && (got = source_read(source, accesses, at_once, &err)) > 0) {
        for (long i = 0; i < got; i++) {
            REQUIRE(trace_bytes(accesses[i]) && trace_instruction(accesses[i]) >= last);
            last = trace_instruction(accesses[i]);
            digest = digest_bytes(digest, &accesses[i], sizeof *accesses);
        }
    }
    source_close(source);
    if (got < 0)
        REQUIRE(err.text[0] && !strchr(err.text, '\n'));
    return got < 0 ? digest_bytes(1, err.text, strlen(err.text)) : digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    char path[128];
    if (count < 2)
        return 0;
    size_t formats = 0, at_once = 1 + data[1] % 64;
    while (import_formats[formats])
        formats++;
    size_t format = data[0] % (formats + 1);
    data += 2;
    count -= 2;
    if (count > 1 && (!memcmp(data, "\x1f\x8b", 2) || !memcmp(data, "\xfd\x37", 2)))
        return 0; /* would start programs */
    log_set_level(LOG_error);
    memory_file_write(&file, data, count);
    snprintf(path, sizeof path, "%s%s%s", format < formats ? import_formats[format]->name : "",
             format < formats ? ":" : "", file.path);
    REQUIRE(read_all(path, at_once) == read_all(path, 64));
    return 0;
}
