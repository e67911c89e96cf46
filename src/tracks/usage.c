#include "tracks/usage.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdio.h>

/* Time is in parts of this length; a counter says how much of one a link was busy. */
static const uint64_t PART_PS = 1000000;

void usage_init(struct track_usage *usage, struct tracks *tracks)
{
    *usage = (struct track_usage){.tracks = tracks};
}

void usage_fini(struct track_usage *usage)
{
    mem_free(usage->links);
    names_fini(&usage->names);
}

static struct link_use *link_of(struct track_usage *usage, const struct probe_event *event)
{
    char name[120];
    snprintf(name, sizeof name, "%s %s", event->what, event->place ? "back" : "there");
    size_t known = usage->names.count, number = names_add(&usage->names, name);
    if (number == known) {
        mem_grow(usage->links, usage->count, usage->capacity);
        if (!usage->process)
            usage->process = tracks_add(usage->tracks, 0, "links", TRACK_PROCESS, NULL);
        usage->links[usage->count++] = (struct link_use){
            .track = tracks_add(usage->tracks, usage->process, name, TRACK_COUNTER, "%"), .is_zero = true};
    }
    return &usage->links[number];
}

static void draw(const struct track_usage *usage, struct link_use *link)
{
    if (link->busy_ps || !link->is_zero)
        tracks_count(usage->tracks, link->track, link->part * PART_PS,
                     100.0 * (double)link->busy_ps / (double)PART_PS);
    link->is_zero = !link->busy_ps;
}

/* Up to this part of time. */
static void reach(const struct track_usage *usage, struct link_use *link, uint64_t part)
{
    while (link->part < part) {
        draw(usage, link);
        link->busy_ps = min_u64(link->next_busy_ps, PART_PS);
        link->next_busy_ps -= link->busy_ps;
        link->part = link->busy_ps || !link->is_zero ? link->part + 1 : part;
    }
}

void usage_note(struct track_usage *usage, const struct probe_event *event)
{
    struct link_use *link = link_of(usage, event);
    reach(usage, link, event->time_ps / PART_PS);
    uint64_t room = PART_PS - link->busy_ps, busy = event->busy_ps;
    link->busy_ps += min_u64(busy, room);
    link->next_busy_ps += busy - min_u64(busy, room);
}

void usage_end(struct track_usage *usage, uint64_t time_ps)
{
    for (size_t i = 0; i < usage->count; i++) {
        reach(usage, &usage->links[i], time_ps / PART_PS + 1);
        draw(usage, &usage->links[i]);
    }
}
