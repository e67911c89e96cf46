#include "report/experiment.h"

enum { STUDY_LAYOUT = 1 };

enum experiment_kind experiment_kind(const struct json_value *json)
{
    bool is_one = json_member(json, "config") && json_member(json, "result") && json_member(json, "source");
    if (is_one || (json_member(json, "configurations") && json_member(json, "source")))
        return EXPERIMENT_SWEEP;
    if (json_member(json, "figures") && json_member(json, "points") && json_member(json, "axes"))
        return EXPERIMENT_STUDY;
    return EXPERIMENT_NONE;
}

size_t experiment_configurations(const struct json_value *sweep)
{
    const struct json_value *list = json_member(sweep, "configurations");
    return list ? json_length(list) : 1;
}

const struct json_value *experiment_configuration(const struct json_value *sweep, size_t number)
{
    const struct json_value *list = json_member(sweep, "configurations");
    return list ? json_element(list, number) : sweep;
}

static bool check_sweep(const struct json_value *json)
{
    bool good = experiment_configurations(json) > 0;
    for (size_t i = 0; good && i < experiment_configurations(json); i++) {
        const struct json_value *one = experiment_configuration(json, i);
        double accesses;
        good = json_has_members(json_member(one, "config")) && json_has_members(json_at(one, "result.l1")) &&
               json_number(json_at(one, "result.accesses"), &accesses);
    }
    return good;
}

static bool are_texts(const struct json_value *list)
{
    bool good = json_has_elements(list);
    for (size_t i = 0; good && i < json_length(list); i++)
        good = json_text(json_element(list, i));
    return good;
}

static bool check_figure(const struct json_value *figure)
{
    const struct json_value *rows = json_member(figure, "rows"), *columns = json_member(figure, "columns");
    bool good = json_text(json_member(figure, "title")) && are_texts(columns) && json_has_elements(rows);
    for (size_t i = 0; good && i < json_length(rows); i++) {
        const struct json_value *row = json_element(rows, i);
        good = json_text(json_member(row, "name")) &&
               json_length(json_member(row, "cells")) == json_length(columns);
    }
    return good;
}

static bool check_study(const struct json_value *json)
{
    const struct json_value *axes = json_member(json, "axes"), *figures = json_member(json, "figures"),
                            *points = json_member(json, "points");
    bool good = json_text(json_member(json, "title")) && json_has_elements(axes) &&
                json_has_elements(figures) && json_has_elements(points);
    for (size_t i = 0; good && i < json_length(axes); i++)
        good = json_text(json_member(json_element(axes, i), "name")) &&
               are_texts(json_member(json_element(axes, i), "labels"));
    for (size_t i = 0; good && i < json_length(figures); i++)
        good = check_figure(json_element(figures, i));
    for (size_t i = 0; good && i < json_length(points); i++)
        good = json_has_members(json_member(json_element(points, i), "labels")) &&
               json_text(json_member(json_element(points, i), "state"));
    return good;
}

bool experiment_check(const struct experiment *experiment, struct err *err)
{
    const struct json_value *json = experiment->json;
    if (experiment->kind == EXPERIMENT_SWEEP)
        return check_sweep(json) ||
               err_set(err, "%.300s: this sweep is damaged: expected configurations with their results",
                       experiment->path);
    double layout = json_number_at(json, "layout", 0);
    if (layout != STUDY_LAYOUT)
        return err_set(err, "%.300s: its layout is %.20g, and this Heddle reads studies of layout %d",
                       experiment->path, layout, STUDY_LAYOUT);
    return check_study(json) ||
           err_set(err, "%.300s: this study is damaged: expected a title, axes, figures and points",
                   experiment->path);
}
