#include "tracks/picture.h"
#include "base/mem.h"

#include <stdio.h>

struct core_track {
    uint32_t track; /* 0: not there yet */
    uint32_t thread;
    uint64_t begin_ps, end_ps; /* what is not drawn yet: the thread may go on */
};

struct track_picture {
    struct track_plan plan;
    char *path, *note;
    struct tracks *tracks;
    struct track_events *events;
    uint32_t cpu; /* track */
    struct core_track *cores;
    size_t core_count;
};

struct track_picture *track_picture_new(const struct track_plan *plan, uint32_t members, struct err *err)
{
    struct tracks *tracks = tracks_new(plan->path, &plan->window, err);
    if (!tracks)
        return NULL;
    struct track_picture *picture = mem_alloc(1, sizeof *picture);
    picture->plan = *plan;
    picture->path = mem_text(plan->path);
    picture->note = plan->note ? mem_text(plan->note) : NULL;
    picture->tracks = tracks;
    picture->events = track_events_new(tracks, members);
    return picture;
}

struct probe track_picture_probe(struct track_picture *picture)
{
    return (struct probe){track_detail_kinds(picture->plan.detail), track_events_tell, picture->events};
}

/* ---- cores ---- */

static struct core_track *core_at(struct track_picture *picture, uint32_t number)
{
    char name[40];
    if (number >= picture->core_count) {
        picture->cores =
            mem_resize(picture->cores, picture->core_count, (size_t)number + 1, sizeof *picture->cores);
        picture->core_count = (size_t)number + 1;
    }
    struct core_track *core = &picture->cores[number];
    if (!picture->cpu)
        picture->cpu = tracks_add(picture->tracks, 0, "CPU cores", TRACK_PROCESS, NULL);
    snprintf(name, sizeof name, "core %u", number);
    if (!core->track)
        core->track = tracks_add(picture->tracks, picture->cpu, name, TRACK_SLICES, NULL);
    return core;
}

static void draw_core(struct track_picture *picture, struct core_track *core)
{
    char name[40];
    if (core->end_ps <= core->begin_ps)
        return;
    snprintf(name, sizeof name, "thread %u", core->thread);
    tracks_slice(picture->tracks, core->track,
                 &(struct track_slice){.begin_ps = core->begin_ps,
                                       .end_ps = core->end_ps,
                                       .name = tracks_keep(picture->tracks, name),
                                       .category = "CPU"});
    core->begin_ps = core->end_ps;
}

void track_picture_core(struct track_picture *picture, uint32_t number, uint32_t thread, uint64_t begin_ps,
                        uint64_t end_ps)
{
    if (end_ps <= begin_ps)
        return;
    struct core_track *core = core_at(picture, number);
    if (core->thread != thread || core->end_ps != begin_ps) {
        draw_core(picture, core);
        core->begin_ps = begin_ps;
        core->thread = thread;
    }
    core->end_ps = end_ps;
}

/* ---- the end ---- */

static void leave_note(const struct track_picture *picture, uint64_t slices)
{
    FILE *note = picture->note ? fopen(picture->note, "w") : NULL;
    if (!note)
        return;
    fprintf(note, "%s: %llu slices; ui.perfetto.dev shows it\n", picture->path, (unsigned long long)slices);
    fclose(note);
}

bool track_picture_end(struct track_picture *picture, uint64_t time_ps, struct err *err)
{
    for (size_t i = 0; i < picture->core_count; i++)
        draw_core(picture, &picture->cores[i]);
    track_events_end(picture->events, time_ps);
    uint64_t slices = tracks_slice_count(picture->tracks);
    bool good = tracks_free(picture->tracks, err);
    if (good)
        leave_note(picture, slices);
    track_events_free(picture->events);
    mem_free(picture->cores);
    mem_free(picture->path);
    mem_free(picture->note);
    mem_free(picture);
    return good;
}
