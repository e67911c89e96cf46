/* Writes an island of memory to a checkpoint, and reads it back. */
#include "mem/dram.h"
#include "base/archive.h"
#include "base/mem.h"

static bool work_fits(const struct partition_spec *spec, uint32_t work)
{
    return work == NO_WORK || work < spec->work_count;
}

/* What was read links works that there are. */
static bool works_fit(const struct partition_spec *spec, const struct partition *state)
{
    bool good = work_fits(spec, state->free_work) && state->works_free <= spec->work_count &&
                state->works_begun <= spec->work_count;
    for (uint32_t i = 0; i < spec->here; i++)
        good &= work_fits(spec, state->slices[i].late_first) && work_fits(spec, state->slices[i].late_last);
    for (uint32_t i = 0; i < state->works_begun && good; i++)
        good = work_fits(spec, spec->works[i].next);
    return good;
}

static void archive_pages(const struct partition_spec *spec, struct archive *archive)
{
    struct pages_here *pages = spec->pages;
    bool good = true;
    rights_archive(&pages->rights, archive);
    frames_archive(&pages->frames, archive);
    index_archive(&pages->written, archive);
    ARCHIVE_LIST(archive, pages->parked, pages->parked_count, pages->parked_capacity);
    ARCHIVE_LIST(archive, pages->recalls, pages->recall_count, pages->recall_capacity);
    ARCHIVE_VALUE(archive, pages->has_refused);
    pages->pushes_parked = 0;
    if (archive->reading) /* any may be: the first look at them tells */
        memset(pages->managed, 0xff, (size_t)spec->here * pages->managed_words * sizeof *pages->managed);
    for (size_t i = 0; i < pages->parked_count && good; i++) {
        const struct parked *one = &pages->parked[i];
        good = one->slice < spec->here && one->head.entry < spec->here && one->head.kind < MEM_KIND_COUNT &&
               (one->is_pushed || one->head.client < spec->shape->clients);
        pages->pushes_parked += one->is_pushed;
    }
    archive_check(archive, good);
}

void partition_archive(struct component *self, void *state, struct archive *archive)
{
    const struct partition_spec *spec = component_spec(self);
    const struct dram *dram = spec->dram;
    archive_expect(archive, spec->here);
    archive_expect(archive, spec->work_count);
    archive_expect(archive, dram->channel_bytes);
    for (uint32_t i = 0; i < spec->here && archive->good; i++)
        cache_archive(&spec->caches[i], spec->work_count, archive);
    for (uint32_t i = 0; spec->l3 && i < spec->here && archive->good; i++)
        cache_archive(&spec->l3[i], 0, archive);
    archive_sparse(archive, spec->works, spec->work_count * sizeof *spec->works);
    archive_sparse(archive, spec->payloads, spec->work_count * sizeof *spec->payloads);
    archive_sparse(archive, dram->channels,
                   spec->here * spec->shape->channels_per_slice * dram->channel_bytes);
    if (spec->pages)
        archive_pages(spec, archive);
    archive_check(archive, works_fit(spec, state));
}
