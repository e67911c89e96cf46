#include "exec/place.h"
#include "exec/code.h"
#include "base/demangle.h"

#include <string.h>

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
    for (uint32_t k = 0; code->timing && k < code->timing[i].steps; k++) {
        uint8_t *steps = &place->steps[code->steps[code->timing[i].first_step + k].unit];
        *steps += *steps < UINT8_MAX;
    }
    const struct ptx_loc *loc = inst->loc ? &f->locs[inst->loc - 1] : NULL;
    if (loc && loc->file < code->module->file_count && code->module->files[loc->file]) {
        place->file = code->module->files[loc->file];
        place->line = loc->line;
        place->function = loc->function;
    }
}

void code_where(const struct code *code, const struct op *op, struct text *text)
{
    struct code_place place;
    code_place(code, op, &place);
    code_place_tell(&place, text);
}

void kernel_place(const struct kernel *kernel, uint32_t op, struct code_place *place)
{
    const struct code *code = kernel->codes[kernel->function];
    code_place(code, &code->ops[op], place);
}

void code_place_tell(const struct code_place *place, struct text *text)
{
    if (!place->ptx_line) {
        text_add(text, "the end of %s", demangled(place->kernel));
        return;
    }
    if (place->file)
        text_add(text, "%s:%u, ", place->file, place->line);
    text_add(text, "PTX line %u of %s (%s)", place->ptx_line, place->module, place->instruction);
}

void code_place_tell_short(const struct code_place *place, struct text *text)
{
    if (!place->ptx_line) {
        text_add(text, "the end of %s", demangled(place->kernel));
        return;
    }
    const char *folder = place->file ? strrchr(place->file, '/') : NULL;
    if (place->file)
        text_add(text, "%s:%u", folder ? folder + 1 : place->file, place->line);
    else
        text_add(text, "PTX line %u", place->ptx_line);
    text_add(text, " (%s)", place->instruction);
}
