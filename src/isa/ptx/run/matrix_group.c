/* wgmma: fragments from shared memory, and the product as one of 16 x 8 after the other. */
#include "ptx_run/matrix_group.h"
#include "ptx_run/matrix_arrays.h"
#include "ptx_run/matrix_tile.h"

#include <string.h>

enum { LINES = 8, PIECE = 16 };

struct matrix_descriptor matrix_descriptor(uint64_t bits)
{
    return (struct matrix_descriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                                      .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                                      .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                                      .swizzle = (uint8_t)(bits >> 62)};
}

/* Bytes that a swizzle permutes pieces in; without one, a piece. */
static uint32_t width_of(const struct matrix_descriptor *d)
{
    return d->swizzle ? 256u >> d->swizzle : PIECE;
}

/* Bits 4 to 6 of an address are changed by bits 7 to 9, as many as the swizzle has. */
static uint32_t swizzled(const struct matrix_descriptor *d, uint32_t at)
{
    static const uint8_t masks[] = {0, 7, 3, 1};
    return at ^ (at >> 7 & masks[d->swizzle]) << 4;
}

/* Of a matrix whose lines are along k: the piece at byte `along` of a line. */
static uint32_t piece_at(const struct matrix_descriptor *d, uint32_t line, uint32_t along)
{
    uint32_t width = width_of(d);
    return swizzled(d, d->start + along / width * d->leading + line / LINES * d->stride +
                           line % LINES * width + along % width);
}

/* Of one that is transposed: neighbours are of different lines. Elements are of 16 bits. */
static uint32_t element_at(const struct matrix_descriptor *d, uint32_t line, uint32_t k)
{
    uint32_t width = width_of(d), block = line * 2 / width, along = line * 2 % width;
    uint32_t by_line = d->swizzle ? d->leading : d->stride, by_k = d->swizzle ? d->stride : d->leading;
    return swizzled(d, d->start + block * by_line + k / LINES * by_k + k % LINES * width + along);
}

static const char *bytes_at(struct matrix_memory *memory, uint32_t at, uint32_t bytes)
{
    static const char zeros[PIECE];
    if (at + (uint64_t)bytes <= memory->bytes)
        return memory->at + at;
    if (!memory->outside)
        memory->outside_at = at;
    memory->outside = true;
    return zeros;
}

/* 8 lines from `first` on, as fragments have them: a line is four lanes, and a register 16 bytes of it. */
static void gather(const struct matrix_descriptor *d, bool transposed, struct matrix_memory *memory,
                   uint32_t first, uint32_t count, uint32_t stride, uint32_t registers[][WARP_LANES])
{
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t line = 0; line < LINES; line++) {
            char *to = (char *)(registers[r * stride] + line * QUAD);
            if (!transposed)
                memcpy(to, bytes_at(memory, piece_at(d, first + line, r * PIECE), PIECE), PIECE);
            else
                for (uint32_t k = 0; k < LINES; k++)
                    memcpy(to + 2 * k, bytes_at(memory, element_at(d, first + line, r * LINES + k), 2), 2);
        }
}

/* Changes the signs of all elements. */
static void negate(enum matrix_type type, uint32_t registers[][WARP_LANES], uint32_t count)
{
    uint32_t signs = type == MATRIX_tf32                         ? 0x80000000
                     : type == MATRIX_f16 || type == MATRIX_bf16 ? 0x80008000
                                                                 : 0x80808080;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t lane = 0; lane < WARP_LANES; lane++)
            registers[r][lane] ^= signs;
}

/* The fragment of A, with what is not given of a sparse one. */
static void gather_a(const struct matrix_group *g, const struct matrix_group_call *call,
                     struct matrix_memory *memory, uint32_t a[GROUP_A][WARP_LANES])
{
    for (uint32_t r = 0; r < GROUP_A && g->a_in_registers; r++)
        memcpy(a[r], call->a[r], sizeof a[r]);
    for (uint32_t line = 0; line < 2 && !g->a_in_registers; line++)
        gather(&call->of_a, g->transpose_a, memory, 16 * call->warp + LINES * line, GROUP_A / 2, 2, a + line);
    if (g->negate_a)
        negate(g->tile.a.type, a, GROUP_A);
}

bool matrix_group_multiply(const struct matrix_group *g, const struct matrix_group_call *call,
                           struct matrix_memory *memory, void *const d[])
{
    static const uint32_t zeros[WARP_LANES];
    uint32_t a[GROUP_A][WARP_LANES], b[MATRIX_REGISTERS][WARP_LANES], results[GROUP_REGISTERS][WARP_LANES];
    const void *of_a[GROUP_A], *of_b[MATRIX_REGISTERS], *of_c[MATRIX_REGISTERS];
    void *of_d[MATRIX_REGISTERS];
    const uint32_t per_tile = g->tile.d.registers;
    gather_a(g, call, memory, a);
    for (uint32_t r = 0; r < GROUP_A; r++)
        of_a[r] = a[r];
    for (uint32_t r = 0; r < MATRIX_REGISTERS; r++)
        of_b[r] = b[r];
    for (uint32_t tile = 0; tile < g->tiles; tile++) {
        gather(&call->of_b, g->transpose_b, memory, tile * LINES, g->tile.b.registers, 1, b);
        if (memory->outside)
            return false;
        if (g->negate_b)
            negate(g->tile.b.type, b, g->tile.b.registers);
        for (uint32_t r = 0; r < per_tile; r++) {
            of_c[r] = call->has_c ? d[tile * per_tile + r] : zeros;
            of_d[r] = results[tile * per_tile + r];
        }
        if (g->tile.sparse)
            matrix_mma_sparse(&g->tile, &g->plan, of_d, of_a, call->metadata, call->selector, of_b, of_c);
        else
            matrix_mma(&g->tile, &g->plan, of_d, of_a, of_b, of_c);
    }
    for (uint32_t r = 0; r < g->tiles * per_tile; r++)
        memcpy(d[r], results[r], sizeof results[r]);
    return true;
}
