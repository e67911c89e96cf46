#include "gcn3_run/hostcall.h"
#include "base/archive.h"
#include "base/mem.h"
#include "exec/print.h"

#include <stddef.h>
#include <string.h>

/* As AMD's device libraries know it. A pointer to a packet is its number, in the bits of index_mask, and a
 * tag above them that makes it differ from 0, the empty stack. */
struct hostcall_buffer {
    uint64_t headers, payloads, doorbell, free_stack, ready_stack, index_mask;
    struct {
        uint64_t kind, value, mailbox, others[5];
    } signal; /* without a mailbox nobody is interrupted */
    struct {
        uint64_t next, lanes;
        uint32_t service, control; /* bit 0 of control: it waits for an answer */
    } header;
    uint64_t payload[GCN3_LANES][8];
};

enum { INDEX_MASK = 1, FIRST_PACKET = INDEX_MASK + 1, WAITS = 1 };
enum { SERVICE_PRINTF = 2, TO_STDERR = 1 };
/* The first word of a lane's payload: flags, and how many words follow. */
enum { MESSAGE_BEGIN = 1, MESSAGE_END = 2, MESSAGE_COUNT_AT = 5, MESSAGE_COUNT_MASK = 7 };
enum { LONGEST_MESSAGE = 1 << 20 };

struct gcn3_hostcall {
    struct hostcall_buffer buffer;
    struct text messages[GCN3_LANES]; /* that have begun, and not ended */
    struct text said;                 /* to stderr */
};

static uint64_t address_of(size_t offset)
{
    return GCN3_HOSTCALL + offset;
}

static struct gcn3_hostcall *hostcall_of(struct gcn3_wave *w)
{
    if (w->hostcall)
        return w->hostcall;
    w->hostcall = mem_alloc(1, sizeof *w->hostcall);
    w->hostcall->buffer =
        (struct hostcall_buffer){.headers = address_of(offsetof(struct hostcall_buffer, header)),
                                 .payloads = address_of(offsetof(struct hostcall_buffer, payload)),
                                 .doorbell = address_of(offsetof(struct hostcall_buffer, signal)),
                                 .free_stack = FIRST_PACKET,
                                 .index_mask = INDEX_MASK};
    return w->hostcall;
}

unsigned char *gcn3_hostcall_place(struct gcn3_wave *w, uint64_t at, uint32_t bytes)
{
    uint64_t offset = at - GCN3_HOSTCALL;
    if (at < GCN3_HOSTCALL || offset + bytes > sizeof(struct hostcall_buffer))
        return NULL;
    return (unsigned char *)&hostcall_of(w)->buffer + offset;
}

/* ---- printf ---- */

/* A message: where it goes, the format, and the arguments, all in words of 8 bytes. */
struct message_source {
    struct print_source base; /* first */
    const struct text *message;
    size_t at;
};

static uint64_t next_number(struct print_source *base, uint32_t bytes)
{
    struct message_source *source = (struct message_source *)(void *)base;
    uint64_t value = 0;
    base->good &= source->message->length - source->at >= sizeof value;
    if (!base->good)
        return 0;
    memcpy(&value, source->message->at + source->at, sizeof value);
    source->at += sizeof value;
    return bytes == 4 ? (uint32_t)value : value;
}

/* A string ends with a zero byte, and fills its last word. */
static bool next_string(struct print_source *base, struct text *text)
{
    struct message_source *source = (struct message_source *)(void *)base;
    size_t left = source->message->length - source->at;
    const char *string = left ? source->message->at + source->at : "";
    size_t length = strnlen(string, left);
    base->good &= length < left;
    text_add_bytes(text, string, length);
    source->at += base->good ? (length + 8) / 8 * 8 : left;
    return true;
}

/* What a broken message lacks is not printed. Returns the number of characters. */
static size_t print_message(struct gcn3_wave *w, const struct text *message)
{
    struct message_source source = {.base = {next_number, next_string, true}, .message = message};
    struct worker *worker = w->isa.block->worker;
    uint64_t control = next_number(&source.base, 8);
    struct text format = {0};
    next_string(&source.base, &format);
    worker->line.length = 0;
    print_formatted(&worker->line, format.at ? format.at : "", &source.base);
    text_fini(&format);
    size_t count = worker->line.length;
    if (control != TO_STDERR) {
        print_line(worker);
    } else if (!w->hostcall->said.length && count) {
        text_add_bytes(&w->hostcall->said, worker->line.at, count - (worker->line.at[count - 1] == '\n'));
    }
    return count;
}

/* ---- calls ---- */

static void answer_lane(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane)
{
    uint64_t *words = w->hostcall->buffer.payload[lane];
    struct text *message = &w->hostcall->messages[lane];
    if (words[0] & MESSAGE_BEGIN)
        message->length = 0;
    text_add_bytes(message, (const char *)(words + 1),
                   8 * (words[0] >> MESSAGE_COUNT_AT & MESSAGE_COUNT_MASK));
    if (message->length > LONGEST_MESSAGE)
        gcn3_fault(w, op, lane, FAULT_TRAP, 0, "printf of more than %u bytes", LONGEST_MESSAGE);
    if (words[0] & MESSAGE_END)
        words[0] = print_message(w, message);
    else
        words[0] &= ~(uint64_t)MESSAGE_BEGIN; /* the lane's next words go on with it */
}

void gcn3_hostcall_written(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at)
{
    struct hostcall_buffer *buffer = &w->hostcall->buffer;
    if (at != address_of(offsetof(struct hostcall_buffer, signal.value)) || !(buffer->header.control & WAITS))
        return;
    if (buffer->header.service != SERVICE_PRINTF)
        gcn3_fault(w, op, 0, FAULT_TRAP, 0, "the kernel calls service %u of the host, which is not supported",
                   buffer->header.service);
    EACH_LANE (lane, buffer->header.lanes)
        answer_lane(w, op, lane);
    buffer->ready_stack = 0;
    buffer->header.control &= ~(uint32_t)WAITS;
}

const char *gcn3_hostcall_said(const struct gcn3_wave *w)
{
    return w->hostcall && w->hostcall->said.length ? w->hostcall->said.at : NULL;
}

/* ---- its life ---- */

void gcn3_hostcall_free(struct gcn3_wave *w)
{
    if (!w->hostcall)
        return;
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        text_fini(&w->hostcall->messages[i]);
    text_fini(&w->hostcall->said);
    mem_free(w->hostcall);
    w->hostcall = NULL;
}

void gcn3_hostcall_archive(struct gcn3_wave *w, struct archive *archive)
{
    if (!archive_number(archive, w->hostcall != NULL, 1)) {
        gcn3_hostcall_free(w);
        return;
    }
    struct gcn3_hostcall *hostcall = hostcall_of(w);
    archive_bytes(archive, &hostcall->buffer, sizeof hostcall->buffer);
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        archive_text(archive, &hostcall->messages[i]);
    archive_text(archive, &hostcall->said);
}
