/* Which tables and plots a study has, and what they show of a point. */
#include "study/campaign/campaign.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

static bool find_metric(const char *name, const char *where, size_t *metric, struct err *err)
{
    const char *suggestion;
    *metric = campaign_metric_find(name, &suggestion);
    if (*metric != NO_NAME)
        return true;
    err_set(err, "%s: there is no metric '%.120s'", where, name);
    if (suggestion)
        err_add(err, "; did you mean %s?", suggestion);
    else
        err_add(err, " (`heddle stats launch` lists them)");
    return false;
}

/* Unless told: the last axis that has several labels. */
static size_t usual_columns(const struct campaign *campaign)
{
    size_t columns = CAMPAIGN_WORKLOADS + 1;
    for (size_t i = columns; i < campaign->axis_count; i++) {
        if (campaign->axes[i].count > 1)
            columns = i;
    }
    return columns;
}

static const struct campaign_rule *baseline_of(const struct campaign *campaign,
                                               const struct campaign_figure *figure)
{
    return figure->baseline.count ? &figure->baseline : &campaign->baseline;
}

static bool complete_figure(struct campaign *campaign, struct campaign_figure *figure, struct err *err)
{
    struct text section = {0};
    text_add(&section, "figure.%s", figure->name);
    const char *where = campaign_where(campaign, section.at, "columns");
    bool is_here = where != campaign->path;
    figure->columns =
        *figure->spec.columns ? campaign_axis_find(campaign, figure->spec.columns) : usual_columns(campaign);
    figure->over = NO_NAME;
    bool good = figure->columns != NO_NAME ||
                err_set(err, "%s: there is no axis '%.120s'", where, figure->spec.columns);
    good = good && find_metric(figure->spec.metric,
                               is_here ? campaign_where(campaign, section.at, "metric") : figure->where,
                               &figure->metric, err);
    if (good && *figure->spec.over)
        good =
            find_metric(figure->spec.over, campaign_where(campaign, section.at, "over"), &figure->over, err);
    good =
        good && campaign_rule_parse(campaign, figure->spec.baseline,
                                    campaign_where(campaign, section.at, "baseline"), &figure->baseline, err);
    if (good && figure->spec.shows != CAMPAIGN_VALUE && !baseline_of(campaign, figure)->count)
        good = err_set(err, "%s: a ratio needs a baseline, its own or that of [study]",
                       campaign_where(campaign, section.at, "shows"));
    text_fini(&section);
    return good;
}

static void add_figure(struct campaign *campaign, const char *name, const char *title, const char *metric,
                       enum campaign_shows shows, const char *where)
{
    mem_grow(campaign->figures, campaign->figure_count, campaign->figure_capacity);
    campaign->figures[campaign->figure_count++] = (struct campaign_figure){.name = name,
                                                                           .where = where,
                                                                           .spec = {.title = title,
                                                                                    .metric = metric,
                                                                                    .over = "",
                                                                                    .scale = 1,
                                                                                    .shows = shows,
                                                                                    .baseline = "",
                                                                                    .columns = ""}};
}

/* A file without figures of its own shows the time of its kernels. */
static void add_usual(struct campaign *campaign)
{
    static const char time[] = "gpu__time_duration.sum";
    add_figure(campaign, "time", "Time of kernels", time, CAMPAIGN_VALUE, campaign->path);
    if (campaign->baseline.count)
        add_figure(campaign, "speedup", "", time, CAMPAIGN_SPEEDUP, campaign->path);
}

bool campaign_figures_make(struct campaign *campaign, struct err *err)
{
    struct campaign_words metrics = {0};
    const char *where = campaign_where(campaign, "study", "metrics");
    struct err why;
    if (!campaign->figure_count)
        add_usual(campaign);
    bool good = campaign_split(campaign, campaign->spec.metrics, &metrics, &why) ||
                err_set(err, "%s: %s", where, why.text);
    for (size_t i = 0; good && i < metrics.count; i++)
        add_figure(campaign, metrics.at[i], "", metrics.at[i], CAMPAIGN_VALUE, where);
    mem_free(metrics.at);
    for (size_t i = 0; good && i < campaign->figure_count; i++)
        good = complete_figure(campaign, &campaign->figures[i], err);
    return good;
}

/* ---- what it shows ---- */

static double plain_value(const struct campaign *campaign, const struct campaign_figure *figure,
                          const size_t *labels)
{
    const struct campaign_point *point = campaign_point_at(campaign, labels);
    if (!point || point->state != CAMPAIGN_DONE)
        return NAN;
    double over = figure->over == NO_NAME ? 1 : point->values[figure->over];
    return figure->spec.scale * point->values[figure->metric] / over;
}

static double baseline_value(const struct campaign *campaign, const struct campaign_figure *figure,
                             const size_t *labels)
{
    const struct campaign_rule *baseline = baseline_of(campaign, figure);
    size_t *at = mem_alloc(campaign->axis_count, sizeof *at);
    memcpy(at, labels, campaign->axis_count * sizeof *at);
    for (size_t i = 0; i < baseline->count; i++)
        at[baseline->pairs[i].axis] = baseline->pairs[i].label;
    double value = plain_value(campaign, figure, at);
    mem_free(at);
    return value;
}

double campaign_figure_value(const struct campaign *campaign, const struct campaign_figure *figure,
                             const size_t *labels)
{
    double value = plain_value(campaign, figure, labels), shown = value;
    if (figure->spec.shows == CAMPAIGN_RATIO)
        shown = value / baseline_value(campaign, figure, labels);
    if (figure->spec.shows == CAMPAIGN_SPEEDUP)
        shown = baseline_value(campaign, figure, labels) / value;
    return isfinite(shown) ? shown : NAN;
}

void campaign_figure_title(const struct campaign *campaign, const struct campaign_figure *figure,
                           struct text *text)
{
    const struct campaign_figure_spec *spec = &figure->spec;
    if (*spec->title) {
        text_add(text, "%s", spec->title);
        if (spec->shows != CAMPAIGN_VALUE || figure->over != NO_NAME || spec->scale != 1)
            return;
    } else {
        text_add(text, spec->shows == CAMPAIGN_SPEEDUP ? "Speedup" : "%s", spec->metric);
        if (figure->over != NO_NAME)
            text_add(text, " / %s", spec->over);
        if (spec->scale != 1)
            text_add(text, " x %g", spec->scale);
        if (spec->shows != CAMPAIGN_VALUE)
            text_add(text, " over %s",
                     figure->baseline.count ? figure->spec.baseline : campaign->spec.baseline);
    }
    const char *unit = campaign_metric_unit(figure->metric);
    if (spec->shows == CAMPAIGN_VALUE && figure->over == NO_NAME && spec->scale == 1 && *unit)
        text_add(text, ", %s", unit);
}

enum campaign_plot campaign_figure_plot(const struct campaign *campaign, const struct campaign_figure *figure)
{
    if (figure->spec.plot != CAMPAIGN_AUTO)
        return (enum campaign_plot)figure->spec.plot;
    return campaign->axes[figure->columns].is_numeric ? CAMPAIGN_LINES : CAMPAIGN_BARS;
}
