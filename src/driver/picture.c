#include "driver/picture.h"
#include "driver/internal.h"
#include "driver/ledger_format.h"
#include "driver/timeline.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "base/text.h"
#include "tracks/lanes.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct stream_lanes {
    uint64_t id; /* of the stream */
    uint32_t device;
    struct tracks_lanes lanes;
};

struct picture {
    struct driver *driver;
    struct text path;
    unsigned number;       /* among the processes of the run that draw, from 1 on */
    pthread_mutex_t lock;  /* around all that follows; taken last of all */
    struct tracks *tracks; /* NULL: the file is complete */
    struct track_events *events;
    uint32_t host, streams, threads; /* tracks; threads of the host so far */
    struct stream_lanes *list;
    size_t count, capacity;
};

/* Of this process; calls of its threads are drawn. */
static struct picture *_Atomic drawn;

/* The call that a thread is in. */
static _Thread_local struct host_call_drawn {
    unsigned depth;
    const char *name;
    uint64_t begin_ps, first_order;
    const struct picture *of; /* that knows the thread's track: */
    uint32_t track;
} call;

bool picture_parse(struct picture_plan *plan, const struct picture_options *options, struct err *err)
{
    struct err why;
    *plan = (struct picture_plan){.detail = TRACK_BLOCKS};
    if (options->detail && !track_detail_parse(&plan->detail, options->detail, &why))
        return err_set(err, "--timeline-detail: %s", why.text);
    return !options->window || tracks_window_parse(&plan->window, options->window, &why) ||
           err_set(err, "--timeline-window: %s", why.text);
}

/* ---- the file ---- */

static void add_note_path(const struct driver *driver, unsigned number, struct text *path)
{
    text_add(path, "%s/" LEDGER_DRAWN "%u", driver->options.run_dir, number);
}

