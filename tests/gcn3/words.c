/* Random words of every format, and what the decoder makes of them, for compare.py.
 *
 *   gcn3_words TARGET SEED COUNT CODE TEXT
 *
 * CODE gets slots of 16 bytes: two random words and two s_nop, so that a disassembler that goes through them
 * in order is at an instruction again at each slot. TEXT gets a line for each slot: the bytes and the text,
 * or none where there is no such instruction. */
#include "base/rng.h"
#include "base/text.h"
#include "gcn3/gcn3.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bits that are fixed, and fields that most instructions of the format leave 0: each is cleared in half of
 * the words, or few would be valid. */
struct shape {
    uint32_t mask, value;
    uint64_t clear[6];
};

static const struct shape shapes[] = {
    {0xc0000000, 0x80000000, {0}},                                                                  /* SOP2 */
    {0xf0000000, 0xb0000000, {0}},                                                                  /* SOPK */
    {0xff800000, 0xbe800000, {0xc000}},                                                             /* SOP1 */
    {0xff800000, 0xbf000000, {0x600000}},                                                           /* SOPC */
    {0xff800000, 0xbf800000, {0x600000, 0xffff}},                                                   /* SOPP */
    {0xfc000000, 0xc0000000, {0xfff0000000000000, 0xffffff8000000000, 0xe000, 0x2000000, 3, 0x30}}, /* SMEM */
    {0xfe000000, 0x7e000000, {0x10000}},                                                            /* VOP1 */
    {0x80000000, 0x00000000, {0}},                                                                  /* VOP2 */
    {0xfe000000, 0x7c000000, {0}},                                                                  /* VOPC */
    {0xfe0001ff, 0x7e0000f9, {0x10000, 0xff00000000000000, 0x38000000000000, 0x200000000000, 0xc00000000000}},
    {0x800001ff, 0x000000f9, {0x3838000000000000, 0xc00000000000, 0x8080000000000000, 0x3838000000000000}},
    {0xfe0001ff, 0x7c0000f9, {0x3838000000000000, 0xe00000000000, 0x8080000000000000, 0x3838000000000000}},
    {0xfe0001ff, 0x7e0000fa, {0x10000, 0xf0000000000000, 0x1000000000000}}, /* DPP */
    {0x800001ff, 0x000000fa, {0xf0000000000000, 0x1000000000000}},
    {0xfc000000,
     0xd0000000,
     {0xff00, 0xf800000000000000, 0x7fc000000000000, 0x3fe0000000000, 0x1000000, 0x600000}},
    {0xff800000, 0xd3800000, {0x7fc000000000000, 0x600000, 0x2000, 0x400, 0x8000000000000000, 0x400000}},
    {0xfc000000, 0xd4000000, {0xfc}}, /* VINTRP */
    {0xfe000000, 0xd8000000, {0xff00000000000000, 0xff000000000000, 0xff0000000000, 0xff00000000, 0x10000}},
    {0xfe000000, 0xdc000000, {0x2000, 0x7f000000000000, 0x80000000000000, 0xffff, 0x20000}},
    {0xfe000000, 0xe0000000, {0x10000, 0x80000000000000, 0xff00000000000000, 0x60000000000000, 0x7fff}},
    {0xfc000000, 0xe8000000, {0x80000000000000, 0xff00000000000000, 0x20000000000000, 0x7fff}},
    {0xfc000000, 0xf0000000, {0x3e0000000000000, 0xfc00000000000000, 0xff, 0x10000}}, /* MIMG */
    {0xfc000000, 0xc4000000, {0x3ffe000}},                                            /* EXP */
    {0, 0, {0}},
};

/* llvm-objdump 19 crashes on selections of SDWA that do not exist. */
static bool crashes_llvm(uint64_t bits)
{
    uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
    if (low >> 31 || (low & 0x1ff) != 0xf9)
        return false;
    return (high >> 8 & 7) == 7 || (high >> 11 & 3) == 3 || (high >> 16 & 7) == 7 || (high >> 24 & 7) == 7;
}

static uint64_t random_bits(struct rng *rng, size_t i)
{
    const struct shape *shape = &shapes[i % (sizeof shapes / sizeof *shapes)];
    for (;;) {
        uint64_t bits = rng_next(rng), choice = rng_next(rng);
        bits = (bits & ~(uint64_t)shape->mask) | shape->value;
        for (int j = 0; j < 6; j++)
            if (choice >> j & 1)
                bits &= ~shape->clear[j];
        bits = (bits & ~(uint64_t)shape->mask) | shape->value;
        if (!crashes_llvm(bits))
            return bits;
    }
}

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: gcn3_words TARGET SEED COUNT CODE TEXT\n");
        return 2;
    }
    enum gcn3_target target = (enum gcn3_target)atoi(argv[1]);
    size_t count = strtoull(argv[3], NULL, 10);
    FILE *code = open_file(argv[4]), *lines = open_file(argv[5]);
    struct rng rng;
    rng_init(&rng, strtoull(argv[2], NULL, 10), "gcn3");
    struct text text = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t slot[4] = {0, 0, 0xbf800000, 0xbf800000};
        uint64_t bits = random_bits(&rng, i);
        memcpy(slot, &bits, sizeof bits);
        fwrite(slot, sizeof slot, 1, code);
        struct gcn3_inst inst;
        text.length = 0;
        text_add(&text, "%s", "");
        if (gcn3_decode(target, slot, sizeof slot, &inst))
            gcn3_print(&inst, &text);
        fprintf(lines, "%08" PRIx32 " %08" PRIx32 "\t%s\n", slot[0], slot[1], text.at);
    }
    text_fini(&text);
    return fclose(code) || fclose(lines);
}
