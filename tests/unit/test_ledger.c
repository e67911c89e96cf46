/* What a process leaves of its launches, and what is read of it. */
#include "check.h"
#include "base/file.h"
#include "driver/driver.h"
#include "driver/ledger.h"
#include "report/launches/launches.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

static void places_are_read_as_they_were_written(void **state)
{
    (void)state;
    struct code_place odd = {.file = "a\ttab, a \\ and\na \"line\".cu",
                             .function = "_Z1fv",
                             .kernel = "k",
                             .module = "./x",
                             .instruction = "atom.shared.add.u32",
                             .line = 5,
                             .ptx_line = 29,
                             .is_atomic = true,
                             .is_shared = true,
                             .steps = {[UNIT_LSU] = 255, [UNIT_CALL] = 1}};
    struct code_place end = {.kernel = "k", .module = "./x", .instruction = "end"};
    struct ledger_place_list list = {0};
    struct text text = {0};
    ledger_place_text_add(&text, &odd);
    const struct code_place *back = ledger_place_list_read(&list, text.at);
    assert_string_equal(back->file, odd.file);
    assert_string_equal(back->function, "_Z1fv");
    assert_string_equal(back->instruction, "atom.shared.add.u32");
    assert_int_equal(back->line, 5);
    assert_int_equal(back->ptx_line, 29);
    assert_true(back->is_atomic && back->is_shared);
    assert_memory_equal(back->steps, odd.steps, sizeof odd.steps);
    assert_ptr_equal(ledger_place_list_read(&list, text.at), back);
    text.length = 0;
    ledger_place_text_add(&text, &end);
    const struct code_place *last = ledger_place_list_read(&list, text.at);
    assert_ptr_not_equal(last, back);
    assert_null(last->file);
    text.at[text.length - 3] = 0; /* cut short */
    assert_null(ledger_place_list_read(&list, text.at));
    text_fini(&text);
    ledger_place_list_fini(&list);
}

static void the_longest_launch_is_the_same_in_any_order(void **state)
{
    (void)state;
    struct gpu_kernel_stats slow = {.start_ps = 100, .end_ps = 200}, fast = {.start_ps = 500, .end_ps = 599};
    struct launch_numbers many = {.thread_instructions = 9}, few = {.thread_instructions = 8, .launch = 1};
    struct launch_numbers large = {.grid = {1, 2}, .launch = 2}, small = {.grid = {1, 1}, .launch = 1};
    struct launch_numbers late = small;
    late.launch = 7;
    assert_true(ledger_is_longer((struct launch_span){&few, &slow}, (struct launch_span){&many, &fast}));
    assert_false(ledger_is_longer((struct launch_span){&many, &fast}, (struct launch_span){&few, &slow}));
    assert_true(ledger_is_longer((struct launch_span){&many, NULL}, (struct launch_span){&few, NULL}));
    assert_true(ledger_is_longer((struct launch_span){&large, NULL}, (struct launch_span){&small, NULL}));
    assert_false(ledger_is_longer((struct launch_span){&small, NULL}, (struct launch_span){&large, NULL}));
    assert_true(ledger_is_longer((struct launch_span){&small, NULL}, (struct launch_span){&late, NULL}));
}

/* ---- files ---- */

static int left_make(void **state)
{
    static struct folder folder;
    struct launch_losses none = {0};
    folder_make(&folder);
    *state = &folder;
    FILE *file = fopen(folder_file(&folder, LEDGER_LOSSES), "w");
    size_t wrote = file ? fwrite(&none, sizeof none, 1, file) : 0;
    return file && wrote && !fclose(file) ? 0 : -1;
}

/* The file of this ending; all of them, with the folder, when `remove` is set. */
static void find_file(const struct folder *folder, const char *ending, char path[400], bool remove)
{
    DIR *all = opendir(folder->path);
    assert_non_null(all);
    for (struct dirent *entry; (entry = readdir(all));) {
        char name[400];
        snprintf(name, sizeof name, "%s/%s", folder->path, entry->d_name);
        if (remove)
            unlink(name);
        else if (strstr(entry->d_name, ending))
            memcpy(path, name, sizeof name);
    }
    closedir(all);
    if (remove)
        rmdir(folder->path);
}

static int left_remove(void **state)
{
    find_file(*state, "", NULL, true);
    return 0;
}

static void write_launches(const struct folder *folder, uint64_t count)
{
    struct ledger_folder *files = ledger_folder_new(folder->path, 0, UINT64_MAX);
    for (uint64_t i = 0; i < count; i++) {
        struct launch_record record = {.kernel = i % 2 ? "odd" : "even",
                                       .launch = count - 1 - i, /* they end in another order */
                                       .grid = {(uint32_t)i + 1, 1, 1},
                                       .block = {32, 1, 1},
                                       .thread_instructions = 100 - i};
        ledger_folder_begin(files, 0);
        ledger_folder_add(files, &record, 0);
    }
    ledger_folder_free(files);
}

struct seen {
    uint64_t count, grids;
};

static void see(void *user, const struct launch_one *one)
{
    struct seen *seen = user;
    assert_int_equal(one->numbers.launch, seen->count);
    assert_string_equal(one->kernel, one->numbers.grid[0] % 2 ? "even" : "odd");
    assert_false(one->timed);
    seen->count++;
    seen->grids += one->numbers.grid[0];
}

static void launches_come_back_in_their_order(void **state)
{
    struct launches launches = {0};
    struct seen seen = {0};
    struct err err;
    write_launches(*state, 3);
    assert_true(launches_read(((struct folder *)*state)->path, &launches, &err));
    launches_each(&launches, see, &seen);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.grids, 1 + 2 + 3);
    assert_int_equal(launches_kept(&launches), 3);
    assert_int_equal(launches.count, 3);
    assert_int_equal(launches.kernel_count, 2);
    assert_string_equal(launches.kernels[0].name, "even");
    assert_int_equal(launches.kernels[0].launches, 2);
    assert_int_equal(launches.kernels[0].longest.numbers.grid[0], 1);
    launches_fini(&launches);
}

/* A process that was killed while it wrote leaves part of an entry, which does not count. */
static void an_entry_that_was_cut_is_left_out(void **state)
{
    struct launches launches = {0};
    struct text content = {0};
    struct err err;
    char path[400] = "";
    write_launches(*state, 3);
    find_file(*state, ".launches", path, false);
    assert_true(file_read(path, 1 << 20, &content, &err));
    assert_int_equal(truncate(path, (off_t)content.length - 1), 0);
    assert_true(launches_read(((struct folder *)*state)->path, &launches, &err));
    assert_int_equal(launches_kept(&launches), 2);
    launches_fini(&launches);
    text_fini(&content);
}

static void files_of_another_build_are_refused(void **state)
{
    struct launches launches = {0};
    struct err err;
    char path[400] = "";
    write_launches(*state, 1);
    find_file(*state, ".launches", path, false);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fputs("another!", file);
    fclose(file);
    assert_false(launches_read(((struct folder *)*state)->path, &launches, &err));
    assert_non_null(strstr(err.text, "of another build"));
    launches_fini(&launches);
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, left_make, left_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_read_as_they_were_written),
        cmocka_unit_test(the_longest_launch_is_the_same_in_any_order),
        FOLDER_TEST(launches_come_back_in_their_order),
        FOLDER_TEST(an_entry_that_was_cut_is_left_out),
        FOLDER_TEST(files_of_another_build_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
