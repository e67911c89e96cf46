/* Places of lanes in buffers, for buffer.c and typed.c. */
#ifndef GCN3_RUN_BUFFER_H
#define GCN3_RUN_BUFFER_H

#include "gcn3_run/wave.h"

struct gcn3_resource {
    uint64_t base;
    uint32_t stride, records, element, index_stride;
    bool swizzles, adds_lane;
};

/* Where the lanes' accesses begin, and which of them are inside. */
struct gcn3_places {
    uint64_t at[GCN3_LANES];
    lane_mask whole, partly; /* partly: some of their words are */
};

struct gcn3_resource gcn3_resource_of(const struct gcn3_wave *w, const struct gcn3_inst *inst);

/* `last`: of a lane's bytes, those that are checked: the first one, and the one that is so many behind it. */
void gcn3_find_places(const struct gcn3_wave *w, const struct gcn3_inst *inst, const struct gcn3_resource *r,
                      lane_mask on, uint32_t last, struct gcn3_places *places);

/* Typed buffers; or NULL. (typed.c) */
gcn3_run_fn *gcn3_typed(struct gcn3_lowered *op);
/* All bytes of a typed load are on the stage. */
void gcn3_typed_complete(struct gcn3_wave *w, const struct gcn3_lowered *op, const unsigned char *stage);

#endif
