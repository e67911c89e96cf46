/* Matrix instructions of a group of warps (wgmma) and sparse ones (mma.sp), on Heddle or on this computer's
 * GPU. A line of the file is a case: its name, which seeds its operands; the opcode; how it is called; and a
 * digest of the results of each block, as an H200 gave them.
 *
 *   oracle_groups --check FILE    compares Heddle with the file
 *   oracle_groups --gpu FILE      prints the file with the digests of this computer's GPU
 *   oracle_groups --print FILE    prints the kernels */
#include "base/bits.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ptx_run/matrix_group.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 16, WORDS = 200, THREADS = 128, A_WORDS = 2048 }; /* of shared memory that are of A's type */

struct group_case {
    char name[80], opcode[96], source; /* r, s: where A is */
    int scale, signs[2], transposed[2], selector;
    unsigned descriptors[2][4]; /* offset, leading and stride bytes, swizzle */
    unsigned bytes, blocks;     /* of shared memory; how many */
    uint64_t digests[BLOCKS];
    struct matrix_form form;
    unsigned tiles;
    bool group;
    char kinds[WORDS]; /* of a thread's words of input: C, A, B, metadata */
    unsigned words, results;
};

/* --- operands ------------------------------------------------------------------------------------------- */

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t digest(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t h = UINT64_C(1469598103934665603);
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ at[i]) * UINT64_C(1099511628211);
    return h;
}

/* Mode 0: near 1; 1: over a wide range; 2: any finite number; 3: as 1, with infinities, NaN and such. */
static uint32_t real(uint64_t *state, unsigned exponent_bits, unsigned fraction_bits, bool infinities,
                     unsigned mode, bool accumulator)
{
    int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
    uint32_t ones = (1u << fraction_bits) - 1, sign = (uint32_t)(next(state) & 1)
                                                      << (exponent_bits + fraction_bits);
    uint32_t fraction = (uint32_t)next(state) & ones, exponent;
    if (mode == 2) {
        exponent = (uint32_t)(next(state) % (uint64_t)(infinities ? top : top + 1));
        if (!infinities && (int)exponent == top && fraction == ones)
            fraction = 0;
        return sign | exponent << fraction_bits | fraction;
    }
    int spread = mode == 0 ? (accumulator ? 3 : 1) : accumulator ? 26 : 12;
    int offset = mode == 0 && accumulator ? 2 : 0;
    if (spread > bias - 1)
        spread = bias - 1;
    exponent = (uint32_t)(bias + offset - spread + (int)(next(state) % (uint64_t)(2 * spread + 1)));
    if (mode == 3 && next(state) % 64 == 0) {
        uint32_t infinity = (uint32_t)top << fraction_bits;
        uint32_t special[] = {
            0, 1, ones, infinity, infinity | fraction, (uint32_t)(top - 1) << fraction_bits | ones};
        return sign | special[next(state) % COUNT_OF(special)];
    }
    return sign | exponent << fraction_bits | fraction;
}

/* Several of a type in a word. */
static uint32_t reals(uint64_t *state, unsigned exponent_bits, unsigned fraction_bits, bool infinities,
                      unsigned mode)
{
    unsigned bits = 1 + exponent_bits + fraction_bits;
    uint32_t word = 0;
    for (unsigned at = 0; at < 32; at += bits)
        word |= real(state, exponent_bits, fraction_bits, infinities, mode, false) << at;
    return word;
}

static uint32_t word_of(char kind, unsigned mode, uint64_t *state)
{
    static const uint8_t pairs[] = {4, 8, 12, 9, 13, 14};
    uint32_t word = 0;
    switch (kind) {
    case 'h': /* f16 */
        return reals(state, 5, 10, true, mode);
    case 'b': /* bf16 */
        return reals(state, 8, 7, true, mode);
    case 't': /* tf32, with more bits than it has */
        return real(state, 8, 23, true, mode, false);
    case 'c': /* f32 */
        return real(state, 8, 23, true, mode, true);
    case '4': /* e4m3 */
        return reals(state, 4, 3, false, mode);
    case '5': /* e5m2 */
        return reals(state, 5, 2, true, mode);
    case 'i': /* integers */
        return (uint32_t)next(state);
    case 'I': /* s32 */
        word = (uint32_t)next(state);
        return mode == 0   ? (uint32_t)((int32_t)word >> 16)
               : mode != 3 ? word
               : word & 1  ? 0x7fffff00u + (word >> 24)
                           : 0x80000000u + (word >> 22);
    case 'm': /* metadata: two places of four */
        for (unsigned i = 0; i < 8; i++)
            word |= (uint32_t)pairs[next(state) % 6] << 4 * i;
        return word;
    case 'n': /* metadata of tf32: one place of two */
        for (unsigned i = 0; i < 8; i++)
            word |= (next(state) & 1 ? 4u : 14u) << 4 * i;
        return word;
    default:
        return 0;
    }
}

