/* Matrix instructions of a warp: ldmatrix, stmatrix, movmatrix, mma.sync and wmma. Which lane and register
 * hold an element of a matrix, and the result of a multiplication. Pure: the caller does all memory accesses.
 *
 * Registers are vectors of 32 lanes: uint32_t[32], or uint64_t[32] for elements of type f64. An operand is an
 * array of pointers to its registers; a destination may be one of the sources. If a register has several
 * elements, the first is in the low bits. */
#ifndef PTX_RUN_MATRIX_H
#define PTX_RUN_MATRIX_H

#include "ptx_run/lanes.h"

#include <stdbool.h>
#include <stdint.h>

enum matrix_kind {
    MATRIX_LDMATRIX,
    MATRIX_STMATRIX,
    MATRIX_MOVMATRIX,
    MATRIX_MMA,  /* mma.sync and wmma.mma */
    MATRIX_LOAD, /* wmma.load */
    MATRIX_STORE /* wmma.store */
};

/*      name  bits */
#define MATRIX_TYPES(T)                                                                                      \
    T(f16, 16)                                                                                               \
    T(bf16, 16)                                                                                              \
    T(tf32, 32)                                                                                              \
    T(f32, 32)                                                                                               \
    T(f64, 64)                                                                                               \
    T(e4m3, 8)                                                                                               \
    T(e5m2, 8)                                                                                               \
    T(s8, 8)                                                                                                 \
    T(u8, 8)                                                                                                 \
    T(s4, 4)                                                                                                 \
    T(u4, 4)                                                                                                 \
    T(b1, 1)                                                                                                 \
    T(s32, 32)                                                                                               \
    T(b16, 16)

enum matrix_type {
#define T(name, bits) MATRIX_##name,
    MATRIX_TYPES(T)
#undef T
};

enum { MATRIX_LANE_BITS = 5, MATRIX_ELEMENT_BITS = 7, MATRIX_REGISTERS = 8 };

/* A matrix spread over a warp. Each bit of the lane's number, and each bit of the element's number within a
 * lane, is a step to another row or column: row and column are sums over the bits that are set. The four
 * products of mma.m8n8k4.f16 are one operand: the A, C and D of each below the others, the B of each beside
 * them. */
struct matrix_operand {
    enum matrix_type type;
    uint16_t rows, columns;
    uint8_t registers; /* of each lane; 0: the form has no such operand */
    uint8_t elements;  /* of each register */
    bool by_column;    /* in memory, neighbours of a column are beside each other */
    struct {
        uint8_t row, column;
    } steps[MATRIX_LANE_BITS + MATRIX_ELEMENT_BITS]; /* of the lane's bits, then of the element's */
};

struct matrix_form {
    enum matrix_kind kind;
    uint16_t m, n, k;
    uint8_t count;  /* m8n8 matrices of ldmatrix and stmatrix; products of mma.m8n8k4.f16: 4, of others 1 */
    bool transpose; /* ldmatrix, stmatrix */
    bool saturate;  /* integers: .satfinite */
    bool by_and;    /* of b1: .and.popc, else .xor.popc */
    bool sparse;    /* mma.sp: of each 4 neighbours in a row of A, 2 are given; a is what they stand for */
    struct matrix_operand a, b, c, d; /* wmma.load and wmma.store, ldmatrix and its like: only d */
    struct matrix_operand given;      /* of A, if sparse */
};

/* The opcode's text, such as "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32". False: not known. */
bool matrix_parse(const char *opcode, struct matrix_form *form);

/* wgmma.mma_async: four warps compute 16 rows each of the result, of which a tile is 8 columns. */
bool matrix_parse_group(const char *opcode, struct matrix_form *tile, unsigned *columns);

/* The row and column of an element; element counts from 0 over all registers of a lane. */
void matrix_element(const struct matrix_operand *operand, unsigned lane, unsigned element, unsigned *row,
                    unsigned *column);

/* A lane's memory accesses of wmma.load and wmma.store: bytes of one register that are beside each other in
 * memory as well. */
