/* An ordered set of keys with weights: a treap, so every operation takes logarithmic time. An element has an
 * index, from 1 on, until it is removed. To attach data to elements, keep an array of `capacity` entries, by
 * that index. */
#ifndef BASE_TREAP_H
#define BASE_TREAP_H

#include <stddef.h>
#include <stdint.h>

struct treap {
    struct treap_node {
        uint64_t key, weight, most; /* most: the largest weight in the subtree, its own included */
        uint32_t left, right;       /* 0: none */
    } * nodes;
    uint32_t root, unused; /* unused: removed elements, linked by `right` */
    size_t count, used, capacity;
};

void treap_fini(struct treap *tree);

uint32_t treap_add(struct treap *tree, uint64_t key, uint64_t weight); /* keys differ */
void treap_remove(struct treap *tree, uint64_t key);
void treap_weigh(struct treap *tree, uint64_t key, uint64_t weight); /* changes the weight */

/* These return an element, or 0 if there is none: the last one up to a key; the first one after it; the first
 * one of at least this weight. */
uint32_t treap_up_to(const struct treap *tree, uint64_t key);
uint32_t treap_behind(const struct treap *tree, uint64_t key);
uint32_t treap_heavy(const struct treap *tree, uint64_t weight);

#endif
