/* Which launches of a kernel are compared with each other: those of one shape (grid and block) in their
 * order. Those whose shape the other run does not have are paired in their order, too: the program was
 * changed there. */
#ifndef COMPARE_PAIRING_H
#define COMPARE_PAIRING_H

#include "base/text.h"
#include "report/compare/compare.h"

struct launch_group {
    struct text shape; /* "(8, 1, 1)x(256, 1, 1)"; where it changed, both */
    bool changed;
    struct launch_list before, after; /* pairs: both have as many */
};

/* Launches that have no partner, of one shape. */
struct launch_rest {
    struct text shape;
    bool in_before;
    size_t count;
};

struct pairing {
    struct launch_group *groups; /* in the order in which they come in the baseline */
    size_t group_count, group_capacity;
    struct launch_rest *rests;
    size_t rest_count, rest_capacity;
    size_t shapes; /* different ones, of both runs */
};

void pairing_make(struct pairing *pairing, const struct launch_list *before, const struct launch_list *after);
void pairing_fini(struct pairing *pairing);

/* As many launches, of the same shapes in the same order; and some. */
bool pairing_is_alike(const struct launch_list *a, const struct launch_list *b);

#endif
