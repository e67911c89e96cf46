#include "report/runfile.h"
#include "report/experiment.h"

#include <string.h>

static void see_metric(void *user, const char *name, const struct json_value *value)
{
    bool *good = user;
    (void)name;
    *good &= !json_text(value);
}

/* Samples over time, if there are any. */
static bool has_good_series(const struct json_value *json)
{
    const struct json_value *series = json_member(json, "series");
    double cycles;
    return !json_has_members(series) ||
           (json_number(json_member(series, "cycles"), &cycles) && cycles > 0 &&
            json_has_elements(json_member(series, "rows")) && json_has_elements(json_member(series, "gpus")));
}

/* Members without which nothing can be shown; what else is missing is left out of what is shown. */
static bool has_parts(const struct json_value *json)
{
    const struct json_value *kernels = json_member(json, "kernels");
    if (!json_text(json_member(json, "system")) || !json_text(json_member(json, "mode")) ||
        !json_has_elements(kernels) || !json_has_elements(json_member(json, "launches")))
        return false;
    for (size_t i = 0; i < json_length(kernels); i++) {
        const struct json_value *kernel = json_element(kernels, i);
        const struct json_value *metrics = json_member(kernel, "metrics");
        bool good = json_text(json_member(kernel, "name")) && json_has_members(metrics);
        json_each_member(metrics, see_metric, &good);
        if (!good)
            return false;
    }
    return has_good_series(json);
}

bool runfile_check(const struct json_value *json, const char *path, struct err *err)
{
    double layout;
    if (experiment_kind(json) != EXPERIMENT_NONE)
        return err_set(err, "%.300s: this is a study or a sweep, not a run: `heddle report` shows it", path);
    if (!json_number(json_member(json, "layout"), &layout) || !json_member(json, "kernels"))
        return err_set(err, "%.300s: this is no run: expected what `heddle run --stats FILE` writes", path);
    if (layout != STATS_LAYOUT)
        return err_set(
            err,
            "%.300s: its layout is %.20g, and this Heddle reads layout %d: write it again with this "
            "version",
            path, layout, STATS_LAYOUT);
    return has_parts(json) || err_set(err,
                                      "%.300s: this run is damaged: expected a system, a mode, and kernels "
                                      "with names and metrics; samples with their cycles, rows and GPUs",
                                      path);
}

bool runfile_read(struct runfile *run, const char *path, struct err *err)
{
    *run = (struct runfile){.path = path, .json = json_read(path, err)};
    return run->json && runfile_check(run->json, path, err);
}

void runfile_fini(struct runfile *run)
{
    if (run->json)
        json_read_free(run->json);
    run->json = NULL;
}

bool runfile_is_timed(const struct runfile *run)
{
    return !strcmp(json_text_at(run->json, "mode", ""), "timing");
}