static char kind_of(enum matrix_type type, bool accumulator)
{
    switch (type) {
    case MATRIX_f16:
        return 'h';
    case MATRIX_bf16:
        return 'b';
    case MATRIX_tf32:
        return 't';
    case MATRIX_f32:
        return 'c';
    case MATRIX_e4m3:
        return '4';
    case MATRIX_e5m2:
        return '5';
    default:
        return accumulator ? 'I' : 'i';
    }
}

/* --- kernels -------------------------------------------------------------------------------------------- */

static unsigned threads_of(const struct group_case *c)
{
    return c->group ? THREADS : WARP_LANES;
}

static void add_kinds(struct group_case *c, char kind, unsigned count)
{
    REQUIRE(c->words + count <= WORDS);
    memset(c->kinds + c->words, kind, count);
    c->words += count;
}

/* What a thread is given: the accumulators, A and B of registers, metadata. mma has its accumulators last. */
static void lay_words(struct group_case *c)
{
    char metadata = c->form.a.type == MATRIX_tf32 ? 'n' : 'm';
    c->results = c->tiles * c->form.d.registers;
    if (c->group) {
        add_kinds(c, kind_of(c->form.d.type, true), c->results);
        if (c->source == 'r')
            add_kinds(c, kind_of(c->form.a.type, false), GROUP_A);
    } else {
        add_kinds(c, kind_of(c->form.a.type, false), c->form.given.registers);
        add_kinds(c, kind_of(c->form.b.type, false), c->form.b.registers);
        add_kinds(c, kind_of(c->form.c.type, true), c->form.c.registers);
    }
    if (c->form.sparse)
        add_kinds(c, metadata, 1);
}

static void add_list(struct text *text, char letter, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        text_add(text, "%s%%%c%u", i ? ", " : "{", letter, first + i);
    text_add(text, "}");
}

static void add_descriptor(struct text *text, const char *to, const unsigned d[4])
{
    text_add(text,
             "add.u32 %%x, %%shared, %u; shr.u32 %%x, %%x, 4; or.b32 %%x, %%x, 0x%x; mov.u32 %%y, 0x%x; "
             "mov.b64 %s, {%%x, %%y};\n",
             d[0], d[1] >> 4 << 16, d[2] >> 4 | d[3] << 30, to);
}

/* The memory image behind a block's words, to shared memory. */
static void add_image(const struct group_case *c, struct text *text)
{
    text_add(text,
             ".shared .align 1024 .b8 image[%u]; mov.u32 %%shared, image; mad.lo.u32 %%y, %%t, 4, %%shared; "
             "mad.wide.u32 %%at, %%t, 4, %%in; mov.u32 %%x, 0;\n"
             "COPY: ld.global.u32 %%z, [%%at+%u]; st.shared.u32 [%%y], %%z; add.u64 %%at, %%at, %u; "
             "add.u32 %%y, %%y, %u; add.u32 %%x, %%x, %u; setp.lt.u32 %%p, %%x, %u; @%%p bra COPY;\n"
             "fence.proxy.async; bar.sync 0;\n",
             c->bytes, c->words * THREADS * 4, THREADS * 4, THREADS * 4, THREADS * 4, c->bytes);
}

