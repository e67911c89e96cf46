/* Many L1s of different sizes at once, over the same accesses: where lines that left were the least recently
 * used, a set of n ways holds the n lines of it that were used last. So one stack of lines for each set has
 * the counts of all numbers of ways; and a line on top of its stack is on top, too, where there are more
 * sets, so that most accesses are done with at the first few numbers of sets.
 *
 * Counts are those of the caches one by one, to the last one. */
#ifndef CACHESIM_CPU_STACK_H
#define CACHESIM_CPU_STACK_H

#include "cachesim/caches.h"

struct stacks;

/* Whether caches are of this kind: L1s alone, lru, that do not snoop. */
bool stacks_can(const struct caches_spec *spec);

/* All of them take the same accesses; those with fewer tiles the first ones. */
struct stacks *stacks_new(const struct caches_spec *const *specs, size_t count, unsigned threads);
void stacks_free(struct stacks *stacks);

void stacks_run(struct stacks *stacks, const struct caches_batch *batch);

/* Of specs[number]. */
void stacks_count(const struct stacks *stacks, size_t number, struct caches_result *result);

#endif
