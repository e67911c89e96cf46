#include "mailbox/letters.h"
#include "base/mem.h"

uint64_t letters_layout(void)
{
    static const uint64_t sizes[] = {sizeof(struct gpu_kernel_stats),
                                     sizeof(struct launch_result),
                                     sizeof(struct task),
                                     sizeof(struct launch),
                                     sizeof(struct texture),
                                     sizeof(struct mailbox),
                                     sizeof(struct op_profile),
                                     sizeof(struct memory_range),
                                     sizeof(struct letter_passed),
                                     LETTER_KIND_COUNT};
    uint64_t layout = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        layout = layout * UINT64_C(1000003) + sizes[i];
    return layout;
}

static void flag_archive(bool *flag, struct archive *archive)
{
    *flag = archive_number(archive, *flag, 1);
}

void letter_load_archive(struct letter_load *load, struct archive *archive)
{
    ARCHIVE_VALUE(archive, load->object);
    archive_text(archive, &load->isa);
    archive_text(archive, &load->bytes);
}

void letter_load_fini(struct letter_load *load)
{
    text_fini(&load->isa);
    text_fini(&load->bytes);
}

void letter_range_archive(struct letter_range *range, struct archive *archive)
{
    ARCHIVE_VALUE(archive, range->gpu);
    ARCHIVE_VALUE(archive, range->at);
    ARCHIVE_VALUE(archive, range->bytes);
    flag_archive(&range->read_only, archive);
    archive_text(archive, &range->what);
}

static uint32_t choice_archive(uint32_t choice, uint32_t most, struct archive *archive)
{
    return (uint32_t)archive_number(archive, choice, most);
}

static void texture_archive(struct texture *texture, struct archive *archive)
{
    texture->kind = choice_archive(texture->kind, TEXTURE_CUBE_LAYERED, archive);
    texture->channel = choice_archive(texture->channel, CHANNEL_F32, archive);
    ARCHIVE_VALUE(archive, texture->channels);
    ARCHIVE_VALUE(archive, texture->layers);
    texture->level_count = choice_archive(texture->level_count, TEXTURE_LEVELS, archive);
    ARCHIVE_VALUE(archive, texture->levels);
    for (int i = 0; i < 3; i++)
        texture->address[i] = choice_archive(texture->address[i], ADDRESS_BORDER, archive);
    texture->filter = choice_archive(texture->filter, FILTER_LINEAR, archive);
    texture->level_filter = choice_archive(texture->level_filter, FILTER_LINEAR, archive);
    flag_archive(&texture->normalized, archive);
    flag_archive(&texture->normalized_float, archive);
    flag_archive(&texture->srgb, archive);
    ARCHIVE_VALUE(archive, texture->border);
    ARCHIVE_VALUE(archive, texture->level_bias);
    ARCHIVE_VALUE(archive, texture->level_min);
    ARCHIVE_VALUE(archive, texture->level_max);
}

void letter_texture_archive(struct letter_texture *texture, struct archive *archive)
{
    ARCHIVE_VALUE(archive, texture->gpu);
    ARCHIVE_VALUE(archive, texture->handle);
    texture_archive(&texture->texture, archive);
}

void letter_heap_archive(struct letter_heap *heap, struct archive *archive)
{
    ARCHIVE_VALUE(archive, *heap);
}

void letter_memory_archive(struct letter_memory *memory, struct archive *archive)
{
    archive_text(archive, &memory->ranges);
}

static void launch_archive(struct launch *launch, struct archive *archive)
{
    ARCHIVE_VALUE(archive, launch->grid);
    ARCHIVE_VALUE(archive, launch->block);
    ARCHIVE_VALUE(archive, launch->cluster);
    ARCHIVE_VALUE(archive, launch->dimensions);
    ARCHIVE_VALUE(archive, launch->shared_bytes);
    ARCHIVE_VALUE(archive, launch->resident_blocks);
    ARCHIVE_VALUE(archive, launch->sm_count);
    ARCHIVE_VALUE(archive, launch->stack_bytes);
    ARCHIVE_VALUE(archive, launch->instruction_limit);
    flag_archive(&launch->cooperative, archive);
    ARCHIVE_VALUE(archive, launch->graph);
}

static void side_archive(struct task_side *side, struct archive *archive)
{
    ARCHIVE_VALUE(archive, side->at);
    ARCHIVE_VALUE(archive, side->pitch);
    ARCHIVE_VALUE(archive, side->slice);
    flag_archive(&side->is_host, archive);
    flag_archive(&side->is_pageable, archive);
}

static void task_archive(struct task *task, struct archive *archive)
{
    ARCHIVE_VALUE(archive, task->gpu);
    ARCHIVE_VALUE(archive, task->blocks_per_sm);
    ARCHIVE_VALUE(archive, task->shared_carveout_bytes);
    ARCHIVE_VALUE(archive, task->first_sm);
    ARCHIVE_VALUE(archive, task->sm_count);
    ARCHIVE_VALUE(archive, task->after);
    task->after_count = (uint32_t)archive_number(archive, task->after_count, TASK_AFTER);
    ARCHIVE_VALUE(archive, task->wishes.max_cycles);
    flag_archive(&task->wishes.cold_caches, archive);
    flag_archive(&task->wishes.profile, archive);
    flag_archive(&task->wishes.share_code, archive);
    flag_archive(&task->is_prefetch, archive);
    task->direction = choice_archive(task->direction, COPY_STAGED, archive);
    side_archive(&task->to, archive);
    side_archive(&task->from, archive);
    ARCHIVE_VALUE(archive, task->width);
    ARCHIVE_VALUE(archive, task->height);
    ARCHIVE_VALUE(archive, task->depth);
    flag_archive(&task->is_plain, archive);
    flag_archive(&task->is_fill, archive);
    ARCHIVE_VALUE(archive, task->fill_word);
    ARCHIVE_VALUE(archive, task->bounce);
}

