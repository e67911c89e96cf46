#include "ptx_run/isa.h"
#include "ptx_run/archive.h"
#include "ptx_run/warp.h"

static bool is_awake(const struct isa_warp *isa)
{
    const struct warp *w = (const struct warp *)(const void *)isa;
    bool ready = !w->fragment_count;
    for (uint32_t i = 0; i < w->fragment_count; i++)
        ready |= w->fragments[i]->state == FRAGMENT_READY;
    return ready;
}

static void check_limits(struct isa_warp *isa)
{
    struct warp *w = ptx_warp(isa);
    warp_check_limits(w, w->at, (lanes)isa->active);
}

const struct isa_ops ptx_isa = {.name = "PTX",
                                .block_word = "block",
                                .thread_word = "thread",
                                .lanes = WARP_LANES,
                                .warp_bytes = sizeof(struct warp),
                                .prepare = ptx_prepare,
                                .start = warp_start,
                                .fini = warp_fini,
                                .run = warp_run,
                                .settle = warp_settle,
                                .step = warp_step,
                                .glide = warp_glide,
                                .is_awake = is_awake,
                                .check_limits = check_limits,
                                .deliver = ptx_request_deliver,
                                .collect = ptx_request_collect,
                                .deliver_old = ptx_request_deliver_old,
                                .complete = ptx_request_complete,
                                .signal = ptx_signal,
                                .open_cluster = ptx_open_cluster,
                                .force = ptx_block_force,
                                .describe = ptx_block_describe,
                                .deadlock = ptx_block_report_deadlock,
                                .place = ptx_place,
                                .find_shared = ptx_find_shared,
                                .archive_shape = ptx_archive_shape,
                                .archive_warp = ptx_archive_warp,
                                .archive_code = ptx_archive_code,
                                .archive_delivery = ptx_archive_delivery,
                                .archive_piece = ptx_archive_piece};
