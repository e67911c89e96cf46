/* heddle study FILE: many runs, as a file says. */
#include "cli/study.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/dealing.h"
#include "cli/folder.h"
#include "cli/over_ranks.h"
#include "cli/run.h"
#include "cli/timing.h"
#include "cli/workload.h"
#include "deal/deal.h"
#include "ranks/ranks.h"
#include "plugin/plugin.h"
#include "study/campaign/campaign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct option_row cmd_study_file_options[] = {
    {"--quick", NULL, "the smaller sizes and fewer labels that the file has for this"},
    {"--only", "AXIS=LABEL,...", "leave out other labels of the axis, such as workload=fir; may come often"},
    {"--system", "NAME|FILE", "for all points, instead of the file's"},
    {"--gpus", "N", "GPUs of a study that has several, such as locality"},
    {"--set", "PATH.KEY=VALUE", "change the system of all points; may come several times"},
    PLUGIN_OPTION,
    {"--jobs", "N|all",
     "points at a time, each in a process of its own (all cores unless told); of each rank"},
    {"--threads", "N|all", "threads of each (1 unless told)"},
    {"--ranks", "N", "share the points among N processes of this machine, by MPI (docs/studies.md)"},
    HOSTS_OPTION,
    {"--results", "FOLDER", "keep the statistics of every point there"},
    {"--resume", NULL, "with --results: do not run again what is there already"},
    {"--json", "FILE", "write axes, figures, and all metrics of all points"},
    {"--csv", "FILE", "write a line for each point"},
    {"--markdown", "FILE", "write the tables as a page"},
    {"--svg", "FOLDER", "write a plot of each figure"},
    {"--no-progress", NULL, "no line on the terminal that shows how far it is"},
    {NULL, NULL, NULL},
};

struct request {
    const char *gpus, *results, *json, *csv, *markdown, *svg;
    bool is_quick, resume;
    char *own, *program; /* a folder that goes with us, or NULL; heddle */
    struct campaign_words only;
    struct campaign_how how;
    struct timing_request timing;
};

static bool take_jobs(const char *value, unsigned *jobs, struct err *err)
{
    struct err why;
    return options_threads(value, jobs, &why) ||
           err_set(err, "--jobs: expected a number from 1 to 1024, or all, not '%.80s'", value);
}

/* To the processes of points. */
static void pass_plugins_on(void)
{
    struct text list = {0};
    plugin_add_list(&list);
    setenv(PLUGIN_VARIABLE, list.at, 1);
    text_fini(&list);
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *r = user;
    bool taken;
    if (!row)
        return err_set(err, "study: unexpected word '%.120s'", value);
    if (!strcmp(row->name, "--resume")) {
        r->resume = true;
        return true;
    }
    if (!strcmp(row->name, "--gpus")) { /* not a setting of all points */
        uint64_t count;
        r->gpus = value;
        return options_gpus(row->name, value, &count, err);
    }
    if (!timing_took(&r->timing, row, value, &taken, err))
        return false;
    if (!strcmp(row->name, "--plugin"))
        pass_plugins_on();
    if (taken)
        return true;
    if (!strcmp(row->name, "--jobs"))
        return take_jobs(value, &r->how.jobs, err);
    if (!strcmp(row->name, "--threads"))
        return options_threads(value, &r->how.threads, err);
    if (!strcmp(row->name, "--quick"))
        r->is_quick = true;
    else if (!strcmp(row->name, "--only"))
        campaign_add_word(&r->only, value);
    else if (!strcmp(row->name, "--results"))
        r->results = value;
    else if (!strcmp(row->name, "--json"))
        r->json = value;
    else if (!strcmp(row->name, "--csv"))
        r->csv = value;
    else if (!strcmp(row->name, "--markdown"))
        r->markdown = value;
    else if (!strcmp(row->name, "--svg"))
        r->svg = value;
    return true;
}

/* ---- points ---- */

static bool check(int count, char **words, struct text *identity, struct err *err)
{
    text_add(identity, "heddle = %016llx\n", (unsigned long long)dealing_build());
    return strcmp(words[0], "run") ? cmd_workload_check(count - 1, words + 1, identity, err)
                                   : cmd_run_check(count - 1, words + 1, identity, err);
}

static void failed(const struct campaign *campaign, const struct campaign_point *point)
{
    struct text name = {0}, command = {0};
    struct err err;
    campaign_point_name(campaign, point, &name);
    campaign_print_words(&point->words, &command);
    err_set(&err, "study: %s failed: %.800s (by hand: heddle %s)", name.at, point->wrong, command.at);
    complain(EXIT_FAILED, &err);
    text_fini(&name);
    text_fini(&command);
}

/* ---- results ---- */

static bool make_folder(const char *option, const char *path, struct err *err)
{
    struct stat info;
    if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &info) && S_ISDIR(info.st_mode)))
        return true;
    return err_set(err, "%s: cannot make the folder %.200s: %s", option, path, strerror(errno));
}

static bool write_file(const char *path, const struct campaign *campaign,
                       void (*tell)(const struct campaign *campaign, FILE *stream), struct err *err)
{
    struct file_writer writer;
    if (!path)
        return true;
    if (!file_open(&writer, path, err))
        return false;
    tell(campaign, writer.stream);
    return file_close(&writer, err);
}

