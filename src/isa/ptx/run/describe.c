/* Describes where the warps of a block are, for reports of kernels that do not end. */
#include "ptx_run/warp.h"
#include "base/text.h"

enum { PLACES = 4 }; /* that are named */

struct warp_place {
    const struct code *code;
    uint32_t pc;
    enum fragment_state state;
    uint32_t warps, threads; /* warps: a bit each */
};

static struct warp_place place_of(const struct warp *w, const struct fragment *f)
{
    const struct level *top = &f->levels[f->depth - 1];
    const struct code *code = f->frames[f->frame_count - 1].code;
    bool stepped = f == w->now && w->at && w->isa.block->worker->request;
    bool waited =
        !stepped && f->state == FRAGMENT_READY && top->pc && code->ops[top->pc - 1].flags & OP_WAITS;
    return (struct warp_place){.code = code,
                               .pc = stepped ? (uint32_t)(w->at - code->ops) : top->pc - waited,
                               .state = f->state,
                               .warps = UINT32_C(1) << w->isa.index % 32,
                               .threads = isa_count_lanes(top->mask)};
}

/* 0-3,7 */
static void add_numbers(struct text *text, uint32_t bits)
{
    for (uint32_t i = 0, n; i < 32; i += n) {
        for (n = 1; i + n < 32 && (bits >> i & 1) && (bits >> (i + n) & 1);)
            n++;
        if (bits >> i & 1)
            text_add(text, n > 1 ? "%s%u-%u" : "%s%u", bits & ((UINT32_C(1) << i) - 1) ? "," : "", i,
                     i + n - 1);
    }
}

static void add_place(struct text *text, const struct warp_place *place)
{
    static const char *const what[] = {[FRAGMENT_READY] = "at",
                                       [FRAGMENT_AT_BARRIER] = "waiting at the barrier of",
                                       [FRAGMENT_AT_SYNC] = "waiting for others of the warp at"};
    text_add(text, "%s ", place->warps & (place->warps - 1) ? "warps" : "warp");
    add_numbers(text, place->warps);
    text_add(text, " (%u thread%s) %s ", place->threads, place->threads > 1 ? "s" : "", what[place->state]);
    code_where(place->code, &place->code->ops[place->pc], text);
}

void ptx_block_describe(const struct block *block, struct text *text)
{
    struct warp_place places[PLACES];
    uint32_t count = 0, others = 0;
    for (uint32_t i = 0; i < block->warp_count; i++)
        for (uint32_t j = 0; j < warp_of(block, i)->fragment_count; j++) {
            struct warp_place place = place_of(warp_of(block, i), warp_of(block, i)->fragments[j]);
            uint32_t k = 0;
            while (k < count && (places[k].code != place.code || places[k].pc != place.pc ||
                                 places[k].state != place.state))
                k++;
            if (k == PLACES) {
                others += place.threads;
                continue;
            }
            if (k == count)
                places[count++] = (struct warp_place){place.code, place.pc, place.state, 0, 0};
            places[k].warps |= place.warps;
            places[k].threads += place.threads;
        }
    text_add(text, "block (%u,%u,%u) has ", block->id[0], block->id[1], block->id[2]);
    for (uint32_t k = 0; k < count; k++) {
        text_add(text, "%s", k ? "; " : "");
        add_place(text, &places[k]);
    }
    if (others)
        text_add(text, "; %u threads elsewhere", others);
}
