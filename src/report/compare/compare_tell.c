/* Comparisons as text for a terminal, and as JSON for a report. */
#include "report/compare/compare.h"
#include "base/bits.h"
#include "base/demangle.h"

#include <math.h>
#include <string.h>

enum {
    NAME_WIDTH = 34,
    MOST_KERNELS = 30,
    MOST_SETTINGS = 12,
    MOST_METRICS_TOLD = 20,
    MOST_ONLY = 10,
};

/* ---- cells ---- */

void comparison_change_tell(double change, struct text *text)
{
    if (isinf(change))
        text_add(text, "new");
    else if (fabs(change) >= 1000)
        text_add(text, "times %.3g", 1 + change / 100);
    else
        text_add(text, "%+.1f%%", change);
}

static void tell_scaled(double value, const char *const units[], int count, struct text *text)
{
    int unit = 0;
    for (; fabs(value) >= 999.5 && unit + 1 < count; unit++)
        value /= 1000;
    text_add(text, "%.3g%s", value, units[unit]);
}

void comparison_value_tell(double value, const char *unit, struct text *text)
{
    static const char *const times[] = {" ns", " us", " ms", " s"},
                             *const bytes[] = {" B", " kB", " MB", " GB", " TB"},
                             *const counts[] = {"", " k", " M", " G", " T"};
    if (!strcmp(unit, "ns"))
        tell_scaled(value, times, COUNT_OF(times), text);
    else if (!strncmp(unit, "byte", 4))
        tell_scaled(value, bytes, COUNT_OF(bytes), text);
    else if (!strcmp(unit, "%"))
        text_add(text, "%.1f%%", value);
    else
        tell_scaled(value, counts, COUNT_OF(counts), text);
}

static void add_value(double value, const char *unit, int width, struct text *text)
{
    struct text cell = {0};
    comparison_value_tell(value, unit, &cell);
    text_add(text, " %*s", width, cell.at);
    text_fini(&cell);
}

static void add_change(double change, int width, struct text *text)
{
    struct text cell = {0};
    comparison_change_tell(change, &cell);
    text_add(text, " %*s", width, cell.at);
    text_fini(&cell);
}

static void add_name(const char *name, struct text *text)
{
    struct text cell = {0};
    name_shorten(name, NAME_WIDTH, &cell);
    text_add(text, "%-*s", NAME_WIDTH, cell.at);
    text_fini(&cell);
}

static void add_lines(const struct text *lines, size_t count, size_t most, const char *what,
                      struct text *text)
{
    for (size_t i = 0; i < count && i < most; i++)
        text_add(text, "  %s\n", lines[i].at);
    if (count > most)
        text_add(text, "  and %zu more %s\n", count - most, what);
}

/* Lines of 100 columns, all of them indented. */
static void add_wrapped(const char *words, struct text *text)
{
    enum { WIDTH = 96 };
    while (*words) {
        size_t length = strlen(words), part = length;
        if (length > WIDTH)
            for (part = WIDTH; part && words[part] != ' ';)
                part--;
        part = part ? part : length;
        text_add(text, "    %.*s\n", (int)part, words);
        words += part + (words[part] == ' ');
    }
}

/* ---- two runs ---- */

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void comparison_tell(const struct comparison *c, struct text *text)
{
    const char *unit = c->timed ? "ns" : "inst";
    text_add(text, "%s beside the baseline %s\n", c->after->path, c->before->path);
    add_lines(c->settings, c->setting_count, MOST_SETTINGS, "parameters that differ", text);
    if (!c->kernel_count) {
        text_add(text, "%s\n",
                 runfile_is_timed(c->before) != runfile_is_timed(c->after)
                     ? "one run is functional and the other is of --mode timing: compare two of one mode"
                     : "no kernel is in both");
    } else {
        text_add(text, "\n%-*s %8s %9s %9s %9s\n", NAME_WIDTH,
                 c->timed ? "kernel: time" : "kernel: warp instructions", "launches", "baseline", "now",
                 "change");
        for (size_t i = 0; i < c->kernel_count && i < MOST_KERNELS; i++) {
            const struct compared_kernel *kernel = &c->kernels[i];
            add_name(kernel->name.at, text);
            text_add(text, " %8zu", kernel->launches);
            add_value(kernel->before, unit, 9, text);
            add_value(kernel->after, unit, 9, text);
            add_change(kernel->change, 9, text);
            text_add(text, "\n");
            if (kernel->shape.length)
                text_add(text, "    grid and block %s\n", kernel->shape.at);
            add_wrapped(kernel->why.at, text);
            if (kernel->launches > 1 && fabs(kernel->worst_change) >= fabs(kernel->change) + 1) {
                text_add(text, "    launch %zu changed most: ", kernel->worst);
                comparison_change_tell(kernel->worst_change, text);
                text_add(text, "\n");
            }
        }
        if (c->kernel_count > MOST_KERNELS)
            text_add(text, "and %zu kernels more, which changed less\n", c->kernel_count - MOST_KERNELS);
        add_name("all of these", text);
        text_add(text, " %8s", "");
        add_value(c->total_before, unit, 9, text);
        add_value(c->total_after, unit, 9, text);
        add_change(comparison_change(c->total_before, c->total_after), 9, text);
        text_add(text, "\n");
    }
    add_lines(c->only, c->only_count, MOST_ONLY, "kernels", text);
}

static void put_change(struct json_writer *json, const char *name, double change)
{
    json_put_real(json, name, change); /* null where it is infinite */
}

