/* Tensor maps: 128 bytes that describe a tensor in global memory and how parts of it are copied
 * (CUtensorMap). The bits are those of an H200, as its driver wrote them. Pure functions. */
#ifndef EXEC_TENSORMAP_H
#define EXEC_TENSORMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TENSORMAP_BYTES = 128, TENSORMAP_DIMS = 5 };

/* CUDA's numbers of types (CUtensorMapDataType), that of the map's bits, bytes, and what PTX calls it. */
#define TENSORMAP_TYPES(T)                                                                                   \
    T(U8, 0, 1, "u8")                                                                                        \
    T(U16, 1, 2, "u16")                                                                                      \
    T(U32, 2, 4, "u32")                                                                                      \
    T(S32, 3, 4, "s32")                                                                                      \
    T(U64, 4, 8, "u64")                                                                                      \
    T(S64, 5, 8, "s64")                                                                                      \
    T(F16, 6, 2, "f16")                                                                                      \
    T(F32, 7, 4, "f32")                                                                                      \
    T(F64, 9, 8, "f64")                                                                                      \
    T(BF16, 10, 2, "bf16")                                                                                   \
    T(F32_FTZ, 8, 4, "f32")                                                                                  \
    T(TF32, 0x207, 4, "f32")                                                                                 \
    T(TF32_FTZ, 0x208, 4, "f32")

enum tensormap_type {
#define T(id, bits, bytes, name) TENSORMAP_##id,
    TENSORMAP_TYPES(T)
#undef T
        TENSORMAP_TYPE_COUNT
};

enum tensormap_interleave { TENSORMAP_DENSE, TENSORMAP_16_BYTES, TENSORMAP_32_BYTES, TENSORMAP_INTERLEAVES };

struct tensormap {
    bool is_im2col;
    uint32_t rank, type, interleave, swizzle, promotion; /* swizzle: 0, or 16 bytes << it are a row */
    bool fills_nan;
    uint64_t address;
    uint64_t dim[TENSORMAP_DIMS],
        stride[TENSORMAP_DIMS]; /* elements; bytes, of dimensions 1 and up, from [1] */
    uint32_t box[TENSORMAP_DIMS], step[TENSORMAP_DIMS]; /* elements */
    /* im2col: channels are box[0] */
    int32_t lower[3], upper[3];
    uint32_t pixels;
};

uint32_t tensormap_type_bytes(uint32_t type);
const char *tensormap_type_name(uint32_t type);

/* Whether a driver takes it. */
bool tensormap_is_valid(const struct tensormap *map);
void tensormap_encode(const struct tensormap *map, unsigned char to[TENSORMAP_BYTES]);
/* What the bits say, whatever they are; false: a number of the type or of dimensions that there is not. */
bool tensormap_decode(struct tensormap *map, const unsigned char from[TENSORMAP_BYTES]);

/* One field of the bits, as tensormap.replace gives it; index: of the dimension. */
enum tensormap_field {
    TENSORMAP_ADDRESS,
    TENSORMAP_RANK,
    TENSORMAP_BOX,
    TENSORMAP_DIM,
    TENSORMAP_STRIDE,
    TENSORMAP_STEP,
    TENSORMAP_TYPE,
    TENSORMAP_INTERLEAVE,
    TENSORMAP_SWIZZLE,
    TENSORMAP_FILL,
    TENSORMAP_FIELDS
};
extern const char *const tensormap_field_names[TENSORMAP_FIELDS];
void tensormap_replace(unsigned char bits[TENSORMAP_BYTES], enum tensormap_field field, uint32_t index,
                       uint64_t value);

/* Whether values are rounded on their way to shared memory: 0, TENSORMAP_TF32 or TENSORMAP_TF32_FTZ. And
 * words that are, as an H200 does it. */
int tensormap_rounds(const struct tensormap *map);
void tensormap_round(int how, void *words, uint64_t bytes);

#endif
