/* c = a b straight from global memory */
#include "matmul.h"

static void matmul_naive_run(struct dev *gpu, const uint64_t *options)
{
    matmul_run(gpu, options, "matmul_naive");
}

const struct workload matmul_naive_workload = {"matmul_naive", "c = a b straight from global memory",
                                               matmul_options, matmul_naive_run};
