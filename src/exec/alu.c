/* The table of rows, how a row is found by its opcode, and which version of its executor this machine gets.
 */
#include "exec/alu.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/bits.h"
#include "base/err.h"

#define ROW(id, texts, unit, d, a, b, c, e, meaning)                                                         \
    {texts, UNIT_##unit, TYPE_##d, {TYPE_##a, TYPE_##b, TYPE_##c, TYPE_##e}},
const struct alu_row alu_rows[] = {
#include "ptx/alu.def"
};
#undef ROW
const int alu_row_count = COUNT_OF(alu_rows);

/* Each opcode at its digest or the next free place behind it; written once, then only read. */
enum { PLACES = 16384 };
static struct place {
    const char *text;
    int length, row;
} places[PLACES];

static struct place *place_of(const char *text, int length)
{
    uint64_t digest = digest_bytes(0, text, (size_t)length);
    for (struct place *at = &places[digest >> 32 & (PLACES - 1)];;
         at = at + 1 < places + PLACES ? at + 1 : places)
        if (!at->text || (at->length == length && !memcmp(at->text, text, (size_t)length)))
            return at;
}

static void fill(void)
{
    int count = 0;
    for (int row = 0; row < alu_row_count; row++) {
        const char *text = alu_rows[row].texts;
        for (int length; length = (int)strcspn(text, "|"), length; text += length + (text[length] == '|')) {
            REQUIRE(++count < PLACES / 2);
            struct place *at = place_of(text, length);
            *at = (struct place){text, length, row};
        }
    }
}

int alu_find(const char *opcode)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill);
    const struct place *at = place_of(opcode, (int)strlen(opcode));
    return at->text ? at->row : -1;
}

extern alu_fn *const alu_fns_base[], *const alu_fns_rare[];
#ifdef ALU_X86_LEVELS
extern alu_fn *const alu_fns_v3[], *const alu_fns_v4[];
#endif

/* What the levels are compiled for (a processor with these has the lesser features too). */
static bool has_level(int level)
{
#ifdef ALU_X86_LEVELS
    bool v3 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return level == 0 || (level == 1 && v3) || (level == 2 && v4);
#else
    return level == 0;
#endif
}

alu_fn *alu_executor_at(int level, int row)
{
    REQUIRE(row >= 0 && row < alu_row_count);
    if (!has_level(level))
        return 0;
#ifdef ALU_X86_LEVELS
    if (level)
        return level == 1 ? alu_fns_v3[row] : alu_fns_v4[row];
#endif
    return alu_fns_base[row] ? alu_fns_base[row] : alu_fns_rare[row];
}

alu_fn *alu_executor(int row)
{
    alu_fn *fn = 0;
    for (int level = ALU_LEVELS - 1; !fn; level--)
        fn = alu_executor_at(level, row);
    return fn;
}
