/* A scatter plot of cycles: measured across, the model's upwards, both logarithmic. */
#include "report/svg.h"
#include "validate/validate.h"

#include <math.h>

enum { WIDTH = 760, HEIGHT = 720 };
static const struct svg_field field = {.left = 100, .top = 50, .width = 600, .height = 600};

static struct svg_scale scale_of(const struct validation *validation)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        if (isnan(point_error(point, QUANTITY_CYCLES)))
            continue;
        double a = point->measured[QUANTITY_CYCLES], b = point->model[QUANTITY_CYCLES];
        least = fmin(least, fmin(a, b));
        most = fmax(most, fmax(a, b));
    }
    if (!(most >= 1))
        return (struct svg_scale){true, 1e3, 1e4};
    double from = pow(10, floor(log10(fmax(least, 1)))), to = pow(10, ceil(log10(most)));
    return (struct svg_scale){true, from, to > from ? to : 10 * from};
}

static struct svg_point place(const struct svg_scale *scale, double measured, double model)
{
    return (struct svg_point){svg_x(&field, svg_share(scale, measured)),
                              svg_y(&field, svg_share(scale, model))};
}

static void draw_axes(const struct svg_scale *scale, FILE *f)
{
    for (double value = scale->from; value <= scale->to * 1.001; value *= 10) {
        struct svg_point at = place(scale, value, value);
        char label[CELL];
        validate_cell_count(label, value);
        svg_grid_across(f, &field, at.y, label);
        svg_grid_upwards(f, &field, at.x, label);
    }
    svg_frame(f, &field);
    svg_name_across(f, &field, "cycles measured on the GPU");
    svg_name_upwards(f, &field, 14, "cycles in the model");
}

static const struct svg_pen same = {"#888", ""}, off = {"#888", "5 4"};
static const char workload_colour[] = "#1f6fb4", micro_colour[] = "#d4631a";

/* The model gives `factor` times what was measured. */
static void draw_line(const struct svg_scale *scale, double factor, struct svg_pen pen, FILE *f)
{
    double low = fmax(scale->from, scale->from / factor), high = fmin(scale->to, scale->to / factor);
    svg_line(f, pen, (struct svg_point[]){place(scale, low, low * factor), place(scale, high, high * factor)},
             2);
}

static void draw_points(const struct validation *validation, const struct svg_scale *scale, bool micro,
                        FILE *f)
{
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        double measured = point->measured[QUANTITY_CYCLES], model = point->model[QUANTITY_CYCLES];
        double error = point_error(point, QUANTITY_CYCLES);
        if (point->micro == micro && !isnan(error))
            (micro ? svg_cross : svg_dot)(
                f, place(scale, measured, model), micro ? micro_colour : workload_colour,
                "%s: %.0f measured, %.0f in the model (%+.1f%%)", point->row->name, measured, model, error);
    }
}

static void draw_key(const struct summary *summary, FILE *f)
{
    char mean[2][CELL], correlation[CELL];
    double x = field.left + 16, y = field.top + 24;
    svg_dot(f, (struct svg_point){x + 12, y}, workload_colour, "workloads");
    svg_label(f, x + 30, y + 4, SVG_START, "workloads: mean error %s, correlation %s",
              validate_cell_mean(mean[0], &summary->workloads[QUANTITY_CYCLES], false),
              validate_cell_correlation(correlation, summary->workloads[QUANTITY_CYCLES].correlation));
    svg_cross(f, (struct svg_point){x + 12, y + 20}, micro_colour, "microbenchmarks");
    svg_label(f, x + 30, y + 24, SVG_START, "microbenchmarks; all points: mean error %s",
              validate_cell_mean(mean[1], &summary->all[QUANTITY_CYCLES], false));
    svg_key(f, x, y + 40, same, "the same");
    svg_key(f, x, y + 60, off, "20% more, 20% less");
}

void validation_svg(const struct validation *validation, const struct summary *summary, FILE *f)
{
    if (!validation->profiled) {
        curves_svg(validation, f);
        return;
    }
    struct svg_scale scale = scale_of(validation);
    svg_begin(f, WIDTH, HEIGHT);
    svg_heading(f, svg_x(&field, 0.5), 28, SVG_MIDDLE, "Cycles of kernels: a real GPU and the model");
    draw_axes(&scale, f);
    draw_line(&scale, 1.2, off, f);
    draw_line(&scale, 0.8, off, f);
    draw_line(&scale, 1, same, f);
    draw_points(validation, &scale, true, f);
    draw_points(validation, &scale, false, f);
    draw_key(summary, f);
    svg_end(f);
}