static bool write_plots(const char *folder, const struct campaign *campaign, struct err *err)
{
    bool good = true;
    for (size_t i = 0; folder && good && i < campaign->figure_count; i++) {
        struct file_writer writer;
        struct text path = {0};
        if (campaign_figure_plot(campaign, &campaign->figures[i]) == CAMPAIGN_NO_PLOT)
            continue;
        text_add(&path, "%s/%s.svg", folder, campaign->figures[i].name);
        good = file_open(&writer, path.at, err);
        if (good) {
            campaign_svg(campaign, &campaign->figures[i], writer.stream);
            good = file_close(&writer, err);
        }
        text_fini(&path);
    }
    return good;
}

static bool write_files(const struct request *r, const struct campaign *campaign, struct err *err)
{
    return write_file(r->json, campaign, campaign_json, err) &&
           write_file(r->csv, campaign, campaign_csv, err) &&
           write_file(r->markdown, campaign, campaign_markdown, err) && write_plots(r->svg, campaign, err);
}

/* ---- all ---- */

/* The folder of the statistics: the user's, or one that goes with us. Results come to rank 0. */
static bool choose_folder(struct request *r, struct err *err)
{
    r->how.keeps = r->results && !ranks_number(r->how.ranks);
    if (!r->how.keeps && !(r->own = folder_new(err)))
        return false;
    r->how.folder = r->how.keeps ? r->results : r->own;
    r->how.program = r->program = realpath("/proc/self/exe", NULL);
    return r->program || err_set(err, "study: cannot tell where heddle is: %s", strerror(errno));
}

/* Outputs, which are rank 0's. */
static bool check_outputs(const struct request *r, struct err *err)
{
    const char *const files[] = {r->json, r->csv, r->markdown};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i] && !file_check(files[i], err))
            return false;
    }
    return (!r->svg || make_folder("--svg", r->svg, err)) &&
           (!r->results || make_folder("--results", r->results, err));
}

/* All that can be wrong before hours of work. */
static bool prepare(struct request *r, struct campaign *campaign, struct err *err)
{
    if (r->resume && !r->results)
        return err_set(err, "--resume needs --results FOLDER");
    for (size_t i = 0; i < r->only.count; i++) {
        if (!campaign_pick(campaign, r->only.at[i], err))
            return false;
    }
    r->how.settings = r->timing.settings;
    r->how.no_progress = r->timing.no_progress || ranks_number(r->how.ranks);
    if (!r->how.jobs)
        r->how.jobs = deal_cores(r->how.ranks);
    return campaign_points_make(campaign, &r->how, err) &&
           (ranks_number(r->how.ranks) || check_outputs(r, err)) && choose_folder(r, err);
}

static void tell_resumed(const struct request *r, struct campaign *campaign)
{
    size_t found = campaign_resume(campaign, &r->how);
    fprintf(stderr, "heddle: study: %zu of %zu points are in %s already\n", found,
            campaign_different(campaign), r->results);
}

static int make(struct request *r, struct campaign *campaign)
{
    struct err err;
    size_t wrong;
    if (r->resume && !ranks_number(r->how.ranks))
        tell_resumed(r, campaign);
    bool good = campaign_run(campaign, &r->how, &wrong, &err);
    if (ranks_number(r->how.ranks))
        return good ? EXIT_GOOD : dealing_complain(r->how.ranks, EXIT_FAILED, &err);
    if (!good && !interrupted)
        return complain(EXIT_FAILED, &err);
    campaign_print(campaign, stdout);
    fflush(stdout);
    if (!write_files(r, campaign, &err))
        return complain(EXIT_FAILED, &err);
    if (interrupted) {
        err_set(&err, "interrupted: what is known so far was told%s",
                r->results ? "; go on with --resume" : "");
        return complain(EXIT_SIGNAL + interrupted, &err);
    }
    if (wrong) {
        err_set(&err, "study: %zu of %zu points failed", wrong, campaign->point_count);
        return complain(EXIT_FAILED, &err);
    }
    return EXIT_GOOD;
}

static int run_study(struct ranks *ranks, int count, char **words)
{
    struct err err, why;
    struct text path = {0};
    struct campaign campaign = {0};
    struct request r = {
        .how = {.ranks = ranks, .threads = 1, .interrupt = &interrupted, .check = check, .failed = failed}};
    bool good = cmd_study_shipped_find(words[0], &path, &err) &&
                options_parse(cmd_study_file_options, count - 1, words + 1, &r, took, &err) &&
                over_ranks_begin(&err) &&
                campaign_read(&campaign, path.at, r.is_quick, r.timing.system, &err) &&
                (!r.gpus || campaign_set_gpus(&campaign, r.gpus, &err)) && prepare(&r, &campaign, &err);
    int status = deal_agree(ranks, good, &err, good ? campaign_digest(&campaign) : 0, &why)
                     ? make(&r, &campaign)
                     : dealing_complain(ranks, EXIT_USAGE, &why);
    campaign_fini(&campaign);
    timing_fini(&r.timing);
    folder_free(r.own);
    free(r.program); /* realpath's */
    mem_free(r.only.at);
    text_fini(&path);
    return status;
}

int cmd_study_file(int count, char **words)
{
    struct err err;
    struct ranks *ranks;
    catch_interrupts();
    if (!dealing_join(&ranks, &err))
        return complain(EXIT_FAILED, &err);
    return dealing_leave(ranks, run_study(ranks, count, words));
}
