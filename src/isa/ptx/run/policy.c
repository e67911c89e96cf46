/* createpolicy: what the L2 should keep. It keeps all alike here, but programs compare the bits with those
 * that libcu++ makes on the host, whose header describes them
 * (cuda/__annotated_ptr/access_property_encoding.h). */
#include "ptx_run/async.h"
#include "base/bits.h"

#include <string.h>

enum { MODE_FRACTION = 2, MODE_RANGE = 3 }; /* of a descriptor */

struct policy {
    bool is_range;
    uint64_t kinds;          /* the bits that say what is done with either part of the accesses */
    struct async_address at; /* of a range */
    uint32_t primary, total; /* places: its sizes; or the fraction */
};

/* A range is 127 blocks at most, of 4 KiB or a power of two above it. */
static uint64_t range_bits(uint64_t at, uint32_t primary, uint32_t total)
{
    uint32_t log = total > 1 ? 32u - (uint32_t)__builtin_clz(total - 1) : 0;
    uint32_t size = log > 19 ? log - 19 : 0, shift = 12 + size;
    uint64_t start = at >> shift, end = (at + primary + (UINT64_C(1) << shift) - 1) >> shift;
    uint64_t count = min_u64(max_u64(end - start, 1), 127);
    return count << 37 | (start & 127) << 44 | (uint64_t)size << 52;
}

/* In sixteenths, less one. */
static uint64_t fraction_bits(float fraction)
{
    const float least = 0x1p-23f;
    if (!(fraction > least))
        return 0;
    return (fraction < 1 ? (uint64_t)((fraction - least) * 16) : 15) << 52;
}

static void run_policy(struct warp *w, const struct op *op, lanes active)
{
    const struct policy *policy = op->more;
    const uint32_t *totals = warp_at(w, policy->total), *primaries = warp_at(w, policy->primary);
    uint64_t result[WARP_LANES];
    EACH_LANE (i, active) {
        float fraction;
        memcpy(&fraction, &primaries[i], sizeof fraction);
        result[i] = policy->kinds |
                    (policy->is_range ? range_bits(async_address(w, &policy->at, i), primaries[i], totals[i])
                                      : fraction_bits(fraction));
    }
    blend(warp_at(w, op->d), result, 8, active);
}

/* The kinds that an opcode names, as bits; false if one is unknown. */
static bool find_kinds(const char *opcode, uint64_t *bits)
{
    static const char *const kinds[] = {"L2::evict_unchanged", "L2::evict_first", "L2::evict_last",
                                        "L2::evict_normal"};
    uint32_t found[2] = {0}, count = 0;
    for (const char *at = opcode; count < 2 && (at = strstr(at, "L2::")); at++, count++) {
        uint32_t kind = 0;
        while (kind < COUNT_OF(kinds) && strncmp(at, kinds[kind], strlen(kinds[kind])) != 0)
            kind++;
        if (kind == COUNT_OF(kinds) || (count && kind > 1))
            return false;
        found[count] = kind;
    }
    *bits = (uint64_t)found[0] << 57 | (uint64_t)found[1] << 56;
    return count > 0;
}

enum lowered lower_policy(struct lower *lower, struct op *op)
{
    struct policy *policy = lower_own(lower, sizeof *policy);
    policy->is_range = ptx_opcode_has(lower->inst->opcode, "range");
    if (ptx_is(lower->inst, "createpolicy.cvt") || !find_kinds(lower->inst->opcode, &policy->kinds))
        return lower_fail(lower, "Heddle does not know this policy");
    policy->kinds |= (uint64_t)(policy->is_range ? MODE_RANGE : MODE_FRACTION) << 59;
    op->unit = UNIT_ALU;
    op->run.exec = run_policy;
    op->more = policy;
    if (!lower_destination(lower, lower_operand(lower, 0), TYPE_u64, &op->d))
        return LOWER_FAILED;
    if (policy->is_range && lower->inst->count < 4)
        return lower_fail(lower, "an address and two sizes were expected");
    if (policy->is_range)
        return async_lower_address(lower, lower_operand(lower, 1), PTX_GLOBAL, &policy->at) &&
                       lower_source(lower, lower_operand(lower, 2), TYPE_u32, &policy->primary) &&
                       lower_source(lower, lower_operand(lower, 3), TYPE_u32, &policy->total)
                   ? LOWERED
                   : LOWER_FAILED;
    const float all = 1;
    uint32_t bits;
    memcpy(&bits, &all, sizeof bits);
    if (lower->inst->count > 1)
        return lower_source(lower, lower_operand(lower, 1), TYPE_f32, &policy->primary) ? LOWERED
                                                                                        : LOWER_FAILED;
    policy->primary = lower_constant(lower, CONSTANT_VALUE, bits, 4);
    return LOWERED;
}
