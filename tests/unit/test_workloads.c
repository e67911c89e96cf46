/* The code that is bundled with the workloads. */
#include "check.h"
#include "workloads/run.h"

#include <elf.h>
#include <string.h>

enum {
    MACHINE_AMDGPU = 224,
    GFX803 = 0x2a,
    GFX906 = 0x2f,
    VERSION_5 = 3
}; /* e_machine; of e_flags; EI_ABIVERSION */

static void each_has_code_for_a_gpu(void **state)
{
    (void)state;
    for (size_t i = 0; workloads[i]; i++) {
        size_t ptx, gcn3;
        const char *text = workload_code(workloads[i], "", &ptx);
        const char *object = workload_code(workloads[i], "gfx803", &gcn3);
        assert_true(text || object);
        assert_true(!text == !ptx && !object == !gcn3);
        if (text)
            assert_non_null(strstr(text, ".version"));
    }
}

static void check_code_objects(const char *target, unsigned machine)
{
    size_t found = 0;
    for (size_t i = 0; workloads[i]; i++) {
        size_t bytes;
        const char *object = workload_code(workloads[i], target, &bytes);
        Elf64_Ehdr head;
        if (!object)
            continue;
        found++;
        assert_true(bytes > sizeof head);
        memcpy(&head, object, sizeof head);
        assert_memory_equal(head.e_ident, ELFMAG, SELFMAG);
        assert_int_equal(head.e_machine, MACHINE_AMDGPU);
        assert_int_equal(head.e_flags & 0xff, machine);
        assert_int_equal(head.e_ident[EI_ABIVERSION], VERSION_5);
        assert_true(head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize <= bytes);
    }
    assert_true(found >= 23);
}

static void code_objects_are_for_their_targets(void **state)
{
    (void)state;
    check_code_objects("gfx803", GFX803);
    check_code_objects("gfx906", GFX906);
}

static void there_is_no_code_for_other_targets(void **state)
{
    size_t bytes = 1;
    (void)state;
    assert_null(workload_code(workload_find("saxpy"), "gfx900", &bytes));
    assert_int_equal(bytes, 0);
}

/* Whether a workload has an option of this name, with this value within its bounds. */
static bool has_option(const struct workload *workload, const char *name, uint64_t value)
{
    for (const struct workload_option *o = workload->options; o->name; o++)
        if (!strcmp(o->name, name))
            return value >= o->least && value <= o->most;
    return false;
}

struct option_text {
    const char *name, *workload, *options;
};

static void check_options(const struct option_text *row)
{
    size_t bytes;
    const struct workload *workload = workload_find(row->workload);
    char name[40];
    unsigned long long value;
    int length;
    if (!workload || !workload_code(workload, "gfx803", &bytes))
        fail_msg("%s: %s is no workload for GCN3", row->name, row->workload);
    for (const char *at = row->options; *at; at += length) {
        length = 0;
        if (sscanf(at, "%39[a-z-]=%llu %n", name, &value, &length) != 2 || !has_option(workload, name, value))
            fail_msg("%s: '%s' is no option of %s", row->name, at, row->workload);
    }
}

static void points_of_gcn3_name_workloads_and_options(void **state)
{
    static const struct option_text points[] = {
#define POINT(name, workload, options) {#name, #workload, options},
#include "bench/points_gcn3.def"
#undef POINT
#define CURVE(name, title, across, workload, options, over) {#name, #workload, options " " #over "=1"},
#include "bench/curves_gcn3.def"
#undef CURVE
    };
    (void)state;
    assert_true(sizeof points / sizeof *points >= 57);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        check_options(&points[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_code_for_a_gpu),
        cmocka_unit_test(code_objects_are_for_their_targets),
        cmocka_unit_test(there_is_no_code_for_other_targets),
        cmocka_unit_test(points_of_gcn3_name_workloads_and_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
