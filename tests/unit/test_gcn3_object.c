#include "check.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "gcn3_object/document.h"
#include "gcn3_object/object.h"

/* tests/unit/objects has the sources. */
static void read_object(const char *name, struct text *content)
{
    char path[1024];
    struct err err;
    snprintf(path, sizeof path, "%s/fuzz_gcn3_object/%s", CORPUS_FOLDER, name);
    if (!file_read(path, 1 << 20, content, &err))
        fail_msg("%s", err.text);
}

static struct gcn3_object *load(const char *name)
{
    struct text content = {0};
    struct err err;
    read_object(name, &content);
    struct gcn3_object *object = gcn3_object_load(name, content.at, content.length, &err);
    if (!object)
        fail_msg("%s", err.text);
    text_fini(&content);
    return object;
}

static void every_version_tells_the_same_of_its_kernels(void **state)
{
    (void)state;
    static const char *const names[] = {"v2.hsaco", "v3.hsaco", "v4.hsaco", "v5.hsaco"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        struct gcn3_object *object = load(names[i]);
        assert_int_equal(object->version, 2 + i);
        assert_string_equal(object->target, "gfx803");
        assert_int_equal(object->kernel_count, 3);
        const struct gcn3_kernel_info *kernel = gcn3_object_kernel(object, "locals");
        assert_non_null(kernel);
        assert_int_equal(kernel->explicit_count, 5);
        assert_int_equal(kernel->group_bytes, 400);
        assert_int_equal(kernel->required[0], 16);
        assert_int_equal(kernel->required[1], 4);
        assert_int_equal(kernel->required[2], 1);
        assert_int_equal(kernel->max_group_items, 64);
        assert_int_equal(kernel->vgprs, 12);
        assert_true(kernel->setup.kernarg_segment_ptr && kernel->setup.ieee_mode);
        assert_int_equal(kernel->setup.denorm_f16_f64, 3);
        assert_true(kernel->code_bytes > 100);
        uint32_t instruction; /* all begin by loading arguments or, in version 4, the size of a group */
        memcpy(&instruction, object->image + kernel->entry, sizeof instruction);
        assert_int_equal(instruction >> 26, 0x30); /* SMEM */
        gcn3_object_free(object);
    }
}

static void arguments_have_their_places_and_qualifiers(void **state)
{
    (void)state;
    static const char *const names[] = {"v2.hsaco", "v5.hsaco"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        struct gcn3_object *object = load(names[i]);
        const struct gcn3_arg *args = gcn3_object_kernel(object, "locals")->args;
        assert_int_equal(args[0].kind, GCN3_ARG_DYNAMIC_SHARED_POINTER);
        assert_int_equal(args[1].offset, 4);
        assert_int_equal(args[1].pointee_align, 16);
        assert_int_equal(args[3].space, GCN3_SPACE_constant);
        assert_int_equal(args[4].offset, 32); /* float4 is aligned to 16 */
        assert_string_equal(args[4].type_name, "float4");
        args = gcn3_object_kernel(object, "vecadd")->args;
        assert_true(args[0].is_const && args[0].is_restrict && args[2].is_volatile);
        assert_int_equal(args[0].space, GCN3_SPACE_global);
        assert_string_equal(args[3].name, "n");
        args = gcn3_object_kernel(object, "images")->args;
        assert_int_equal(args[0].kind, GCN3_ARG_IMAGE);
        assert_int_equal(args[1].access, GCN3_ACCESS_write_only);
        assert_int_equal(args[2].kind, GCN3_ARG_SAMPLER);
        gcn3_object_free(object);
    }
}

/* ---- the segment of arguments ---- */

static const struct gcn3_geometry geometry = {.dims = 2,
                                              .offset = {5, 6, 7},
                                              .grid = {100, 8, 1},
                                              .group = {16, 4, 1},
                                              .printf_buffer = 0x1234,
                                              .private_base = 0x10,
                                              .shared_base = 0x20};

/* Fills the arguments of `locals`, and gives what is at this offset. */
static uint64_t filled(const char *name, uint32_t offset, uint32_t bytes)
{
    struct gcn3_object *object = load(name);
    const struct gcn3_kernel_info *kernel = gcn3_object_kernel(object, "locals");
    uint64_t pointer = 0xabcdef, lds, value = 0;
    float vector[4] = {1, 2, 3, 4};
    struct gcn3_arg_value values[] = {{NULL, 100}, {NULL, 64}, {&pointer, 8}, {&pointer, 8}, {vector, 16}};
    uint8_t *segment = mem_alloc(kernel->kernarg_bytes, 1);
    struct err err;
    assert_true(gcn3_args_fill(kernel, values, &geometry, segment, &lds, &err));
    assert_int_equal(lds, 512 + 64); /* 400 + 100 bytes, then on a multiple of 16 */
    assert_true(offset + bytes <= kernel->kernarg_bytes);
    memcpy(&value, segment + offset, bytes);
    mem_free(segment);
    gcn3_object_free(object);
    return value;
}

