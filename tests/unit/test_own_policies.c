/* Policies that are added while the program runs: as words of parameters, in caches, and for pages. */
#include "check.h"
#include "base/lexicon.h"
#include "base/param.h"
#include "base/mem.h"
#include "cache/tags.h"
#include "paging/policy.h"

#include <sys/wait.h>
#include <unistd.h>

#define OWN_PARAMS(P, S) P(S, choice, policy, "lru", "lru|fifo|+tried", "which line leaves")
struct own_spec {
    OWN_PARAMS(PARAM_FIELD, own_spec)
};
PARAM_GROUP(own_params, "own", "a parameter that grows", own_spec, OWN_PARAMS);

static void check_range(const char *wanted)
{
    struct text range = {0};
    param_print_range(own_params.rows, &range);
    assert_string_equal(range.at, wanted);
    text_fini(&range);
}

static void words_follow_those_of_the_range(void **state)
{
    (void)state;
    struct err err;
    struct text printed = {0};
    uint32_t policy = 9;
    check_range("lru|fifo");
    assert_false(param_parse(own_params.rows, "mine", &policy, &err));
    assert_true(lexicon_add("tried", "mine", &err));
    assert_true(lexicon_add("tried", "yours", &err));
    check_range("lru|fifo|mine|yours");
    assert_true(param_parse(own_params.rows, "yours", &policy, &err));
    assert_int_equal(policy, 3);
    param_print(own_params.rows, &policy, &printed);
    assert_string_equal(printed.at, "yours");
    text_fini(&printed);
    assert_true(param_parse(own_params.rows, "fifo", &policy, &err));
    assert_int_equal(policy, 1);
    assert_false(param_parse(own_params.rows, "+tried", &policy, &err));
    assert_string_equal(err.text, "expected one of lru|fifo|mine|yours, not '+tried'");
}

static void odd_words_and_too_many_are_refused(void **state)
{
    (void)state;
    static const char *const odd[] = {"", "1st", "a b", "a|b", "+x", "-"};
    static char names[LEXICON_MOST][8];
    struct err err;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_false(lexicon_add("odd", odd[i], &err));
    for (unsigned i = 0; i < LEXICON_MOST; i++) {
        snprintf(names[i], sizeof names[i], "w%u", i);
        assert_true(lexicon_add("odd", names[i], &err));
    }
    assert_false(lexicon_add("odd", "more", &err));
}

/* ---- caches: the first way that may leave does ---- */

static void nothing(uint8_t *row, uint32_t ways, uint32_t way)
{
    row[way] += ways > 0;
}

static uint32_t first(uint8_t *row, uint32_t ways, uint64_t from, uint64_t seed)
{
    (void)row, (void)ways, (void)seed;
    return (uint32_t)__builtin_ctzll(from);
}

static uint32_t none(uint8_t *row, uint32_t ways, uint64_t from, uint64_t seed)
{
    (void)row, (void)from, (void)seed;
    return ways;
}

/* The exit status of a process of its own that does this. */
static int status_of(void (*act)(void))
{
    int status = 0;
    pid_t child = fork();
    if (!child) {
        close(STDERR_FILENO);
        act();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static uint32_t add(const char *name, uint32_t (*choose)(uint8_t *, uint32_t, uint64_t, uint64_t))
{
    struct err err;
    uint32_t policy;
    struct replace_own own = {name, "a test's", nothing, nothing, choose};
    assert_true(replace_own_add(&own, &err));
    assert_true(replace_find(name, &policy));
    assert_string_equal(replace_name(policy), name);
    return policy;
}

static uint32_t wrong_policy;

static void evict_wrongly(void)
{
    struct tags *tags = tags_new(&(struct tags_spec){.sets = 1, .ways = 2, .policy = wrong_policy});
    for (uint64_t line = 0; line < 3; line++)
        tags_fill(tags, tags_victim(tags, line), line, TAGS_NORMAL);
}

static void caches_ask_them(void **state)
{
    (void)state;
    struct err err;
    uint32_t policy = add("first", first);
    struct tags *tags = tags_new(&(struct tags_spec){.sets = 1, .ways = 4, .policy = policy});
    for (uint64_t line = 0; line < 4; line++)
        tags_fill(tags, tags_victim(tags, line), line, TAGS_NORMAL);
    assert_int_equal(tags_victim(tags, 9), 0);
    tags_pin(tags, 0);
    assert_int_equal(tags_victim(tags, 9), 1);
    tags_free(tags);
    assert_false(replace_own_add(&(struct replace_own){"lru", "taken", nothing, nothing, first}, &err));
    assert_false(replace_own_add(&(struct replace_own){"first", "twice", nothing, nothing, first}, &err));
    assert_false(replace_own_add(&(struct replace_own){"half", "lacks one", nothing, NULL, first}, &err));
    wrong_policy = add("wrong", none);
    assert_int_equal(status_of(evict_wrongly), 1);
}

/* ---- pages: plans are checked ---- */

static struct page_plan given;

static struct page_plan plan_given(const void *user, const struct page *page, const struct page_want *want,
                                   uint32_t least_shift)
{
    (void)user, (void)page, (void)want, (void)least_shift;
    return given;
}

static const struct page_policy_row own_row = {.own = plan_given, .name = "given"};
static enum page_right wanted;

/* GPU 0 wants a page that GPUs 1 and 2 hold. */
static void plan(void)
{
    struct page page = {.at = 4096, .holders = 6, .shift = 12};
    page_policy_plan(&own_row, &page, &(struct page_want){4096, 0, wanted}, 12);
}

static int status_of_plan(enum page_right right, struct page_plan what)
{
    wanted = right;
    given = what;
    return status_of(plan);
}

static void plans_for_pages_are_checked(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(0, status_of_plan(PAGE_READ, (struct page_plan){.source = 1, .right = PAGE_READ}));
    assert_int_equal(
        0, status_of_plan(PAGE_WRITE, (struct page_plan){.source = 2, .drops = 6, .right = PAGE_WRITE}));
    assert_int_equal(
        1, status_of_plan(PAGE_WRITE, (struct page_plan){.source = 2, .drops = 4, .right = PAGE_WRITE}));
    assert_int_equal(
        1, status_of_plan(PAGE_WRITE, (struct page_plan){.source = 2, .drops = 6, .right = PAGE_READ}));
    assert_int_equal(1, status_of_plan(PAGE_READ, (struct page_plan){.source = 3, .right = PAGE_READ}));
    assert_int_equal(1, status_of_plan(PAGE_READ, (struct page_plan){.source = 99, .right = PAGE_READ}));
    assert_int_equal(
        1, status_of_plan(PAGE_READ, (struct page_plan){.source = PAGE_NOBODY, .right = PAGE_READ}));
    assert_int_equal(
        1, status_of_plan(PAGE_READ, (struct page_plan){.source = 1, .drops = 1, .right = PAGE_READ}));
    assert_int_equal(
        1, status_of_plan(PAGE_READ, (struct page_plan){.splits = true, .source = 1, .right = PAGE_READ}));
    assert_true(page_policy_add(&own_row, &err));
    assert_ptr_equal(page_policies[PAGE_POLICY_OWN].own, plan_given);
    assert_false(page_policy_add(&own_row, &err));
    assert_false(page_policy_add(&(struct page_policy_row){.own = plan_given, .name = "none"}, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_follow_those_of_the_range),
        cmocka_unit_test(odd_words_and_too_many_are_refused),
        cmocka_unit_test(caches_ask_them),
        cmocka_unit_test(plans_for_pages_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