struct matrix_run {
    uint8_t number, byte, bytes; /* of the register, the first byte in it, how many */
    int64_t offset;              /* of the memory, from the operand's address */
};
enum { MATRIX_RUNS = 16 };
/* stride: in elements, as in the instruction. Returns how many. */
unsigned matrix_runs(const struct matrix_operand *operand, unsigned lane, int64_t stride,
                     struct matrix_run runs[MATRIX_RUNS]);

/* ldmatrix: rows[i] are the 16 bytes at lane i's address, for lanes below 8 * form->count. stmatrix: the rows
 * to store, likewise. movmatrix needs no memory. */
void matrix_ldmatrix(const struct matrix_form *form, void *const d[], const uint16_t rows[WARP_LANES][8]);
void matrix_stmatrix(const struct matrix_form *form, uint16_t rows[WARP_LANES][8], const void *const s[]);
void matrix_movmatrix(void *d, const void *s);

/* mma.sp: A with its zeros. The metadata say which places the given elements have: of each 4 neighbours (of 8
 * or 16 bits) two numbers of 2 bits, in the lanes that the selector names. False: there is no such selector.
 */
bool matrix_has_selector(const struct matrix_form *form, uint64_t selector);
/* How a GPU's tensor cores add: of each group of products the exact significands are aligned to the largest
 * exponent, cut to so many bits behind the point, and summed together with the accumulator. */
struct matrix_model {
    uint16_t sm;               /* from this compute capability on: 70, 75, ... */
    uint8_t group_bytes;       /* of a row of A that is summed at once */
    uint8_t fraction_bits;     /* that are kept */
    uint8_t fp8_fraction_bits; /* of products of fp8 and of their results, where there are fewer; or 0 */
    bool emulates; /* mma.m8n8k4.f16 and fp8 are made of other instructions, with their roundings */
};
const struct matrix_model *matrix_model(unsigned sm);

/* How a form's products are computed on a GPU: made once for an instruction. */
enum { MATRIX_COLUMNS = 16 };
struct matrix_level;
struct matrix_plan {
    unsigned group;    /* so many products at once, in the order of k */
    int fraction;      /* bits of theirs that are kept */
    uint32_t mask;     /* of an f32 result: bits that are kept */
    bool half;         /* sums are f16 */
    uint8_t by_halves; /* fp8 made f16, and two sums: the first has the products whose k has not this bit, the
                          second the others, and C is added at the end, rounded to nearest; or 0 */
    bool emulated;     /* by other instructions, with their roundings: mma.m8n8k4.f16 */
    bool saturate, by_and; /* as in the form */

    /* as tiles: matrix_tile.h */
    bool tiled;                  /* it can be done so */
    bool turned;                 /* B is the wide operand */
    uint8_t registers, elements; /* of a lane, for a line; of a register */
    uint8_t lines;               /* of a lane in a tile of the wide operand: 1 or 2 */
    uint8_t wide_tiles, narrow_tiles, columns, group_columns;
    uint8_t order[MATRIX_COLUMNS]; /* of columns, group by group */
    const struct matrix_level *level;
};
void matrix_plan(const struct matrix_form *form, const struct matrix_model *model, struct matrix_plan *plan);
void matrix_plan_group(const struct matrix_form *tile, struct matrix_plan *plan); /* of wgmma */

/* D = A * B + C */
void matrix_mma(const struct matrix_form *form, const struct matrix_plan *plan, void *const d[],
                const void *const a[], const void *const b[], const void *const c[]);

/* The same with what is given of a sparse A. */
void matrix_mma_sparse(const struct matrix_form *form, const struct matrix_plan *plan, void *const d[],
                       const void *const given[], const uint32_t metadata[WARP_LANES], unsigned selector,
                       const void *const b[], const void *const c[]);

/* The same without tiles: slow, for what those leave out, and to compare them with. */
void matrix_mma_general(const struct matrix_form *form, const struct matrix_plan *plan, void *const d[],
                        const void *const a[], const void *const b[], const void *const c[]);

#endif
