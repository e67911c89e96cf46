/* c = a b by tiles in shared memory */
#include "matmul.h"

static void matmul_tiled_run(struct dev *gpu, const uint64_t *options)
{
    matmul_run(gpu, options, "matmul_tiled");
}

const struct workload matmul_tiled_workload = {"matmul_tiled", "c = a b by tiles in shared memory",
                                               matmul_options, matmul_tiled_run};
