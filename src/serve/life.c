/* A machine that programs attach to is made, and ends. */
#include "base/file.h"
#include "base/mem.h"
#include "serve/parts.h"
#include "system/untimed.h"
#include "tracks/picture.h"

#include <unistd.h>

/* Beside the socket, where programs that attach find it. */
static bool write_description(const struct serve *serve, struct err *err)
{
    const struct system *system = serve->options->system;
    struct file_writer writer;
    struct text text = {0};
    if (!serve->door.is_stale && access(serve->description.at, F_OK) == 0)
        return err_set(err, "%s is there already, and the description of the machine goes there",
                       serve->description.at);
    if (!file_open(&writer, serve->description.at, err))
        return false;
    config_dump_marked(&system->config, system->inherited, &text);
    fputs(text.at, writer.stream);
    text_fini(&text);
    return file_close(&writer, err);
}

static void note_progress(void *user, const struct machine_progress *progress)
{
    struct serve *serve = user;
    serve->progress = *progress;
}

static void close_all(struct serve *serve)
{
    serve->counts.time_ps = machine_time(serve->machine);
    machine_free(serve->machine);
    EACH_GUEST(guest, serve)
    {
        while (guest->jobs) {
            struct job *job = guest->jobs;
            guest->jobs = job->next;
            job_free(job);
        }
        guest_fini(guest);
    }
}

/* With the door open. */
static bool make_machine(struct serve *serve, struct err *err)
{
    struct machine_options machine = {.threads = serve->options->threads,
                                      .interrupt = serve->options->interrupt,
                                      .caches = serve->options->caches,
                                      .windows = look_windows(serve->look),
                                      .progress = note_progress,
                                      .user = serve};
    if (!write_description(serve, err))
        return false;
    serve->machine = serve->options->untimed ? machine_untimed_new(&machine)
                                             : machine_new(serve->options->system, &machine, err);
    if (!serve->machine)
        unlink(serve->description.at);
    return serve->machine;
}

static bool begin_picture(struct serve *serve, struct err *err)
{
    const struct serve_options *options = serve->options;
    if (!options->picture)
        return true;
    serve->picture = track_picture_new(options->picture, system_members(options->system), err);
    if (!serve->picture)
        return false;
    struct probe probe = track_picture_probe(serve->picture);
    return !probe.kinds || machine_listen(serve->machine, &probe, err);
}

static void end_picture(struct serve *serve)
{
    struct err unused, *err = &serve->counts.no_picture;
    if (!serve->picture)
        return;
    machine_listen(serve->machine, &probe_of_nobody, &unused);
    if (track_picture_end(serve->picture, machine_time(serve->machine), err))
        err->text[0] = 0;
    serve->picture = NULL;
}

/* A quarter of a seat's part is for the host's memory, the rest for the GPUs'. */
static void plan_window(struct serve *serve)
{
    static const uint64_t unit = UINT64_C(2) << 20;
    const struct serve_window *window = serve->options->window;
    struct seat_plan *plan = &serve->plan;
    uint64_t part = window->bytes / window->seats / unit * unit;
    serve->window = (struct seat_window){.file = window->file,
                                         .first = window->first,
                                         .seat_bytes = part,
                                         .bell_offset = window->bell_offset,
                                         .bell_value = window->bell_value};
    plan->window = &serve->window;
    plan->host_bytes = part / 4 / unit * unit;
    plan->gpu_bytes = (part - SEAT_HEAD_BYTES - plan->host_bytes) / plan->gpu_count / unit * unit;
}

static bool make_plan(struct serve *serve, struct err *err)
{
    const struct serve_options *options = serve->options;
    const struct system *system = options->system;
    if (system->spec.unified && system->spec.gpus > 1)
        return err_set(err, "system.unified: programs cannot share a unified GPU (heddle serve) yet");
    serve->plan = (struct seat_plan){.host_bytes = SEAT_WINDOW,
                                     .gpu_bytes = SEAT_GPU_BYTES(system->gpu.memory),
                                     .step = SEAT_WINDOW,
                                     .gpu_count = system_node_devices(system)};
    serve->plan.untimed = options->untimed;
    if (options->window)
        plan_window(serve);
    uint32_t most = seat_plan_most(&serve->plan);
    most = most < SEATS_USUAL ? most : SEATS_USUAL;
    serve->seats = options->programs ? options->programs : options->window ? options->window->seats : most;
    return (serve->seats && serve->seats <= most) ||
           err_set(err, "%u programs with %u GPUs of %llu GiB each have no room in the host's addresses",
                   serve->seats ? serve->seats : 1, serve->plan.gpu_count,
                   (unsigned long long)(system->gpu.memory >> 30));
}

struct serve *serve_new(const struct serve_options *options, struct err *err)
{
    struct serve *serve = mem_alloc(1, sizeof *serve);
    serve->options = options;
    serve->until_ps = UINT64_MAX;
    text_add(&serve->description, "%s.ini", options->path);
    if (make_plan(serve, err) && door_open(&serve->door, options->path, err)) {
        bool good = serve_show_init(serve, err) && make_machine(serve, err);
        if (good && begin_picture(serve, err) && serve_show_begin(serve, err))
            return serve;
        if (good) {
            end_picture(serve);
            machine_free(serve->machine);
            unlink(serve->description.at);
        }
        look_free(serve->look);
        door_close(&serve->door);
    }
    text_fini(&serve->description);
    mem_free(serve);
    return NULL;
}

void serve_free(struct serve *serve, struct serve_counts *counts)
{
    look_free(serve->look);
    end_picture(serve);
    close_all(serve);
    unlink(serve->description.at);
    door_close(&serve->door);
    text_fini(&serve->description);
    *counts = serve->counts;
    mem_free(serve);
}
