/* The layout of CUDA's structs as NVIDIA's headers declare them; abi.c prints ours. */
#include <cstddef>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

int main()
{
#define FIELD(ours, theirs, field)                                                                           \
    printf("%s %zu %s %zu\n", #ours, sizeof(theirs), #field, offsetof(theirs, field));
#include "abi_rows.h"
    return 0;
}
