/* Descriptions of systems: those that come with Heddle, and how one is found. */
#include "check.h"
#include "base/bits.h"
#include "base/install.h"
#include "cache/tags.h"
#include "system/system.h"

#include <unistd.h>

static void load(struct system *system, const char *name, const char *folder)
{
    struct err err;
    if (!system_load(system, name, folder, &err))
        fail_msg("%s", err.text);
}

/* The folder of Heddle's own descriptions. */
static const char *own_folder(void)
{
    static char folder[4096], file[4096];
    struct text path = {0};
    install_add_data(&path, "systems");
    assert_true((size_t)snprintf(folder, sizeof folder, "%s", path.at) < sizeof folder);
    text_fini(&path);
    snprintf(file, sizeof file, "%.4000s/h200.ini", folder);
    assert_int_equal(access(file, R_OK), 0); /* h200 would be found without a file, too */
    return folder;
}

/* What h200.ini says is what the rows have as their defaults. */
static void same_values(const struct param_group *group, const void *defaults, const void *h200)
{
    for (size_t i = 0; i < group->row_count; i++) {
        const struct param_row *row = &group->rows[i];
        struct text one = {0}, other = {0};
        param_print(row, (const char *)defaults + row->offset, &one);
        param_print(row, (const char *)h200 + row->offset, &other);
        if (strcmp(one.at, other.at) != 0)
            fail_msg("[%s] %s: %s by default, %s in h200.ini", group->path, row->name, one.at, other.at);
        text_fini(&one);
        text_fini(&other);
    }
}

static void without_a_description_it_is_an_h200(void **state)
{
    (void)state;
    struct system none, h200;
    load(&none, NULL, "/there/is/no/folder");
    load(&h200, "h200", own_folder());
    assert_string_equal(none.gpu.name, "NVIDIA H200");
    assert_int_equal(none.spec.gpus, 1);
    same_values(&gpu_params, &none.gpu, &h200.gpu);
    same_values(&sm_params, &none.sm, &h200.sm);
    same_values(&l2_params, &none.l2, &h200.l2);
    same_values(&l3_params, &none.l3, &h200.l3);
    same_values(&dram_params, &none.dram, &h200.dram);
    same_values(&noc_params, &none.noc, &h200.noc);
    same_values(&tlb_params, &none.tlb, &h200.tlb);
    same_values(&dispatch_params, &none.dispatch, &h200.dispatch);
    system_fini(&none);
    system_fini(&h200);
}

/* What a user changes in it holds for runs that name no system, too. */
static void the_default_is_the_file_h200(void **state)
{
    (void)state;
    struct folder folder;
    struct system system;
    folder_make(&folder);
    folder_write(&folder, "h200.ini", "[gpu]\nsm_count = 5\n");
    load(&system, NULL, folder.path);
    assert_int_equal(system.gpu.sm_count, 5);
    system_fini(&system);
    folder_remove(&folder, LIST("h200.ini"));
}

static void every_description_can_be_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned arch, sms;
    } known[] = {{"h200", 90, 132},  {"h100", 90, 132}, {"a100", 80, 108}, {"v100", 70, 80},
                 {"gtx580", 20, 16}, {"m2070", 20, 14}, {"k20", 35, 13},   {"tesla", 10, 16},
                 {"r9nano", 80, 64}, {"mi60", 90, 64}};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        struct system system;
        load(&system, known[i].name, own_folder());
        assert_int_equal(10 * system.gpu.major + system.gpu.minor, known[i].arch);
        assert_int_equal(system.gpu.sm_count, known[i].sms);
        system_fini(&system);
    }
}

static void a_path_is_read_as_it_is(void **state)
{
    (void)state;
    struct folder folder;
    struct system system;
    folder_make(&folder);
    load(&system, folder_write(&folder, "small.ini", "[gpu]\nsm_count = 2\n[system]\ngpus = 3\n"), NULL);
    assert_int_equal(system.gpu.sm_count, 2);
    assert_int_equal(system.spec.gpus, 3);
    system_fini(&system);
    load(&system, "small", folder.path);
    assert_int_equal(system.gpu.sm_count, 2);
    system_fini(&system);
    folder_remove(&folder, LIST("small.ini"));
}

static void a_description_can_include_one_by_its_name(void **state)
{
    (void)state;
    struct folder shipped, own;
    struct system system;
    struct err err;
    folder_make(&shipped);
    folder_make(&own);
    folder_write(&shipped, "base.ini", "[gpu]\nsm_count = 2\nclock = 1GHz\n");
    const char *path = folder_write(&own, "mine.ini", "include = base.ini\n[gpu]\nsm_count = 3\n");
    load(&system, path, shipped.path);
    assert_int_equal(system.gpu.sm_count, 3);
    assert_int_equal(system.gpu.clock, 1000000000);
    system_fini(&system);
    load(&system, folder_write(&own, "mine.ini", "include = base\n"), shipped.path);
    assert_int_equal(system.gpu.sm_count, 2);
    system_fini(&system);
    folder_write(&own, "base.ini", "[gpu]\nsm_count = 7\n"); /* one beside it comes first */
    load(&system, folder_write(&own, "mine.ini", "include = base.ini\n"), shipped.path);
    assert_int_equal(system.gpu.sm_count, 7);
    system_fini(&system);
    assert_false(
        system_load(&system, folder_write(&own, "mine.ini", "include = none\n"), shipped.path, &err));
    check_says(&err, "mine.ini:1: ");
    folder_remove(&shipped, LIST("base.ini"));
    folder_remove(&own, LIST("base.ini", "mine.ini"));
}

