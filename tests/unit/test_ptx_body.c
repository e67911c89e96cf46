/* Bodies of PTX functions: instructions, operands, registers, scopes, labels, places in the source. */
#include "ptx_show.h"

static void operands_are_of_many_kinds(void **state)
{
    (void)state;
    check_body("mov.u32 %r1, %tid.x;", "mov.u32 %r1, special:%tid.x\n");
    check_body("mov.u32 %r1, %laneid;", "mov.u32 %r1, special:%laneid\n");
    check_body("mov.u32 %r1, WARP_SZ;", "mov.u32 %r1, special:WARP_SZ\n");
    check_body("add.s32 a, b, -1;", "add.s32 a, b, -1\n");
    check_body("add.s32 a, b, 4*(2+1);", "add.s32 a, b, 12\n");
    check_body("add.s32 a, b, (4+2)*2;", "add.s32 a, b, 12\n");
    check_body("fma.rn.f32 %f1, 0f3F800000, -0f3F800000, 1.5;",
               "fma.rn.f32 %f1, f32:3f800000, f32:bf800000, f64:3ff8000000000000\n");
    check_body("mov.b64 {%r1, _}, %rd1;", "mov.b64 {%r1, _}, %rd1\n");
    check_body("setp.eq.and.s32 p|q, a, b, !%p1;", "setp.eq.and.s32 <p, q>, a, b, !%p1\n");
    check_body("elect.sync _|p, -1;", "elect.sync <_, p>, -1\n");
    check_body("sub.s32 a, -b, 1;", "sub.s32 a, !b, 1\n");
    check_body("vadd.s32.u32.u32 a, %r1.b3, %r2.h1;", "vadd.s32.u32.u32 a, %r1/3, %r2/5\n");
    check_body("vadd4.u32.u32.u32 a, %r1.b7610, b, a;", "vadd4.u32.u32.u32 a, %r1/6, b, a\n");
    check_body("mov.u64 %rd1, g+8;", "mov.u64 %rd1, g+8\n");
    check_body("ret;", "ret\n");
    check_body("tensor.op {{a, b}, {a}};", "tensor.op {{a, b}, {a}}\n");
}

static void addresses_have_offsets_and_coordinates(void **state)
{
    (void)state;
    check_body("ld.global.u32 a, [%rd1];", "ld.global.u32 a, [%rd1]\n");
    check_body("ld.global.u32 a, [%rd1+16];", "ld.global.u32 a, [%rd1+16]\n");
    check_body("ld.global.u32 a, [%rd1+-16];", "ld.global.u32 a, [%rd1-16]\n");
    check_body("ld.global.u32 a, [%rd1 - 16];", "ld.global.u32 a, [%rd1-16]\n");
    check_body("ld.global.u32 a, [g+4].unified, %rd2;", "ld.global.u32 a, [g+4], %rd2\n");
    check_body("ld.shared.u32 a, [128];", "ld.shared.u32 a, [128]\n");
    check_body("ld.param.u32 a, [p1+2*4];", "ld.param.u32 a, [p1+8]\n");
    check_body("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5, %f6}];",
               "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]\n");
    check_body("tex.1d.v4.f32.s32 {%f1,_,_,_}, [g, %rd1, {a}];",
               "tex.1d.v4.f32.s32 {%f1, _, _, _}, [g, %rd1, {a}]\n");
}

static void opcodes_are_taken_whole(void **state)
{
    (void)state;
    static const char bulk[] = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    struct text body = {0}, shown = {0};
    text_add(&body, "%s [a], [%%rd1], b, [g];", bulk);
    text_add(&shown, "%s [a], [%%rd1], b, [g]\n", bulk);
    check_body(body.at, shown.at);
    text_fini(&body);
    text_fini(&shown);
    check_body("mbarrier.try_wait.parity.shared::cta.b64 p, [a], b;",
               "mbarrier.try_wait.parity.shared::cta.b64 p, [a], b\n");
    check_body("never.heard_of.it.2d a;", "never.heard_of.it.2d a\n");
    check_body("mov .u32 /* a */ a, b; add\n.s32 a, a, b;", "mov.u32 a, b\nadd.s32 a, a, b\n");
    check_body("bar.sync 0;;", "bar.sync 0\n");
}

