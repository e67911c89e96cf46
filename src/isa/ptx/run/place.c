#include "exec/place.h"
#include "ptx_run/code.h"
#include "ptx_run/isa.h"

#include <string.h>

/* A header of NVIDIA's: what is inlined from there is told by the line that calls it. */
static bool is_of_toolkit(const char *file)
{
    return strstr(file, "/include/") && (strstr(file, "/cuda") || strstr(file, "/cccl"));
}

static const char *file_of(const struct code *code, uint32_t file)
{
    return file < code->module->file_count ? code->module->files[file] : NULL;
}

/* The line of the source that people know: calls that were inlined are followed out of the toolkit's headers.
 */
static struct ptx_loc own_line(const struct code *code, uint32_t index)
{
    const struct ptx_loc *locs = code->function->locs;
    struct ptx_loc loc = locs[index];
    for (const char *file; loc.caller_line && (file = file_of(code, loc.file)) && is_of_toolkit(file);) {
        struct ptx_loc caller = {
            .file = loc.caller_file, .line = loc.caller_line, .column = loc.caller_column};
        while (index > 0 && (locs[index - 1].file != caller.file || locs[index - 1].line != caller.line ||
                             locs[index - 1].column != caller.column))
            index--;
        if (index) /* the caller may be inlined, too */
            caller = locs[--index];
        caller.function = loc.function;
        loc = caller;
    }
    return loc;
}

static void code_place(const struct code *code, const struct op *op, struct code_place *place)
{
    const struct ptx_function *f = code->function;
    size_t i = (size_t)(op - code->ops);
    *place = (struct code_place){.kernel = f->name, .module = code->module->name, .instruction = "end"};
    if (i >= f->inst_count)
        return;
    const struct ptx_inst *inst = &f->insts[i];
    place->instruction = inst->opcode;
    place->ptx_line = inst->line;
    place->is_atomic = !strncmp(inst->opcode, "atom.", 5) || !strncmp(inst->opcode, "red.", 4);
    place->is_shared = strstr(inst->opcode, ".shared");
    for (uint32_t k = 0; code->isa.timing && k < code->isa.timing[i].steps; k++) {
        uint8_t *steps = &place->steps[code->isa.steps[code->isa.timing[i].first_step + k].unit];
        *steps += *steps < UINT8_MAX;
    }
    struct ptx_loc loc = inst->loc ? own_line(code, inst->loc - 1) : (struct ptx_loc){.file = UINT32_MAX};
    place->file = file_of(code, loc.file);
    if (place->file) {
        place->line = loc.line;
        place->function = loc.function;
    }
}

void code_where(const struct code *code, const struct op *op, struct text *text)
{
    struct code_place place;
    code_place(code, op, &place);
    place_tell(&place, text);
}

void ptx_place(const struct kernel *base, const struct isa_code *isa, uint32_t op, struct code_place *place)
{
    const struct ptx_kernel *kernel = ptx_kernel_of(base);
    const struct code *code = kernel->codes[kernel->function];
    for (size_t i = 0; isa && i < kernel->program->function_count; i++)
        if (kernel->codes[i] && &kernel->codes[i]->isa == isa)
            code = kernel->codes[i];
    code_place(code, &code->ops[op], place);
}
