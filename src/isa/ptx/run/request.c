/* Data that a timing model delivers to lanes' registers, and takes from them. */
#include "ptx_run/bytes.h"
#include "ptx_run/isa.h"
#include "exec/atomics.h"

#include <string.h>

void ptx_request_deliver(const struct delivery *of, uint64_t line, const unsigned char *data, lane_mask who)
{
    const struct access *access = of->how;
    bool whole = access->bytes == access->register_bytes;
    for (uint32_t v = 0; v < access->count; v++) {
        char *d = of->registers + access->registers[v];
        uintptr_t from =
            (uintptr_t)data + (size_t)v * access->bytes - line; /* wraps; an address brings it back */
        if (whole && access->bytes == 4)
            EACH_LANE (i, who)
                memcpy(d + 4 * i, (const char *)(from + of->at[i]), 4);
        else
            EACH_LANE (i, who)
                lane_set(d, access->register_bytes, i,
                         widen(access_read_bytes((const char *)(from + of->at[i]), access->bytes), access));
    }
}

void ptx_request_collect(const struct request *request, uint64_t line, lane_mask who, unsigned char *data,
                         uint32_t *masks)
{
    const struct access *access = request->of.how;
    EACH_LANE (i, who) {
        uint32_t at = (uint32_t)(request->of.at[i] - line);
        uint32_t bits = request->of.bytes == 32 ? UINT32_MAX : (UINT32_C(1) << request->of.bytes) - 1;
        masks[at / 32] |= bits << at % 32;
    }
    for (uint32_t v = 0; v < access->count; v++) {
        const char *s = request->of.registers + access->registers[v];
        uintptr_t to = (uintptr_t)data + (size_t)v * access->bytes - line; /* wraps likewise */
        EACH_LANE (i, who)
            access_write_bytes((char *)(to + request->of.at[i]), access->bytes,
                               lane_get(s, access->register_bytes, i));
    }
}

void ptx_request_deliver_old(const struct delivery *of, uint32_t lane, uint64_t old)
{
    if (lane >= ISA_LANES) {
        lane_set(of->registers + of->d_upper, of->register_bytes, lane - ISA_LANES, old);
        return;
    }
    if (!of->merged) {
        lane_set(of->registers + of->d, of->register_bytes, lane, old);
        return;
    }
    EACH_LANE (i, of->lanes) {
        lane_set(of->registers + of->d, of->register_bytes, i, old);
        old = atomic_apply(of->operation, old, of->operand, 0, true);
    }
}
