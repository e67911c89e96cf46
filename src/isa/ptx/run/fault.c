/* Faults of threads: where they are in the program. */
#include "ptx_run/access.h"
#include "ptx_run/warp.h"
#include "base/text.h"

#include <stdarg.h>

_Noreturn void warp_fault(struct warp *w, const struct op *op, lanes who, enum fault_kind kind,
                          uint64_t address, const char *format, ...)
{
    struct block *block = w->isa.block;
    if (op < w->code->ops || op >= w->code->ops + w->code->op_count)
        op = op->more;
    if (kind == FAULT_ADDRESS || kind == FAULT_MISALIGNED)
        access_blame(w, op);
    uint32_t thread = w->isa.index * WARP_LANES + first_lane(who);
    char said[1400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    struct text where = {0};
    code_where(w->code, op, &where);
    char place[1200];
    snprintf(place, sizeof place, "%s", where.at);
    text_fini(&where);
    block_fault(block, thread, kind, address, place, said);
}

_Noreturn void ptx_block_report_deadlock(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = warp_of(block, i);
        for (uint32_t j = 0; j < w->fragment_count; j++) {
            struct fragment *f = w->fragments[j];
            w->now = f;
            warp_use_frame(w);
            const struct level *top = &f->levels[f->depth - 1];
            struct text text = {0};
            char where[1200];
            ptx_block_describe(block, &text);
            snprintf(where, sizeof where, "%s", text.at);
            text_fini(&text);
            warp_fault(w, &w->code->ops[top->pc], top->mask, FAULT_DEADLOCK, 0,
                       "waits at a barrier that the block's other threads never reach; %s", where);
        }
    }
    BUG("a block without threads waits");
}
