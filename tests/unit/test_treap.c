/* Numbers in order, with weights: against a plain array. */
#include "check.h"
#include "base/rng.h"
#include "base/treap.h"

enum { KEYS = 500 };

static uint64_t key_of(const struct treap *tree, uint32_t element)
{
    return element ? tree->nodes[element].key : UINT64_MAX;
}

static void an_empty_tree_has_nothing(void **state)
{
    (void)state;
    struct treap tree = {0};
    assert_int_equal(treap_up_to(&tree, 7), 0);
    assert_int_equal(treap_behind(&tree, 0), 0);
    assert_int_equal(treap_heavy(&tree, 0), 0);
    treap_fini(&tree);
}

static void check_all(const struct treap *tree, const bool *there, const uint64_t *weights)
{
    for (uint64_t key = 0, below = UINT64_MAX; key < KEYS; key++) {
        below = there[key] ? key : below;
        uint64_t above = key + 1, heavy = 0;
        while (above < KEYS && !there[above])
            above++;
        while (heavy < KEYS && !(there[heavy] && weights[heavy] >= key))
            heavy++;
        assert_int_equal(key_of(tree, treap_up_to(tree, key)), below);
        assert_int_equal(key_of(tree, treap_behind(tree, key)), above < KEYS ? above : UINT64_MAX);
        assert_int_equal(key_of(tree, treap_heavy(tree, key)), heavy < KEYS ? heavy : UINT64_MAX);
    }
}

static void it_is_as_an_array(void **state)
{
    (void)state;
    struct treap tree = {0};
    struct rng rng;
    rng_init(&rng, 1, "tree");
    bool there[KEYS] = {false};
    uint64_t weights[KEYS] = {0};
    size_t count = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t key = rng_next(&rng) % KEYS, weight = rng_next(&rng) % KEYS;
        if (!there[key]) {
            treap_add(&tree, key, weights[key] = weight);
            there[key] = true;
        } else if (weight % 2) {
            treap_remove(&tree, key);
            there[key] = false;
        } else {
            treap_weigh(&tree, key, weights[key] = weight);
        }
        count = 0;
        for (int k = 0; k < KEYS; k++)
            count += there[k];
        assert_int_equal(tree.count, count);
        if (i % 500 == 0)
            check_all(&tree, there, weights);
    }
    assert_true(tree.capacity <= 1024); /* removed elements are used again */
    treap_fini(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_tree_has_nothing),
        cmocka_unit_test(it_is_as_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
