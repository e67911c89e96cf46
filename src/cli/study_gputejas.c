/* heddle study gputejas: the paper's experiments, with the relaxed replay and the exact one. */
#include "cli/folder.h"
#include "cli/study.h"
#include "base/host.h"
#include "base/mem.h"
#include "study/gputejas/gputejas.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

const struct option_row cmd_study_gputejas_options[] = {
    {"--quick", NULL, "small inputs: about a minute"},
    {"--only", "REGEX", "programs whose names match, such as '^nw$'"},
    {"--threads", "N|all", "up to so many (all cores unless told)"},
    {"--repeats", "N", "relaxed runs with each number of threads (3 unless told, 2 of --quick)"},
    {"--svg", "FOLDER", "write a plot of each figure"},
    {"--no-progress", NULL, "no line on the terminal that shows how far it is"},
    {NULL, NULL, NULL},
};

struct tejas_request {
    struct tejas_how how;
    const char *svg;
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct tejas_request *r = user;
    if (!row)
        return err_set(err, "study: unexpected word '%.120s'", value);
    if (!strcmp(row->name, "--threads"))
        return options_threads(value, &r->how.threads_most, err);
    if (!strcmp(row->name, "--repeats"))
        return (options_threads(value, &r->how.repeats, err) && strcmp(value, "all") != 0 &&
                r->how.repeats <= 100) ||
               err_set(err, "--repeats: expected a number from 1 to 100, not '%.80s'", value);
    if (!strcmp(row->name, "--only"))
        r->how.only = value;
    else if (!strcmp(row->name, "--svg"))
        r->svg = value;
    r->how.quick |= !strcmp(row->name, "--quick");
    r->how.no_progress |= !strcmp(row->name, "--no-progress");
    return true;
}

static bool make(struct tejas_request *r, struct err *err)
{
    struct tejas *study = mem_alloc(1, sizeof *study);
    if (r->svg && mkdir(r->svg, 0777) && errno != EEXIST) {
        mem_free(study);
        return err_set(err, "--svg: cannot make the folder %s: %s", r->svg, strerror(errno));
    }
    char *folder = folder_new(err);
    r->how.folder = folder;
    bool good = folder && tejas_make(study, &r->how, err);
    if (good)
        tejas_print(study, stdout);
    if (good && r->svg)
        good = tejas_draw(study, r->svg, err);
    folder_free(folder);
    mem_free(study);
    return good;
}

int cmd_study_gputejas(int count, char **words)
{
    struct err err;
    struct tejas_request r = {.how = {.threads_most = host_cores(), .interrupt = &interrupted}};
    int status = EXIT_USAGE;
    catch_interrupts();
    if (options_parse(cmd_study_gputejas_options, count - 1, words + 1, &r, took, &err)) {
        r.how.repeats = r.how.repeats ? r.how.repeats : r.how.quick ? 2 : 3;
        status = make(&r, &err) ? EXIT_GOOD : interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED;
    }
    return status == EXIT_GOOD ? status : complain(status, &err);
}