void letter_begin_archive(struct letter_begin *begin, struct archive *archive)
{
    ARCHIVE_VALUE(archive, begin->number);
    task_archive(&begin->task, archive);
    flag_archive(&begin->is_kernel, archive);
    flag_archive(&begin->uses_heap, archive);
    flag_archive(&begin->is_watched, archive);
    flag_archive(&begin->is_recorded, archive);
    ARCHIVE_VALUE(archive, begin->object);
    launch_archive(&begin->launch, archive);
    archive_text(archive, &begin->kernel);
    archive_text(archive, &begin->params);
    archive_text(archive, &begin->places);
    flag_archive(&begin->is_carried, archive);
    archive_text(archive, &begin->bytes);
}

void letter_begin_fini(struct letter_begin *begin)
{
    text_fini(&begin->kernel);
    text_fini(&begin->params);
    text_fini(&begin->places);
    text_fini(&begin->bytes);
}

void letter_fill_kernel(struct letter_begin *letter, const struct launch *launch)
{
    const struct kernel *kernel = launch->kernel;
    letter->is_kernel = true;
    letter->uses_heap = launch->heap;
    letter->is_watched = launch->watch;
    letter->is_recorded = launch->observer;
    letter->object = kernel->object;
    letter->launch = *launch;
    text_add(&letter->kernel, "%s", kernel->facts.name);
    text_add_bytes(&letter->params, launch->params, kernel->facts.param_bytes);
    text_add_bytes(&letter->places, (const char *)launch->places,
                   launch->place_count * sizeof *launch->places);
}

void letter_open_archive(struct letter_open *open, struct archive *archive)
{
    ARCHIVE_VALUE(archive, *open);
}

void letter_turn_archive(struct letter_turn *turn, struct archive *archive)
{
    ARCHIVE_VALUE(archive, turn->looks);
}

void letter_sync_archive(struct letter_sync *sync, struct archive *archive)
{
    ARCHIVE_VALUE(archive, *sync);
}

void letter_news_archive(struct letter_news *news, struct archive *archive)
{
    ARCHIVE_VALUE(archive, news->number);
    ARCHIVE_VALUE(archive, news->state);
    ARCHIVE_VALUE(archive, news->start_ps);
    ARCHIVE_VALUE(archive, news->end_ps);
    ARCHIVE_VALUE(archive, news->result);
    ARCHIVE_VALUE(archive, news->stats);
    archive_text(archive, &news->profile);
    archive_text(archive, &news->printed);
    archive_text(archive, &news->bytes);
}

void letter_news_fini(struct letter_news *news)
{
    text_fini(&news->profile);
    text_fini(&news->printed);
    text_fini(&news->bytes);
}

void letter_passed_archive(struct letter_passed *passed, struct archive *archive)
{
    ARCHIVE_VALUE(archive, *passed);
}

static char *row_at(const struct task_side *side, uint64_t z, uint64_t y)
{
    return (char *)(uintptr_t)(side->at + z * side->slice + y * side->pitch);
}

void letter_take_rows(const struct task *task, const struct task_side *side, struct text *bytes)
{
    for (uint64_t z = 0; z < task->depth; z++)
        for (uint64_t y = 0; y < task->height; y++)
            text_add_bytes(bytes, row_at(side, z, y), task->width);
}

void letter_give_rows(const struct task *task, const struct task_side *side, const struct text *bytes)
{
    size_t given = 0;
    for (uint64_t z = 0; z < task->depth; z++)
        for (uint64_t y = 0; y < task->height && bytes->length - given >= task->width;
             y++, given += task->width)
            memcpy(row_at(side, z, y), bytes->at + given, task->width);
}

void letter_put_rows(const struct task *task, const struct task_side *side, char *to)
{
    for (uint64_t z = 0; z < task->depth; z++)
        for (uint64_t y = 0; y < task->height; y++, to += task->width)
            memcpy(to, row_at(side, z, y), task->width);
}

uint64_t letter_row_bytes(const struct task *task)
{
    uint64_t bytes;
    return __builtin_mul_overflow(task->width, task->height, &bytes) ||
                   __builtin_mul_overflow(bytes, task->depth, &bytes)
               ? UINT64_MAX
               : bytes;
}

uint64_t letter_side_bytes(const struct task *task, const struct task_side *side)
{
    uint64_t rows, slices, sum;
    bool fits = !__builtin_mul_overflow(task->height - 1, side->pitch, &rows) &&
                !__builtin_mul_overflow(task->depth - 1, side->slice, &slices) &&
                !__builtin_add_overflow(rows, slices, &sum) &&
                !__builtin_add_overflow(sum, task->width, &sum);
    return fits ? sum : UINT64_MAX;
}