static void explicit_arguments_are_where_the_kernel_expects_them(void **state)
{
    (void)state;
    assert_int_equal(filled("v4.hsaco", 0, 4), 400); /* behind static LDS */
    assert_int_equal(filled("v4.hsaco", 4, 4), 512);
    assert_int_equal(filled("v4.hsaco", 8, 8), 0xabcdef);
    assert_int_equal(filled("v4.hsaco", 44, 4), 0x40800000);
}

static void hidden_arguments_tell_of_the_launch(void **state)
{
    (void)state;
    static const char *const old[] = {"v2.hsaco", "v3.hsaco", "v4.hsaco"};
    for (unsigned i = 0; i < COUNT_OF(old); i++) {
        assert_int_equal(filled(old[i], 48, 8), 5);
        assert_int_equal(filled(old[i], 64, 8), 7);
    }
    assert_int_equal(filled("v5.hsaco", 48 + 0, 4), 6); /* whole groups */
    assert_int_equal(filled("v5.hsaco", 48 + 4, 4), 2);
    assert_int_equal(filled("v5.hsaco", 48 + 12, 2), 16); /* their size */
    assert_int_equal(filled("v5.hsaco", 48 + 18, 2), 4);  /* what is left */
    assert_int_equal(filled("v5.hsaco", 48 + 40, 8), 5);  /* offset */
    assert_int_equal(filled("v5.hsaco", 48 + 64, 2), 2);  /* dimensions */
    assert_int_equal(filled("v5.hsaco", 48 + 120, 4), 576 - 400);
}

static void a_value_of_another_size_is_refused(void **state)
{
    (void)state;
    struct gcn3_object *object = load("v4.hsaco");
    const struct gcn3_kernel_info *kernel = gcn3_object_kernel(object, "vecadd");
    uint64_t pointer = 0, lds;
    struct gcn3_arg_value values[] = {{&pointer, 8}, {&pointer, 8}, {&pointer, 8}, {&pointer, 8}};
    uint8_t segment[256];
    struct err err;
    assert_false(gcn3_args_fill(kernel, values, &geometry, segment, &lds, &err));
    check_says(&err, "argument 3 has 4 bytes, and a value of 8 was given");
    gcn3_object_free(object);
}

/* ---- the rest of what is in a code object ---- */

static void printf_formats_lose_their_escapes(void **state)
{
    (void)state;
    struct gcn3_object *object = load("prints.hsaco");
    const struct gcn3_print *print = gcn3_object_print(object, 1);
    assert_non_null(print);
    assert_string_equal(print->format, "a: %d, %s\n");
    assert_int_equal(print->arg_count, 2);
    assert_int_equal(print->arg_bytes[1], 8);
    assert_null(gcn3_object_print(object, 2));
    const struct gcn3_kernel_info *kernel = gcn3_object_kernel(object, "hello");
    bool found = false;
    for (uint32_t i = 0; i < kernel->arg_count; i++)
        found |= kernel->args[i].kind == GCN3_ARG_HIDDEN_PRINTF_BUFFER;
    assert_true(found);
    gcn3_object_free(object);
}

static void addresses_in_the_image_follow_where_it_is_loaded(void **state)
{
    (void)state;
    struct gcn3_object *object = load("lines.hsaco");
    assert_int_equal(object->relative_count, 1);
    uint8_t *memory = mem_alloc(object->image_bytes, 1);
    uint64_t pointer;
    uint32_t value;
    gcn3_object_place(object, 0x7000000, memory);
    memcpy(&pointer, memory + object->relative[0], sizeof pointer);
    assert_true(pointer > 0x7000000 && pointer < 0x7000000 + object->image_bytes);
    memcpy(&value, memory + (pointer - 0x7000000), sizeof value);
    assert_int_equal(value, 5);
    mem_free(memory);
    gcn3_object_free(object);
}

static void instructions_have_lines_of_the_source(void **state)
{
    (void)state;
    struct gcn3_object *object = load("lines.hsaco");
    const struct gcn3_kernel_info *kernel = gcn3_object_kernel(object, "second");
    const char *file;
    uint32_t line;
    assert_int_equal(object->gfx, 906);
    assert_true(gcn3_object_line(object, kernel->entry, &file, &line));
    assert_string_equal(file, "lines.cl");
    assert_int_equal(line, 11);
    assert_true(gcn3_object_line(object, kernel->entry + kernel->code_bytes - 4, &file, &line));
    assert_int_equal(line, 12);
    assert_false(gcn3_object_line(object, 0, &file, &line));
    gcn3_object_free(object);
}

