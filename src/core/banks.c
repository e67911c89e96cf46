#include "core/banks.h"
#include "base/bits.h"

#include <string.h>

/* Whether no two lanes want different words of a bank: what most accesses are. */
static bool are_apart(uint32_t groups, uint32_t unit, const struct request *request, lane_mask part,
                      uint32_t first)
{
    uint32_t word_of[64];
    uint64_t taken = 0;
    EACH_LANE (i, part) {
        uint32_t at = request->shared_at[first + i] / unit, group = at % groups;
        if (!(taken >> group & 1)) {
            taken |= UINT64_C(1) << group;
            word_of[group] = at;
        } else if (word_of[group] != at) {
            return false;
        }
    }
    return true;
}

/* Lanes that go to different words of a bank wait for each other. Accesses of 16 bytes take half of the warp
 * at a time (on an H200 one that all lanes share takes two passes); wide ones take as many banks together. */
static uint32_t count_passes(uint32_t banks, uint32_t unit, const struct request *request)
{
    uint32_t groups = (uint32_t)max_u64(banks * 4 / unit, 1), together = unit == 16 ? 16 : 32, all = 0;
    uint32_t seen[256][32];
    uint8_t counts[256];
    for (uint32_t first = 0; first < request->of.width; first += together) {
        lane_mask part = request->shared >> first & ((UINT64_C(1) << together) - 1);
        uint32_t most = 0, last = UINT32_MAX;
        if (groups <= 64 && are_apart(groups, unit, request, part, first)) {
            all += part != 0;
            continue;
        }
        memset(counts, 0, groups);
        EACH_LANE (i, part) {
            uint32_t at = request->shared_at[first + i] / unit, group = at % groups, known = 0;
            if (at == last)
                continue;
            last = at;
            while (known < counts[group] && seen[group][known] != at)
                known++;
            if (known < counts[group])
                continue;
            seen[group][counts[group]++] = at;
            most = counts[group] > most ? counts[group] : most;
        }
        all += most;
    }
    return all ? all : 1;
}

static uint32_t place_of(const uint32_t offsets[ISA_LANES])
{
    uint32_t mixed = offsets[1] + offsets[4] * 3 + offsets[16] * 5 + offsets[31] * 7;
    return mixed * UINT32_C(2654435761) >> 16 & (BANK_PATTERNS - 1);
}

/* Of 32 lanes, which the host's compiler makes a few vectors of: how far each is from the first; and whether
 * that is as remembered. */
static void offsets_from(uint32_t first, const uint32_t *at, uint32_t *offsets)
{
    for (uint32_t i = 0; i < 32; i++)
        offsets[i] = at[i] - first;
}

static bool are_same(const uint32_t *offsets, const uint32_t *known)
{
    uint32_t differs = 0;
    for (uint32_t i = 0; i < 32; i++)
        differs |= offsets[i] ^ known[i];
    return !differs;
}

/* A word of each bank, or one word for all. */
static bool is_one_pass(uint32_t banks, const struct request *request)
{
    return request->of.width == 32 && request->shared_bytes == 4 &&
           (request->shared_layout == LAYOUT_SAME || (request->shared_layout == LAYOUT_DENSE && banks >= 32));
}

uint32_t bank_passes(struct banks *banks, uint32_t count, const struct request *request)
{
    if (is_one_pass(count, request))
        return 1;
    uint32_t unit = request->shared_bytes <= 4 ? 4 : request->shared_bytes == 8 ? 8 : 16;
    uint32_t first = request->shared_at[first_lane(request->shared)], offsets[ISA_LANES];
    bool wide = request->of.width > 32;
    offsets_from(first, request->shared_at, offsets);
    if (wide)
        offsets_from(first, request->shared_at + 32, offsets + 32);
    struct bank_pattern *pattern = &banks->seen[place_of(offsets)];
    if (LIKELY(are_same(offsets, pattern->offsets) && pattern->who == request->shared &&
               pattern->bytes == request->shared_bytes && pattern->first_byte == first % unit &&
               (!wide || are_same(offsets + 32, pattern->offsets + 32))))
        return pattern->passes;
    pattern->who = request->shared;
    pattern->bytes = request->shared_bytes;
    pattern->first_byte = (uint8_t)(first % unit);
    pattern->passes = count_passes(count, unit, request);
    memcpy(pattern->offsets, offsets, request->of.width * sizeof *offsets);
    return pattern->passes;
}
