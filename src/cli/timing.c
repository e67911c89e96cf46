#include "cli/timing.h"
#include "cli/over_ranks.h"
#include "base/choice.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unit.h"
#include "driver/picture.h"
#include "live/live.h"
#include "driver/region.h"
#include "mailbox/door.h"
#include "plugin/plugin.h"
#include "system/fabric.h"
#include "system/loads.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool take_count(const struct option_row *row, const char *value, const char **kept, struct err *err)
{
    uint64_t count;
    struct err why;
    *kept = value;
    return unit_parse(UNIT_count, value, &count, &why) || err_set(err, "%s: %s", row->name, why.text);
}

static void add_setting(struct timing_request *request, const char *value)
{
    mem_grow(request->settings, request->setting_count, request->setting_capacity);
    request->settings[request->setting_count++] = value;
    mem_grow(request->settings, request->setting_count, request->setting_capacity); /* for the end */
    request->settings[request->setting_count] = NULL;
}

void timing_recorded(struct timing_request *request, const char *system, const char *settings)
{
    const char **own = request->settings;
    size_t count = request->setting_count;
    request->system = system;
    request->recorded = mem_text(settings);
    request->settings = NULL;
    request->setting_count = request->setting_capacity = 0;
    for (char *at = request->recorded, *line; (line = strsep(&at, "\n"));)
        if (*line)
            add_setting(request, line);
    for (size_t i = 0; i < count; i++)
        add_setting(request, own[i]);
    mem_free(own);
}

static bool take_gpus(struct timing_request *request, const struct option_row *row, const char *value,
                      const char *key, struct err *err)
{
    uint64_t count;
    struct text setting = {0};
    if (!options_gpus(row->name, value, &count, err))
        return false;
    if (request->gpus_by)
        return err_set(err, "%s does not go with %s: each of them says how many GPUs there are", row->name,
                       request->gpus_by);
    request->gpus_by = row->name;
    text_add(&setting, "%s=%llu", key, (unsigned long long)count);
    request->gpus = setting.at;
    add_setting(request, setting.at);
    return true;
}

static bool take_unified(struct timing_request *request, const struct option_row *row, const char *value,
                         struct err *err)
{
    add_setting(request, "system.unified=yes");
    return take_gpus(request, row, value, "system.gpus", err);
}

bool timing_took(struct timing_request *request, const struct option_row *row, const char *value, bool *mine,
                 struct err *err)
{
    if (!over_ranks_took(row, value, mine, err))
        return false;
    if (*mine)
        return true;
    *mine = true;
    if (!strcmp(row->name, "--mode")) {
        request->mode = value;
        return !strcmp(value, "timing") || !strcmp(value, "functional") ||
               err_set(err, "--mode: expected functional or timing, not '%.80s'", value);
    }
    if (!strcmp(row->name, "--system"))
        request->system = value;
    else if (!strcmp(row->name, "--set"))
        add_setting(request, value);
    else if (!strcmp(row->name, "--plugin"))
        return request->plugins = true, plugin_load(value, err);
    else if (!strcmp(row->name, "--gpus"))
        return take_gpus(request, row, value, "system.gpus", err);
    else if (!strcmp(row->name, "--unified"))
        return take_unified(request, row, value, err);
    else if (!strcmp(row->name, "--monolithic"))
        return take_gpus(request, row, value, "system.monolithic", err);
    else if (!strcmp(row->name, "--dump-config"))
        request->dump = value;
    else if (!strcmp(row->name, "--attach"))
        request->attach = value;
    else if (!strcmp(row->name, "--write-load"))
        request->write_load = value;
    else if (!strcmp(row->name, "--placement"))
        request->placement = value;
    else if (!strcmp(row->name, "--live")) {
        struct live_wish wish;
        request->live = value ? value : "auto";
        return live_wish_parse(request->live, &wish, err);
    } else if (!strcmp(row->name, "--timeline"))
        request->picture.path = value;
    else if (!strcmp(row->name, "--timeline-detail"))
        request->picture.detail = value;
    else if (!strcmp(row->name, "--timeline-window"))
        request->picture.window = value;
    else if (!strcmp(row->name, "--seat"))
        return take_count(row, value, &request->seat, err);
    else if (!strcmp(row->name, "--max-cycles"))
        return take_count(row, value, &request->max_cycles, err);
    else if (!strcmp(row->name, "--checkpoint"))
        request->checkpoint = value;
    else if (!strcmp(row->name, "--checkpoint-every"))
        return take_count(row, value, &request->checkpoint_every, err);
    else if (!strcmp(row->name, "--checkpoint-at"))
        return take_count(row, value, &request->checkpoint_at, err);
    else if (!strcmp(row->name, "--checkpoint-stop"))
        request->checkpoint_stop = true;
    else if (!strcmp(row->name, "--resume"))
        request->resume = value;
    else if (!strcmp(row->name, "--profile"))
        return take_count(row, value, &request->hot_places, err);
    else if (!strcmp(row->name, "--series"))
        return take_count(row, value, &request->series, err);
    else if (!strcmp(row->name, "--cold-caches"))
        request->cold_caches = true;
    else if (!strcmp(row->name, "--no-progress"))
        request->no_progress = true;
    else if (!strcmp(row->name, "--kernels")) {
        struct choice kernels;
        request->kernels = value;
        if (!timing_kernels(request, &kernels, err))
            return false;
        choice_fini(&kernels);
    } else if (!strcmp(row->name, "--region")) {
        struct err why;
        request->region = value;
        return region_init(value, &why) || err_set(err, "--region: %s", why.text);
    } else
        *mine = false;
    return true;
}