/* As ptxas takes them: types keep their order, all else may stand anywhere. */
static void modifiers_come_in_any_order(void **state)
{
    (void)state;
    check_body("lg2.approx.f32.ftz a, b;", "lg2.approx.ftz.f32 a, b\n");
    check_body("lg2.f32.ftz.approx a, b;", "lg2.approx.ftz.f32 a, b\n");
    check_body("fma.f32.sat.ftz.rn a, b, a, b;", "fma.rn.ftz.sat.f32 a, b, a, b\n");
    check_body("max.f32.abs.xorsign.NaN.ftz a, b, a;", "max.ftz.NaN.xorsign.abs.f32 a, b, a\n");
    check_body("cvt.f32.rn.s32 a, b;", "cvt.rn.f32.s32 a, b\n");
    check_body("cvt.e4m3x2.f32.satfinite.rn a, b, a;", "cvt.satfinite.rn.e4m3x2.f32 a, b, a\n");
    check_body("ld.u32.v2.global {a, b}, [%rd1];", "ld.v2.global.u32 {a, b}, [%rd1]\n");
    check_body("atom.u32.global.add a, [%rd1], b;", "atom.global.add.u32 a, [%rd1], b\n");
    check_body("mad.lo.u32.cc a, b, a, b;", "mad.lo.cc.u32 a, b, a, b\n");
    /* these have types before others */
    check_body("vadd.s32.s32.s32.sat a, b, a;", "vadd.s32.s32.s32.sat a, b, a\n");
    check_body("prmt.b32.f4e a, b, a, b;", "prmt.b32.f4e a, b, a, b\n");
    check_body("suld.b.1d.b32.trap {a}, [%rd1, {b}];", "suld.b.1d.b32.trap {a}, [%rd1, {b}]\n");
}

static void the_same_opcode_is_the_same_pointer(void **state)
{
    (void)state;
    struct ptx_module *module = ptx_parsed(".entry k() { .reg .b32 a; mov.u32 a, 1; mov.u32 a, 2; }\n"
                                           ".func f() { .reg .b32 a; mov .u32 a, 1; mov.s32 a, 1; }\n");
    const struct ptx_inst *first = module->functions[0].insts, *second = module->functions[1].insts;
    assert_ptr_equal(first[0].opcode, first[1].opcode);
    assert_ptr_equal(first[0].opcode, second[0].opcode);
    assert_ptr_not_equal(first[0].opcode, second[1].opcode);
    ptx_free(module);
}

static void guards_are_registers_and_may_be_negated(void **state)
{
    (void)state;
    check_body("@%p1 bra L; @!q ret; L: @p exit;", "@%p1 bra L@2\n@!q ret\n@p exit\n");
}

static void calls_come_in_all_forms(void **state)
{
    (void)state;
    check_body(".param .b32 x; call callee, (x);", "call callee, (x)\n");
    check_body(".param .b32 x, y; call.uni (y), callee, (x, 5);", "call.uni (y), callee, (x, 5)\n");
    check_body("call callee; call callee, ();", "call callee\ncall callee, ()\n");
    check_body("P: .callprototype (.param .b32 _) _ (.param .b64 _);\ncall (a), %rd1, (b), P;",
               "call (a), %rd1, (b), P\n");
    check_body("T: .calltargets callee;\ncall %rd1, (b), T;", "call %rd1, (b), T\n");
}

static void prototypes_and_tables_are_found(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed_body("brx.idx a, T; L0: L1: ret; T: .branchtargets L0, L1, L2; L2:\n"
                        "P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[24]);\n"
                        "call (a), %rd1, (b, b), P;");
    const struct ptx_function *k = ptx_kernel(module);
    assert_int_equal(k->table_count, 1);
    assert_int_equal(k->tables[0].count, 3);
    static const uint32_t targets[] = {1, 1, 2};
    for (uint32_t i = 0; i < 3; i++) {
        const struct ptx_operand *target = &k->operands[k->tables[0].first + i];
        assert_int_equal(target->kind, PTX_OP_LABEL);
        assert_int_equal(k->labels[target->index].inst, targets[i]);
    }
    const struct ptx_symbol *table = &k->symbols[k->operands[k->insts[0].first + 1].index];
    assert_int_equal(table->kind, PTX_SYM_TABLE);
    assert_int_equal(k->prototype_count, 1);
    assert_int_equal(k->prototypes[0].result_count, 1);
    assert_int_equal(k->prototypes[0].param_count, 2);
    assert_int_equal(k->prototypes[0].params[1].bytes, 24);
    ptx_free(module);
}

