#include "check.h"
#include "base/mem.h"
#include "gcn3_object/bundle.h"

enum { ROOM = 1024 };

struct made {
    uint8_t at[ROOM];
    size_t bytes;
};

static void add_number(struct made *made, uint64_t number)
{
    memcpy(made->at + made->bytes, &number, sizeof number);
    made->bytes += sizeof number;
}

static void add_entry(struct made *made, uint64_t offset, uint64_t bytes, const char *name)
{
    add_number(made, offset);
    add_number(made, bytes);
    add_number(made, strlen(name));
    memcpy(made->at + made->bytes, name, strlen(name));
    made->bytes += strlen(name);
}

static void begin(struct made *made, uint64_t count)
{
    memset(made, 0, sizeof *made);
    memcpy(made->at, "__CLANG_OFFLOAD_BUNDLE__", 24);
    made->bytes = 24;
    add_number(made, count);
}

/* As hipcc makes it: the host first, then the GPUs. */
static void make(struct made *made)
{
    begin(made, 3);
    add_entry(made, 512, 0, "host-x86_64-unknown-linux");
    add_entry(made, 512, 100, "hipv4-amdgcn-amd-amdhsa--gfx803");
    add_entry(made, 640, 200, "hipv4-amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-");
    made->bytes = 840;
}

static void entries_have_targets_without_their_settings(void **state)
{
    (void)state;
    struct gcn3_bundle_entry entry;
    struct made made;
    make(&made);
    assert_true(gcn3_bundle_is(made.at, made.bytes));
    assert_true(gcn3_bundle_entry(made.at, made.bytes, 0, &entry));
    assert_string_equal(entry.target, "");
    assert_true(gcn3_bundle_entry(made.at, made.bytes, 2, &entry));
    assert_string_equal(entry.target, "gfx906");
    assert_ptr_equal(entry.image, made.at + 640);
    assert_int_equal(entry.bytes, 200);
    assert_false(gcn3_bundle_entry(made.at, made.bytes, 3, &entry));
}

static void a_target_is_found_or_those_that_there_are_are_named(void **state)
{
    (void)state;
    struct gcn3_bundle_entry entry;
    struct err err;
    struct made made;
    make(&made);
    assert_true(gcn3_bundle_find(made.at, made.bytes, "gfx803", &entry, &err));
    assert_ptr_equal(entry.image, made.at + 512);
    assert_false(gcn3_bundle_find(made.at, made.bytes, "gfx900", &entry, &err));
    check_says(&err, "there is code for gfx803, gfx906, and none for gfx900");
    begin(&made, 0);
    assert_false(gcn3_bundle_find(made.at, made.bytes, "gfx900", &entry, &err));
    check_says(&err, "there is code for no GPU");
}

/* Each copy is as long as it is said to be, so that a sanitizer sees what is read behind it. */
static void a_bundle_cut_anywhere_is_safe(void **state)
{
    (void)state;
    struct gcn3_bundle_entry entry;
    struct made made;
    make(&made);
    for (size_t bytes = 0; bytes < made.bytes; bytes++) {
        uint8_t *part = mem_alloc(bytes + 1, 1);
        memcpy(part, made.at, bytes);
        assert_false(gcn3_bundle_entry(part, bytes, 2, &entry));
        mem_free(part);
    }
}

static void numbers_that_lead_outside_are_refused(void **state)
{
    (void)state;
    struct gcn3_bundle_entry entry;
    struct made made;
    begin(&made, UINT64_MAX);
    add_entry(&made, UINT64_MAX - 3, 8, "hipv4-amdgcn-amd-amdhsa--gfx803");
    assert_false(gcn3_bundle_entry(made.at, made.bytes, 0, &entry));
    begin(&made, 1);
    add_entry(&made, 0, UINT64_MAX, "hipv4-amdgcn-amd-amdhsa--gfx803");
    assert_false(gcn3_bundle_entry(made.at, made.bytes, 0, &entry));
    assert_false(gcn3_bundle_is("__CLANG", 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_have_targets_without_their_settings),
        cmocka_unit_test(a_target_is_found_or_those_that_there_are_are_named),
        cmocka_unit_test(a_bundle_cut_anywhere_is_safe),
        cmocka_unit_test(numbers_that_lead_outside_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
