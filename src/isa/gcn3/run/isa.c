#include "gcn3_run/program.h"
#include "gcn3_run/wave.h"

static bool is_awake(const struct isa_warp *warp)
{
    return !gcn3_wave(warp)->waits;
}

/* Lanes of a wave wait for nobody but by branches of their own program. */
static bool force(struct block *block)
{
    (void)block;
    return false;
}

const struct isa_ops gcn3_isa = {.name = "GCN3",
                                 .block_word = "work-group",
                                 .thread_word = "work-item",
                                 .lanes = GCN3_LANES,
                                 .warp_bytes = sizeof(struct gcn3_wave),
                                 .in_step = true,
                                 .prepare = gcn3_prepare,
                                 .start = gcn3_start,
                                 .fini = gcn3_fini,
                                 .run = gcn3_run,
                                 .settle = gcn3_settle,
                                 .step = gcn3_step,
                                 .is_awake = is_awake,
                                 .check_limits = gcn3_check_limits,
                                 .deliver = gcn3_deliver,
                                 .collect = gcn3_collect,
                                 .deliver_old = gcn3_deliver_old,
                                 .complete = gcn3_complete,
                                 .force = force,
                                 .describe = gcn3_describe,
                                 .deadlock = gcn3_deadlock,
                                 .place = gcn3_place,
                                 .archive_shape = gcn3_archive_shape,
                                 .archive_warp = gcn3_archive_warp,
                                 .archive_code = gcn3_archive_code,
                                 .archive_delivery = gcn3_archive_delivery,
                                 .archive_piece = gcn3_archive_piece};
