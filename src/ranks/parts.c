#include "ranks/parts.h"
#include "base/mem.h"

void ranks_parts_begin(struct ranks_parts *parts, struct ranks *ranks, struct archive *archive)
{
    struct err err;
    uint32_t count = ranks_count(ranks);
    *parts = (struct ranks_parts){.ranks = ranks, .from = archive->text.length};
    if (archive->reading || ranks_number(ranks) || count == 1)
        return;
    parts->others = mem_alloc(count, sizeof *parts->others);
    parts->left = mem_alloc(count, sizeof *parts->left);
    for (uint32_t i = 1; i < count && archive->good; i++) {
        archive_require(archive, ranks_await(ranks, i, &parts->others[i], &err), "a rank was lost");
        parts->left[i] = archive_reader(parts->others[i].at, parts->others[i].length);
    }
}

void ranks_parts_end(struct ranks_parts *parts, struct archive *archive)
{
    struct err err;
    if (!archive->reading && ranks_number(parts->ranks)) {
        const char *bytes = archive->text.at ? archive->text.at + parts->from : "";
        archive_require(archive, ranks_send(parts->ranks, 0, bytes, archive->text.length - parts->from, &err),
                        "a rank was lost");
        archive->text.length = parts->from;
    }
    for (uint32_t i = 0; parts->others && i < ranks_count(parts->ranks); i++)
        text_fini(&parts->others[i]);
    mem_free(parts->others);
    mem_free(parts->left);
}

bool ranks_part_open(struct ranks_parts *parts, struct archive *archive, uint32_t rank, struct archive *one)
{
    uint32_t self = ranks_number(parts->ranks);
    bool is_mine = rank == self;
    if (!archive->reading && is_mine) {
        *one = archive_writer();
        return true;
    }
    if (archive->reading) {
        archive_text(archive, &parts->bytes);
    } else if (!self) {
        archive_text(&parts->left[rank], &parts->bytes);
        archive_require(archive, parts->left[rank].good, "a rank has sent less than it has");
        archive_text(archive, &parts->bytes);
    }
    if (archive->reading && is_mine && archive->good) {
        *one = archive_reader(parts->bytes.at, parts->bytes.length);
        return true;
    }
    text_fini(&parts->bytes);
    return false;
}

void ranks_part_close(struct ranks_parts *parts, struct archive *archive, struct archive *one)
{
    if (archive->reading) {
        archive_require(archive, archive_at_end(one), one->why);
        text_fini(&parts->bytes);
        return;
    }
    archive_text(archive, &one->text);
    text_fini(&one->text);
}
