/* Places of lanes in buffers, and data with a format: for buffer.c, typed.c and image.c. */
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

/* Components of an element (format.h) to registers, which have 32 bits of each or 16 (d16); and from there.
 * (typed.c) */
void gcn3_take_components(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane, uint32_t number,
                          const uint32_t *components, uint32_t count);
void gcn3_give_components(const struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                          uint32_t number, uint32_t *components, uint32_t count);

/* Typed buffers; or NULL. (typed.c) */
gcn3_run_fn *gcn3_typed(struct gcn3_lowered *op);
/* All bytes of a typed load are on the stage. */
void gcn3_typed_complete(struct gcn3_wave *w, const struct gcn3_lowered *op, const unsigned char *stage);

#endif
