/* All that is known of a study: its axes, its figures, and of each point every metric. */
#include "study/campaign/campaign.h"
#include "report/json.h"

#include <math.h>

static void put_axes(const struct campaign *campaign, struct json_writer *json)
{
    json_open_list(json, "axes");
    for (size_t i = 0; i < campaign->axis_count; i++) {
        const struct campaign_axis *axis = &campaign->axes[i];
        json_open_object(json, NULL);
        json_put_text(json, "name", axis->name);
        json_put_text(json, "title", axis->title);
        json_open_list(json, "labels");
        for (size_t k = 0; k < axis->count; k++) {
            if (!axis->variants[k].is_out)
                json_put_text(json, NULL, axis->variants[k].label);
        }
        json_close(json);
        json_close(json);
    }
    json_close(json);
}

static void put_row(const struct campaign_table *table, const struct campaign_row *row,
                    struct json_writer *json)
{
    json_open_object(json, NULL);
    json_put_text(json, "name", row->name);
    json_put_bool(json, "is_mean", row->is_mean);
    json_open_list(json, "cells");
    for (size_t k = 0; k < table->column_count; k++)
        json_put_real(json, NULL, row->cells[k]);
    json_close(json);
    json_close(json);
}

static void put_figure(const struct campaign *campaign, const struct campaign_figure *figure,
                       struct json_writer *json)
{
    struct campaign_table table;
    struct text title = {0};
    campaign_table_init(&table, campaign, figure);
    campaign_figure_title(campaign, figure, &title);
    json_open_object(json, NULL);
    json_put_text(json, "name", figure->name);
    json_put_text(json, "title", title.at);
    json_put_text(json, "axis", table.across->name);
    json_open_list(json, "columns");
    for (size_t k = 0; k < table.column_count; k++)
        json_put_text(json, NULL, campaign_column(&table, k));
    json_close(json);
    json_open_list(json, "rows");
    for (size_t i = 0; i < table.row_count; i++)
        put_row(&table, &table.rows[i], json);
    json_close(json);
    json_close(json);
    text_fini(&title);
    campaign_table_fini(&table);
}

static void put_point(const struct campaign *campaign, const struct campaign_point *point,
                      struct json_writer *json)
{
    static const char *const states[] = {"waits", "done", "failed"};
    struct text command = {0};
    text_add(&command, "heddle ");
    campaign_print_words(&point->words, &command);
    json_open_object(json, NULL);
    json_open_object(json, "labels");
    for (size_t i = 0; i < campaign->axis_count; i++)
        json_put_text(json, campaign->axes[i].name, campaign->axes[i].variants[point->labels[i]].label);
    json_close(json);
    json_put_text(json, "command", command.at);
    json_put_text(json, "state", states[point->state]);
    if (point->wrong)
        json_put_text(json, "wrong", point->wrong);
    json_open_object(json, "metrics");
    for (size_t i = 0; point->values && i < campaign_metric_count(); i++) {
        if (!isnan(point->values[i]))
            json_put_real(json, campaign_metric_name(i), point->values[i]);
    }
    json_close(json);
    json_close(json);
    text_fini(&command);
}

void campaign_json(const struct campaign *campaign, FILE *stream)
{
    enum { LAYOUT = 1 };
    struct json_writer json;
    json_begin(&json, stream);
    json_open_object(&json, NULL);
    json_put_count(&json, "layout", LAYOUT);
    json_put_text(&json, "heddle", HEDDLE_VERSION);
    json_put_text(&json, "study", campaign->path);
    json_put_text(&json, "title", campaign->spec.title);
    json_put_bool(&json, "quick", campaign->is_quick);
    json_put_text(&json, "baseline", campaign->spec.baseline);
    put_axes(campaign, &json);
    json_open_list(&json, "figures");
    for (size_t i = 0; i < campaign->figure_count; i++)
        put_figure(campaign, &campaign->figures[i], &json);
    json_close(&json);
    json_open_list(&json, "points");
    for (size_t i = 0; i < campaign->point_count; i++)
        put_point(campaign, &campaign->points[i], &json);
    json_close(&json);
    json_close(&json);
}
