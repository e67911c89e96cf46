/* Numbers in order, each with a weight: a treap, so that all that is done takes the logarithm of the count.
 * An element is known by a number of its own, from 1 on, until it is removed; who keeps more of it has an
 * array by that number, with room for `capacity`. */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include <stddef.h>
#include <stdint.h>

struct tree {
    struct tree_node {
        uint64_t key, weight, most; /* most: of the weights of all below it and its own */
        uint32_t left, right;       /* 0: none */
    } * nodes;
    uint32_t root, unused; /* unused: removed elements, linked by `right` */
    size_t count, used, capacity;
};

void tree_fini(struct tree *tree);

uint32_t tree_add(struct tree *tree, uint64_t key, uint64_t weight); /* keys differ */
void tree_remove(struct tree *tree, uint64_t key);
void tree_weigh(struct tree *tree, uint64_t key, uint64_t weight); /* it has another weight now */

/* Elements, or 0 when there is none: the last up to a key; the first behind it; the first of this weight or
 * more. */
uint32_t tree_up_to(const struct tree *tree, uint64_t key);
uint32_t tree_behind(const struct tree *tree, uint64_t key);
uint32_t tree_heavy(const struct tree *tree, uint64_t weight);

#endif
