#include "base/treap.h"
#include "base/bits.h"
#include "base/err.h"
#include "base/mem.h"

void treap_fini(struct treap *tree)
{
    mem_free(tree->nodes);
    *tree = (struct treap){0};
}

/* Made of the key, so that the shape depends on the keys alone. */
static uint64_t rank_of(const struct treap_node *node)
{
    return digest_word(1, node->key) * UINT64_C(0xff51afd7ed558ccd);
}

static void sum_up(struct treap *tree, uint32_t i)
{
    struct treap_node *node = &tree->nodes[i];
    node->most = max_u64(node->weight, max_u64(tree->nodes[node->left].most, tree->nodes[node->right].most));
}

/* Keys below `key` to one tree, the others to another. */
static void split(struct treap *tree, uint32_t root, uint64_t key, uint32_t *low, uint32_t *high)
{
    if (!root) {
        *low = *high = 0;
        return;
    }
    struct treap_node *node = &tree->nodes[root];
    if (node->key < key) {
        *low = root;
        split(tree, node->right, key, &node->right, high);
    } else {
        *high = root;
        split(tree, node->left, key, low, &node->left);
    }
    sum_up(tree, root);
}

static uint32_t merge(struct treap *tree, uint32_t low, uint32_t high)
{
    if (!low || !high)
        return low ? low : high;
    struct treap_node *a = &tree->nodes[low], *b = &tree->nodes[high];
    bool low_first = rank_of(a) >= rank_of(b);
    uint32_t root = low_first ? low : high;
    if (low_first)
        a->right = merge(tree, a->right, high);
    else
        b->left = merge(tree, low, b->left);
    sum_up(tree, root);
    return root;
}

static uint32_t insert(struct treap *tree, uint32_t root, uint32_t added)
{
    struct treap_node *node = &tree->nodes[root], *new = &tree->nodes[added];
    if (!root || rank_of(new) > rank_of(node)) {
        split(tree, root, new->key, &new->left, &new->right);
        root = added;
    } else if (new->key < node->key) {
        node->left = insert(tree, node->left, added);
    } else {
        node->right = insert(tree, node->right, added);
    }
    sum_up(tree, root);
    return root;
}

uint32_t treap_add(struct treap *tree, uint64_t key, uint64_t weight)
{
    uint32_t added = tree->unused;
    if (added) {
        tree->unused = tree->nodes[added].right;
    } else {
        if (!tree->used) { /* number 0 stands for none */
            mem_grow(tree->nodes, tree->used, tree->capacity);
            tree->used++;
        }
        mem_grow(tree->nodes, tree->used, tree->capacity);
        REQUIRE(tree->used < UINT32_MAX);
        added = (uint32_t)tree->used++;
    }
    tree->nodes[added] = (struct treap_node){.key = key, .weight = weight};
    tree->root = insert(tree, tree->root, added);
    tree->count++;
    return added;
}

static uint32_t find_exactly(const struct treap *tree, uint64_t key)
{
    uint32_t found = treap_up_to(tree, key);
    REQUIRE(found && tree->nodes[found].key == key);
    return found;
}

static uint32_t without(struct treap *tree, uint32_t root, uint32_t removed)
{
    struct treap_node *node = &tree->nodes[root];
    if (root == removed)
        return merge(tree, node->left, node->right);
    if (tree->nodes[removed].key < node->key)
        node->left = without(tree, node->left, removed);
    else
        node->right = without(tree, node->right, removed);
    sum_up(tree, root);
    return root;
}

void treap_remove(struct treap *tree, uint64_t key)
{
    uint32_t removed = find_exactly(tree, key);
    tree->root = without(tree, tree->root, removed);
    tree->nodes[removed] = (struct treap_node){.right = tree->unused};
    tree->unused = removed;
    tree->count--;
}

static void sum_up_to(struct treap *tree, uint32_t root, uint64_t key)
{
    struct treap_node *node = &tree->nodes[root];
    if (node->key != key)
        sum_up_to(tree, key < node->key ? node->left : node->right, key);
    sum_up(tree, root);
}

void treap_weigh(struct treap *tree, uint64_t key, uint64_t weight)
{
    tree->nodes[find_exactly(tree, key)].weight = weight;
    sum_up_to(tree, tree->root, key);
}

uint32_t treap_up_to(const struct treap *tree, uint64_t key)
{
    uint32_t found = 0;
    for (uint32_t at = tree->root; at;) {
        const struct treap_node *node = &tree->nodes[at];
        found = node->key <= key ? at : found;
        at = node->key <= key ? node->right : node->left;
    }
    return found;
}

uint32_t treap_behind(const struct treap *tree, uint64_t key)
{
    uint32_t found = 0;
    for (uint32_t at = tree->root; at;) {
        const struct treap_node *node = &tree->nodes[at];
        found = node->key > key ? at : found;
        at = node->key > key ? node->left : node->right;
    }
    return found;
}

uint32_t treap_heavy(const struct treap *tree, uint64_t weight)
{
    uint32_t at = tree->root;
    while (at && tree->nodes[at].most >= weight) {
        const struct treap_node *node = &tree->nodes[at];
        if (node->left && tree->nodes[node->left].most >= weight)
            at = node->left;
        else if (node->weight >= weight)
            return at;
        else
            at = node->right;
    }
    return 0;
}
