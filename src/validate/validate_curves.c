/* Curves: microbenchmarks over one of their options. A point of a curve is a point like others, whose row is
 * made from the curve's. */
#include "validate/validate.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

const struct curve_row curve_rows[] = {
#define CURVE(name, title, across, workload, options, over) {#name, title, across, #workload, options, #over},
#include "bench/curves_gcn3.def"
#undef CURVE
    {0},
};

/* All curves are of the time of a launch. */
static const char figure_name[] = "microseconds";

struct made_row {
    struct point_row row;
    char name[64], options[128];
};

static const struct point_row *make_row(struct validation *validation, const struct curve_row *curve,
                                        uint64_t at)
{
    struct made_row *made = mem_alloc(1, sizeof *made);
    mem_grow(validation->made, validation->made_count, validation->made_capacity);
    validation->made[validation->made_count++] = made;
    snprintf(made->name, sizeof made->name, "%s_%llu", curve->name, (unsigned long long)at);
    snprintf(made->options, sizeof made->options, "%s %s=%llu", curve->options, curve->over,
             (unsigned long long)at);
    made->row = (struct point_row){made->name, curve->workload, made->options};
    return &made->row;
}

void curve_rows_free(struct validation *validation)
{
    for (size_t i = 0; i < validation->made_count; i++)
        mem_free(validation->made[i]);
    mem_free(validation->made);
}

static const struct curve_row *find_curve(const char *name)
{
    for (const struct curve_row *row = curve_rows; row->name; row++) {
        if (!strcmp(row->name, name))
            return row;
    }
    return NULL;
}

bool curve_add(struct validation *validation, const char *name, uint64_t at, double measured)
{
    const struct curve_row *curve = find_curve(name);
    if (!curve)
        return false;
    const struct point_row *row = make_row(validation, curve, at);
    if (!validation_wants(validation, row->name))
        return true;
    struct point *point = validation_add(validation, row);
    point->curve = curve;
    point->at = (double)at;
    point->figures[point->figure_count++] = (struct figure){.measured = measured, .model = NAN};
    snprintf(point->figures[0].name, sizeof point->figures[0].name, "%s", figure_name);
    return true;
}

/* ---- lines through them ---- */

struct line_fit {
    double n, x, y, xx, xy;
};

static void line_add(struct line_fit *fit, double x, double y)
{
    fit->n++;
    fit->x += x;
    fit->y += y;
    fit->xx += x * x;
    fit->xy += x * y;
}

static double line_slope(const struct line_fit *fit)
{
    double spread = fit->n * fit->xx - fit->x * fit->x;
    return spread > 0 ? (fit->n * fit->xy - fit->x * fit->y) / spread : NAN;
}

struct curve_sum curve_sum(const struct validation *validation, const struct curve_row *row)
{
    enum { NS_PER_US = 1000 };
    struct curve_sum sum = {0};
    struct line_fit measured = {0}, model = {0};
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        const struct figure *figure = &point->figures[0];
        if (point->curve != row || !point->ran)
            continue;
        sum.count++;
        sum.mean += fabs(figure_error(figure));
        line_add(&measured, point->at, figure->measured);
        line_add(&model, point->at, figure->model);
    }
    sum.mean /= (double)sum.count; /* NAN if there are none */
    sum.slope_measured = NS_PER_US * line_slope(&measured);
    sum.slope_model = NS_PER_US * line_slope(&model);
    sum.slope_error = 100 * (sum.slope_model / sum.slope_measured - 1);
    return sum;
}
