/* Waves in checkpoints. */
#include "gcn3_run/hostcall.h"
#include "base/archive.h"

void gcn3_archive_shape(const struct kernel *base, struct archive *archive)
{
    const struct gcn3_kernel *kernel = gcn3_kernel(base);
    archive_expect(archive, kernel->program->count);
    archive_expect(archive, kernel->program->base);
    archive_expect(archive, kernel->entry);
}

static void archive_pending(struct gcn3_wave *w, struct archive *archive)
{
    ARCHIVE_VALUE(archive, w->begun);
    ARCHIVE_VALUE(archive, w->arrived);
    for (uint32_t counter = 0; counter < ISA_COUNTERS; counter++) {
        uint32_t begun = w->begun[counter], arrived = w->arrived[counter];
        archive_check(archive, begun - arrived <= ISA_COUNTED);
        for (uint32_t i = arrived; archive->good && i != begun; i++) {
            struct gcn3_pending *one = &w->pending[counter][i % ISA_COUNTED];
            ARCHIVE_VALUE(archive, one->op);
            ARCHIVE_VALUE(archive, one->lanes);
            archive_check(archive, one->op == GCN3_NO_OP || one->op < w->program->count);
        }
    }
}

void gcn3_archive_warp(struct isa_warp *isa, struct archive *archive)
{
    struct gcn3_wave *w = gcn3_wave(isa);
    const struct gcn3_kernel *kernel = gcn3_kernel_of(w);
    if (archive->reading)
        gcn3_reserve(w);
    archive_bytes(archive, w->s, sizeof w->s);
    archive_bytes(archive, w->v, kernel->vgprs * sizeof *w->v);
    archive_bytes(archive, w->incoming, kernel->vgprs * sizeof *w->incoming);
    archive_bytes(archive, w->incoming_s, sizeof w->incoming_s);
    archive_bytes(archive, w->scratch, w->scratch_bytes);
    w->pc = (uint32_t)archive_number(archive, w->pc, w->program->count);
    ARCHIVE_VALUE(archive, w->mode);
    w->scc = archive_number(archive, w->scc, 1);
    w->waits = archive_number(archive, w->waits, 1);
    archive_pending(w, archive);
    gcn3_hostcall_archive(w, archive);
    isa->code = &w->program->code;
    isa->next = &isa->code->timing[w->pc];
    isa->active = gcn3_exec(w);
}

const struct isa_code *gcn3_archive_code(const struct kernel *base, const struct isa_code *code,
                                         struct archive *archive)
{
    return archive_number(archive, code != NULL, 1) ? &gcn3_kernel(base)->program->code : NULL;
}

void gcn3_archive_delivery(const struct isa_warp *isa, struct delivery *of, struct archive *archive)
{
    struct gcn3_wave *w = gcn3_wave(isa);
    const struct gcn3_lowered *how = of->how;
    uint64_t number = archive->reading ? 0 : (uint64_t)(how - w->program->ops);
    struct delivery flat = team_bare_delivery(of);
    ARCHIVE_VALUE(archive, flat);
    number = archive_number(archive, number, w->program->count - 1);
    *of = team_bare_delivery(&flat);
    of->how = &w->program->ops[number];
    of->registers = (char *)w;
    archive_check(archive, w->program->ops[number].access.bytes);
}

/* Of a load: to scalar registers, to VGPRs behind them, or behind these: to the stage. */
void gcn3_archive_piece(const struct isa_warp *isa, struct piece *piece, struct archive *archive)
{
    struct gcn3_wave *w = gcn3_wave(isa);
    char *scalars = (char *)w->incoming_s, *vectors = (char *)w->incoming;
    uint64_t scalar_bytes = sizeof w->incoming_s, vector_bytes = w->incoming_capacity * sizeof *w->incoming;
    uint64_t end = scalar_bytes + vector_bytes, place = end;
    if (!archive->reading && piece->host)
        place = (uint64_t)(piece->host - scalars) < scalar_bytes
                    ? (uint64_t)(piece->host - scalars)
                    : scalar_bytes + (uint64_t)(piece->host - vectors);
    ARCHIVE_VALUE(archive, piece->at);
    ARCHIVE_VALUE(archive, piece->bytes);
    ARCHIVE_VALUE(archive, piece->lane);
    ARCHIVE_VALUE(archive, piece->stage_at);
    place = archive_number(archive, place, end);
    bool is_scalar = place < scalar_bytes;
    archive_check(archive, place == end || piece->bytes <= (is_scalar ? scalar_bytes : end) - place);
    piece->host = place == end ? NULL : is_scalar ? scalars + place : vectors + (place - scalar_bytes);
}
