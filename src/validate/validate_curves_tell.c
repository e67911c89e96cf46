/* What came of a GPU that no profiler measured: curves, figures of microbenchmarks, and the model's figures
 * that nothing is known of. On the terminal and as a page. */
#include "validate/validate.h"

#include <math.h>

/* Calls `each` for the figures of points that ran and are of no curve: those that were measured, or the
 * others. */
typedef void tell_figure(const struct point *point, const struct figure *figure, FILE *f);

static size_t tell_figures(const struct validation *validation, bool measured, tell_figure *each, FILE *f)
{
    size_t count = 0;
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        for (size_t k = 0; point->ran && !point->curve && k < point->figure_count; k++) {
            if (isnan(point->figures[k].measured) == measured)
                continue;
            count++;
            if (each)
                each(point, &point->figures[k], f);
        }
    }
    return count;
}

static size_t curve_count(const struct validation *validation)
{
    size_t count = 0;
    for (const struct curve_row *row = curve_rows; row->name; row++)
        count += curve_sum(validation, row).count > 0;
    return count;
}

/* ---- on the terminal ---- */

static void print_curve(const struct curve_row *row, const struct curve_sum *sum, FILE *f)
{
    char mean[CELL], measured[CELL], model[CELL], error[CELL];
    struct error_sum errors = {.count = sum->count, .mean = sum->mean};
    fprintf(f, "%-26s %-12s %6zu %10s %10s %10s %8s\n", row->name, row->across, sum->count,
            validate_cell_mean(mean, &errors, false), validate_cell_figure(measured, sum->slope_measured),
            validate_cell_figure(model, sum->slope_model),
            validate_cell_error(error, sum->slope_error, false));
}

static void print_curves(const struct validation *validation, FILE *f)
{
    if (!curve_count(validation))
        return;
    fprintf(f, "%-26s %-12s %6s %10s %10s %10s %8s\n", "curve, of microseconds", "over", "points",
            "mean error", "slope, ns", "model", "error");
    for (const struct curve_row *row = curve_rows; row->name; row++) {
        struct curve_sum sum = curve_sum(validation, row);
        if (sum.count)
            print_curve(row, &sum, f);
    }
}

static void print_figures(const struct validation *validation, bool measured, FILE *f)
{
    if (!tell_figures(validation, measured, NULL, f))
        return;
    fprintf(f, "\n%-30s %-32s %10s %10s %8s\n", measured ? "microbenchmark" : "not measured",
            "its own figure", "measured", "model", "error");
    tell_figures(validation, measured, validate_print_figure, f);
}

static void print_failures(const struct validation *validation, FILE *f)
{
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        if (!point->ran)
            fprintf(f, "%-30s %s\n", point->row->name,
                    *point->wrong ? point->wrong : "(not run: interrupted)");
    }
}

void curves_print(const struct validation *validation, const struct summary *summary, FILE *f)
{
    print_curves(validation, f);
    print_figures(validation, true, f);
    print_figures(validation, false, f);
    print_failures(validation, f);
    fprintf(f, "\n%s, beside the model %s:\n", validation->machine.at, validation->system_name);
    if (summary->figures)
        fprintf(f, "  measured values: %zu, mean error %.1f%%; %zu within 5%%, %zu within 10%%\n",
                summary->figures, summary->figures_mean, summary->within_5, summary->within_10);
    if (summary->slopes)
        fprintf(f, "  slopes of curves: %zu, mean error %.1f%%\n", summary->slopes, summary->slopes_mean);
    validate_print_left_out(validation, summary, f);
}

/* ---- as a page ---- */

static void write_curves(const struct validation *validation, FILE *f)
{
    char mean[CELL], measured[CELL], model[CELL], error[CELL];
    fprintf(f, "\n## Curves\n\nA curve is the time of a launch over a count; its slope, by least squares, is "
               "what one "
               "more costs.\n\n"
               "| curve | over | points | mean error | slope, ns | model | error |\n"
               "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (const struct curve_row *row = curve_rows; row->name; row++) {
        struct curve_sum sum = curve_sum(validation, row);
        struct error_sum errors = {.count = sum.count, .mean = sum.mean};
        if (sum.count)
            fprintf(f, "| %s (`%s`) | %s | %zu | %s | %s | %s | %s |\n", row->title, row->name, row->across,
                    sum.count, validate_cell_mean(mean, &errors, false),
                    validate_cell_figure(measured, sum.slope_measured),
                    validate_cell_figure(model, sum.slope_model),
                    validate_cell_error(error, sum.slope_error, false));
    }
}

static void write_figure(const struct point *point, const struct figure *figure, FILE *f)
{
    char measured[CELL], model[CELL], error[CELL];
    fprintf(f, "| %s | %s | %s | %s | %s |\n", point->row->name, figure->name,
            validate_cell_figure(measured, figure->measured), validate_cell_figure(model, figure->model),
            validate_cell_error(error, figure_error(figure), false));
}

static void write_model(const struct point *point, const struct figure *figure, FILE *f)
{
    char model[CELL];
    fprintf(f, "| %s | %s | %s |\n", point->row->name, figure->name,
            validate_cell_figure(model, figure->model));
}

void curves_markdown(const struct validation *validation, const struct summary *summary, FILE *f)
{
    fprintf(
        f,
        "# How near the model comes to a real GPU: %s\n\n<!-- made by `heddle validate --markdown`; do not "
        "edit -->\n\n    %s\n\nMeasured: %s.\n\n",
        validation->system_name, validation->command.at, validation->machine.at);
    fprintf(f,
            "| | count | mean absolute error |\n| --- | ---: | ---: |\n| measured values | %zu | %.1f%% |\n"
            "| slopes of curves | %zu | %.1f%% |\n",
            summary->figures, summary->figures_mean, summary->slopes, summary->slopes_mean);
    fprintf(f, "\nOf the values, %zu are within 5%%, %zu within 10%%.\n", summary->within_5,
            summary->within_10);
    if (validation->picture)
        fprintf(f, "\n![curves, measured and in the model](%s)\n", validation->picture);
    if (curve_count(validation))
        write_curves(validation, f);
    fprintf(f, "\n## Other figures\n\n| point | figure | measured | model | error |\n"
               "| --- | --- | ---: | ---: | ---: |\n");
    tell_figures(validation, true, write_figure, f);
    fprintf(f, "\n## The model alone\n\nNothing is known of these on the hardware; they are in no mean.\n\n"
               "| point | figure | model |\n| --- | --- | ---: |\n");
    tell_figures(validation, false, write_model, f);
}