/* This process's among those of the run that draw, from 1 on. */
static unsigned take_number(const struct driver *driver)
{
    int file = -1;
    unsigned number = 1;
    for (; driver->options.run_dir; number++) {
        struct text path = {0};
        add_note_path(driver, number, &path);
        file = open(path.at, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        text_fini(&path);
        if (file >= 0 || errno != EEXIST)
            break;
    }
    if (file >= 0)
        close(file);
    return number;
}

/* The first process of a run draws into the file itself, the next one into FILE.2.END. */
static void add_path(const char *path, unsigned number, struct text *to)
{
    const char *name = strrchr(path, '/'), *dot = strrchr(name ? name : path, '.');
    if (number == 1)
        text_add(to, "%s", path);
    else if (dot)
        text_add(to, "%.*s.%u%s", (int)(dot - path), path, number, dot);
    else
        text_add(to, "%s.%u", path, number);
}

/* What is there is whole: a process whose file is not leaves its note empty. */
static void leave_note(const struct picture *picture, uint64_t slices)
{
    struct text path = {0};
    if (!picture->driver->options.run_dir)
        return;
    add_note_path(picture->driver, picture->number, &path);
    FILE *note = fopen(path.at, "w");
    if (note) {
        fprintf(note, "%s: %llu slices; ui.perfetto.dev shows it\n", picture->path.at,
                (unsigned long long)slices);
        fclose(note);
    }
    text_fini(&path);
}

static void tell(void *user, struct probe_event *event)
{
    struct picture *picture = user;
    pthread_mutex_lock(&picture->lock);
    if (picture->tracks)
        track_events_tell(picture->events, event);
    pthread_mutex_unlock(&picture->lock);
}

static bool listen_to_machine(struct picture *picture, enum track_detail detail, struct err *err)
{
    struct probe probe = {.kinds = track_detail_kinds(detail), .call = tell, .user = picture};
    struct err why;
    return !probe.kinds || timeline_listen(picture->driver, &probe, &why) ||
           err_set(err, "--timeline: %s; --timeline-detail calls needs no listener", why.text);
}

bool picture_begin(struct driver *driver, struct err *err)
{
    const struct picture_options *options = &driver->options.picture;
    struct picture_plan plan;
    if (!picture_parse(&plan, options, err))
        return false;
    struct picture *picture = driver->picture = mem_alloc(1, sizeof *picture);
    picture->driver = driver;
    pthread_mutex_init(&picture->lock, NULL);
    picture->number = take_number(driver);
    add_path(options->path, picture->number, &picture->path);
    picture->tracks = tracks_new(picture->path.at, &plan.window, err);
    if (!picture->tracks)
        return false;
    picture->events = track_events_new(picture->tracks, system_members(&driver->system));
    picture->host = tracks_add(picture->tracks, 0, "host", TRACK_PROCESS, NULL);
    picture->streams = tracks_add(picture->tracks, 0, "streams", TRACK_PROCESS, NULL);
    if (!listen_to_machine(picture, plan.detail, err))
        return false;
    drawn = picture;
    return true;
}

bool picture_finish(struct driver *driver, struct err *err)
{
    struct picture *picture = driver->picture;
    bool good = true;
    if (!picture || !picture->tracks)
        return true;
    drawn = NULL;
    timeline_listen(driver, &probe_of_nobody, &(struct err){0});
    uint64_t now = timeline_now(driver);
    pthread_mutex_lock(&picture->lock);
    track_events_end(picture->events, now);
    uint64_t slices = tracks_slice_count(picture->tracks);
    good = tracks_free(picture->tracks, err);
    if (good)
        leave_note(picture, slices);
    picture->tracks = NULL;
    pthread_mutex_unlock(&picture->lock);
    return good;
}

void picture_free(struct driver *driver)
{
    struct picture *picture = driver->picture;
    if (!picture)
        return;
    track_events_free(picture->events);
    for (size_t i = 0; i < picture->count; i++)
        tracks_lanes_fini(&picture->list[i].lanes);
    mem_free(picture->list);
    text_fini(&picture->path);
    pthread_mutex_destroy(&picture->lock);
    mem_free(picture);
    driver->picture = NULL;
}

/* ---- streams ---- */

static struct tracks_lanes *lanes_of(struct picture *picture, const struct stream *stream)
{
    char name[60];
    size_t i = 0;
    while (i < picture->count &&
           (picture->list[i].id != stream->id || picture->list[i].device != stream->device->index))
        i++;
    if (i == picture->count) {
        mem_grow(picture->list, picture->count, picture->capacity);
        picture->list[picture->count++] =
            (struct stream_lanes){.id = stream->id, .device = stream->device->index};
        if (stream->id)
            snprintf(name, sizeof name, "GPU %u stream %llu", stream->device->index,
                     (unsigned long long)stream->id);
        else
            snprintf(name, sizeof name, "GPU %u default stream", stream->device->index);
        tracks_lanes_init(&picture->list[i].lanes, picture->streams, tracks_keep(picture->tracks, name));
    }
    return &picture->list[i].lanes;
}

static const char *copy_name(const struct task *task)
{
    return task->is_fill                                                    ? "fill"
           : task->is_prefetch                                              ? "prefetch"
           : task->to.is_host                                               ? "copy to host"
           : task->from.is_host                                             ? "copy to GPU"
           : task->direction == COPY_PEER || task->direction == COPY_STAGED ? "copy between GPUs"
                                                                            : "copy on GPU";
}

static size_t launch_values(const struct launch *launch, struct track_value *values)
{
    static const char *const names[] = {"grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z"};
    for (int i = 0; i < 3; i++) {
        values[i] = (struct track_value){.name = names[i], .number = launch->grid[i]};
        values[3 + i] = (struct track_value){.name = names[3 + i], .number = launch->block[i]};
    }
    return 6;
}

static void draw_task(struct picture *picture, const struct command *command, const struct task *task)
{
    struct track_value values[6];
    struct track_slice slice = {.begin_ps = task->start_ps,
                                .end_ps = task->end_ps,
                                .name = copy_name(task),
                                .category = "copy",
                                .flow = command->order,
                                .values = values,
                                .value_count = 1};
    if (task->launch) {
        slice.name = demangled(task->launch->kernel->facts.name);
        slice.category = "kernel";
        slice.value_count = launch_values(task->launch, values);
    } else {
        values[0] = (struct track_value){.name = "bytes", .number = task->width * task->height * task->depth};
    }
    struct tracks_lanes *lanes = lanes_of(picture, command->stream);
    uint32_t lane = tracks_lanes_begin(lanes, picture->tracks, slice.begin_ps);
    tracks_slice(picture->tracks, tracks_lanes_track(lanes, lane), &slice);
    tracks_lanes_end(lanes, lane, slice.end_ps);
}

void picture_task(struct driver *driver, const struct command *command, const struct task *task)
{
    struct picture *picture = driver->picture;
    if (!picture || task->state == TASK_RUNNING)
        return;
    pthread_mutex_lock(&picture->lock);
    if (picture->tracks)
        draw_task(picture, command, task);
    pthread_mutex_unlock(&picture->lock);
}

/* ---- threads of the host ---- */

void picture_call_begins(const char *name)
{
    const struct picture *picture = drawn;
    if (!picture || call.depth++)
        return;
    call.name = name;
    call.begin_ps = timeline_now(picture->driver);
    call.first_order = 0;
}

void picture_submits(uint64_t order)
{
    if (!call.first_order)
        call.first_order = order;
}

static uint32_t thread_track(struct picture *picture)
{
    char name[40];
    if (call.of != picture) {
        snprintf(name, sizeof name, "thread %u", ++picture->threads);
        call.track = tracks_add(picture->tracks, picture->host, name, TRACK_SLICES, NULL);
        call.of = picture;
    }
    return call.track;
}

/* Calls that take no time are none that one would look for. */
void picture_call_ends(void)
{
    struct picture *picture = drawn;
    if (!call.depth || --call.depth || !picture)
        return;
    uint64_t now = timeline_now(picture->driver);
    if (now == call.begin_ps)
        return;
    pthread_mutex_lock(&picture->lock);
    if (picture->tracks)
        tracks_slice(picture->tracks, thread_track(picture),
                     &(struct track_slice){.begin_ps = call.begin_ps,
                                           .end_ps = now,
                                           .name = call.name,
                                           .category = "call",
                                           .flow = call.first_order,
                                           .flow_starts = true});
    pthread_mutex_unlock(&picture->lock);
}
