/* wgmma: products of matrices by the four warps of a group, which go on meanwhile. A warp's part occupies the
 * tensor core of its sub-core; what the group reads of shared memory is read once, for all four. */
#include "core/parts.h"
#include "base/bits.h"

enum { LINE_BYTES = 32, ROWS = 64, GROUP_WARPS = 4 };

/* Quarters of a cycle that a warp's part of the reads takes: columns of B, and rows of A. */
static uint64_t memory_quarters(const struct sm *sm, uint32_t told)
{
    uint64_t bytes = (told & PRODUCT_COLUMNS) * 8 * LINE_BYTES * (told & PRODUCT_IS_SPARSE ? 2 : 1);
    if (told & PRODUCT_READS_A)
        bytes += ROWS * LINE_BYTES;
    return bytes * 4 / GROUP_WARPS / sm->config.spec->wgmma_memory_bytes;
}

void sm_product_issued(struct sm *sm, struct sm_warp *w)
{
    const struct sm_spec *spec = sm->config.spec;
    uint64_t *tensor = &sm->subcores[w->place / SUBCORE_WARPS].unit_free[UNIT_TENSOR];
    uint64_t begins = *tensor - sm->cost[UNIT_TENSOR].interval; /* it has just been taken */
    uint64_t cycles = (w->timing->role_count & PRODUCT_COLUMNS) * spec->wgmma_columns_cycles;
    uint64_t read = max_u64(begins * 4, sm->product_memory_free) + memory_quarters(sm, w->timing->role_count);
    sm->product_memory_free = read;
    uint64_t free_before = *tensor;
    *tensor = max_u64(begins + max_u64(cycles, spec->wgmma_least_cycles), read / 4);
    w->kernel->counters.product_cycles += *tensor - min_u64(free_before, *tensor);
    w->product_at = begins + cycles + spec->wgmma_latency;
}

void sm_products_committed(struct sm_warp *w)
{
    w->products_at[w->products++ % SM_PRODUCTS] = w->product_at;
}

uint64_t sm_products_done(const struct sm_warp *w, uint32_t allowed)
{
    return w->products > allowed && allowed < SM_PRODUCTS
               ? w->products_at[(w->products - 1 - allowed) % SM_PRODUCTS]
               : 0;
}
