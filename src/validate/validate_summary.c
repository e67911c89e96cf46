/* Means and correlations over all points. */
#include "validate/validate.h"

#include <math.h>

struct pairs { /* for Pearson's correlation */
    size_t count;
    double x, y, xx, yy, xy;
};

static void pairs_add(struct pairs *pairs, double x, double y)
{
    pairs->count++;
    pairs->x += x;
    pairs->y += y;
    pairs->xx += x * x;
    pairs->yy += y * y;
    pairs->xy += x * y;
}

static double pairs_correlation(const struct pairs *pairs)
{
    double n = (double)pairs->count;
    double x = n * pairs->xx - pairs->x * pairs->x, y = n * pairs->yy - pairs->y * pairs->y;
    return pairs->count > 1 && x > 0 && y > 0 ? (n * pairs->xy - pairs->x * pairs->y) / sqrt(x * y) : NAN;
}

static void sum_errors(struct error_sum *sum, const struct validation *validation, enum quantity quantity,
                       bool workloads_only)
{
    struct pairs plain = {0}, logs = {0};
    double total = 0;
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        double error = point_error(point, quantity);
        double measured = point->measured[quantity], model = point->model[quantity];
        if (isnan(error) || (workloads_only && point->micro))
            continue;
        sum->count++;
        total += fabs(error);
        pairs_add(&plain, measured, model);
        pairs_add(&logs, log(measured), log(model));
    }
    sum->mean = sum->count ? total / (double)sum->count : NAN;
    sum->correlation = pairs_correlation(&plain);
    sum->correlation_log = pairs_correlation(&logs);
}

/* Keeps the worst in order. */
static void try_worst(struct summary *summary, const struct point *point, const struct figure *figure)
{
    size_t at = summary->worst_count;
    double error = fabs(figure_error(figure));
    while (at && fabs(figure_error(summary->worst[at - 1].figure)) < error) {
        if (at < WORST_MOST)
            summary->worst[at] = summary->worst[at - 1];
        at--;
    }
    if (at == WORST_MOST)
        return;
    summary->worst[at].point = point;
    summary->worst[at].figure = figure;
    if (summary->worst_count < WORST_MOST)
        summary->worst_count++;
}

static void add_figures(struct summary *summary, const struct point *point)
{
    for (size_t i = 0; i < point->figure_count; i++) {
        double error = fabs(figure_error(&point->figures[i]));
        if (isnan(error))
            continue;
        summary->figures++;
        summary->figures_mean += error;
        summary->within_5 += error <= 5;
        summary->within_10 += error <= 10;
        if (error > 5)
            try_worst(summary, point, &point->figures[i]);
    }
}

static void add_slopes(struct summary *summary, const struct validation *validation)
{
    for (const struct curve_row *row = curve_rows; row->name; row++) {
        double error = fabs(curve_sum(validation, row).slope_error);
        if (isnan(error))
            continue;
        summary->slopes++;
        summary->slopes_mean += error;
    }
}

void summary_make(struct summary *summary, const struct validation *validation)
{
    *summary = (struct summary){0};
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        sum_errors(&summary->workloads[i], validation, (enum quantity)i, true);
        sum_errors(&summary->all[i], validation, (enum quantity)i, false);
    }
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        summary->failed += *point->wrong != 0;
        summary->points_all += point->ran;
        summary->points_workloads += point->ran && !point->micro;
        if (point->ran)
            add_figures(summary, point);
    }
    add_slopes(summary, validation);
    summary->figures_mean /= (double)summary->figures; /* NAN if there are none */
    summary->slopes_mean /= (double)summary->slopes;
}
