/* Samples over time, as many as a chart can show: of more, means of several that follow each other. */
#include "base/bits.h"
#include "report/page/page.h"

enum { MOST_SAMPLES = 1500 };

static double number_of(const struct json_value *list, size_t i)
{
    double number = 0;
    json_number(json_element(list, i), &number);
    return number;
}

static void write_means(const struct json_value *list, size_t group, struct json_writer *json)
{
    json_open_list(json, NULL);
    for (size_t i = 0; i < json_length(list); i += group) {
        double sum = 0;
        size_t count = min_u64(group, json_length(list) - i);
        for (size_t k = 0; k < count; k++)
            sum += number_of(list, i + k);
        json_put_real(json, NULL, sum / (double)count);
    }
    json_close(json);
}

static void write_times(const struct json_value *list, size_t group, struct json_writer *json)
{
    json_open_list(json, "time_ps");
    for (size_t i = 0; i < json_length(list); i += group)
        json_put_real(json, NULL, number_of(list, min_u64(i + group, json_length(list)) - 1));
    json_close(json);
}

void html_series_write(const struct json_value *series, struct json_writer *json)
{
    const struct json_value *gpus = json_member(series, "gpus");
    if (!json_has_members(series))
        return;
    json_open_object(json, "series");
    json_put_value(json, "cycles", json_member(series, "cycles"));
    json_put_value(json, "rows", json_member(series, "rows"));
    json_open_list(json, "gpus");
    for (size_t i = 0; i < json_length(gpus); i++) {
        const struct json_value *gpu = json_element(gpus, i), *times = json_member(gpu, "time_ps"),
                                *values = json_member(gpu, "values");
        size_t group = json_length(times) / MOST_SAMPLES + 1;
        json_open_object(json, NULL);
        json_put_value(json, "gpu", json_member(gpu, "gpu"));
        json_put_count(json, "samples_of_point", group);
        write_times(times, group, json);
        json_open_list(json, "values");
        for (size_t row = 0; row < json_length(values); row++)
            write_means(json_element(values, row), group, json);
        json_close(json);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}