static void symbols_say_what_they_are(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".global .u32 g;\n.shared .b8 s[4];\n.func (.param .b32 r) f(.param .b32 a) {\n"
                   ".reg .b64 d;\n.local .b8 v[8], w[8];\n"
                   "mov.u64 d, w; mov.u64 d, a; mov.u64 d, r; mov.u64 d, s; mov.u64 d, f; mov.u64 d, later;\n"
                   "mov.u64 d, w; }\n.func later;");
    static const struct {
        enum ptx_symbol_kind kind;
        uint32_t index;
    } wanted[] = {{PTX_SYM_VARIABLE, 1}, {PTX_SYM_PARAM, 0},    {PTX_SYM_RESULT, 0},
                  {PTX_SYM_GLOBAL, 1},   {PTX_SYM_FUNCTION, 0}, {PTX_SYM_FUNCTION, 1}};
    const struct ptx_function *f = &module->functions[0];
    assert_int_equal(f->symbol_count, sizeof wanted / sizeof *wanted); /* each once */
    for (uint32_t i = 0; i < f->symbol_count; i++) {
        const struct ptx_symbol *symbol = &f->symbols[f->operands[f->insts[i].first + 1].index];
        assert_int_equal(symbol->kind, wanted[i].kind);
        assert_int_equal(symbol->index, wanted[i].index);
        assert_int_equal(symbol->variable, i ? -1 : 1);
        assert_int_equal(symbol->line, 9);
    }
    ptx_free(module);
}

static void only_used_registers_are_there(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".entry k() { .reg .b32 %r<1000000>, unused; .reg .f64 d; .reg .pred x<3>;\n"
                   "op %r999999, d, x2, %r999999, %r0; }");
    const struct ptx_function *k = ptx_kernel(module);
    static const struct ptx_register wanted[] = {
        {"%r999999", PTX_b32}, {"d", PTX_f64}, {"x2", PTX_pred}, {"%r0", PTX_b32}};
    assert_int_equal(k->register_count, sizeof wanted / sizeof *wanted);
    for (uint32_t i = 0; i < k->register_count; i++) {
        assert_string_equal(k->registers[i].name, wanted[i].name);
        assert_int_equal(k->registers[i].type, wanted[i].type);
    }
    ptx_free(module);
}

static void a_vector_register_is_a_register_for_each_part(void **state)
{
    (void)state;
    check_body(".reg .v4 .f32 %v; .reg .v2 .b32 w<3>; ld.v4.f32 %v, [%rd1]; add.f32 %v.x, %v.w, %v.g;\n"
               "mov.b32 w1.y, w2.x;",
               "ld.v4.f32 {%v.x, %v.y, %v.z, %v.w}, [%rd1]\nadd.f32 %v.x, %v.w, %v.y\nmov.b32 w1.y, w2.x\n");
    check_body(".reg .v4 .u32 %v; mov.v4.u32 %v, %ctaid;",
               "mov.v4.u32 {%v.x, %v.y, %v.z, %v.w}, "
               "{special:%ctaid.x, special:%ctaid.y, special:%ctaid.z, 0}\n");
}

static void inner_scopes_hide_outer_names(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed_body("mov.u32 %r1, 0;\n"
                        "{ .reg .f32 %r<2>, a; .local .b8 g[4]; op %r1, a, %r5, g; }\n"
                        "op %r1, a, %r5, g;");
    const struct ptx_function *k = ptx_kernel(module);
    const struct ptx_operand *inner = &k->operands[k->insts[1].first],
                             *outer = &k->operands[k->insts[2].first];
    assert_int_equal(k->registers[inner[0].index].type, PTX_f32);
    assert_int_equal(k->registers[inner[1].index].type, PTX_f32);
    assert_int_equal(k->registers[outer[0].index].type, PTX_b32);
    assert_int_equal(k->registers[outer[1].index].type, PTX_b32);
    assert_int_equal(outer[0].index, k->operands[k->insts[0].first].index);
    assert_int_equal(inner[2].index, outer[2].index); /* the inner range is too short for it */
    assert_int_equal(k->symbols[inner[3].index].kind, PTX_SYM_VARIABLE);
    assert_int_equal(k->symbols[outer[3].index].kind, PTX_SYM_GLOBAL);
    ptx_free(module);
}

static void a_register_may_hide_a_special_one(void **state)
{
    (void)state;
    check_body("{ .reg .b32 %laneid; mov.u32 %laneid, 1; } mov.u32 a, %laneid;",
               "mov.u32 %laneid, 1\nmov.u32 a, special:%laneid\n");
}

static void labels_are_found_forward_and_from_inner_scopes(void **state)
{
    (void)state;
    check_body("top: bra end; { bra end; bra top; { bra end; } } end: ret;",
               "bra end@4\nbra end@4\nbra top@0\nbra end@4\nret\n");
}

