/* What ranks know of a kernel, each of its own SMs, becomes what all know. All ranks call these, between
 * runs; with one rank (or NULL) they change nothing. */
#ifndef GPU_COMBINE_H
#define GPU_COMBINE_H

#include "base/text.h"
#include "exec/exec.h"
#include "gpu/stats.h"
#include "ranks/ranks.h"

/* Counts and the profile; `fault_sm` is the SM that the fault of `result` is of, and of several the first
 * counts. */
void combine_counts(struct ranks *ranks, struct launch_result *result, struct gpu_kernel_stats *stats,
                    uint32_t fault_sm);

/* The text of the first SM that has one (UINT32_MAX: none here). True: some has. */
bool combine_text(struct ranks *ranks, uint32_t sm, struct text *text);

/* What kernels printed: pieces in the order of time, then of SMs. */
struct print_piece {
    uint64_t cycle, bytes;
    uint32_t sm;
};
void combine_add_piece(struct text *pieces, const struct print_piece *piece, const char *text);

/* Calls for all pieces of all ranks, in their order; on rank 0 alone. */
typedef void combine_print_fn(void *user, const char *text, size_t bytes);
void combine_prints(struct ranks *ranks, const struct text *pieces, combine_print_fn *print, void *user);

#endif
