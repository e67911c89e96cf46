#include "system/heard.h"
#include "base/mem.h"
#include "base/names.h"

#include <string.h>

/* Behind it: the bytes of `stop` and `what`, with their ends, and the data. */
struct noted {
    uint64_t time, place;
    struct probe_event event; /* its pointers mean nothing */
    uint32_t stop_bytes, what_bytes;
};

struct heard {
    uint32_t ranks, self;
    struct text *waiting; /* by rank: struct noted, ... */
    size_t *at;           /* by rank: how much of it was told */
    struct probe listener;
    struct names names; /* texts of events that were told: they stay */
    unsigned char *data;
    size_t data_room;
    bool was_altered;
};

struct heard *heard_new(uint32_t ranks, uint32_t self)
{
    struct heard *heard = mem_alloc(1, sizeof *heard);
    heard->ranks = ranks;
    heard->self = self;
    heard->waiting = mem_alloc(ranks, sizeof *heard->waiting);
    heard->at = mem_alloc(ranks, sizeof *heard->at);
    return heard;
}

void heard_free(struct heard *heard)
{
    for (uint32_t i = 0; i < heard->ranks; i++)
        text_fini(&heard->waiting[i]);
    names_fini(&heard->names);
    mem_free(heard->waiting);
    mem_free(heard->at);
    mem_free(heard->data);
    mem_free(heard);
}

struct text *heard_of(struct heard *heard, uint32_t rank)
{
    return &heard->waiting[rank];
}

void heard_set_listener(struct heard *heard, const struct probe *listener)
{
    heard->listener = *listener;
}

const struct probe *heard_listener(const struct heard *heard)
{
    return &heard->listener;
}

bool heard_was_altered(const struct heard *heard)
{
    return heard->was_altered;
}

void heard_note(struct heard *heard, uint64_t time, uint64_t place, const struct probe_event *event)
{
    const char *stop = event->stop ? event->stop : "", *what = event->what ? event->what : "";
    struct text *to = &heard->waiting[heard->self];
    struct noted one = {.time = time,
                        .place = place,
                        .event = *event,
                        .stop_bytes = (uint32_t)strlen(stop) + 1,
                        .what_bytes = (uint32_t)strlen(what) + 1};
    text_add_bytes(to, (const char *)&one, sizeof one);
    text_add_bytes(to, stop, one.stop_bytes);
    text_add_bytes(to, what, one.what_bytes);
    if (event->data)
        text_add_bytes(to, (const char *)event->data, event->data_bytes);
}

/* The next event of a rank. False: there is none. */
static bool next_of(const struct heard *heard, uint32_t rank, struct noted *one)
{
    const struct text *waiting = &heard->waiting[rank];
    if (waiting->length - heard->at[rank] < sizeof *one)
        return false;
    memcpy(one, waiting->at + heard->at[rank], sizeof *one);
    return true;
}

static const char *kept(struct heard *heard, const char *text)
{
    size_t number = names_add(&heard->names, text); /* which may move the list */
    return heard->names.at[number];
}

static void tell_one(struct heard *heard, uint32_t rank, struct noted *one)
{
    const char *text = heard->waiting[rank].at + heard->at[rank] + sizeof *one;
    const char *data = text + one->stop_bytes + one->what_bytes;
    struct probe_event event = one->event;
    uint32_t bytes = event.data ? event.data_bytes : 0;
    event.stop = kept(heard, text);
    event.what = kept(heard, text + one->stop_bytes);
    if (heard->data_room < bytes) {
        heard->data = mem_resize(heard->data, heard->data_room, bytes, 1);
        heard->data_room = bytes;
    }
    event.data = bytes ? memcpy(heard->data, data, bytes) : NULL;
    if (heard->listener.kinds >> event.kind & 1)
        probe_tell(&heard->listener, event);
    heard->was_altered |= bytes && memcmp(heard->data, data, bytes) != 0;
    heard->at[rank] += sizeof *one + one->stop_bytes + one->what_bytes + bytes;
}

static bool comes_first(const struct noted *a, const struct noted *b)
{
    return a->time != b->time ? a->time < b->time : a->place < b->place;
}

/* The rank whose next event is the first of all, before this time; UINT32_MAX: there is none. */
static uint32_t first_of(const struct heard *heard, uint64_t time, struct noted *first)
{
    uint32_t rank = UINT32_MAX;
    struct noted one = {0};
    for (uint32_t i = 0; i < heard->ranks; i++)
        if (next_of(heard, i, &one) && one.time < time && (rank == UINT32_MAX || comes_first(&one, first))) {
            *first = one;
            rank = i;
        }
    return rank;
}

void heard_tell(struct heard *heard, uint64_t time)
{
    struct noted one = {0};
    for (uint32_t rank; (rank = first_of(heard, time, &one)) != UINT32_MAX;)
        tell_one(heard, rank, &one);
    for (uint32_t i = 0; i < heard->ranks; i++) {
        struct text *waiting = &heard->waiting[i];
        size_t left = waiting->length - heard->at[i];
        if (heard->at[i] && left)
            memmove(waiting->at, waiting->at + heard->at[i], left);
        waiting->length = left;
        heard->at[i] = 0;
    }
}
