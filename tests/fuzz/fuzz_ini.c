/* Any bytes as a description of a network: refused with an error, or accepted so that its dump reads again as
 * it was and a model can be made of it or is refused with an error. */
#include "reread.h"
#include "base/mem.h"
#include "bench/bench.h"

#include <ctype.h>

enum { LARGEST_MODEL = 2048 }; /* bytes of a description that is built: keeps the memory small */

/* Beside this name there is nothing to include. */
static const char name[] = "there is no such folder/fuzz.ini";

/* Such an include would leave the folder that does not exist, and read what lies around on this machine. */
static bool includes_from_the_root(const char *text, size_t bytes)
{
    const char *end = text + bytes;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), "include", 7));) {
        for (at += 7; at < end && (isspace((unsigned char)*at) || *at == '='); at++)
            ;
        if (at < end && *at == '/')
            return true;
    }
    return false;
}

static void build_model(const struct bench *bench, const struct config *config)
{
    struct bench_model model;
    struct err err;
    if (bench_model_init(&model, bench, config, NULL, &err))
        bench_model_fini(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *text = (const char *)data;
    if (includes_from_the_root(text, bytes))
        return 0;
    const struct bench *bench = bench_find("network");
    const struct param_group **groups = bench_groups(bench);
    struct config config;
    struct err err;
    config_init(&config, groups);
    if (config_read_text(&config, name, text, bytes, &err)) {
        demand_same_after_reread(&config);
        if (bytes <= LARGEST_MODEL)
            build_model(bench, &config);
    }
    config_fini(&config);
    mem_free(groups);
    return 0;
}
