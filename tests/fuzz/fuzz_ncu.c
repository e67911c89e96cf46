/* Any bytes as CSV of ncu: refused with one line, or read so that values can be found again. */
#include "report/ncu/ncu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct ncu_table table;
    struct err err = {0};
    size_t values = 0;
    bool good = ncu_read_text(&table, "fuzz.csv", (const char *)data, bytes, &err);
    if (good ? !table.count : !*err.text || strchr(err.text, '\n'))
        abort();
    for (size_t i = 0; good && i < table.count; i++) {
        const struct ncu_launch *launch = &table.launches[i];
        double value;
        for (size_t k = 0; k < launch->count; k++, values++)
            if (!ncu_find(&table, launch, table.metrics.at[launch->values[k].metric], &value) ||
                value - value != 0)
                abort();
        ncu_same_kernel(launch->kernel, "ns::kernel<8, float>", "_Z6kernel");
        if (!ncu_same_kernel(launch->kernel, launch->kernel, ""))
            abort();
    }
    if (good && !values)
        abort();
    ncu_fini(&table);
    return 0;
}
