/* What came of it, as JSON. A number that is not known is left out. */
#include "cli/validate.h"
#include "base/json.h"

#include <math.h>

static void real(struct json *json, const char *name, double value)
{
    if (isfinite(value))
        json_real(json, name, value);
}

static void write_quantities(struct json *json, const char *name, const double *values)
{
    json_object(json, name);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        real(json, quantity_rows[i].name, values[i]);
    json_end(json);
}

static void write_figures(struct json *json, const struct point *point)
{
    json_object(json, "figures");
    for (size_t i = 0; i < point->figure_count; i++) {
        const struct figure *figure = &point->figures[i];
        json_object(json, figure->name);
        real(json, "measured", figure->measured);
        real(json, "model", figure->model);
        real(json, "error", figure_error(figure));
        json_end(json);
    }
    json_end(json);
}

static void write_point(struct json *json, const struct point *point)
{
    double errors[QUANTITY_COUNT];
    for (int i = 0; i < QUANTITY_COUNT; i++)
        errors[i] = point_error(point, (enum quantity)i);
    json_object(json, NULL);
    json_text(json, "point", point->row->name);
    json_text(json, "workload", point->row->workload);
    json_text(json, "options", point->row->options);
    json_bool(json, "microbenchmark", point->micro);
    json_bool(json, "ran", point->ran);
    if (*point->wrong)
        json_text(json, "failure", point->wrong);
    json_u64(json, "launches_measured", point->launches_measured);
    json_u64(json, "launches", point->launches);
    write_quantities(json, "measured", point->measured);
    if (point->ran) {
        write_quantities(json, "model", point->model);
        write_quantities(json, "error", errors);
    }
    write_figures(json, point);
    json_end(json);
}

static void write_sums(struct json *json, const char *name, const struct error_sum *sums, size_t points)
{
    json_object(json, name);
    json_u64(json, "points", points);
    real(json, "correlation", sums[QUANTITY_CYCLES].correlation);
    real(json, "correlation_of_logarithms", sums[QUANTITY_CYCLES].correlation_log);
    json_object(json, "mean_absolute_error");
    for (int i = 0; i < QUANTITY_COUNT; i++)
        real(json, quantity_rows[i].name, sums[i].mean);
    json_end(json);
    json_end(json);
}

void validation_json(const struct validation *validation, const struct summary *summary, FILE *stream)
{
    struct json json;
    json_init(&json, stream);
    json_object(&json, NULL);
    json_text(&json, "heddle", HEDDLE_VERSION);
    json_text(&json, "command", validation->command.at);
    json_text(&json, "system", validation->system_name);
    json_object(&json, "config");
    config_write_json(&validation->system.config, &json);
    json_end(&json);
    json_text(&json, "measured_on", validation->machine.at ? validation->machine.at : "");
    json_object(&json, "summary");
    write_sums(&json, "workloads", summary->workloads, summary->points_workloads);
    write_sums(&json, "all", summary->all, summary->points_all);
    json_u64(&json, "figures", summary->figures);
    json_u64(&json, "figures_within_5_percent", summary->within_5);
    json_u64(&json, "figures_within_10_percent", summary->within_10);
    json_u64(&json, "left_out_long", validation->too_long);
    json_u64(&json, "left_out_not_measured", validation->not_measured);
    json_u64(&json, "failed", summary->failed);
    json_end(&json);
    json_array(&json, "points");
    for (size_t i = 0; i < validation->count; i++)
        write_point(&json, &validation->points[i]);
    json_end(&json);
    json_end(&json);
}
