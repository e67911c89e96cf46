/* Sweeps and studies as the page wants them: values in the order of rows, which are named once. */
#include "base/bits.h"
#include "base/names.h"
#include "cache/coherent.h"
#include "gpu/metrics.h"
#include "report/page/page.h"

#include <string.h>

enum { MOST_POINTS = 4000, MOST_VALUES = 200000 };

static void put_row(struct json_writer *json, const char *name, const char *unit, const char *help)
{
    json_open_list(json, NULL);
    json_put_text(json, NULL, name);
    json_put_text(json, NULL, unit);
    json_put_text(json, NULL, help);
    json_close(json);
}

/* A number, or a text. */
static void put_plain(struct json_writer *json, const char *name, const struct json_value *value)
{
    double number;
    if (json_number(value, &number) || json_text(value))
        json_put_value(json, name, value);
    else
        json_put_null(json, name);
}

/* ---- sweeps ---- */

static const char *const counters[] = {
#define X(name, help) #name,
    COHERENT_COUNTERS(X)
#undef X
};
static const char *const levels[] = {"l1", "l2"};

static bool has_level(const struct json_value *sweep, size_t count, const char *level)
{
    bool has = false;
    for (size_t i = 0; i < count; i++)
        has |=
            json_has_members(json_member(json_member(experiment_configuration(sweep, i), "result"), level));
    return has;
}

/* [values of keys..., accesses, counters of the L1..., of the L2...]; null: it has none. */
static void write_configuration(const struct json_value *one, const struct html_key *keys, size_t level_count,
                                struct json_writer *json)
{
    json_open_list(json, NULL);
    for (const struct html_key *key = keys; key->name; key++)
        put_plain(json, NULL, json_at(json_member(one, "config"), key->path));
    put_plain(json, NULL, json_at(one, "result.accesses"));
    for (size_t level = 0; level < level_count; level++) {
        const struct json_value *counts = json_member(json_member(one, "result"), levels[level]);
        for (size_t i = 0; i < COUNT_OF(counters); i++)
            put_plain(json, NULL, json_member(counts, counters[i]));
    }
    json_close(json);
}

static void write_sweep(const struct experiment *sweep, const struct html_key *keys, struct json_writer *json)
{
    size_t count = experiment_configurations(sweep->json), shown = min_u64(count, MOST_POINTS);
    size_t level_count = has_level(sweep->json, shown, "l2") ? 2 : 1;
    json_open_object(json, NULL);
    json_put_text(json, "path", sweep->path);
    json_put_value(json, "heddle", json_member(sweep->json, "heddle"));
    json_put_value(json, "source", json_member(sweep->json, "source"));
    put_plain(json, "sweep", json_member(sweep->json, "sweep"));
    put_plain(json, "impossible", json_member(sweep->json, "left_out"));
    json_put_count(json, "not_shown", count - shown);
    json_open_list(json, "keys");
    for (const struct html_key *key = keys; key->name; key++)
        put_row(json, key->name, key->unit, key->help);
    json_close(json);
    json_put_count(json, "levels", level_count);
    json_open_list(json, "counters");
#define X(name, help) put_row(json, #name, "", help);
    COHERENT_COUNTERS(X)
#undef X
    json_close(json);
    json_open_list(json, "points");
    for (size_t i = 0; i < shown; i++)
        write_configuration(experiment_configuration(sweep->json, i), keys, level_count, json);
    json_close(json);
    json_close(json);
}

/* ---- studies ---- */

static void note_name(void *user, const char *name, const struct json_value *value)
{
    double number;
    if (json_number(value, &number))
        names_add(user, name);
}

static const struct metric_row *row_of(const char *name)
{
    const struct metric_row *row = metric_rows;
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    return row;
}

static void write_point(const struct json_value *point, const struct json_value *axes,
                        const struct names *metrics, struct json_writer *json)
{
    json_open_object(json, NULL);
    json_open_list(json, "labels");
    for (size_t i = 0; i < json_length(axes); i++)
        put_plain(json, NULL,
                  json_member(json_member(point, "labels"), json_text_at(json_element(axes, i), "name", "")));
    json_close(json);
    put_plain(json, "state", json_member(point, "state"));
    put_plain(json, "command", json_member(point, "command"));
    put_plain(json, "wrong", json_member(point, "wrong"));
    json_open_list(json, "values");
    for (size_t i = 0; i < metrics->count; i++)
        put_plain(json, NULL, json_member(json_member(point, "metrics"), metrics->at[i]));
    json_close(json);
    json_close(json);
}

static void write_study(const struct experiment *study, struct json_writer *json)
{
    const struct json_value *points = json_member(study->json, "points"),
                            *axes = json_member(study->json, "axes");
    struct names metrics = {0};
    for (size_t i = 0; i < json_length(points); i++)
        json_each_member(json_member(json_element(points, i), "metrics"), note_name, &metrics);
    size_t count = json_length(points);
    size_t shown = min_u64(min_u64(count, MOST_POINTS), MOST_VALUES / (metrics.count + 1));
    json_open_object(json, NULL);
    json_put_text(json, "path", study->path);
    for (size_t i = 0; i < 6; i++) {
        static const char *const as_they_are[] = {"heddle", "study", "title", "quick", "baseline", "figures"};
        json_put_value(json, as_they_are[i], json_member(study->json, as_they_are[i]));
    }
    json_put_value(json, "axes", axes);
    json_put_count(json, "not_shown", count - shown);
    json_open_list(json, "metrics");
    for (size_t i = 0; i < metrics.count; i++) {
        const struct metric_row *row = row_of(metrics.at[i]);
        put_row(json, metrics.at[i], row->name ? row->unit : "", row->name ? row->help : "");
    }
    json_close(json);
    json_open_list(json, "points");
    for (size_t i = 0; i < shown; i++)
        write_point(json_element(points, i), axes, &metrics, json);
    json_close(json);
    json_close(json);
    names_fini(&metrics);
}

void html_experiments_write(const struct html_request *request, struct json_writer *json)
{
    json_open_list(json, "sweeps");
    for (size_t i = 0; i < request->experiment_count; i++)
        if (request->experiments[i].kind == EXPERIMENT_SWEEP)
            write_sweep(&request->experiments[i], request->sweep_keys, json);
    json_close(json);
    json_open_list(json, "studies");
    for (size_t i = 0; i < request->experiment_count; i++)
        if (request->experiments[i].kind == EXPERIMENT_STUDY)
            write_study(&request->experiments[i], json);
    json_close(json);
}
