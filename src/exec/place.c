#include "exec/place.h"
#include "exec/code.h"
#include "base/demangle.h"

#include <string.h>

static enum isa_unit main_unit(const struct code *code, size_t op)
{
    uint32_t counts[UNIT_COUNT] = {0};
    enum isa_unit most = UNIT_COUNT;
    for (uint32_t i = 0; code->timing && i < code->timing[op].steps; i++) {
        enum isa_unit unit = (enum isa_unit)code->steps[code->timing[op].first_step + i].unit;
        counts[unit]++;
        if (most == UNIT_COUNT || counts[unit] > counts[most])
            most = unit;
    }
    return most;
}

static void code_place(const struct code *code, const struct op *op, struct code_place *place)
{
    const struct ptx_function *f = code->function;
    size_t i = (size_t)(op - code->ops);
    *place = (struct code_place){
        .kernel = f->name, .module = code->module->name, .instruction = "end", .unit = UNIT_COUNT};
    if (i >= f->inst_count)
        return;
    const struct ptx_inst *inst = &f->insts[i];
    place->instruction = inst->opcode;
    place->ptx_line = inst->line;
    place->unit = main_unit(code, i);
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