static void write_lines(struct json_writer *json, const char *name, const struct text *lines, size_t count)
{
    json_open_list(json, name);
    for (size_t i = 0; i < count; i++)
        json_put_text(json, NULL, lines[i].at);
    json_close(json);
}

static void write_kernel(const struct compared_kernel *kernel, struct json_writer *json)
{
    json_open_object(json, NULL);
    json_put_text(json, "name", kernel->name.at);
    json_put_text(json, "shape", kernel->shape.at ? kernel->shape.at : "");
    json_put_count(json, "launches", kernel->launches);
    json_put_real(json, "before", kernel->before);
    json_put_real(json, "after", kernel->after);
    put_change(json, "change", kernel->change);
    json_put_text(json, "why", kernel->why.at);
    json_open_list(json, "moved");
    for (size_t i = 0; i < kernel->metric_count; i++) {
        const struct compared_metric *metric = &kernel->metrics[i];
        json_open_list(json, NULL);
        json_put_text(json, NULL, metric->row->name);
        json_put_text(json, NULL, metric->row->unit);
        json_put_text(json, NULL, metric->row->help);
        json_put_real(json, NULL, metric->before);
        json_put_real(json, NULL, metric->after);
        put_change(json, NULL, metric->change);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

void comparison_write(const struct comparison *c, struct json_writer *json)
{
    struct text title = {0};
    json_open_object(json, NULL);
    text_add(&title, "%s beside the baseline %s", file_of(c->after->path), file_of(c->before->path));
    json_put_text(json, "title", title.at);
    text_fini(&title);
    json_put_text(json, "unit", c->timed ? "ns" : "inst");
    json_put_real(json, "before", c->total_before);
    json_put_real(json, "after", c->total_after);
    json_open_list(json, "kernels");
    for (size_t i = 0; i < c->kernel_count; i++)
        write_kernel(&c->kernels[i], json);
    json_close(json);
    write_lines(json, "settings", c->settings, c->setting_count);
    write_lines(json, "only", c->only, c->only_count);
    json_close(json);
}

/* ---- a run and a measurement ---- */

void measure_tell(const struct measurement *m, struct text *text)
{
    text_add(text, "%s beside what ncu measured, %s: %zu launch%s in both\n", m->run->path, m->path, m->pairs,
             m->pairs == 1 ? "" : "es");
    text_add(text, "\n%-66s %8s %10s %11s\n", "metric", "launches", "mean error", "correlation");
    for (size_t i = 0; i < m->metric_count; i++) {
        const struct measured_metric *metric = &m->metrics[i];
        if (metric->row->section == METRIC_LAUNCH && metric->mean_error == 0)
            continue;
        text_add(text, "%-66.66s %8zu %9.1f%s ", metric->row->name, metric->count, metric->mean_error,
                 strcmp(metric->row->unit, "%") ? "%" : " ");
        if (isnan(metric->correlation))
            text_add(text, "%11s\n", "-");
        else
            text_add(text, "%11.3f\n", metric->correlation);
    }
    text_add(text, "\n%-*s %8s %10s %10s %9s\n", NAME_WIDTH, "kernel", "launch", "measured", "simulated",
             "error");
    for (size_t i = 0; i < m->metrics[0].count && i < MOST_METRICS_TOLD; i++) {
        const struct measured_point *point = &m->metrics[0].points[i];
        add_name(point->kernel, text);
        text_add(text, " %8zu", point->launch);
        add_value(point->real, m->metrics[0].row->unit, 10, text);
        add_value(point->model, m->metrics[0].row->unit, 10, text);
        add_change(comparison_change(point->real, point->model), 9, text);
        text_add(text, "\n");
    }
    if (m->metrics[0].count > MOST_METRICS_TOLD)
        text_add(text, "and %zu launches more\n", m->metrics[0].count - MOST_METRICS_TOLD);
    add_lines(m->only, m->only_count, MOST_ONLY, "kernels", text);
}

static void write_metric(const struct measured_metric *metric, struct json_writer *json)
{
    json_open_object(json, NULL);
    json_put_text(json, "name", metric->row->name);
    json_put_text(json, "unit", metric->row->unit);
    json_put_text(json, "help", metric->row->help);
    json_put_real(json, "mean_error", metric->mean_error);
    json_put_real(json, "correlation", metric->correlation);
    json_open_list(json, "points");
    for (size_t i = 0; i < metric->count; i++) {
        json_open_list(json, NULL);
        json_put_text(json, NULL, metric->points[i].kernel);
        json_put_real(json, NULL, metric->points[i].real);
        json_put_real(json, NULL, metric->points[i].model);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

void measure_write(const struct measurement *m, struct json_writer *json)
{
    json_open_object(json, "measured");
    json_put_text(json, "path", m->path);
    json_open_list(json, "metrics");
    for (size_t i = 0; i < m->metric_count; i++)
        write_metric(&m->metrics[i], json);
    json_close(json);
    json_open_list(json, "launches");
    for (size_t i = 0; i < m->metrics[0].count; i++) {
        const struct measured_point *point = &m->metrics[0].points[i];
        json_open_object(json, NULL);
        json_put_text(json, "name", point->kernel);
        json_put_count(json, "launch", point->launch);
        json_put_real(json, "real", point->real);
        json_put_real(json, "model", point->model);
        put_change(json, "error", comparison_change(point->real, point->model));
        json_close(json);
    }
    json_close(json);
    json_put_text(json, "unit", m->metrics[0].row->unit);
    write_lines(json, "only", m->only, m->only_count);
    json_close(json);
}