static void add_group_call(const struct group_case *c, struct text *text)
{
    bool halves = c->form.a.type == MATRIX_f16 || c->form.a.type == MATRIX_bf16;
    for (unsigned i = 0; i < c->results; i++)
        text_add(text, "mov.b32 %%o%u, %%i%u;\n", i, i);
    add_descriptor(text, "%da", c->descriptors[0]);
    add_descriptor(text, "%db", c->descriptors[1]);
    text_add(text, "setp.ne.u32 %%p, %d, 0;\nwgmma.fence.sync.aligned;\n%s ", c->scale, c->opcode);
    add_list(text, 'o', 0, c->results);
    text_add(text, ", ");
    if (c->source == 'r')
        add_list(text, 'i', c->results, GROUP_A);
    else
        text_add(text, "%%da");
    text_add(text, ", %%db");
    if (c->form.sparse)
        text_add(text, ", %%i%u, %d", c->words - 1, c->selector);
    text_add(text, ", %%p");
    if (c->form.d.type != MATRIX_s32)
        text_add(text, ", %d, %d", c->signs[0], c->signs[1]);
    if (halves && c->source == 's')
        text_add(text, ", %d", c->transposed[0]);
    if (halves)
        text_add(text, ", %d", c->transposed[1]);
    text_add(text, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
}

static void add_sparse_call(const struct group_case *c, struct text *text)
{
    unsigned of_a = c->form.given.registers, of_b = c->form.b.registers;
    text_add(text, "%s ", c->opcode);
    add_list(text, 'o', 0, c->results);
    text_add(text, ", ");
    add_list(text, 'i', 0, of_a);
    text_add(text, ", ");
    add_list(text, 'i', of_a, of_b);
    text_add(text, ", ");
    add_list(text, 'i', of_a + of_b, c->results);
    text_add(text, ", %%i%u, %d;\n", c->words - 1, c->selector);
}

static void write_kernel(const struct group_case *c, struct text *text)
{
    unsigned threads = threads_of(c);
    text_add(text,
             ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 "
             "out)\n{\n"
             ".reg .b64 %%in, %%out, %%at, %%da, %%db; .reg .b32 %%t, %%b, %%x, %%y, %%z, %%shared; .reg "
             ".pred %%p;\n"
             ".reg .b32 %%i<%d>; .reg .b32 %%o<%d>;\nld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; "
             "mov.u32 %%t, %%tid.x; mov.u32 %%b, %%ctaid.x; mad.wide.u32 %%in, %%b, %u, %%in; "
             "mad.wide.u32 %%at, %%t, 4, %%in;\n",
             WORDS, WORDS, c->words * threads * 4 + c->bytes);
    for (unsigned i = 0; i < c->words; i++)
        text_add(text, "ld.global.u32 %%i%u, [%%at+%u];\n", i, i * threads * 4);
    if (c->group) {
        add_image(c, text);
        add_group_call(c, text);
    } else {
        add_sparse_call(c, text);
    }
    text_add(text, "mad.lo.u32 %%x, %%b, %u, %%t; mad.wide.u32 %%out, %%x, 4, %%out;\n",
             c->results * threads);
    for (unsigned i = 0; i < c->results; i++)
        text_add(text, "st.global.u32 [%%out+%u], %%o%u;\n", i * threads * 4, i);
    text_add(text, "ret;\n}\n");
}

/* --- running -------------------------------------------------------------------------------------------- */

static void fill(const struct group_case *c, uint32_t *in)
{
    unsigned threads = threads_of(c);
    for (unsigned block = 0; block < c->blocks; block++) {
        uint64_t state = digest(c->name, strlen(c->name)) + block;
        for (unsigned i = 0; i < c->words; i++)
            for (unsigned t = 0; t < threads; t++)
                *in++ = word_of(c->kinds[i], block & 3, &state);
        for (unsigned i = 0; i < c->bytes / 4; i++)
            *in++ = word_of(kind_of(i < A_WORDS ? c->form.a.type : c->form.b.type, false), block & 3, &state);
    }
}

static bool run_case(struct target *target, const struct group_case *c, uint64_t digests[BLOCKS],
                     struct err *err)
{
    size_t in_bytes = ((size_t)c->words * threads_of(c) * 4 + c->bytes) * c->blocks;
    size_t result_bytes = (size_t)c->results * threads_of(c) * 4;
    uint32_t *in = mem_alloc(in_bytes, 1);
    char *out = mem_alloc(result_bytes * c->blocks, 1);
    struct text text = {0};
    fill(c, in);
    write_kernel(c, &text);
    struct target_launch launch = {.kernel = "k",
                                   .grid = {c->blocks, 1, 1},
                                   .block = {threads_of(c), 1, 1},
                                   .in = in,
                                   .out = out,
                                   .in_bytes = in_bytes,
                                   .out_bytes = result_bytes * c->blocks};
    bool good = target_load(target, text.at, err) && target_run(target, &launch, err);
    for (unsigned i = 0; i < c->blocks && good; i++)
        digests[i] = digest(out + i * result_bytes, result_bytes);
    text_fini(&text);
    mem_free(in);
    mem_free(out);
    return good;
}

static bool read_case(char *line, struct group_case *c)
{
    int at = 0;
    *c = (struct group_case){0};
    if (sscanf(line, "%79s %95s %c %d %d %d %d %d %d %u %u %u %u %u %u %u %u %u %u%n", c->name, c->opcode,
               &c->source, &c->scale, &c->signs[0], &c->signs[1], &c->transposed[0], &c->transposed[1],
               &c->selector, &c->descriptors[0][0], &c->descriptors[0][1], &c->descriptors[0][2],
               &c->descriptors[0][3], &c->descriptors[1][0], &c->descriptors[1][1], &c->descriptors[1][2],
               &c->descriptors[1][3], &c->bytes, &c->blocks, &at) != 19 ||
        !c->blocks || c->blocks > BLOCKS)
        return false;
    for (unsigned i = 0; i < c->blocks; i++)
        c->digests[i] = strtoull(line + at, &line, 16), at = 0;
    unsigned columns = 8;
    c->group = matrix_parse_group(c->opcode, &c->form, &columns);
    if (!c->group && !matrix_parse(c->opcode, &c->form))
        return false;
    c->tiles = columns / 8;
    lay_words(c);
    return true;
}

static void print_case(const struct group_case *c, const uint64_t digests[BLOCKS])
{
    printf("%s %s %c %d %d %d %d %d %d", c->name, c->opcode, c->source, c->scale, c->signs[0], c->signs[1],
           c->transposed[0], c->transposed[1], c->selector);
    for (unsigned i = 0; i < 8; i++)
        printf(" %u", c->descriptors[i / 4][i % 4]);
    printf(" %u %u", c->bytes, c->blocks);
    for (unsigned i = 0; i < c->blocks; i++)
        printf(" %016llx", (unsigned long long)digests[i]);
    printf("\n");
}

struct counts {
    unsigned cases, blocks, wrong_cases, wrong_blocks;
};

static bool each_case(struct target *target, char what, const struct group_case *c, struct counts *counts,
                      struct err *err)
{
    uint64_t digests[BLOCKS] = {0};
    unsigned wrong = 0;
    if (what == 'p') {
        struct text text = {0};
        write_kernel(c, &text);
        printf("// %s\n%s", c->name, text.at);
        text_fini(&text);
        return true;
    }
    if (!run_case(target, c, digests, err))
        return false;
    for (unsigned i = 0; i < c->blocks; i++)
        wrong += digests[i] != c->digests[i];
    if (what == 'g')
        print_case(c, digests);
    else if (wrong)
        printf("%s: %u of %u blocks differ\n", c->name, wrong, c->blocks);
    counts->cases++;
    counts->blocks += c->blocks;
    counts->wrong_cases += wrong != 0;
    counts->wrong_blocks += wrong;
    return true;
}

static bool all_cases(struct target *target, char what, char *text, struct err *err)
{
    struct counts counts = {0};
    for (char *line; (line = strsep(&text, "\n"));) {
        struct group_case c;
        if (!*line)
            continue;
        if (!read_case(line, &c))
            return err_set(err, "not a case: %.60s", line);
        if (!each_case(target, what, &c, &counts, err))
            return false;
    }
    if (what == 'c')
        printf("%u cases, %u blocks compared; %u cases and %u blocks differ\n", counts.cases, counts.blocks,
               counts.wrong_cases, counts.wrong_blocks);
    return what != 'c' || !counts.wrong_cases || err_set(err, "Heddle differs from the GPU");
}

int main(int argc, char **argv)
{
    static const char *const whats[] = {"--check", "--gpu", "--print"};
    struct text file = {0};
    struct err err;
    char what = 0;
    for (unsigned i = 0; i < COUNT_OF(whats) && argc == 3; i++)
        if (!strcmp(argv[1], whats[i]))
            what = whats[i][2];
    if (!what) {
        fputs("usage: oracle_groups --check|--gpu|--print FILE\n", stderr);
        return 2;
    }
    struct target *target = what == 'g' ? target_gpu(&err) : target_heddle(1);
    bool good = target && file_read(argv[2], 1 << 24, &file, &err) && all_cases(target, what, file.at, &err);
    if (!good)
        fprintf(stderr, "groups: %s\n", err.text);
    text_fini(&file);
    if (target)
        target_free(target);
    return !good;
}
