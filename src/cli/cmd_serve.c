/* heddle serve: a machine that programs of other processes run on. */
#include "cli/timing.h"
#include "base/host.h"
#include "base/unit.h"
#include "driver/picture.h"
#include "mailbox/door.h"
#include "serve/serve.h"
#include "tracks/picture.h"

#include <stdio.h>
#include <string.h>

struct serve_request {
    struct timing_request timing; /* of it: the system */
    const char *path;
    unsigned threads;
    uint64_t programs;
    uint64_t patience_ps;
    bool quiet, wants_help;
};

static const struct option_row options[] = {
    {"--system", "NAME|FILE", "the system to simulate (h200 unless told; `heddle params gpu`)"},
    {"--set", "PATH.KEY=VALUE", "change the system, such as system.gpus=2; may come several times"},
    PLUGIN_OPTION,
    {"--threads", "N|all", "threads of this machine that simulate (all unless told)"},
    {"--ranks", "N", NULL}, /* says why not */
    {"--programs", "N", "begin when N programs are attached, and end when all of them have gone"},
    {"--patience", "TIME", "let time pass without a program that makes no call for so long, such as 2s"},
    LIVE_OPTION,
    TIMELINE_OPTIONS,
    {"--quiet", NULL, "do not tell who comes and goes"},
    {NULL, NULL, NULL},
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct serve_request *request = user;
    struct err why;
    bool taken;
    if (!row) {
        if (request->path)
            return err_set(err, "serve: expected one path, and '%.120s' is a second one", value);
        request->path = value;
        return true;
    }
    if (!strcmp(row->name, "--help"))
        request->wants_help = true;
    else if (!strcmp(row->name, "--quiet"))
        request->quiet = true;
    else if (!strcmp(row->name, "--ranks"))
        return err_set(err,
                       "--ranks: a machine that several processes attach to is simulated by one process: use "
                       "--threads N instead");
    else if (!strcmp(row->name, "--threads"))
        return options_threads(value, &request->threads, err);
    else if (!strcmp(row->name, "--patience"))
        return unit_parse(UNIT_time, value, &request->patience_ps, &why) ||
               err_set(err, "--patience: %s", why.text);
    else if (!strcmp(row->name, "--programs"))
        return (unit_parse(UNIT_count, value, &request->programs, &why) && request->programs >= 1 &&
                request->programs <= SEATS_USUAL) ||
               err_set(err, "--programs: expected 1 to %d, not '%.80s'", SEATS_USUAL, value);
    else
        return timing_took(&request->timing, row, value, &taken, err);
    return true;
}

static void tell(void *user, const char *line)
{
    (void)user;
    fprintf(stderr, "heddle: %s\n", line);
}

static int serve(const struct serve_request *request, const struct system *system)
{
    const struct picture_options *asked = &request->timing.picture;
    struct picture_plan parsed = {0};
    struct err err;
    if (asked->path && !picture_parse(&parsed, asked, &err))
        return complain(EXIT_USAGE, &err);
    struct track_plan plan = {asked->path, NULL, parsed.detail, parsed.window};
    struct serve_options how = {.path = request->path,
                                .system = system,
                                .threads = request->threads ? request->threads : host_cores(),
                                .programs = (uint32_t)request->programs,
                                .patience_s = (double)request->patience_ps * 1e-12,
                                .interrupt = &interrupted,
                                .picture = plan.path ? &plan : NULL,
                                .show = request->timing.live,
                                .tell_shown = timing_tell_shown,
                                .tell = request->quiet ? NULL : tell};
    struct serve_counts counts;
    catch_interrupts();
    if (!serve_run(&how, &counts, &err))
        return complain(EXIT_FAILED, &err);
    printf("serve programs=%llu kernels=%llu copies=%llu time=%.6fs\n", (unsigned long long)counts.programs,
           (unsigned long long)counts.kernels, (unsigned long long)counts.copies,
           (double)counts.time_ps * 1e-12);
    if (*counts.no_picture.text)
        return complain(EXIT_FAILED, &counts.no_picture);
    return interrupted && request->programs ? EXIT_SIGNAL + interrupted : EXIT_GOOD;
}

static int serve_system(const struct serve_request *request)
{
    struct system system;
    struct err err;
    if (!timing_check_live(&request->timing, &err) || !timing_check_picture(&request->timing, &err) ||
        !timing_load_system(&request->timing, &system, &err))
        return complain(EXIT_USAGE, &err);
    int status = serve(request, &system);
    system_fini(&system);
    return status;
}

static int run(int count, char **words)
{
    struct serve_request request = {0};
    struct err err;
    int status;
    if (!options_parse(options, count, words, &request, took, &err)) {
        status = complain(EXIT_USAGE, &err);
    } else if (request.wants_help) {
        cmd_print_help(&cmd_serve);
        status = EXIT_GOOD;
    } else if (!request.path) {
        err_set(&err, "serve: expected a path for the machine's socket, such as `heddle serve machine`");
        status = complain(EXIT_USAGE, &err);
    } else {
        status = serve_system(&request);
    }
    timing_fini(&request.timing);
    return status;
}

const struct cmd cmd_serve = {
    .name = "serve",
    .arguments = "[options] PATH",
    .help = "a machine that several programs run on",
    .more = "Makes a simulated machine in this process; programs run on it with `heddle run --attach PATH "
            "PROGRAM`,\n"
            "several at a time if they like. Its time passes while all of them wait for it, so results do "
            "not depend\n"
            "on the speed of the host. With --programs it ends by itself, else by Ctrl-C. See docs/serve.md.",
    .options = options,
    .run = run,
};
