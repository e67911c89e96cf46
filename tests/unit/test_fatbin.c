#include "check.h"
#include "base/mem.h"
#include "driver/fatbin.h"
#include "fatbin_make.h"

static const char ptx75[] =
    ".version 7.0 .target sm_75 // a text that is long enough to be packed, packed, packed";
static const char ptx90[] =
    ".version 8.0 .target sm_90 // a text that is long enough to be packed, packed, packed";

static void check_unpacks(const struct fatbin_entry *entry, const char *expected, size_t bytes)
{
    struct err err;
    size_t got;
    char *image = fatbin_unpack(entry, 1 << 20, &got, &err);
    if (!image)
        fail_msg("%s", err.text);
    assert_true(got >= bytes); /* padding may follow what is not packed */
    assert_memory_equal(image, expected, bytes);
    assert_int_equal(image[got], 0);
    mem_free(image);
}

static void images_unpack_however_they_are_packed(void **state)
{
    (void)state;
    static const uint64_t ways[] = {MAKE_RAW, MAKE_ZSTD, MAKE_LZ4};
    for (size_t i = 0; i < 3; i++) {
        struct text fatbin = {0};
        struct fatbin_choice choice;
        struct err err;
        fatbin_begin(&fatbin);
        fatbin_entry(&fatbin, FATBIN_PTX, 75, ways[i] | 0x11, ptx75, sizeof ptx75);
        assert_true(fatbin_choose(fatbin.at, fatbin.length, 90, &choice, &err));
        check_unpacks(&choice.ptx, ptx75, sizeof ptx75);
        text_fini(&fatbin);
    }
}

static void choose(const uint32_t *archs, const uint64_t *flags, size_t count, uint32_t device,
                   struct fatbin_choice *choice)
{
    struct text fatbin = {0};
    struct err err;
    fatbin_begin(&fatbin);
    for (size_t i = 0; i < count; i++)
        fatbin_entry(&fatbin, FATBIN_PTX, archs[i], flags[i], ptx75, sizeof ptx75);
    assert_true(fatbin_choose(fatbin.at, fatbin.length, device, choice, &err));
    text_fini(&fatbin); /* the test looks at numbers only */
}

static void the_highest_ptx_that_the_device_runs_is_chosen(void **state)
{
    (void)state;
    struct fatbin_choice choice;
    choose((const uint32_t[]){75, 90, 80, 100}, (const uint64_t[]){0, 0, 0, 0}, 4, 90, &choice);
    assert_int_equal(choice.ptx.arch, 90);
    choose((const uint32_t[]){75, 90, 80, 100}, (const uint64_t[]){0, 0, 0, 0}, 4, 86, &choice);
    assert_int_equal(choice.ptx.arch, 80);
    choose((const uint32_t[]){100, 120}, (const uint64_t[]){0, 0}, 2, 90, &choice);
    assert_null(choice.ptx.at);
    assert_int_equal(choice.ptx_found, 100);
}

static void ptx_for_one_architecture_is_for_that_alone(void **state)
{
    (void)state;
    enum { A = 0x100000, F = 0x200000 };
    struct fatbin_choice choice;
    choose((const uint32_t[]){75, 80}, (const uint64_t[]){0, A}, 2, 90, &choice);
    assert_int_equal(choice.ptx.arch, 75);
    choose((const uint32_t[]){90, 90}, (const uint64_t[]){A, 0}, 2, 90, &choice);
    assert_true(choice.ptx.exact);
    choose((const uint32_t[]){100}, (const uint64_t[]){F}, 1, 103, &choice);
    assert_int_equal(choice.ptx.arch, 100);
    choose((const uint32_t[]){100}, (const uint64_t[]){F}, 1, 120, &choice);
    assert_null(choice.ptx.at);
}

static void the_nearest_machine_code_tells_registers(void **state)
{
    (void)state;
    struct text fatbin = {0};
    struct fatbin_choice choice;
    struct err err;
    fatbin_begin(&fatbin);
    fatbin_entry(&fatbin, FATBIN_CUBIN, 120, 0, "x", 1);
    fatbin_entry(&fatbin, FATBIN_CUBIN, 75, 0, "x", 1);
    fatbin_entry(&fatbin, FATBIN_CUBIN, 80, 0, "x", 1);
    fatbin_entry(&fatbin, 8, 90, 0, "x", 1); /* of another kind: passed over */
    assert_true(fatbin_choose(fatbin.at, fatbin.length, 90, &choice, &err));
    assert_int_equal(choice.cubin.arch, 80);
    assert_true(fatbin_choose(fatbin.at, fatbin.length, 70, &choice, &err));
    assert_int_equal(choice.cubin.arch, 120);
    assert_int_equal(choice.cubin_found, 120);
    assert_null(choice.ptx.at);
    text_fini(&fatbin);
}

static void later_ptx_stands_in_for_machine_code_of_the_device(void **state)
{
    (void)state;
    struct text fatbin = {0};
    struct fatbin_choice choice;
    struct err err;
    fatbin_begin(&fatbin); /* as -arch=all-major has it */
    fatbin_entry(&fatbin, FATBIN_CUBIN, 80, 0, "x", 1);
    fatbin_entry(&fatbin, FATBIN_CUBIN, 90, 0, "x", 1);
    fatbin_entry(&fatbin, FATBIN_PTX, 120, 0, ptx90, sizeof ptx90);
    assert_true(fatbin_choose(fatbin.at, fatbin.length, 90, &choice, &err));
    assert_int_equal(choice.ptx.arch, 120);
    assert_true(choice.too_new);
    assert_true(fatbin_choose(fatbin.at, fatbin.length, 70, &choice, &err));
    assert_null(choice.ptx.at);
    text_fini(&fatbin);
}

