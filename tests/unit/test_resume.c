/* Files of machines that were saved in the middle of a kernel: whatever is in them, they are taken or
 * refused. */
#include "check.h"
#include "../fuzz/resume.h"
#include "base/rng.h"

static struct resume resume;

static void a_good_file_is_taken(void **state)
{
    (void)state;
    assert_true(resume_try(&resume));
}

/* Bytes anywhere, and most often small numbers, as counts and links are. */
static void changed_files_do_no_harm(void **state)
{
    (void)state;
    struct rng rng;
    size_t taken = 0;
    char *good = mem_alloc(resume.content.length, 1);
    memcpy(good, resume.content.at, resume.content.length);
    rng_init(&rng, 1, "resume");
    for (int i = 0; i < 1000; i++) {
        for (uint64_t n = 1 + rng_below(&rng, 3); n; n--)
            resume.content.at[rng_below(&rng, resume.content.length)] = (char)rng_next(&rng);
        taken += resume_try(&resume);
        memcpy(resume.content.at, good, resume.content.length);
    }
    mem_free(good);
    assert_in_range(taken, 1, 999); /* registers may be anything; links may not */
}

static void files_cut_short_are_refused(void **state)
{
    (void)state;
    size_t length = resume.content.length;
    for (size_t cut = 1; cut < length; cut = cut * 3 / 2 + 1) {
        resume.content.length = length - cut;
        assert_false(resume_try(&resume));
    }
    resume.content.length = length;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_file_is_taken),
        cmocka_unit_test(changed_files_do_no_harm),
        cmocka_unit_test(files_cut_short_are_refused),
    };
    resume_init(&resume);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    resume_fini(&resume);
    return failed;
}
