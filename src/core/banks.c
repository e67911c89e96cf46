#include "core/banks.h"
#include "base/bits.h"

#include <string.h>

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

uint32_t bank_passes(struct banks *banks, uint32_t count, const struct request *request)
{
    uint32_t unit = request->shared_bytes <= 4 ? 4 : request->shared_bytes == 8 ? 8 : 16;
    uint32_t first = request->shared_at[first_lane(request->shared)], differs = 0, offsets[ISA_LANES];
    uint32_t width = request->of.width, half = 0;
    do /* at least once: there are 32 lanes */
        for (uint32_t i = half; i < half + 32; i++)
            offsets[i] = request->shared_at[i] - first;
    while ((half += 32) < width);
    struct bank_pattern *pattern = &banks->seen[place_of(offsets)];
    for (uint32_t i = 0; i < width; i++)
        differs |= offsets[i] ^ pattern->offsets[i];
    if (LIKELY(!differs && pattern->who == request->shared && pattern->bytes == request->shared_bytes &&
               pattern->first_byte == first % unit))
        return pattern->passes;
    *pattern = (struct bank_pattern){.who = request->shared,
                                     .bytes = request->shared_bytes,
                                     .first_byte = (uint8_t)(first % unit),
                                     .passes = count_passes(count, unit, request)};
    memcpy(pattern->offsets, offsets, width * sizeof *offsets);
    return pattern->passes;
}
