/* What is known of a point: the metrics of its kernels, all of them together, and what the statistics have
 * beside these. */
#include "study/campaign/campaign.h"
#include "base/file.h"
#include "base/mem.h"
#include "driver/ledger_format.h"
#include "gpu/metrics.h"
#include "report/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRINTED "printed."

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

/* Others that a study names: paths of the statistics of CPU cores, "cpu.memory.messages", and what a program
 * prints as KEY=NUMBER, "printed.KEY". */
static char *asked[64];
static size_t asked_count;

static bool may_be_asked(const char *name)
{
    return !strncmp(name, "cpu.", 4) || !strncmp(name, PRINTED, sizeof PRINTED - 1);
}

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && !strcmp(name + length - tail, end);
}

/* Metrics first, each name once; what a kernel spends its time with; and then the members. */
static size_t metric_row_count(void)
{
    size_t count = 0;
    while (metric_rows[count].name)
        count++;
    return count;
}

bool campaign_metrics_are_printed(void)
{
    bool any = false;
    for (size_t i = 0; i < asked_count; i++)
        any |= !strncmp(asked[i], PRINTED, sizeof PRINTED - 1);
    return any;
}

size_t campaign_metric_count(void)
{
    return metric_row_count() + MEMBERS + asked_count;
}

const char *campaign_metric_name(size_t metric)
{
    size_t rows = metric_row_count();
    return metric < rows             ? metric_rows[metric].name
           : metric < rows + MEMBERS ? members[metric - rows].name
                                     : asked[metric - rows - MEMBERS];
}

const char *campaign_metric_unit(size_t metric)
{
    size_t rows = metric_row_count();
    return metric < rows                                    ? metric_rows[metric].unit
           : metric < rows + MEMBERS                        ? members[metric - rows].unit
           : ends_in(asked[metric - rows - MEMBERS], "_ns") ? "ns"
                                                            : "";
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
    if (may_be_asked(name) && asked_count < sizeof asked / sizeof *asked) {
        asked[asked_count++] = mem_text(name);
        return campaign_metric_count() - 1;
    }
    *suggestion = nearest.best;
    return NO_NAME;
}

static double number_at(const struct json_value *of, const char *path)
{
    double number;
    return json_number(json_at(of, path), &number) ? number : NAN;
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

/* The last KEY=NUMBER with this key that a program printed. */
static double printed(const char *log, const char *key)
{
    size_t length = strlen(key);
    double number = NAN;
    for (const char *at = log; at && (at = strstr(at, key)); at += length) {
        bool is_whole = at == log || at[-1] == ' ' || at[-1] == '\n' || at[-1] == ',';
        char *end;
        double value = is_whole && at[length] == '=' ? strtod(at + length + 1, &end) : NAN;
        if (is_whole && at[length] == '=' && end != at + length + 1)
            number = value;
    }
    return number;
}

static double asked_value(const struct json_value *stats, const char *log, const char *name)
{
    size_t prefix = sizeof PRINTED - 1;
    return strncmp(name, PRINTED, prefix) ? number_at(stats, name) : printed(log, name + prefix);
}

static double *collect(const struct json_value *stats, const char *log)
{
    double *values = mem_alloc(campaign_metric_count(), sizeof *values);
    size_t rows = metric_row_count();
    for (size_t i = 0; i < rows; i++)
        values[i] = over_kernels(json_member(stats, "kernels"), metric_rows[i].name);
    for (size_t i = 0; i < MEMBERS; i++)
        values[rows + i] = number_at(stats, members[i].name);
    for (size_t i = 0; i < asked_count; i++)
        values[rows + MEMBERS + i] = asked_value(stats, log, asked[i]);
    return values;
}

double *campaign_metrics_read(const char *path, const char *log_path, struct err *err)
{
    enum { LOG_MOST = 1 << 24 };
    double *values = NULL;
    struct json_value *stats = json_read(path, err);
    struct text log = {0};
    struct err unused;
    if (!stats)
        return NULL;
    file_read(log_path, LOG_MOST, &log, &unused);
    const char *state = json_text(json_member(stats, "state"));
    if (!state || strcmp(state, "complete"))
        err_set(err, "%s tells of no complete run", path);
    else if (!json_length(json_member(stats, "kernels")) && !json_member(stats, "cpu"))
        err_set(err, "no kernel was launched");
    else
        values = collect(stats, log.at);
    text_fini(&log);
    json_read_free(stats);
    return values;
}
