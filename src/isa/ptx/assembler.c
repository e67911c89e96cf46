#include "ptx/assembler.h"
#include "base/mem.h"

void ptx_machine_code_fini(struct ptx_machine_code *code)
{
    mem_free(code->steps);
    mem_free(code->first);
    *code = (struct ptx_machine_code){0};
}