static void an_unknown_name_lists_those_there_are(void **state)
{
    (void)state;
    struct folder folder;
    struct system system;
    struct err err;
    folder_make(&folder);
    folder_write(&folder, "one.ini", "[gpu]\n");
    folder_write(&folder, "two.ini", "[gpu]\n");
    assert_false(system_load(&system, "three", folder.path, &err));
    check_says(&err, "there is no system 'three'; there are one and two");
    assert_false(system_load(&system, "three", "/there/is/no/folder", &err));
    check_says(&err, "HEDDLE_HOME");
    assert_false(system_load(&system, "/there/is/none.ini", NULL, &err));
    folder_remove(&folder, LIST("one.ini", "two.ini"));
}

/* The words of the rows that choose a policy are those of the policies, in their order. */
static void check_policies(const struct param_group *group, const char *name)
{
    static const char *const policies[] = {
#define X(name, text, help) text,
        REPLACE_POLICIES(X)
#undef X
    };
    struct text words = {0}, range = {0};
    for (size_t i = 0; i < COUNT_OF(policies); i++)
        text_add(&words, "%s%s", i ? "|" : "", policies[i]);
    size_t r = 0;
    while (strcmp(group->rows[r].name, name) != 0)
        r++;
    param_print_range(&group->rows[r], &range);
    assert_string_equal(range.at, words.at);
    text_fini(&words);
    text_fini(&range);
}

static void caches_can_have_every_policy(void **state)
{
    (void)state;
    check_policies(&l2_params, "policy");
    check_policies(&sm_params, "l1_policy");
}

static void settings_win_over_the_description(void **state)
{
    (void)state;
    struct system system;
    struct err err;
    load(&system, NULL, NULL);
    assert_true(system_set(&system, "gpu.sm_count=7", &err));
    assert_int_equal(system.gpu.sm_count, 7);
    assert_false(system_set(&system, "gpu.sms=7", &err));
    check_says(&err, "has no key");
    assert_false(system_set(&system, "system.gpus=65", &err));
    system_fini(&system);
}

static void queries_tell_of_the_l2_that_is_simulated(void **state)
{
    (void)state;
    struct system system;
    struct err err;
    load(&system, "a100", own_folder());
    assert_int_equal(system.gpu.l2, 40 << 20);
    assert_true(system_set(&system, "l2.bytes=20MiB", &err));
    assert_int_equal(system.gpu.l2, 20 << 20);
    assert_false(system_set(&system, "gpu.l2=20MiB", &err));
    assert_string_equal(err.text, "--set: gpu.l2 is now l2.bytes");
    system_fini(&system);
    load(&system, "tesla", own_folder());
    assert_int_equal(system.gpu.l2, 0);
    system_fini(&system);
}

static void settings_know_where_they_show(void **state)
{
    (void)state;
    assert_int_equal(system_shows("gpu.sm_count=4"), SHOWS_IN_QUERIES_AND_TIME);
    assert_int_equal(system_shows("gpu.memory=1GiB"), SHOWS_ANYWHERE);
    assert_int_equal(system_shows("system.gpus=2"), SHOWS_ANYWHERE);
    assert_int_equal(system_shows("system.launch_time=0"), SHOWS_IN_TIME);
    assert_int_equal(system_shows("l2.bytes=1MiB"), SHOWS_IN_QUERIES_AND_TIME);
    assert_int_equal(system_shows("l2.ways=8"), SHOWS_IN_TIME);
    assert_int_equal(system_shows("dispatch.order=gpc"), SHOWS_IN_TIME);
    assert_int_equal(system_shows("nothing"), SHOWS_ANYWHERE);
    assert_int_equal(system_shows("gpu.nothing=1"), SHOWS_ANYWHERE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_description_it_is_an_h200),
        cmocka_unit_test(the_default_is_the_file_h200),
        cmocka_unit_test(every_description_can_be_read),
        cmocka_unit_test(a_path_is_read_as_it_is),
        cmocka_unit_test(a_description_can_include_one_by_its_name),
        cmocka_unit_test(an_unknown_name_lists_those_there_are),
        cmocka_unit_test(caches_can_have_every_policy),
        cmocka_unit_test(settings_win_over_the_description),
        cmocka_unit_test(queries_tell_of_the_l2_that_is_simulated),
        cmocka_unit_test(settings_know_where_they_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
