/* What the tests of the PTX parser share: parsing with a head in front, and a module shown as text. */
#ifndef TESTS_UNIT_PTX_SHOW_H
#define TESTS_UNIT_PTX_SHOW_H

#include "check.h"
#include "ptx/ptx.h"

#define PTX_HEAD                                                                                             \
    ".version 9.0\n.target sm_75\n.address_size 64\n" /* so the text behind it starts at line 4 */

static inline struct ptx_module *ptx_parsed_as_is(const char *text, size_t bytes)
{
    struct err err;
    struct ptx_module *module = ptx_parse("t.ptx", text, bytes, &err);
    if (!module)
        fail_msg("refused: %s\n%s", err.text, text);
    return module;
}

static inline struct ptx_module *ptx_parsed(const char *behind_head)
{
    struct text text = {0};
    text_add(&text, "%s%s", PTX_HEAD, behind_head);
    struct ptx_module *module = ptx_parsed_as_is(text.at, text.length);
    text_fini(&text);
    return module;
}

static inline void ptx_show_operand(struct text *out, const struct ptx_function *f,
                                    const struct ptx_operand *operand)
{
    static const char open[] = "[{(<", close[] = "]})>"; /* from PTX_OP_MEMORY on */
    long long value = (long long)operand->value;
    if (operand->negated)
        text_add(out, "!");
    switch ((enum ptx_operand_kind)operand->kind) {
    case PTX_OP_REGISTER:
        text_add(out, "%s", f->registers[operand->index].name);
        if (operand->part >= 0)
            text_add(out, "/%d", operand->part);
        return;
    case PTX_OP_SPECIAL:
        text_add(out, "special:%s", ptx_special_names[operand->index]);
        return;
    case PTX_OP_INTEGER:
        text_add(out, "%lld", value);
        return;
    case PTX_OP_FLOAT:
        text_add(out, "%s:%llx", operand->single ? "f32" : "f64", (unsigned long long)value);
        return;
    case PTX_OP_SYMBOL:
        text_add(out, "%s", f->symbols[operand->index].name);
        if (value)
            text_add(out, "%+lld", value);
        return;
    case PTX_OP_LABEL:
        text_add(out, "%s@%u", f->labels[operand->index].name, f->labels[operand->index].inst);
        return;
    case PTX_OP_SINK:
        text_add(out, "_");
        return;
    case PTX_OP_MEMORY:
    case PTX_OP_VECTOR:
    case PTX_OP_LIST:
    case PTX_OP_PAIR:
        break;
    }
    text_add(out, "%c", open[operand->kind - PTX_OP_MEMORY]);
    for (uint32_t i = 0; i < operand->count; i++) {
        text_add(out, i ? ", " : "");
        ptx_show_operand(out, f, &f->operands[operand->first + i]);
        if (!i && operand->kind == PTX_OP_MEMORY && value)
            text_add(out, "%+lld", value);
    }
    text_add(out, "%c", close[operand->kind - PTX_OP_MEMORY]);
}

static inline void ptx_show_body(struct text *out, const struct ptx_function *f)
{
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *inst = &f->insts[i];
        if (inst->guard >= 0)
            text_add(out, "@%s%s ", inst->guard_not ? "!" : "", f->registers[inst->guard].name);
        text_add(out, "%s", inst->opcode);
        for (uint32_t k = 0; k < inst->count; k++) {
            text_add(out, k ? ", " : " ");
            ptx_show_operand(out, f, &f->operands[inst->first + k]);
        }
        text_add(out, "\n");
    }
}

/* The only function of a module, with some registers declared. */
static inline struct ptx_module *ptx_parsed_body(const char *body)
{
    struct text text = {0};
    text_add(&text,
             ".global .u32 g;\n.func callee(.param .b32 a) ;\n"
             ".entry k(.param .u64 p0, .param .align 8 .b8 p1[24]) {\n"
             ".reg .pred p, q, %%p<9>;\n.reg .b32 a, b, %%r<9>;\n.reg .b64 %%rd<9>;\n.reg .f32 %%f<9>;\n");
    text_add(&text, "%s\n}\n", body);
    struct ptx_module *module = ptx_parsed(text.at);
    text_fini(&text);
    return module;
}

static inline const struct ptx_function *ptx_kernel(const struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i].is_kernel)
            return &module->functions[i];
    fail_msg("no kernel");
    return NULL;
}

/* The instructions of such a body are shown as these lines. */
static inline void check_body(const char *body, const char *expected)
{
    struct ptx_module *module = ptx_parsed_body(body);
    struct text shown = {0};
    text_add(&shown, "%s", "");
    ptx_show_body(&shown, ptx_kernel(module));
    assert_string_equal(shown.at, expected);
    text_fini(&shown);
    ptx_free(module);
}

static inline void check_refused_as_is(const char *text, size_t bytes, const char *says)
{
    struct err err;
    struct ptx_module *module = ptx_parse("t.ptx", text, bytes, &err);
    if (module)
        fail_msg("this was taken:\n%s", text);
    check_says(&err, says);
    assert_null(strchr(err.text, '\n'));
}

static inline void check_refused(const char *behind_head, const char *says)
{
    struct text text = {0};
    text_add(&text, "%s%s", PTX_HEAD, behind_head);
    check_refused_as_is(text.at, text.length, says);
    text_fini(&text);
}

#endif