static void a_label_belongs_to_its_scope(void **state)
{
    (void)state;
    check_body("{ bra L; L: ret; } { bra L; add; L: ret; } bra L; L:",
               "bra L@1\nret\nbra L@4\nadd\nret\nbra L@6\n");
    check_body("bra L; { L: bra L; } ret; L: exit;", "bra L@3\nbra L@1\nret\nexit\n");
}

static void a_label_hides_what_the_module_calls_so(void **state)
{
    (void)state;
    check_body("bra g; g: bra callee; { callee: bra callee; }", "bra g@1\nbra callee\nbra callee@2\n");
}

static void several_labels_may_stand_before_one_instruction(void **state)
{
    (void)state;
    check_body("a1: b1 : ret; bra a1; bra b1;", "ret\nbra a1@0\nbra b1@0\n");
}

static void parameters_may_be_registers(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".func (.reg .u32 r) f(.reg .u32 x, .reg .f64 y) { add.u32 r, x, 1; ret; }");
    const struct ptx_function *f = &module->functions[0];
    assert_int_equal(f->results[0].space, PTX_REG);
    assert_string_equal(f->registers[f->results[0].offset].name, "r");
    assert_string_equal(f->registers[f->params[0].offset].name, "x");
    assert_string_equal(f->registers[f->params[1].offset].name, "y");
    assert_int_equal(f->registers[f->params[1].offset].type, PTX_f64);
    ptx_free(module);
}

static void instructions_know_their_lines(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".entry k() {\n.section .debug_loc {\n.b8 1\n}\n/*\n*/ ret;\n\n  exit\n; }");
    assert_int_equal(ptx_kernel(module)->insts[0].line, 9);
    assert_int_equal(ptx_kernel(module)->insts[1].line, 11);
    ptx_free(module);
}

static void instructions_know_their_source(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".file 2 \"b.cu\", 123, 45\n.entry k() {\nret;\n.loc 2 10 3\n.loc 2 11 4\nret;\nret;\n"
                   ".loc 2 20 1, function_name $L__info1, inlined_at 2 11 4\nret;\n}\n"
                   ".section .debug_str {\n$L__info0:\n.b8 97,0\n$L__info1:\n.b8 95,90\n.b8 102,0\n}\n");
    const struct ptx_function *k = ptx_kernel(module);
    assert_int_equal(k->insts[0].loc, 0);
    assert_int_equal(k->insts[1].loc, 2);
    assert_int_equal(k->insts[2].loc, 2);
    assert_int_equal(k->insts[3].loc, 3);
    assert_int_equal(k->loc_count, 3); /* also one that no instruction has: inlined ones may refer to it */
    assert_int_equal(k->locs[1].file, 2);
    assert_int_equal(k->locs[1].line, 11);
    assert_int_equal(k->locs[1].column, 4);
    assert_int_equal(k->locs[1].caller_line, 0);
    assert_null(k->locs[1].function);
    assert_string_equal(k->locs[2].function, "_Zf");
    assert_int_equal(k->locs[2].caller_file, 2);
    assert_int_equal(k->locs[2].caller_line, 11);
    assert_int_equal(k->locs[2].caller_column, 4);
    assert_int_equal(module->file_count, 3);
    assert_null(module->files[1]);
    assert_string_equal(module->files[2], "b.cu");
    ptx_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_of_many_kinds),
        cmocka_unit_test(addresses_have_offsets_and_coordinates),
        cmocka_unit_test(opcodes_are_taken_whole),
        cmocka_unit_test(modifiers_come_in_any_order),
        cmocka_unit_test(the_same_opcode_is_the_same_pointer),
        cmocka_unit_test(guards_are_registers_and_may_be_negated),
        cmocka_unit_test(calls_come_in_all_forms),
        cmocka_unit_test(prototypes_and_tables_are_found),
        cmocka_unit_test(symbols_say_what_they_are),
        cmocka_unit_test(only_used_registers_are_there),
        cmocka_unit_test(a_vector_register_is_a_register_for_each_part),
        cmocka_unit_test(inner_scopes_hide_outer_names),
        cmocka_unit_test(a_register_may_hide_a_special_one),
        cmocka_unit_test(labels_are_found_forward_and_from_inner_scopes),
        cmocka_unit_test(a_label_belongs_to_its_scope),
        cmocka_unit_test(a_label_hides_what_the_module_calls_so),
        cmocka_unit_test(several_labels_may_stand_before_one_instruction),
        cmocka_unit_test(parameters_may_be_registers),
        cmocka_unit_test(instructions_know_their_lines),
        cmocka_unit_test(instructions_know_their_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
