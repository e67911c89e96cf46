/* Any text as the arguments of --set, one after each zero byte: each is refused with an error or taken, and
 * what was taken reads again from its dump as it was. */
#include "reread.h"
#include "base/mem.h"
#include "bench/bench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct param_group **groups = bench_groups(bench_find("network"));
    struct text all = {0};
    struct config config;
    struct err err;
    text_add_bytes(&all, (const char *)data, bytes);
    config_init(&config, groups);
    for (const char *at = all.at; at <= all.at + all.length; at += strlen(at) + 1)
        config_set(&config, at, &err);
    demand_same_after_reread(&config);
    config_fini(&config);
    text_fini(&all);
    mem_free(groups);
    return 0;
}