static const char *timed_setting(const struct timing_request *request)
{
    for (size_t i = 0; i < request->setting_count; i++) {
        if (system_shows(request->settings[i]) == SHOWS_IN_TIME)
            return request->settings[i];
    }
    return NULL;
}

const char *timing_alone(const struct timing_request *request)
{
    bool selects = !request->record; /* else they say what is recorded */
    return timed_setting(request)        ? timed_setting(request)
           : request->plugins            ? "--plugin"
           : request->attach             ? "--attach"
           : request->shared             ? "--shared"
           : request->max_cycles         ? "--max-cycles"
           : selects && request->kernels ? "--kernels"
           : selects && request->region  ? "--region"
           : request->hot_places         ? "--profile"
           : request->series             ? "--series"
           : request->cold_caches        ? "--cold-caches"
           : request->checkpoint         ? "--checkpoint"
           : request->resume             ? "--resume"
           : request->write_load         ? "--write-load"
           : request->placement          ? "--placement"
           : request->picture.path       ? "--timeline"
           : request->live               ? "--live"
                                         : NULL;
}

bool timing_is_on(const struct timing_request *request)
{
    if (request->mode || request->record)
        return request->mode && !strcmp(request->mode, "timing");
    return request->system || timing_alone(request);
}

/* The machine is what `heddle serve` was told. */
static bool attach_makes_sense(const struct timing_request *request, struct err *err)
{
    const char *both = request->system          ? "--system"
                       : request->setting_count ? "--set"
                       : request->checkpoint    ? "--checkpoint"
                       : request->resume        ? "--resume"
                                                : NULL;
    uint64_t seat = timing_seat(request);
    if (request->shared && (request->attach || request->checkpoint || request->resume))
        return err_set(err, "--shared does not go with --attach, --checkpoint or --resume");
    if ((request->shared || request->attach) && plugin_listening())
        return err_set(err, "plugin %.80s listens, but the machine of %s is in another process",
                       plugin_listening(), request->attach ? "--attach" : "--shared");
    if (!request->attach)
        return !request->seat || err_set(err, "--seat needs --attach PATH");
    if (both)
        return err_set(err, "%s does not go with --attach: %s", both,
                       request->system || request->setting_count ? "it is for `heddle serve` to say"
                                                                 : "that machine writes no checkpoints");
    return !request->seat || (seat >= 1 && seat <= SEATS_USUAL) ||
           err_set(err, "--seat: expected 1 to %d, not %s", SEATS_USUAL, request->seat);
}

/* What needs all of the machine in one process. */
static bool ranks_make_sense(const struct timing_request *request, struct err *err)
{
    const char *alone = request->attach ? "--attach" : request->shared ? "--shared" : NULL;
    return !alone || ranks_job().count == 1 ||
           err_set(err,
                   "%s does not go with several ranks: a machine that several processes attach to is "
                   "simulated by "
                   "one; use --threads N instead",
                   alone);
}

