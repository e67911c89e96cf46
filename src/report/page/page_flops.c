/* How many floating-point operations an instruction does, from its name in PTX or GCN3. */
#include "report/page/page.h"

#include <stdlib.h>
#include <string.h>

/* Whether one of the words of the name, which dots and low lines part, is this. */
static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = name; *at;) {
        size_t own = strcspn(at, "._");
        if (own == length && !strncmp(at, word, length))
            return true;
        at += own + (at[own] != 0);
    }
    return false;
}

/* What the words say: operations of a thread, and of which kind. */
static const struct {
    const char *word;
    double flops;
} verbs[] = {
    {"add", 1}, {"sub", 1}, {"mul", 1}, {"fma", 2}, {"mad", 2}, {"mac", 2}, {"subrev", 1},
};

static const struct {
    const char *word, *kind;
    double values; /* in a register */
} types[] = {
    {"f16x2", "fp16", 2}, {"bf16x2", "fp16", 2}, {"f32x2", "fp32", 2}, {"f16", "fp16", 1},
    {"bf16", "fp16", 1},  {"f64", "fp64", 1},    {"f32", "fp32", 1},
};

enum { COUNT_VERBS = sizeof verbs / sizeof *verbs, COUNT_TYPES = sizeof types / sizeof *types };

/* "m16n8k16" among the words: 2 m n k; 0: there is no such. */
static double of_shape(const char *name)
{
    for (const char *at = name; *at;) {
        char *end;
        double product = 2;
        const char *letter = "mnk", *digits = at;
        for (; *letter && *digits == *letter; letter++, digits = end)
            product *= (double)strtoul(digits + 1, &end, 10);
        size_t own = strcspn(at, ".");
        if (!*letter)
            return product;
        at += own + (at[own] != 0);
    }
    return 0;
}

double html_flops(const char *instruction, const char **kind)
{
    enum { WARP = 32, WARPS_OF_GROUP = 4 };
    if (has_word(instruction, "mma") || !strncmp(instruction, "wgmma.mma", 9)) {
        *kind = "tensor";
        return of_shape(instruction) / (!strncmp(instruction, "wgmma", 5) ? WARP * WARPS_OF_GROUP : WARP);
    }
    if (has_word(instruction, "atom") || has_word(instruction, "red"))
        return 0;
    for (int v = 0; v < COUNT_VERBS; v++)
        for (int t = 0; t < COUNT_TYPES && has_word(instruction, verbs[v].word); t++)
            if (has_word(instruction, types[t].word)) {
                *kind = types[t].kind;
                return verbs[v].flops * types[t].values;
            }
    return 0;
}