static void a_kernel_needs_no_metadata(void **state)
{
    (void)state;
    struct gcn3_object *object = load("assembly.hsaco");
    const struct gcn3_kernel_info *kernel = gcn3_object_kernel(object, "bare");
    assert_int_equal(object->gfx, 900);
    assert_false(kernel->has_metadata);
    assert_int_equal(kernel->code_bytes, 4);
    assert_int_equal(kernel->group_bytes, 512);
    assert_int_equal(kernel->sgprs, 32);
    assert_int_equal(gcn3_object_variable(object, "table")->bytes, 12);
    assert_null(gcn3_object_variable(object, "bare.kd"));
    gcn3_object_free(object);
}

/* ---- what is refused ---- */

static void check_refused(const void *bytes, size_t count, const char *why)
{
    struct err err;
    assert_null(gcn3_object_load("x.hsaco", bytes, count, &err));
    check_says(&err, why);
    assert_null(strchr(err.text, '\n'));
}

static void what_is_no_code_object_is_refused_in_one_line(void **state)
{
    (void)state;
    struct text content = {0};
    check_refused("hello", 5, "x.hsaco: expected a code object, which is an ELF file");
    check_refused("\177ELFxx", 6, "ends in its header");
    read_object("v5.hsaco", &content);
    check_refused(content.at, content.length / 4, "may be cut off");
    content.at[18] = 62;
    check_refused(content.at, content.length, "no code for AMD's GPUs (its machine is 62)");
    content.at[18] = (char)224;
    content.at[48] = 0x4c;
    check_refused(content.at, content.length, "is for gfx942; expected one for gfx803");
    content.at[48] = 0x2a;
    content.at[8] = 9;
    check_refused(content.at, content.length, "of version 11 are not known");
    text_fini(&content);
    read_object("unlinked.o", &content);
    check_refused(content.at, content.length, "was not linked");
    text_fini(&content);
}

/* Every file, with some of its bytes replaced or its end cut off: loaded or refused, never beyond bounds. */
static void damaged_files_are_loaded_or_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"v2.hsaco",     "v3.hsaco",    "v4.hsaco",      "v5.hsaco",
                                        "prints.hsaco", "lines.hsaco", "assembly.hsaco"};
    struct rng rng;
    rng_init(&rng, 1, "damage");
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        struct text content = {0};
        read_object(names[i], &content);
        for (unsigned round = 0; round < 2000; round++) {
            size_t bytes = rng_below(&rng, 4) ? content.length : rng_below(&rng, content.length);
            char *copy = memcpy(mem_alloc(bytes + 1, 1), content.at, bytes);
            for (uint64_t changes = bytes ? 1 + rng_below(&rng, 4) : 0; changes; changes--)
                copy[rng_below(&rng, bytes)] = (char)rng_below(&rng, 256);
            struct err err;
            gcn3_object_free(gcn3_object_load("damaged", copy, bytes, &err));
            mem_free(copy);
        }
        text_fini(&content);
    }
}

static void yaml_is_read_as_llvm_writes_it(void **state)
{
    (void)state;
    static const char text[] = "---\nVersion: [ 1, 0 ]\nPrintf:\n  - '1:1:4:it''s %d\\n'\n  - \"a\\tb\"\n"
                               "Kernels:\n- Name: k:x\n  Args:\n    - Size: 8\n    - Size: 0x10\n...\n";
    struct document document = {0};
    struct err err;
    assert_true(document_read_yaml(&document, text, sizeof text, &err));
    uint32_t prints =
        document_node(&document, document_find(&document, DOCUMENT_ROOT, "amdhsa.printf"))->first;
    assert_string_equal(document_text(&document, prints), "1:1:4:it's %d\\n");
    assert_string_equal(document_text(&document, document_node(&document, prints)->next), "a\tb");
    uint32_t kernel = document_node(&document, document_find(&document, DOCUMENT_ROOT, "Kernels"))->first;
    assert_string_equal(document_text(&document, document_find(&document, kernel, ".name")), "k:x");
    uint32_t arg = document_node(&document, document_find(&document, kernel, ".args"))->first;
    assert_int_equal(document_number(&document, document_find(&document, arg, ".size")), 8);
    arg = document_node(&document, arg)->next;
    assert_int_equal(document_number(&document, document_find(&document, arg, ".size")), 16);
    document_fini(&document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_tells_the_same_of_its_kernels),
        cmocka_unit_test(arguments_have_their_places_and_qualifiers),
        cmocka_unit_test(explicit_arguments_are_where_the_kernel_expects_them),
        cmocka_unit_test(hidden_arguments_tell_of_the_launch),
        cmocka_unit_test(a_value_of_another_size_is_refused),
        cmocka_unit_test(printf_formats_lose_their_escapes),
        cmocka_unit_test(addresses_in_the_image_follow_where_it_is_loaded),
        cmocka_unit_test(instructions_have_lines_of_the_source),
        cmocka_unit_test(a_kernel_needs_no_metadata),
        cmocka_unit_test(what_is_no_code_object_is_refused_in_one_line),
        cmocka_unit_test(damaged_files_are_loaded_or_refused),
        cmocka_unit_test(yaml_is_read_as_llvm_writes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
