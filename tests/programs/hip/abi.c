/* The layout of Heddle's own declarations of HIP's structs; abi.hip prints AMD's. */
#include "runtime/hip/abi.h"

#include <stdio.h>

int main(void)
{
#define FIELD(ours, theirs, field)                                                                           \
    printf("%s %zu %s %zu\n", #ours, sizeof(struct ours), #field, offsetof(struct ours, field));
#include "abi_rows.h"
#undef FIELD
#define ERROR(code, name) printf("hip%s %d\n", #name, code);
#include "runtime/hip/errors.def"
#undef ERROR
    return 0;
}