/* Loads are written by the machine that ranks may have parts of. */
static bool loads_make_sense(const struct timing_request *request, struct err *err)
{
    const char *elsewhere = request->attach ? "--attach" : request->shared ? "--shared" : NULL;
    struct err why;
    if (request->placement && ranks_job().count == 1)
        return err_set(err, "--placement is for several ranks: expected --ranks N, or mpirun");
    if (request->write_load && elsewhere)
        return err_set(err, "--write-load does not go with %s", elsewhere);
    return !request->write_load || ranks_job().number || file_check(request->write_load, &why) ||
           err_set(err, "--write-load: %s", why.text);
}

bool timing_check_series(const struct timing_request *request, struct err *err)
{
    const char *without = request->attach || request->shared ? "a machine that several processes attach to"
                          : request->resume                  ? "--resume"
                          : ranks_job().count > 1            ? "several ranks"
                                                             : NULL;
    if (request->series && !timing_series(request))
        return err_set(err, "--series: expected a number of cycles from 1 on");
    return !request->series || !without || err_set(err, "--series does not go with %s", without);
}

bool timing_keeps_series(const struct timing_request *request, const char *stats, struct err *err)
{
    return stats || !request->series || err_set(err, "--series needs a file for its samples: --stats FILE");
}

/* Of a machine in another process, only what the program's own process knows is drawn. */
bool timing_check_picture(const struct timing_request *request, struct err *err)
{
    const struct picture_options *picture = &request->picture;
    const char *alone = picture->detail ? "--timeline-detail" : picture->window ? "--timeline-window" : NULL;
    struct picture_plan plan;
    struct err why;
    if (!picture->path)
        return !alone || err_set(err, "%s needs --timeline FILE", alone);
    if (!picture_parse(&plan, picture, err))
        return false;
    if (request->attach && plan.detail != TRACK_CALLS)
        return err_set(
            err, "--timeline with --attach: expected --timeline-detail calls; `heddle serve --timeline` "
                 "draws the rest");
    return ranks_job().number || file_check(picture->path, &why) || err_set(err, "--timeline: %s", why.text);
}

bool timing_check_live(const struct timing_request *request, struct err *err)
{
    if (!request->live)
        return true;
    if (request->attach)
        return err_set(err,
                       "--live does not go with --attach: give it to `heddle serve`, which has the machine");
    return ranks_job().count > 1 ? err_set(err, "--live does not go with several ranks")
                                 : live_is_possible(err);
}

void timing_tell_shown(const char *url)
{
    fprintf(stderr, "heddle: live view at %s\n", url);
}

bool timing_check(const struct timing_request *request, struct err *err)
{
    const char *alone = timing_alone(request);
    if (!timing_check_series(request, err) || !timing_check_live(request, err) ||
        !ranks_make_sense(request, err) || !loads_make_sense(request, err))
        return false;
    if (!attach_makes_sense(request, err) || !timing_check_picture(request, err))
        return false;
    bool every = request->checkpoint_every, at = request->checkpoint_at;
    if (!request->checkpoint && (at || every || request->checkpoint_stop))
        return err_set(err, "%s needs --checkpoint FILE",
                       at      ? "--checkpoint-at"
                       : every ? "--checkpoint-every"
                               : "--checkpoint-stop");
    if (every && !timing_checkpoint_every(request))
        return err_set(err, "--checkpoint-every: expected a number of cycles from 1 on");
    if (at && !timing_checkpoint_at(request))
        return err_set(err, "--checkpoint-at: expected a cycle from 1 on");
    if (request->checkpoint_stop && !at)
        return err_set(err, "--checkpoint-stop needs --checkpoint-at CYCLES");
    return !alone || timing_is_on(request) || err_set(err, "%.120s needs --mode timing", alone);
}

void timing_tell_unseen(const struct timing_request *request)
{
    if (timing_is_on(request))
        return;
    for (size_t i = 0; i < request->setting_count; i++) {
        const char *setting = request->settings[i];
        if (system_shows(setting) != SHOWS_IN_QUERIES_AND_TIME)
            continue;
        fprintf(stderr,
                "heddle: %.*s affects only device queries and simulated time; this run is functional: add "
                "--mode timing to see it\n",
                (int)strcspn(setting, "="), setting);
        return;
    }
}

