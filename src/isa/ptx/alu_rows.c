/* The table of rows, and how a row is found by its opcode. */
#include "ptx/alu_rows.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/bits.h"
#include "base/err.h"

#define ROW(id, texts, d, a, b, c, e, meaning) {texts, TYPE_##d, {TYPE_##a, TYPE_##b, TYPE_##c, TYPE_##e}},
const struct alu_row alu_rows[] = {
#include "ptx/alu.def"
};
#undef ROW
const int alu_row_count = COUNT_OF(alu_rows);

/* Each opcode at its digest or the next free place behind it; written once, then only read. */
enum { PLACES = 16384 };
static struct alu_place {
    const char *text;
    int length, row;
} places[PLACES];

static struct alu_place *place_of(const char *text, int length)
{
    uint64_t digest = digest_bytes(0, text, (size_t)length);
    for (struct alu_place *at = &places[digest >> 32 & (PLACES - 1)];;
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
            struct alu_place *at = place_of(text, length);
            *at = (struct alu_place){text, length, row};
        }
    }
}

int alu_find(const char *opcode)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill);
    const struct alu_place *at = place_of(opcode, (int)strlen(opcode));
    return at->text ? at->row : -1;
}
