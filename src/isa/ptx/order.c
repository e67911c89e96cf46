/* The order of an opcode's modifiers. ptxas accepts most of them in any order, as long as types keep theirs;
 * tables of opcodes have each in one order: the usual one, with types last. */
#include "ptx/parse.h"
#include "base/bits.h"

#include <stdio.h>
#include <string.h>

enum { PARTS_MOST = 16, RANK_PLAIN = 1, RANK_TYPE = 9 };

/* What stands behind those without a row, in this order. */
static const struct rank {
    const char *word;
    int rank;
} ranks[] = {{"ftz", 3},   {"NaN", 4},      {"relu", 4}, {"sat", 4},     {"cc", 4},          {"wrap", 4},
             {"clamp", 4}, {"shiftamt", 4}, {"abs", 6},  {"xorsign", 5}, {"pred", RANK_TYPE}};

/* Of these opcodes, and of those of video, some types stand before other modifiers, or words look like types.
 */
static const char *const as_written[] = {"prmt", "mma", "wmma", "wgmma", "tcgen05", "suld", "sust", "sured"};

struct part {
    const char *at;
    size_t length;
    int rank;
};

/* b32, f16x2, e4m3x2, ... */
static bool is_type(const char *at, size_t length)
{
    static const char *const stems[] = {"b", "u", "s", "f", "bf", "tf", "e", "ue"};
    for (size_t i = 0; i < COUNT_OF(stems); i++) {
        size_t stem = strlen(stems[i]);
        if (length > stem && !strncmp(at, stems[i], stem) && at[stem] >= '0' && at[stem] <= '9')
            return true;
    }
    return false;
}

static int rank_of(const char *at, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(ranks); i++)
        if (strlen(ranks[i].word) == length && !strncmp(at, ranks[i].word, length))
            return ranks[i].rank;
    return is_type(at, length) ? RANK_TYPE : RANK_PLAIN;
}

static bool is_as_written(const char *opcode, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(as_written); i++)
        if (strlen(as_written[i]) == length && !strncmp(opcode, as_written[i], length))
            return true;
    return opcode[0] == 'v' && strncmp(opcode, "vote", length) != 0;
}

/* Of the first GPUs, which had no rounding: later ones do what NVIDIA's manual says of them. */
static const struct older {
    const char *opcode, *now;
} older[] = {{"mad.f32", "mad.rn.ftz.f32"}, {"mad.sat.f32", "mad.rn.ftz.sat.f32"}};

bool parse_older_opcode(const char *opcode, char *now, size_t room)
{
    for (size_t i = 0; i < COUNT_OF(older); i++)
        if (!strcmp(opcode, older[i].opcode))
            return (size_t)snprintf(now, room, "%s", older[i].now) < room;
    return false;
}

bool ptx_order_opcode(const char *opcode, char *ordered, size_t room)
{
    struct part parts[PARTS_MOST];
    size_t base = strcspn(opcode, "."), count = 0;
    bool in_order = true;
    for (const char *at = opcode + base; *at; at += parts[count++].length) {
        if (count == PARTS_MOST)
            return false;
        size_t length = strcspn(++at, ".");
        parts[count] = (struct part){at, length, rank_of(at, length)};
        in_order &= !count || parts[count - 1].rank <= parts[count].rank;
    }
    if (in_order || is_as_written(opcode, base) || strlen(opcode) >= room)
        return false;
    char *to = ordered;
    memcpy(to, opcode, base);
    to += base;
    for (int rank = RANK_PLAIN; rank <= RANK_TYPE; rank++)
        for (size_t i = 0; i < count; i++)
            if (parts[i].rank == rank) {
                *to++ = '.';
                memcpy(to, parts[i].at, parts[i].length);
                to += parts[i].length;
            }
    *to = 0;
    return true;
}

bool ptx_opcode_has(const char *opcode, const char *modifier)
{
    size_t length = strlen(modifier);
    for (const char *dot = strchr(opcode, '.'); dot; dot = strchr(dot + 1, '.'))
        if (!strncmp(dot + 1, modifier, length) && (dot[1 + length] == '.' || !dot[1 + length]))
            return true;
    return false;
}
