#include "exec/answer.h"
#include "exec/atomics.h"
#include "exec/watch.h"
#include "isa/warp.h"

#include <string.h>

static lane_mask same_line(const struct delivery *of, lane_mask rest, uint64_t line)
{
    lane_mask who = 0;
    EACH_LANE (i, rest)
        who |= (lane_mask)(of->at[i] / WATCH_LINE == line) << i;
    return who;
}

/* Addresses are the host's: bytes are where they are. */
static void load_lanes(const struct isa_ops *isa, const struct delivery *of)
{
    uint64_t at = of->at[first_lane(of->lanes)];
    isa->deliver(of, at, (const unsigned char *)(uintptr_t)at, of->lanes);
}

static void store_lanes(const struct isa_ops *isa, const struct request *request)
{
    for (lane_mask rest = request->of.lanes, who; rest; rest &= ~who) {
        uint64_t line = request->of.at[first_lane(rest)] / WATCH_LINE;
        uint32_t masks[2 * WATCH_LINE / 32] = {0}; /* a lane's bytes may go on in the next line */
        who = same_line(&request->of, rest, line);
        isa->collect(request, line * WATCH_LINE, who, (unsigned char *)(uintptr_t)(line * WATCH_LINE), masks);
    }
}

static void do_atomics(const struct isa_ops *isa, const struct request *request)
{
    const struct delivery *of = &request->of;
    EACH_LANE (i, of->lanes) {
        if (of->bytes == ATOMIC_WIDE_BYTES) {
            uint64_t halves[2];
            atomic_perform_wide(of->operation, (void *)(uintptr_t)of->at[i],
                                (uint64_t[2]){request->operand[i], request->operand_upper[i]},
                                (uint64_t[2]){request->compare[i], request->compare_upper[i]}, halves);
            for (uint32_t half = 0; of->returns && half < 2; half++)
                isa->deliver_old(of, i + half * ISA_LANES, halves[half]);
            continue;
        }
        uint64_t old = atomic_perform(of->operation, (void *)(uintptr_t)of->at[i], request->operand[i],
                                      request->compare[i]);
        if (of->returns)
            isa->deliver_old(of, i, old);
    }
}

static void move_pieces(const struct isa_ops *isa, struct isa_warp *w, const struct request *request)
{
    for (size_t i = 0; i < request->piece_count; i++) {
        const struct piece *piece = &request->pieces[i];
        void *at = (void *)(uintptr_t)piece->at;
        void *host = piece->host ? piece->host : (char *)request->stage + piece->stage_at;
        memcpy(request->writes ? at : host, request->writes ? host : at, piece->bytes);
    }
    if (request->of.is_async || request->of.stage_bytes)
        isa->complete(w, &request->of, request->stage);
}

void answer_request(const struct isa_ops *isa, struct isa_warp *w, struct request *request)
{
    switch ((enum request_kind)request->of.kind) {
    case REQUEST_NONE:
    case REQUEST_SIGNAL: /* of models that keep time */
        break;
    case REQUEST_LOAD:
    case REQUEST_CONSTANT:
        if (request->of.lanes && !request->done)
            load_lanes(isa, &request->of);
        break;
    case REQUEST_STORE:
        if (!request->done)
            store_lanes(isa, request);
        break;
    case REQUEST_ATOMIC:
        do_atomics(isa, request);
        break;
    case REQUEST_PIECES:
        move_pieces(isa, w, request);
        break;
    }
    request_clear(request);
}
