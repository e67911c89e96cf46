#include "tracks/events.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "base/names.h"
#include "tracks/lanes.h"
#include "tracks/open.h"
#include "tracks/usage.h"

#include <stdio.h>
#include <string.h>

/* Lanes of a GPU, in the order they are shown. */
enum lanes_of {
    LANES_KERNELS,
    LANES_COPIES,
    LANES_PAGES,
    LANES_DMA,
    LANES_SMS, /* then, for each SM, */
    OF_SM_BLOCKS = 0,
    OF_SM_REQUESTS,
    OF_SM_TRANSLATIONS,
    OF_SM,
};

static const char *const lane_names[] = {"kernels", "copies", "page moves", "requests of copies"};

struct gpu_tracks {
    uint32_t process, sms; /* sms: the group; 0: not there yet */
    uint32_t *lanes;       /* by what they are: a number in track_events.lanes, plus 1; 0: not there yet */
    size_t lanes_count;
};

struct track_events {
    struct tracks *tracks;
    uint32_t members;
    struct gpu_tracks *gpus; /* the last one is the host's memory */
    size_t gpu_count;
    struct tracks_lanes *lanes;
    size_t lanes_count, lanes_capacity;
    struct open_slices open;
    struct names kernels; /* as the machine names them; and for people: */
    const char **pretty;
    size_t pretty_capacity;
    struct track_usage usage;
};

static const struct detail_row {
    const char *name;
    uint32_t kinds;
} details[] = {
#define D(id, name, kinds, help) {name, kinds},
    TRACK_DETAILS(D)
#undef D
};

bool track_detail_parse(enum track_detail *detail, const char *text, struct err *err)
{
    for (size_t i = 0; i < COUNT_OF(details); i++) {
        *detail = (enum track_detail)i;
        if (!strcmp(details[i].name, text))
            return true;
    }
    return err_set(err, "expected calls, kernels, blocks or all, not '%.80s'", text);
}

uint32_t track_detail_kinds(enum track_detail detail)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i <= (size_t)detail; i++)
        kinds |= details[i].kinds;
    return kinds;
}

struct track_events *track_events_new(struct tracks *tracks, uint32_t members)
{
    struct track_events *events = mem_alloc(1, sizeof *events);
    events->tracks = tracks;
    events->members = members;
    usage_init(&events->usage, tracks);
    return events;
}

void track_events_free(struct track_events *events)
{
    if (!events)
        return;
    for (size_t i = 0; i < events->gpu_count; i++)
        mem_free(events->gpus[i].lanes);
    for (size_t i = 0; i < events->lanes_count; i++)
        tracks_lanes_fini(&events->lanes[i]);
    mem_free(events->gpus);
    mem_free(events->lanes);
    open_fini(&events->open);
    names_fini(&events->kernels);
    mem_free(events->pretty);
    usage_fini(&events->usage);
    mem_free(events);
}

/* ---- where things are drawn ---- */

static struct gpu_tracks *gpu_at(struct track_events *events, uint32_t gpu)
{
    char name[40];
    size_t at = gpu == UINT32_MAX ? 0 : (size_t)gpu + 1; /* the host's memory is the first */
    if (at >= events->gpu_count) {
        events->gpus = mem_resize(events->gpus, events->gpu_count, at + 1, sizeof *events->gpus);
        events->gpu_count = at + 1;
    }
    struct gpu_tracks *tracks = &events->gpus[at];
    snprintf(name, sizeof name, "GPU %u", gpu);
    if (!tracks->process)
        tracks->process = tracks_add(events->tracks, 0, at ? name : "host memory", TRACK_PROCESS, NULL);
    return tracks;
}

static uint32_t parent_of(struct track_events *events, struct gpu_tracks *gpu, size_t what)
{
    if (what < LANES_SMS)
        return gpu->process;
    if (!gpu->sms)
        gpu->sms = tracks_add(events->tracks, gpu->process, "SMs", TRACK_GROUP, NULL);
    return gpu->sms;
}

