/* Video instructions: arithmetic of words, halves and bytes that are selected from registers. */
#ifndef PTX_RUN_VIDEO_H
#define PTX_RUN_VIDEO_H

#include <stdbool.h>
#include <stdint.h>

enum video_op {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVRG,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_MAD,
    VIDEO_SET,
};

/* What becomes of the result with the last operand. */
enum video_second {
    VIDEO_ALONE,
    VIDEO_AND_ADD,
    VIDEO_AND_MIN,
    VIDEO_AND_MAX,
    VIDEO_MERGE, /* it is put into a part of it */
};

enum video_compare { VIDEO_EQ, VIDEO_NE, VIDEO_LT, VIDEO_LE, VIDEO_GT, VIDEO_GE };

struct video_form {
    uint8_t op, second, compare;
    uint8_t lanes; /* 1, 2 or 4 */
    bool signed_d, signed_a, signed_b;
    bool saturates, wraps;
    bool plus_one;                    /* .po of vmad */
    bool minus_a, minus_b, minus_c;   /* of vmad */
    uint8_t shift;                    /* of vmad: 0, 7 or 15 */
    int8_t part_d, part_a, part_b;    /* with one lane: enum ptx_part, or -1 */
    uint8_t mask;                     /* lanes that are computed */
    uint8_t select_a[4], select_b[4]; /* by lane: a part of a, or of b, which come behind a's */
};

/* From an opcode. False: there is no such instruction. Selections are of whole registers then. */
bool video_parse(const char *opcode, struct video_form *form);

uint32_t video_compute(const struct video_form *form, uint32_t a, uint32_t b, uint32_t c);

#endif
