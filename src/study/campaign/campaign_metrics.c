/* What is known of a point: the metrics of its kernels, all of them together, and what the statistics have
 * beside these. */
#include "study/campaign/campaign.h"
#include "base/mem.h"
#include "driver/ledger_format.h"
#include "gpu/metrics.h"
#include "report/json_read.h"

#include <math.h>
#include <string.h>

/* A member of the statistics of a point, by its path. */
static const struct {
    const char *name, *unit;
} members[] = {{"time_ps", "ps"},
               {"launches_total", "launch"},
#define K(name, words)                                                                                       \
    {"copies." #name ".count", "copy"}, {"copies." #name ".bytes", "byte"},                                  \
        {"copies." #name ".busy_ps", "ps"},
               COPY_KINDS(K)
#undef K
};
enum { MEMBERS = sizeof members / sizeof *members };

/* Metrics first, each name once; what a kernel spends its time with; and then the members. */
static size_t metric_row_count(void)
{
    size_t count = 0;
    while (metric_rows[count].name)
        count++;
    return count;
}

size_t campaign_metric_count(void)
{
    return metric_row_count() + MEMBERS;
}

const char *campaign_metric_name(size_t metric)
{
    size_t rows = metric_row_count();
    return metric < rows ? metric_rows[metric].name : members[metric - rows].name;
}

const char *campaign_metric_unit(size_t metric)
{
    size_t rows = metric_row_count();
    return metric < rows ? metric_rows[metric].unit : members[metric - rows].unit;
}

/* A name has a row for each mode; the last one is that of timing. */
size_t campaign_metric_find(const char *name, const char **suggestion)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = campaign_metric_count(); i-- > 0;) {
        if (!strcmp(campaign_metric_name(i), name))
            return i;
        nearest_try(&nearest, campaign_metric_name(i));
    }
    *suggestion = nearest.best;
    return NO_NAME;
}

static double number_at(const struct json_value *of, const char *path)
{
    double number;
    return json_number(json_at(of, path), &number) ? number : NAN;
}

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && !strcmp(name + length - tail, end);
}

static const char cycles_name[] = "gpc__cycles_elapsed.max";

/* Counts and times of kernels add up; AMD's names, in capitals, are counts. Others are a mean. */
static bool adds_up(const char *name)
{
    return ends_in(name, ".sum") || !strcmp(name, cycles_name) || (*name >= 'A' && *name <= 'Z');
}

/* Over kernels, weighted by their cycles where it is a mean. */
static double over_kernels(const struct json_value *kernels, const char *name)
{
    double sum = 0, weights = 0;
    size_t found = 0;
    for (size_t i = 0; i < json_length(kernels); i++) {
        const struct json_value *metrics = json_member(json_element(kernels, i), "metrics");
        double value, weight = 1;
        if (!json_number(json_member(metrics, name), &value))
            continue;
        if (!adds_up(name))
            json_number(json_member(metrics, cycles_name), &weight);
        sum += weight * value;
        weights += weight;
        found++;
    }
    return !found ? NAN : adds_up(name) ? sum : sum / weights;
}

static double *collect(const struct json_value *stats)
{
    double *values = mem_alloc(campaign_metric_count(), sizeof *values);
    size_t rows = metric_row_count();
    for (size_t i = 0; i < rows; i++)
        values[i] = over_kernels(json_member(stats, "kernels"), metric_rows[i].name);
    for (size_t i = 0; i < MEMBERS; i++)
        values[rows + i] = number_at(stats, members[i].name);
    return values;
}

double *campaign_metrics_read(const char *path, struct err *err)
{
    double *values = NULL;
    struct json_value *stats = json_read(path, err);
    if (!stats)
        return NULL;
    const char *state = json_text(json_member(stats, "state"));
    if (!state || strcmp(state, "complete"))
        err_set(err, "%s tells of no complete run", path);
    else if (!json_length(json_member(stats, "kernels")))
        err_set(err, "no kernel was launched");
    else
        values = collect(stats);
    json_read_free(stats);
    return values;
}