static void name_lanes(char *name, size_t room, size_t what)
{
    static const char *const of_sm[] = {"SM %zu", "SM %zu requests", "SM %zu translations"};
    if (what < LANES_SMS)
        snprintf(name, room, "%s", lane_names[what]);
    else if ((what - LANES_SMS) % OF_SM == OF_SM_BLOCKS)
        snprintf(name, room, of_sm[0], (what - LANES_SMS) / OF_SM);
    else if ((what - LANES_SMS) % OF_SM == OF_SM_REQUESTS)
        snprintf(name, room, of_sm[1], (what - LANES_SMS) / OF_SM);
    else
        snprintf(name, room, of_sm[2], (what - LANES_SMS) / OF_SM);
}

static uint32_t lanes_at(struct track_events *events, uint32_t number, size_t what)
{
    char name[60];
    struct gpu_tracks *gpu = gpu_at(events, number);
    if (what >= gpu->lanes_count) {
        gpu->lanes = mem_resize(gpu->lanes, gpu->lanes_count, what + 1, sizeof *gpu->lanes);
        gpu->lanes_count = what + 1;
    }
    if (!gpu->lanes[what]) {
        name_lanes(name, sizeof name, what);
        mem_grow(events->lanes, events->lanes_count, events->lanes_capacity);
        tracks_lanes_init(&events->lanes[events->lanes_count++], parent_of(events, gpu, what),
                          tracks_keep(events->tracks, name));
        gpu->lanes[what] = (uint32_t)events->lanes_count;
    }
    return gpu->lanes[what] - 1;
}

/* ---- slices ---- */

static uint64_t place_of(const struct probe_event *event)
{
    bool is_local = event->kind == PROBE_BLOCK || event->kind == PROBE_TRANSLATION;
    return (uint64_t)event->kind << 56 | (is_local ? (uint64_t)event->gpu << 24 | event->place : 0);
}

static void begin(struct track_events *events, const struct probe_event *event, uint32_t gpu, size_t what,
                  const char *name)
{
    uint32_t lanes = lanes_at(events, gpu, what);
    uint32_t lane = tracks_lanes_begin(&events->lanes[lanes], events->tracks, event->time_ps);
    struct open_slice *slice = open_add(&events->open, event->id, place_of(event));
    slice->begin_ps = event->time_ps;
    slice->address = event->address;
    slice->bytes = event->bytes;
    slice->name = name;
    slice->lanes = lanes;
    slice->lane = lane;
}

static size_t values_of(const struct track_events *events, const struct open_slice *slice,
                        struct track_value *values)
{
    size_t count = 0;
    enum probe_kind kind = (enum probe_kind)(slice->place >> 56);
    if (kind == PROBE_BLOCK)
        values[count++] = (struct track_value){.name = "block", .number = slice->id};
    if (kind == PROBE_KERNEL || kind == PROBE_COPY)
        values[count++] = (struct track_value){.name = "task", .number = slice->id};
    if (kind == PROBE_COPY || kind == PROBE_PAGE)
        values[count++] = (struct track_value){.name = "bytes", .number = slice->bytes};
    if (kind == PROBE_REQUEST || kind == PROBE_PAGE)
        values[count++] = (struct track_value){.name = "address", .number = slice->address};
    if (kind == PROBE_TRANSLATION)
        values[count++] = (struct track_value){.name = "page", .number = slice->id};
    if (slice->path[0])
        values[count++] =
            (struct track_value){.name = "way", .text = tracks_keep(events->tracks, slice->path)};
    return count;
}

