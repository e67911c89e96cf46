/* Images: what their resources (T#) and samplers (S#) say, and which texels make a lane's result. Pure, but
 * for image.c, which has the instructions. For this room only. */
#ifndef GCN3_RUN_IMAGE_H
#define GCN3_RUN_IMAGE_H

#include "gcn3_run/format.h"
#include "gcn3_run/wave.h"

enum { GCN3_AXES = 3, GCN3_CORNERS = 8 };

/* Texels lie row by row, layer by layer. */
struct gcn3_texture {
    uint64_t base;
    uint32_t data, number; /* formats */
    uint32_t select;       /* dst_sel */
    uint32_t texel_bytes;
    uint32_t axes;                    /* coordinates, without that of a layer */
    uint32_t size[GCN3_AXES];         /* texels along each axis; 1 where it has none */
    uint32_t layers;                  /* of an array; 0: it is none */
    uint32_t first_layer;             /* in memory */
    uint32_t pitch;                   /* from row to row, in texels */
    uint32_t levels;                  /* of a mipmap */
    uint32_t border[GCN3_COMPONENTS]; /* of a sampler: what is outside; else 0 */
};

struct gcn3_sampler {
    uint8_t wrap[GCN3_AXES]; /* enum gcn3_wrap */
    bool is_linear, is_unnormalized;
    uint32_t border; /* enum gcn3_border */
};

/* What is outside. LAST: the nearest texel. ONCE: the image once more, mirrored, before its beginning. */
enum gcn3_wrap {
    GCN3_WRAP_REPEAT,
    GCN3_WRAP_MIRROR,
    GCN3_WRAP_LAST,
    GCN3_WRAP_MIRROR_ONCE_LAST,
    GCN3_WRAP_BORDER = 6,
    GCN3_WRAP_MIRROR_ONCE_BORDER
};

enum gcn3_border { GCN3_BORDER_CLEAR, GCN3_BORDER_BLACK, GCN3_BORDER_WHITE, GCN3_BORDER_POINTER };

/* The texels around a place: a bit of a corner's number for each axis. */
struct gcn3_around {
    uint64_t at[GCN3_CORNERS];
    uint8_t inside;             /* corners that have a texel, by bits */
    uint8_t corners;            /* that count: 1, or a power of 2 for each axis */
    uint8_t further[GCN3_AXES]; /* weight of the further texel, of 256 */
};

/* Words of scalar registers. A text: why such a one cannot be used. (texture.c) */
const char *gcn3_texture_take(const uint32_t *words, enum gcn3_target target, bool is_short,
                              struct gcn3_texture *texture);
const char *gcn3_sampler_take(const uint32_t words[4], struct gcn3_sampler *sampler);

/* One texel; outside of the image there is none. */
void gcn3_texel_around(const struct gcn3_texture *texture, const uint32_t place[GCN3_AXES], uint32_t layer,
                       struct gcn3_around *around);

/* By coordinates, in texels if the sampler says so, with offsets in texels; all four or eight for a gather.
 * (sampler.c) */
void gcn3_sample_around(const struct gcn3_texture *texture, const struct gcn3_sampler *sampler,
                        const float place[GCN3_AXES], const int32_t offset[GCN3_AXES], float layer,
                        bool gathers, struct gcn3_around *around);
void gcn3_sample_border(const struct gcn3_sampler *sampler, struct gcn3_texture *texture);

/* What the texels make: weighed; or one component of four, in the order of a gather. */
void gcn3_sample_mix(const struct gcn3_texture *texture, const struct gcn3_around *around,
                     unsigned char texels[GCN3_CORNERS][GCN3_ELEMENT_MOST],
                     uint32_t components[GCN3_COMPONENTS]);
void gcn3_sample_gather(const struct gcn3_texture *texture, const struct gcn3_around *around,
                        unsigned char texels[GCN3_CORNERS][GCN3_ELEMENT_MOST], uint32_t which,
                        uint32_t components[GCN3_COMPONENTS]);

/* MIMG; or NULL. (image.c) */
gcn3_run_fn *gcn3_image(struct gcn3_lowered *op);
/* All texels of a load are on the stage. */
void gcn3_image_complete(struct gcn3_wave *w, const struct gcn3_lowered *op, const unsigned char *stage);

#endif
