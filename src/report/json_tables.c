/* What rows of tables name, as JSON. */
#include "report/json.h"
#include "base/config.h"
#include "base/stat.h"

void json_put_stats(struct json_writer *json, const struct stat_table *table, const void *state)
{
    for (size_t i = 0; i < table->count; i++)
        json_put_count(json, table->rows[i].name, stat_value(&table->rows[i], state));
}

static void put_parameter(struct json_writer *json, const struct param_row *row, const void *field)
{
    struct text value = {0};
    switch (row->type) {
    case PARAM_count:
        json_put_count(json, row->name, *(const uint64_t *)field);
        break;
    case PARAM_real:
        json_put_real(json, row->name, *(const double *)field);
        break;
    case PARAM_flag:
        json_put_bool(json, row->name, *(const bool *)field);
        break;
    default:
        param_print(row, field, &value);
        json_put_text(json, row->name, value.length ? value.at : "");
        text_fini(&value);
    }
}

static void put_section(const struct param_group *group, const char *path, const void *spec, void *user)
{
    struct json_writer *json = user;
    json_open_object(json, path);
    for (size_t i = 0; i < group->row_count; i++)
        put_parameter(json, &group->rows[i], (const char *)spec + group->rows[i].offset);
    json_close(json);
}

void json_put_config(struct json_writer *json, const struct config *config)
{
    config_each(config, put_section, json);
}