static bool dump(const struct system *system, const char *path, struct err *err)
{
    struct file_writer writer;
    struct text text = {0};
    if (!file_open(&writer, path, err))
        return false;
    config_dump_marked(&system->config, system->inherited, &text);
    fputs(text.at, writer.stream);
    text_fini(&text);
    return file_close(&writer, err);
}

/* A machine that is just being made is waited for. */
static bool appears(const char *path)
{
    static const double longest = 3; /* seconds */
    for (double end = host_seconds() + longest; access(path, F_OK) && !interrupted && host_seconds() < end;)
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    return access(path, F_OK) == 0;
}

/* Before anything is started. Other ranks get what is in the file from the leading one. */
static bool placement_fits(const struct timing_request *request, const struct system *system, struct err *err)
{
    struct net_graph graph = {0};
    struct loads load = {0};
    if (!request->placement || ranks_job().number)
        return true;
    bool has_fabric = system->spec.gpus > 1;
    bool good = (!has_fabric || fabric_graph(system, &graph, err)) &&
                spread_loads_read_file(&load, request->placement, system, has_fabric ? &graph : NULL, err);
    spread_loads_fini(&load);
    net_graph_fini(&graph);
    return good;
}

bool timing_load_system(const struct timing_request *request, struct system *system, struct err *err)
{
    struct text beside = {0};
    if (request->attach)
        text_add(&beside, "%s.ini", request->attach);
    bool good = !request->attach || appears(beside.at) ||
                err_set(err, "there is no machine at %.200s (`heddle serve %.200s` makes one)",
                        request->attach, request->attach);
    good = good && system_load(system, request->attach ? beside.at : request->system, NULL, err);
    text_fini(&beside);
    if (!good)
        return false;
    for (size_t i = 0; good && i < request->setting_count; i++)
        good = system_set(system, request->settings[i], err);
    good = good && system_check(system, err) && placement_fits(request, system, err) &&
           (!request->dump || dump(system, request->dump, err));
    if (!good)
        system_fini(system);
    return good;
}

bool timing_identify(const struct timing_request *request, struct text *identity, struct err *err)
{
    struct system system;
    if (!timing_check(request, err) || !timing_load_system(request, &system, err))
        return false;
    text_add(identity, "timing = %d, kernels %s, region %s, most cycles %s, cold %d\n", timing_is_on(request),
             request->kernels ? request->kernels : "all", request->region ? request->region : "all",
             request->max_cycles ? request->max_cycles : "any", request->cold_caches);
    plugin_identify(identity);
    config_dump(&system.config, identity);
    system_fini(&system);
    return true;
}

bool timing_launch_range(const char *option, const char *text, uint64_t *first, uint64_t *end,
                         struct err *err)
{
    char *at;
    *first = strtoull(text, &at, 10);
    bool good = at != text && *text >= '0' && *text <= '9';
    *end = *first + 1;
    if (good && *at == '-') {
        const char *last = at + 1;
        *end = *last ? strtoull(last, &at, 10) + 1 : 0;
        if (!*last)
            at++;
        good = !*last || (*last >= '0' && *last <= '9' && *end > *first);
    }
    return (good && !*at) ||
           err_set(err, "%s: expected numbers of launches from 0, such as 3-5, 3 or 3-, not '%.80s'", option,
                   text);
}

bool timing_kernels(const struct timing_request *request, struct choice *kernels, struct err *err)
{
    return choice_init(kernels, "--kernels", request->kernels, err);
}

static uint64_t count_of(const char *text)
{
    uint64_t count = 0;
    struct err why;
    return text && unit_parse(UNIT_count, text, &count, &why) ? count : 0;
}

uint64_t timing_checkpoint_at(const struct timing_request *request)
{
    return count_of(request->checkpoint_at);
}

uint64_t timing_checkpoint_every(const struct timing_request *request)
{
    return count_of(request->checkpoint_every);
}

uint64_t timing_max_cycles(const struct timing_request *request)
{
    return count_of(request->max_cycles);
}

uint64_t timing_series(const struct timing_request *request)
{
    return count_of(request->series);
}

uint64_t timing_seat(const struct timing_request *request)
{
    return count_of(request->seat);
}

uint64_t timing_hot_places(const struct timing_request *request)
{
    return count_of(request->hot_places);
}

void timing_fini(struct timing_request *request)
{
    mem_free(request->settings);
    mem_free(request->own);
    mem_free(request->gpus);
    mem_free(request->recorded);
}
