/* The layout of Heddle's own declarations of CUDA's structs; abi.cu prints NVIDIA's. */
#include "runtime/cuda/abi_driver.h"

#include <stdio.h>

int main(void)
{
#define FIELD(ours, theirs, field)                                                                           \
    printf("%s %zu %s %zu\n", #ours, sizeof(struct ours), #field, offsetof(struct ours, field));
#include "abi_rows.h"
    return 0;
}
