/* Samples over time, as many as a chart can show: of more, means of several that follow each other. Links and
 * pages, of which a run may have many: the ones that did most. */
#include "base/bits.h"
#include "base/mem.h"
#include "report/page/page.h"

#include <stdlib.h>

enum { MOST_SAMPLES = 1500, MOST_PARTS = 64 };

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

/* ---- parts: samples only where they did something ---- */

struct part {
    const struct json_value *json;
    double did; /* the sum of its first two rows */
    size_t number;
};

static int by_did(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->did != b->did)
        return a->did < b->did ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

static int by_number(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

static size_t group_at(const struct json_value *samples, size_t i, size_t group)
{
    double number = number_of(samples, i);
    return number >= 0 && number < 1e15 ? (size_t)number / group : 0;
}

/* As precise as a drawing: the file is smaller. */
static double rounded(double value)
{
    enum { DIGITS = 5 };
    char text[32];
    snprintf(text, sizeof text, "%.*g", DIGITS, value);
    return strtod(text, NULL);
}

/* Sums of the samples in a group, or where it is (values: NULL). The last group may have fewer samples. */
static void write_groups(const struct json_value *samples, const struct json_value *values, size_t group,
                         size_t all, struct json_writer *json)
{
    for (size_t i = 0, next; i < json_length(samples); i = next) {
        size_t at = group_at(samples, i, group);
        double sum = 0;
        for (next = i; next < json_length(samples) && (next == i || group_at(samples, next, group) == at);
             next++)
            sum += values ? number_of(values, next) : 0;
        size_t count = at * group < all ? min_u64(group, all - at * group) : 1;
        if (values)
            json_put_real(json, NULL, rounded(sum / (double)count));
        else
            json_put_count(json, NULL, at);
    }
}

static void write_part(const struct json_value *part, size_t group, size_t all, struct json_writer *json)
{
    const struct json_value *samples = json_member(part, "samples"), *values = json_member(part, "values");
    json_open_object(json, NULL);
    json_put_value(json, "name", json_member(part, "name"));
    json_open_list(json, "samples");
    write_groups(samples, NULL, group, all, json);
    json_close(json);
    json_open_list(json, "values");
    for (size_t row = 0; row < json_length(values); row++) {
        json_open_list(json, NULL);
        write_groups(samples, json_element(values, row), group, all, json);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static double sum_of(const struct json_value *list)
{
    double sum = 0;
    for (size_t i = 0; i < json_length(list); i++)
        sum += number_of(list, i);
    return sum;
}

static void write_parts(const struct json_value *series, const char *name, struct json_writer *json)
{
    const struct json_value *of = json_member(series, name), *list = json_member(of, "list");
    const struct json_value *times = json_member(json_element(json_member(series, "gpus"), 0), "time_ps");
    size_t count = json_length(list), all = json_length(times), group = all / MOST_SAMPLES + 1;
    if (!count || !all)
        return;
    struct part *parts = mem_alloc(count, sizeof *parts);
    for (size_t i = 0; i < count; i++) {
        const struct json_value *values = json_member(json_element(list, i), "values");
        parts[i] = (struct part){.json = json_element(list, i), .number = i};
        parts[i].did = sum_of(json_element(values, 0)) + sum_of(json_element(values, 1));
    }
    size_t shown = min_u64(count, MOST_PARTS);
    qsort(parts, count, sizeof *parts, by_did);
    qsort(parts, shown, sizeof *parts, by_number);
    json_open_object(json, name);
    json_put_value(json, "rows", json_member(of, "rows"));
    json_put_count(json, "left_out", count - shown);
    json_open_list(json, "list");
    for (size_t i = 0; i < shown; i++)
        write_part(parts[i].json, group, all, json);
    json_close(json);
    json_close(json);
    mem_free(parts);
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
    write_parts(series, "links", json);
    write_parts(series, "pages", json);
    json_close(json);
}
