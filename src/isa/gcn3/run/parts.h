/* Modifiers of vector instructions: SDWA, DPP, omod and clamp. Pure. For this room only. */
#ifndef GCN3_RUN_PARTS_H
#define GCN3_RUN_PARTS_H

#include "gcn3_run/wave.h"

/* A byte or half of a register (enum gcn3_sdwa), with or without its sign. */
static inline uint32_t gcn3_part(uint32_t word, uint32_t part, bool is_signed)
{
    if (part == GCN3_DWORD)
        return word;
    uint32_t bits = part < GCN3_WORD_0 ? 8 : 16,
             shift = part < GCN3_WORD_0 ? 8 * part : 16 * (part - GCN3_WORD_0);
    uint32_t left = 32 - bits;
    word = word >> shift << left;
    return is_signed ? (uint32_t)((int32_t)word >> left) : word >> left;
}

/* A result goes to a part of the destination; what becomes of the rest, the instruction says. */
void gcn3_set_parts(const struct gcn3_inst *inst, uint32_t result[GCN3_LANES],
                    const uint32_t old[GCN3_LANES]);

/* Lanes' words change places as dpp_ctrl says, into the buffer. Gives the lanes that are written. */
lane_mask gcn3_dpp(const struct gcn3_inst *inst, lane_mask exec, const uint32_t *source[2],
                   uint32_t buffer[2][GCN3_LANES]);

/* Denormal results become zeros if MODE flushes sources or results. */
void gcn3_flush(enum gcn3_type type, uint32_t mode, uint32_t *const d[2]);

/* Whether an instruction with the meaning of `op`, the least or greatest of floats, flushes as MODE says:
 * gfx9 does; gfx8 never flushes there. */
bool gcn3_flushes_extreme(const struct gcn3_inst *inst, uint32_t op);

/* omod and clamp of float results. */
void gcn3_output(const struct gcn3_inst *inst, uint32_t mode, uint32_t *const d[2]);

#endif
