/* Bulk copies between global and shared memory (TMA): a unit of the SM asks memory for a copy's lines, or
 * writes them, one after another. Its copies follow each other; the L1 cache keeps none of their lines. What
 * goes to other blocks of a cluster, dsm.c sends. */
#include "core/l1.h"

#include <string.h>

bool bulk_is_one(const struct request *request)
{
    return request->of.kind == REQUEST_PIECES && request->of.is_async &&
           (request->of.barrier || request->of.targets || request->writes);
}

/* Pieces that follow each other in one line: takes them from `next` on; their sectors, and what is written.
 */
struct bulk_line {
    uint64_t line;
    uint32_t sectors;
    unsigned char data[MEM_LINE_MOST];
    uint32_t masks[MEM_SECTORS_MOST];
};

static size_t take_line(const struct request *request, size_t next, uint32_t shift, struct bulk_line *line)
{
    line->line = request->pieces[next].at >> shift;
    line->sectors = 0;
    memset(line->masks, 0, sizeof line->masks);
    uint32_t lane = request->pieces[next].lane;
    for (; next < request->piece_count; next++) {
        const struct piece *piece = &request->pieces[next];
        if (piece->at >> shift != line->line || piece->lane != lane)
            break;
        uint32_t at = piece->at & ((1u << shift) - 1);
        if (request->writes)
            memcpy(line->data + at, piece->host, piece->bytes);
        l1_mark_bytes(line->masks, at, piece->bytes);
    }
    for (uint32_t s = 0; s < MEM_SECTORS_MOST; s++)
        line->sectors |= (uint32_t)(line->masks[s] != 0) << s;
    return next;
}

void bulk_issue(struct sm *sm, struct sm_warp *w, const struct request *request,
                const struct isa_timing *timing)
{
    const struct sm_spec *spec = sm->config.spec;
    double cycles = request->writes ? spec->bulk_write_cycles : spec->bulk_read_cycles;
    uint64_t each = (uint64_t)(cycles * LSU_PARTS), shift = sm->l1.line_shift;
    uint64_t at = max_u64(sm->bulk_free, sm->cycle * LSU_PARTS);
    uint64_t start = request->writes ? 0 : spec->bulk_start_cycles;
    struct load *load = request->writes ? NULL : lsu_begin_load(sm, w, request, timing);
    if (load)
        load_keep_pieces(load, request);
    struct bulk_line line;
    for (size_t i = 0; i < request->piece_count; at += each) {
        uint64_t cycle = at / LSU_PARTS + start;
        if (UNLIKELY(request->pieces[i].at < PIECE_AT_MOST)) {
            dsm_put_piece(sm, w, &request->of, &request->pieces[i++], cycle);
            continue;
        }
        i = take_line(request, i, (uint32_t)shift, &line);
        if (w->profile)
            w->profile->sectors += (uint32_t)__builtin_popcount(line.sectors);
        if (load)
            l1_load_around(sm, load, line.line << shift, (uint8_t)line.sectors, cycle);
        else if (UNLIKELY(request->of.reduces))
            l1_reduce(sm, w, &request->of, line.line << shift, line.data, line.masks, cycle);
        else
            l1_store(sm, w, NULL, line.line << shift, line.data, line.masks, cycle);
    }
    sm->bulk_free = at;
    if (load)
        load_line_done(sm, load, at / LSU_PARTS);
    else if (request->of.targets)
        dsm_put_signals(sm, w, &request->of, false, at / LSU_PARTS);
    else
        w->bulk_done[w->bulk_group % SM_BULK_GROUPS] = at / LSU_PARTS + spec->bulk_write_end_cycles;
}

void bulk_commit(struct sm_warp *w)
{
    uint64_t done = w->bulk_done[w->bulk_group % SM_BULK_GROUPS];
    w->bulk_group++;
    w->bulk_done[w->bulk_group % SM_BULK_GROUPS] = done; /* if nothing more comes */
}

/* A warp's copies are done in their order. Who leaves more groups than are told apart waits for some of them,
 * too. */
uint64_t bulk_done(const struct sm_warp *w, uint32_t allowed)
{
    if (allowed >= w->bulk_group)
        return 0;
    allowed = (uint32_t)min_u64(allowed, SM_BULK_GROUPS - 2);
    return w->bulk_done[(w->bulk_group - 1 - allowed) % SM_BULK_GROUPS];
}