static void end(struct track_events *events, struct open_slice *slice, uint64_t time_ps)
{
    static const char *const categories[] = {
#define K(id, help) #id,
        PROBE_KINDS(K)
#undef K
    };
    struct track_value values[4];
    struct tracks_lanes *lanes = &events->lanes[slice->lanes];
    tracks_slice(events->tracks, tracks_lanes_track(lanes, slice->lane),
                 &(struct track_slice){.begin_ps = slice->begin_ps,
                                       .end_ps = max_u64(time_ps, slice->begin_ps),
                                       .name = slice->name,
                                       .category = categories[slice->place >> 56],
                                       .values = values,
                                       .value_count = values_of(events, slice, values)});
    tracks_lanes_end(lanes, slice->lane, max_u64(time_ps, slice->begin_ps));
    open_remove(&events->open, slice);
}

static void pass(struct open_slice *slice, const struct probe_event *event)
{
    size_t length = strlen(slice->path);
    snprintf(slice->path + length, sizeof slice->path - length, "%s%s %s", length ? ", " : "", event->stop,
             event->what ? event->what : "");
}

static const char *kernel_name(struct track_events *events, const char *name)
{
    size_t known = events->kernels.count, number = names_add(&events->kernels, name);
    if (number == known) {
        mem_grow(events->pretty, known, events->pretty_capacity);
        events->pretty[number] = tracks_keep(events->tracks, demangled(name));
    }
    return events->pretty[number];
}

/* Where the slice of an event is drawn; and its name. */
static size_t lanes_of(struct track_events *events, const struct probe_event *event, uint32_t *gpu,
                       const char **name)
{
    size_t of_sm = LANES_SMS + (size_t)event->place * OF_SM;
    *gpu = event->gpu;
    *name = tracks_keep(events->tracks, event->what ? event->what : "translation");
    switch ((enum probe_kind)event->kind) {
    case PROBE_KERNEL:
        *gpu = event->gpu * events->members;
        *name = kernel_name(events, event->what);
        return LANES_KERNELS;
    case PROBE_COPY:
        *gpu = event->gpu * events->members;
        return LANES_COPIES;
    case PROBE_PAGE:
        return LANES_PAGES;
    case PROBE_BLOCK:
        *name = kernel_name(events, event->what);
        return of_sm + OF_SM_BLOCKS;
    case PROBE_TRANSLATION:
        return of_sm + OF_SM_TRANSLATIONS;
    default:
        return !strcmp(event->stop, "dma") ? LANES_DMA : of_sm + OF_SM_REQUESTS;
    }
}

static void mark_fault(struct track_events *events, const struct probe_event *event)
{
    uint32_t gpu = event->gpu * events->members;
    const struct track_value text = {.name = "why", .text = tracks_keep(events->tracks, event->what)};
    tracks_mark(events->tracks, gpu_at(events, gpu)->process,
                &(struct track_slice){.begin_ps = event->time_ps,
                                      .name = "fault",
                                      .category = "FAULT",
                                      .values = &text,
                                      .value_count = 1});
}

void track_events_tell(void *user, struct probe_event *event)
{
    struct track_events *events = user;
    if (event->kind == PROBE_LINK) {
        usage_note(&events->usage, event);
    } else if (event->kind == PROBE_FAULT) {
        mark_fault(events, event);
    } else if (event->id != PROBE_NO_ID) { /* lines that come from the host have none */
        struct open_slice *slice = open_find(&events->open, event->id, place_of(event));
        if (slice && event->phase == PROBE_PASSES)
            pass(slice, event);
        else if (slice && event->phase == PROBE_ENDS)
            end(events, slice, event->time_ps);
        else if (event->phase == PROBE_BEGINS) {
            const char *name;
            uint32_t gpu;
            size_t what = lanes_of(events, event, &gpu, &name);
            if (slice)
                end(events, slice, event->time_ps);
            begin(events, event, gpu, what, name);
        }
    }
}

void track_events_end(struct track_events *events, uint64_t time_ps)
{
    for (size_t at = 0; at < events->open.size;) {
        if (events->open.table[at].is_used)
            end(events, &events->open.table[at], time_ps); /* another one may be there then */
        else
            at++;
    }
    usage_end(&events->usage, time_ps);
}
