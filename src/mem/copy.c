#include "mem/copy.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/mem.h"
#include "net/message.h"

#include <string.h>

void copy_list_set(struct copy_list *list, const struct copy_order *order)
{
    list->parts = mem_resize(list->parts, list->count, order->count, sizeof *list->parts);
    list->count = order->count;
    memcpy(list->parts, order->parts, order->count * sizeof *list->parts);
}

void copy_list_fini(struct copy_list *list)
{
    mem_free(list->parts);
}

/* The course was read before; it must be one through these parts. */
void copy_list_archive(struct copy_list *list, const struct copy_course *course, struct archive *archive)
{
    size_t count = (size_t)archive_count(archive, list->count, sizeof *list->parts);
    if (archive->reading && archive->good) {
        list->parts = mem_resize(list->parts, list->count, count, sizeof *list->parts);
        list->count = count;
    }
    archive_bytes(archive, list->parts, list->count * sizeof *list->parts);
    bool good = course->part_count <= count && course->part <= course->part_count;
    if (good && course->part < course->part_count) {
        const struct copy_part *part = &list->parts[course->part];
        good = course->row < part->rows && course->at < part->bytes && course->bytes_per_s &&
               course->line_bytes >= MEM_SECTOR && course->line_bytes <= MEM_LINE_MOST;
    }
    archive_check(archive, good);
}

struct copy_course copy_course(const struct copy_order *order, uint32_t line_bytes, uint64_t start_ps)
{
    return (struct copy_course){.bytes_per_s = order->bytes_per_s,
                                .pace_from_ps = start_ps,
                                .part_count = order->count,
                                .line_bytes = line_bytes,
                                .is_paced = order->is_paced,
                                .is_fill = order->is_fill,
                                .word = order->word};
}

bool copy_is_sent(const struct copy_course *course)
{
    return course->part == course->part_count;
}

struct copy_piece copy_next(struct copy_course *course, const struct copy_list *list)
{
    const struct copy_part *part = &list->parts[course->part];
    struct copy_piece piece = {.to = part->to + course->row * part->to_pitch + course->at,
                               .from = part->from + course->row * part->from_pitch + course->at};
    uint32_t in_line = course->line_bytes - 1;
    uint64_t most = course->line_bytes - max_u64(piece.to & in_line, piece.from & in_line);
    piece.bytes = (uint32_t)min_u64(most, part->bytes - course->at);
    course->at += piece.bytes;
    if (course->at == part->bytes) {
        course->at = 0;
        course->row++;
    }
    if (course->row == part->rows) {
        course->row = 0;
        course->part++;
    }
    course->pace_bytes += piece.bytes;
    course->pieces++;
    return piece;
}

uint64_t copy_due(struct copy_course *course, uint64_t now)
{
    uint64_t takes = (uint64_t)((unsigned __int128)course->pace_bytes * PS_PER_SECOND / course->bytes_per_s);
    if (course->pace_from_ps + takes < now) {
        course->pace_from_ps = now;
        course->pace_bytes = takes = 0;
    }
    return course->pace_from_ps + takes;
}

uint16_t copy_write_message(struct copy_message *message, const struct copy_piece *piece, uint32_t line_bytes,
                            uint32_t id, const unsigned char *bytes)
{
    uint32_t first = (uint32_t)piece->to & (line_bytes - 1), behind = first + piece->bytes, count = 0;
    message->request = (struct memsys_request){.line = piece->to - first,
                                               .id = id,
                                               .sectors = copy_sectors(piece->to, piece->bytes, line_bytes),
                                               .policy = MEM_AROUND};
    for (uint32_t at = first / MEM_SECTOR * MEM_SECTOR; at < behind; at += MEM_SECTOR) {
        struct memsys_write *write = &message->writes[count++];
        uint32_t from = first > at ? first - at : 0, to = (uint32_t)min_u64(behind - at, MEM_SECTOR);
        if (to - from < MEM_SECTOR)
            memset(write->data, 0, sizeof write->data);
        write->mask = (uint32_t)((UINT64_C(1) << to) - (UINT64_C(1) << from));
        memcpy(write->data + from, bytes + (at + from - first), to - from);
    }
    return (uint16_t)memsys_message_bytes(MEM_WRITE, message->request.sectors, 0);
}

uint32_t copy_done_bytes(uint64_t line, uint32_t line_bytes)
{
    return line % COPY_PACKET + line_bytes == COPY_PACKET ? 0 : NET_RIDES;
}
