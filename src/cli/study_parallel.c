/* heddle study events|threads: how parallel a model is. */
#include "cli/study.h"
#include "cli/timing.h"
#include "base/file.h"
#include "base/host.h"
#include "report/svg.h"
#include "study/study.h"

#include <string.h>

const struct option_row cmd_study_parallel_options[] = {
    {"--only", "REGEX", "workloads whose names match, such as '^aes$' (all of the study unless told)"},
    {"--threads", "N|all", "of `threads`: up to so many (all cores unless told, and at least 2)"},
    {"--repeats", "N", "of `threads`: runs of which the fastest counts (3 unless told)"},
    {"--system", "NAME|FILE", "the model (h200 unless told)"},
    {"--set", "PATH.KEY=VALUE", "change it, such as l2.bytes=30MiB; may come several times"},
    {"--svg", "FILE", "write a plot"},
    {"--no-progress", NULL, "no line on the terminal that shows how far it is"},
    {NULL, NULL, NULL},
};

struct request {
    const char *svg;
    struct study_how how;
    struct timing_request timing;
};

static bool take_repeats(const char *value, unsigned *repeats, struct err *err)
{
    enum { MOST = 100 };
    struct err why;
    return (options_threads(value, repeats, &why) && strcmp(value, "all") != 0 && *repeats <= MOST) ||
           err_set(err, "--repeats: expected a number from 1 to %d, not '%.80s'", MOST, value);
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *r = user;
    bool taken;
    if (!row)
        return err_set(err, "study: unexpected word '%.120s'", value);
    if (!timing_took(&r->timing, row, value, &taken, err))
        return false;
    if (taken)
        return true;
    if (!strcmp(row->name, "--threads"))
        return options_threads(value, &r->how.threads_most, err);
    if (!strcmp(row->name, "--repeats"))
        return take_repeats(value, &r->how.repeats, err);
    if (!strcmp(row->name, "--only"))
        r->how.only = value;
    else if (!strcmp(row->name, "--svg"))
        r->svg = value;
    return true;
}

/* ---- the studies ---- */

static bool events(const struct request *r, FILE *svg, struct err *err)
{
    struct study_events study;
    bool good = study_events_make(&study, &r->how, err);
    if (good)
        study_events_print(&study, stdout);
    if (good && svg)
        study_events_svg(&study, svg);
    study_events_fini(&study);
    return good;
}

static bool threads(const struct request *r, FILE *svg, struct err *err)
{
    struct study_threads study;
    bool good = study_threads_make(&study, &r->how, err);
    if (good)
        study_threads_print(&study, stdout);
    if (good && svg)
        study_threads_svg(&study, svg);
    return good;
}

static const struct study {
    const char *name, *help;
    bool (*make)(const struct request *r, FILE *svg, struct err *err);
} studies[] = {
    {"events", "how many islands of the model can run at once, over simulated time", events},
    {"threads", "how much faster more threads are, without time and with it", threads},
};
enum { STUDIES = sizeof studies / sizeof *studies };

static const struct study *find_study(const char *name)
{
    for (size_t i = 0; i < STUDIES; i++) {
        if (!strcmp(studies[i].name, name))
            return &studies[i];
    }
    return NULL;
}

static bool make(const struct study *study, const struct request *r, struct err *err)
{
    struct file_writer writer;
    if (!r->svg)
        return study->make(r, NULL, err);
    if (!svg_check_name("--svg", r->svg, err) || !file_open(&writer, r->svg, err))
        return false;
    bool good = study->make(r, writer.stream, err);
    if (good)
        return file_close(&writer, err);
    file_abandon(&writer);
    return false;
}

/* What can be wrong with the system shows before anything runs. */
static bool prepare(struct request *r, struct err *err)
{
    struct system system;
    if (!timing_load_system(&r->timing, &system, err))
        return false;
    system_fini(&system);
    r->how.system = r->timing.system ? r->timing.system : "h200";
    r->how.settings = r->timing.settings;
    r->how.no_progress = r->timing.no_progress;
    return true;
}

int cmd_study_parallel(int count, char **words)
{
    struct err err;
    unsigned cores = host_cores();
    struct request r = {
        .how = {.threads_most = cores > 2 ? cores : 2, .repeats = 3, .interrupt = &interrupted}};
    const struct study *study = find_study(words[0]);
    int status = EXIT_USAGE;
    catch_interrupts();
    if (options_parse(cmd_study_parallel_options, count - 1, words + 1, &r, took, &err) && prepare(&r, &err))
        status = make(study, &r, &err) ? EXIT_GOOD : interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED;
    if (status != EXIT_GOOD)
        complain(status, &err);
    timing_fini(&r.timing);
    return status;
}

bool cmd_study_parallel_is(const char *name)
{
    return find_study(name);
}

void cmd_study_parallel_each(void (*each)(void *user, const char *name, const char *help), void *user)
{
    for (size_t i = 0; i < STUDIES; i++)
        each(user, studies[i].name, studies[i].help);
}
