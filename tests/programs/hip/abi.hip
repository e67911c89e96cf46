/* The layout of HIP's structs by AMD's headers; abi.c prints ours. */
#include <hip/hip_runtime.h>

#include <stddef.h>
#include <stdio.h>

int main(void)
{
#define FIELD(ours, theirs, field) printf("%s %zu %s %zu\n", #ours, sizeof(theirs), #field, offsetof(theirs, field));
#include "abi_rows.h"
#undef FIELD
#define ERROR(code, name) printf("hip%s %d\n", #name, (int)hip##name);
#include "runtime/hip/errors.def"
#undef ERROR
    return 0;
}
