/* What came of it, as JSON. A number that is not known is left out. */
#include "validate/validate.h"
#include "report/json.h"

#include <math.h>

static void real(struct json_writer *json, const char *name, double value)
{
    if (isfinite(value))
        json_put_real(json, name, value);
}

static void write_quantities(struct json_writer *json, const char *name, const double *values)
{
    json_open_object(json, name);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        real(json, quantity_rows[i].name, values[i]);
    json_close(json);
}

static void write_figures(struct json_writer *json, const struct point *point)
{
    json_open_object(json, "figures");
    for (size_t i = 0; i < point->figure_count; i++) {
        const struct figure *figure = &point->figures[i];
        json_open_object(json, figure->name);
        real(json, "measured", figure->measured);
        real(json, "model", figure->model);
        real(json, "error", figure_error(figure));
        json_close(json);
    }
    json_close(json);
}

static void write_point(struct json_writer *json, const struct point *point)
{
    double errors[QUANTITY_COUNT];
    for (int i = 0; i < QUANTITY_COUNT; i++)
        errors[i] = point_error(point, (enum quantity)i);
    json_open_object(json, NULL);
    json_put_text(json, "point", point->row->name);
    json_put_text(json, "workload", point->row->workload);
    json_put_text(json, "options", point->row->options);
    json_put_bool(json, "microbenchmark", point->micro);
    json_put_bool(json, "ran", point->ran);
    if (*point->wrong)
        json_put_text(json, "failure", point->wrong);
    json_put_count(json, "launches_measured", point->launches_measured);
    json_put_count(json, "launches", point->launches);
    write_quantities(json, "measured", point->measured);
    if (point->ran) {
        write_quantities(json, "model", point->model);
        write_quantities(json, "error", errors);
    }
    write_figures(json, point);
    json_close(json);
}

static void write_sums(struct json_writer *json, const char *name, const struct error_sum *sums,
                       size_t points)
{
    json_open_object(json, name);
    json_put_count(json, "points", points);
    real(json, "correlation", sums[QUANTITY_CYCLES].correlation);
    real(json, "correlation_of_logarithms", sums[QUANTITY_CYCLES].correlation_log);
    json_open_object(json, "mean_absolute_error");
    for (int i = 0; i < QUANTITY_COUNT; i++)
        real(json, quantity_rows[i].name, sums[i].mean);
    json_close(json);
    json_close(json);
}

static void write_curves(struct json_writer *json, const struct validation *validation)
{
    json_open_object(json, "curves");
    for (const struct curve_row *row = curve_rows; row->name; row++) {
        struct curve_sum sum = curve_sum(validation, row);
        if (!sum.count)
            continue;
        json_open_object(json, row->name);
        json_put_text(json, "title", row->title);
        json_put_text(json, "over", row->over);
        json_put_count(json, "points", sum.count);
        real(json, "mean_absolute_error", sum.mean);
        real(json, "slope_ns_measured", sum.slope_measured);
        real(json, "slope_ns_model", sum.slope_model);
        real(json, "slope_error", sum.slope_error);
        json_close(json);
    }
    json_close(json);
}

void validation_json(const struct validation *validation, const struct summary *summary, FILE *stream)
{
    struct json_writer json;
    json_begin(&json, stream);
    json_open_object(&json, NULL);
    json_put_text(&json, "heddle", HEDDLE_VERSION);
    json_put_text(&json, "command", validation->command.at);
    json_put_text(&json, "system", validation->system_name);
    json_open_object(&json, "config");
    json_put_config(&json, &validation->system.config);
    json_close(&json);
    json_put_text(&json, "measured_on", validation->machine.at ? validation->machine.at : "");
    json_open_object(&json, "summary");
    write_sums(&json, "workloads", summary->workloads, summary->points_workloads);
    write_sums(&json, "all", summary->all, summary->points_all);
    json_put_count(&json, "figures", summary->figures);
    json_put_count(&json, "figures_within_5_percent", summary->within_5);
    json_put_count(&json, "figures_within_10_percent", summary->within_10);
    if (!validation->profiled) {
        real(&json, "figures_mean_absolute_error", summary->figures_mean);
        real(&json, "slopes_mean_absolute_error", summary->slopes_mean);
    }
    json_put_count(&json, "left_out_long", validation->too_long);
    json_put_count(&json, "left_out_not_measured", validation->not_measured);
    json_put_count(&json, "failed", summary->failed);
    json_close(&json);
    if (!validation->profiled)
        write_curves(&json, validation);
    json_open_list(&json, "points");
    for (size_t i = 0; i < validation->count; i++)
        write_point(&json, &validation->points[i]);
    json_close(&json);
    json_close(&json);
}
