/* Which points there are, and which of them are run. */
#include "validate/validate.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct quantity_row quantity_rows[] = {
#define Q(id, name, title, in_points, least, aim) {name, title, in_points, least, aim},
    QUANTITIES(Q)
#undef Q
};

static const struct point_row point_rows[] = {
#define POINT(name, workload, options) {#name, #workload, options},
#include "bench/points.def"
#include "bench/points_gcn3.def"
#undef POINT
};

double point_error(const struct point *point, enum quantity quantity)
{
    const struct quantity_row *row = &quantity_rows[quantity];
    double measured = point->measured[quantity], model = point->model[quantity];
    if (!point->ran || !(measured >= row->least) || isnan(model))
        return NAN;
    return row->in_points ? model - measured : 100 * (model / measured - 1);
}

double figure_error(const struct figure *figure)
{
    return figure->measured > 0 ? 100 * (figure->model / figure->measured - 1) : NAN;
}

struct point *validation_add(struct validation *validation, const struct point_row *row)
{
    mem_grow(validation->points, validation->count, validation->capacity);
    struct point *point = &validation->points[validation->count++];
    *point = (struct point){.row = row};
    point->micro = strncmp(row->workload, "micro_", 6) == 0;
    for (int i = 0; i < QUANTITY_COUNT; i++)
        point->measured[i] = point->model[i] = NAN;
    return point;
}

bool validation_wants(const struct validation *validation, const char *name)
{
    return regexec(&validation->only, name, 0, NULL, 0) == 0;
}

static bool has_code(const struct validation *validation, const struct point_row *row)
{
    size_t bytes;
    const struct workload *workload = workload_find(row->workload);
    return workload && workload_code(workload, validation->system.gpu.target, &bytes);
}

bool validation_select(struct validation *validation, const char *regex, struct err *err)
{
    enum { ROWS = sizeof point_rows / sizeof *point_rows };
    int wrong = regcomp(&validation->only, regex ? regex : "", REG_EXTENDED | REG_NOSUB);
    if (wrong) {
        char text[200];
        regerror(wrong, &validation->only, text, sizeof text);
        return err_set(err, "--only: '%.120s' is no regular expression: %s", regex, text);
    }
    validation->has_only = true;
    for (size_t i = 0; i < ROWS; i++) {
        if (validation_wants(validation, point_rows[i].name) && has_code(validation, &point_rows[i]))
            validation_add(validation, &point_rows[i]);
    }
    return true;
}

void validation_fini(struct validation *validation)
{
    mem_free(validation->points);
    curve_rows_free(validation);
    if (validation->has_only)
        regfree(&validation->only);
    text_fini(&validation->machine);
    text_fini(&validation->command);
    system_fini(&validation->system);
}

const struct workload *point_options(const struct point_row *row, uint64_t values[WORKLOAD_OPTIONS_MOST])
{
    const struct workload *workload = workload_find(row->workload);
    REQUIRE(workload);
    workload_options_of(workload, row->options, values);
    return workload;
}

void validation_limit(struct validation *validation, uint64_t most)
{
    size_t kept = 0;
    for (size_t i = 0; i < validation->count; i++) {
        struct point *point = &validation->points[i];
        bool model_alone = !validation->profiled && point->micro;
        if (isnan(point->measured[QUANTITY_CYCLES]) && !point->figure_count && !model_alone)
            validation->not_measured++;
        else if (most && point->measured[QUANTITY_INSTRUCTIONS] > (double)most)
            validation->too_long++;
        else
            validation->points[kept++] = *point;
    }
    validation->count = kept;
}