static void note(void *user, const char *name, uint32_t registers)
{
    text_add(user, "%s=%u ", name, registers);
}

static void machine_code_names_its_kernels(void **state)
{
    (void)state;
    struct text cubin = {0}, notes = {0};
    cubin_make(&cubin, "saxpy", 12);
    assert_true(cubin_registers(cubin.at, cubin.length, note, &notes));
    assert_string_equal(notes.at, "saxpy=12 ");
    text_fini(&cubin);
    text_fini(&notes);
}

static void ignore_entry(struct fatbin_entry *entry)
{
    struct err err;
    size_t bytes;
    if (entry->at)
        mem_free(fatbin_unpack(entry, 1 << 16, &bytes, &err));
}

/* The same bytes, at the end of a piece of memory of their own: a read beyond them is found by the sanitizer.
 */
static void use_exactly(const char *bytes, size_t length)
{
    struct fatbin_choice choice;
    struct text notes = {0};
    struct err err;
    char *copy = memcpy(mem_alloc(length, 1), bytes, length);
    if (fatbin_choose(copy, length, 90, &choice, &err)) {
        ignore_entry(&choice.ptx);
        ignore_entry(&choice.cubin);
    }
    cubin_registers(copy, length, note, &notes);
    text_fini(&notes);
    mem_free(copy);
}

static void cut_anywhere_nothing_is_read_beyond_the_end(void **state)
{
    (void)state;
    struct text fatbin = {0}, cubin = {0};
    cubin_make(&cubin, "saxpy", 12);
    fatbin_begin(&fatbin);
    fatbin_entry(&fatbin, FATBIN_PTX, 75, MAKE_ZSTD, ptx75, sizeof ptx75);
    fatbin_entry(&fatbin, FATBIN_PTX, 90, MAKE_LZ4, ptx90, sizeof ptx90);
    fatbin_entry(&fatbin, FATBIN_CUBIN, 90, 0, cubin.at, cubin.length);
    for (size_t length = 0; length < fatbin.length; length++) {
        uint64_t claimed = length > 16 ? length - 16 : 0;
        use_exactly(fatbin.at, length); /* it claims more than it has */
        memcpy(fatbin.at + 8, &claimed, 8);
        use_exactly(fatbin.at, length); /* it ends in an entry */
    }
    for (size_t length = 0; length < cubin.length; length++)
        use_exactly(cubin.at, length);
    text_fini(&fatbin);
    text_fini(&cubin);
}

static void with_any_byte_wrong_nothing_is_read_beyond_the_end(void **state)
{
    (void)state;
    struct text fatbin = {0}, cubin = {0};
    cubin_make(&cubin, "saxpy", 12);
    fatbin_begin(&fatbin);
    fatbin_entry(&fatbin, FATBIN_PTX, 75, MAKE_ZSTD, ptx75, sizeof ptx75);
    fatbin_entry(&fatbin, FATBIN_CUBIN, 90, MAKE_LZ4, cubin.at, cubin.length);
    struct text *both[] = {&fatbin, &cubin};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < both[k]->length; i++) {
            char kept = both[k]->at[i];
            for (int value = 1; value < 256; value *= 2) {
                both[k]->at[i] = (char)(kept ^ value);
                use_exactly(both[k]->at, both[k]->length);
            }
            both[k]->at[i] = (char)0xff;
            use_exactly(both[k]->at, both[k]->length);
            both[k]->at[i] = kept;
        }
    }
    text_fini(&fatbin);
    text_fini(&cubin);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    struct text fatbin = {0};
    struct fatbin_choice choice;
    struct err err;
    size_t bytes;
    assert_false(fatbin_choose("no fatbin at all", 16, 90, &choice, &err));
    check_says(&err, "this is no fatbin");
    fatbin_begin(&fatbin);
    fatbin_entry(&fatbin, FATBIN_PTX, 75, MAKE_ZSTD, ptx75, sizeof ptx75);
    assert_false(fatbin_choose(fatbin.at, fatbin.length - 1, 90, &choice, &err));
    check_says(&err, "claims");
    assert_true(fatbin_choose(fatbin.at, fatbin.length, 90, &choice, &err));
    assert_null(fatbin_unpack(&choice.ptx, 10, &bytes, &err));
    check_says(&err, "more than the 10 that are taken");
    choice.ptx.unpacked_bytes--;
    assert_null(fatbin_unpack(&choice.ptx, 1000, &bytes, &err));
    check_says(&err, "does not unpack");
    text_fini(&fatbin);
}

static void an_empty_fatbin_holds_nothing(void **state)
{
    (void)state;
    struct text fatbin = {0};
    struct fatbin_choice choice;
    struct err err;
    fatbin_begin(&fatbin);
    assert_true(fatbin_choose(fatbin.at, fatbin.length, 90, &choice, &err));
    assert_null(choice.ptx.at);
    assert_int_equal(choice.cubin_found, 0);
    text_fini(&fatbin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_unpack_however_they_are_packed),
        cmocka_unit_test(the_highest_ptx_that_the_device_runs_is_chosen),
        cmocka_unit_test(ptx_for_one_architecture_is_for_that_alone),
        cmocka_unit_test(the_nearest_machine_code_tells_registers),
        cmocka_unit_test(later_ptx_stands_in_for_machine_code_of_the_device),
        cmocka_unit_test(machine_code_names_its_kernels),
        cmocka_unit_test(cut_anywhere_nothing_is_read_beyond_the_end),
        cmocka_unit_test(with_any_byte_wrong_nothing_is_read_beyond_the_end),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(an_empty_fatbin_holds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
