/* Programs after those of the Rodinia suite: what the CPU does between kernels is as much a part of them as
 * the kernels are. */
#ifndef BENCH_HETERO_RODINIA_H
#define BENCH_HETERO_RODINIA_H

#include "hetero.h"

void backprop(struct hetero *run);
void bfs(struct hetero *run);
void hotspot(struct hetero *run);
void kmeans(struct hetero *run);
void lud(struct hetero *run);
void nn(struct hetero *run);
void nw(struct hetero *run);
void pathfinder(struct hetero *run);
void srad(struct hetero *run);

#endif
