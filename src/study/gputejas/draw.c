/* The figures as drawings. */
#include "study/gputejas/gputejas.h"
#include "base/file.h"
#include "base/text.h"
#include "report/svg.h"

#include <math.h>

enum { GROUPS_MOST = TEJAS_PROGRAMS, SERIES_MOST = 8, STEPS = 4 };

/* Groups of bars, one for each series: side by side, or on each other. */
struct chart {
    const char *name, *title, *unit;
    bool stacked;
    size_t groups, series;
    const char *group[GROUPS_MOST], *serie[SERIES_MOST];
    char words[SERIES_MOST][24];
    double value[GROUPS_MOST][SERIES_MOST];
};

static const struct svg_field field = {60, 90, 760, 300};

static double most_of(const struct chart *chart)
{
    double most = 0;
    for (size_t i = 0; i < chart->groups; i++) {
        double sum = 0;
        for (size_t k = 0; k < chart->series; k++) {
            sum = chart->stacked ? sum + chart->value[i][k] : chart->value[i][k];
            most = fmax(most, sum);
        }
    }
    return chart->stacked && most < 100.5 && most > 99.5 ? 100 : svg_round_up(most);
}

static void draw_bars(const struct chart *chart, const struct svg_scale *scale, size_t i, FILE *f)
{
    double group = field.width / (double)chart->groups, left = field.left + group * (double)i, below = 0;
    double wide = chart->stacked ? 0.6 * group : 0.84 * group / (double)chart->series;
    for (size_t k = 0; k < chart->series; k++) {
        double value = chart->value[i][k];
        if (isnan(value))
            continue;
        struct svg_bar bar = {.colour = svg_pen(k).colour, .opacity = 0.9, .width = 0.94 * wide};
        bar.x = left + (chart->stacked ? 0.2 * group : 0.08 * group + wide * (double)k);
        bar.y = svg_y(&field, svg_share(scale, below + value));
        bar.height = svg_y(&field, svg_share(scale, below)) - bar.y;
        svg_bar(f, &bar, "%s, %s: %.4g", chart->group[i], chart->serie[k], value);
        below += chart->stacked ? value : 0;
    }
    svg_label(f, left + group / 2, svg_y(&field, 0) + 20, SVG_MIDDLE, "%s", chart->group[i]);
}

static void draw_chart(const struct chart *chart, FILE *f)
{
    struct svg_scale scale = {false, 0, most_of(chart)};
    svg_begin(f, field.left + field.width + 20, field.top + field.height + 40);
    svg_heading(f, field.left, 28, SVG_START, "%s", chart->title);
    for (int i = 0; i <= STEPS; i++) {
        char label[32];
        snprintf(label, sizeof label, "%.3g", scale.to * i / STEPS);
        svg_grid_across(f, &field, svg_y(&field, (double)i / STEPS), label);
    }
    svg_frame(f, &field);
    svg_name_upwards(f, &field, 14, chart->unit);
    for (size_t k = 0; k < chart->series && chart->series > 1; k++) {
        double x = field.left + (double)(k % 4) * 190, y = 48 + 16 * (double)(k / 4);
        struct svg_bar bar = {
            .x = x, .y = y, .width = SVG_KEY_WIDTH, .height = 9, .colour = svg_pen(k).colour, .opacity = 0.9};
        svg_bar(f, &bar, "%s", chart->serie[k]);
        svg_label(f, x + SVG_KEY_WIDTH + 6, y + 9, SVG_START, "%s", chart->serie[k]);
    }
    for (size_t i = 0; i < chart->groups; i++)
        draw_bars(chart, &scale, i, f);
    svg_end(f);
}

static bool write_chart(const struct chart *chart, const char *folder, struct err *err)
{
    struct file_writer writer;
    struct text path = {0};
    text_add(&path, "%s/%s.svg", folder, chart->name);
    bool good = file_open(&writer, path.at, err);
    if (good) {
        draw_chart(chart, writer.stream);
        good = file_close(&writer, err);
    }
    text_fini(&path);
    return good;
}

/* ---- which ---- */

static struct chart of_programs(const struct tejas *study, const char *name, const char *title,
                                const char *unit)
{
    struct chart chart = {.name = name, .title = title, .unit = unit, .groups = study->count};
    for (size_t i = 0; i < study->count; i++)
        chart.group[i] = study->programs[i].row->name;
    return chart;
}

static void name_threads(const struct tejas *study, struct chart *chart)
{
    chart->series = study->counts;
    for (size_t k = 0; k < study->counts; k++) {
        snprintf(chart->words[k], sizeof chart->words[k], "%u thread%s", tejas_threads[k], k ? "s" : "");
        chart->serie[k] = chart->words[k];
    }
}

static bool draw_shares(const struct tejas *study, const char *folder, const char *name, const char *title,
                        const char *const *names, size_t count,
                        void (*shares)(const struct tejas_program *program, double *to), struct err *err)
{
    struct chart chart = of_programs(study, name, title, "percent");
    chart.stacked = true;
    chart.series = count;
    for (size_t k = 0; k < count; k++)
        chart.serie[k] = names[k];
    for (size_t i = 0; i < study->count; i++)
        shares(&study->programs[i], chart.value[i]);
    return write_chart(&chart, folder, err);
}

static bool draw_recording(const struct tejas *study, const char *folder, struct err *err)
{
    struct chart chart = of_programs(
        study, "figure3", "Figure 3: recording beside plain functional simulation", "times as long as plain");
    chart.series = 1;
    chart.serie[0] = "recording";
    for (size_t i = 0; i < study->count; i++)
        chart.value[i][0] = study->programs[i].recording_s / study->programs[i].functional_s;
    return write_chart(&chart, folder, err);
}

static bool draw_ways(const struct tejas *study, const char *folder, struct err *err)
{
    struct chart chart = {.name = "figure4",
                          .title = "Figure 4: moving packets to another process",
                          .unit = "MB/s",
                          .groups = TEJAS_WAYS,
                          .series = 1,
                          .serie = {"MB/s"}};
    for (size_t i = 0; i < TEJAS_WAYS; i++) {
        chart.group[i] = study->ways[i].name;
        chart.value[i][0] = study->ways[i].mb_per_s;
    }
    return write_chart(&chart, folder, err);
}

static bool draw_phasers(const struct tejas *study, const char *folder, struct err *err)
{
    struct chart chart = {.name = "figure8",
                          .title = "Figure 8: barriers in place of phasers",
                          .unit = "percent more time",
                          .groups = study->counts,
                          .series = 1,
                          .serie = {"slowdown"}};
    bool any = false;
    name_threads(study, &chart);
    chart.series = 1;
    for (size_t k = 0; k < study->counts; k++)
        chart.group[k] = chart.words[k];
    for (size_t i = 0; i < study->count; i++)
        for (size_t k = 0; k < study->counts && study->programs[i].runs[0].barrier_seconds > 0; k++) {
            const struct tejas_run *run = &study->programs[i].runs[k];
            chart.value[k][0] = fmax(0, 100 * (run->barrier_seconds / run->seconds - 1));
            any = true;
        }
    return !any || write_chart(&chart, folder, err);
}

static bool draw_scaling(const struct tejas *study, bool exact, const char *folder, struct err *err)
{
    struct chart chart = of_programs(study, exact ? "figure12-exact" : "figure12",
                                     exact ? "Figure 12, exact replay: how much faster than one thread"
                                           : "Figure 12, relaxed replay: how much faster than one thread",
                                     "speedup");
    name_threads(study, &chart);
    for (size_t i = 0; i < study->count; i++)
        for (size_t k = 0; k < study->counts; k++) {
            const struct tejas_run *runs = study->programs[i].runs;
            chart.value[i][k] =
                exact ? runs[0].exact_seconds / runs[k].exact_seconds : runs[0].seconds / runs[k].seconds;
        }
    return write_chart(&chart, folder, err);
}

static bool draw_deviation(const struct tejas *study, const char *folder, struct err *err)
{
    struct chart chart = {.name = "figure14",
                          .title = "Figure 14: deviation from one thread, and error against exact",
                          .unit = "percent, mean of programs",
                          .groups = study->counts,
                          .series = 3,
                          .serie = {"IPC", "misses", "cycles against exact"}};
    for (size_t k = 0; k < study->counts; k++) {
        snprintf(chart.words[k], sizeof chart.words[k], "%u thread%s", tejas_threads[k], k ? "s" : "");
        chart.group[k] = chart.words[k];
        for (size_t i = 0; i < study->count; i++) {
            chart.value[k][0] += tejas_ipc_deviation(&study->programs[i], k) / (double)study->count;
            chart.value[k][1] += tejas_miss_deviation(&study->programs[i], k) / (double)study->count;
            chart.value[k][2] += 100 * fabs(study->programs[i].runs[k].error) / (double)study->count;
        }
    }
    return write_chart(&chart, folder, err);
}

bool tejas_draw(const struct tejas *study, const char *folder, struct err *err)
{
    return draw_recording(study, folder, err) && draw_ways(study, folder, err) &&
           draw_phasers(study, folder, err) &&
           draw_shares(study, folder, "figure9", "Figure 9: instruction classes", relaxed_class_names,
                       RELAXED_CLASS_COUNT, tejas_classes, err) &&
           draw_shares(study, folder, "figure10", "Figure 10: memory instructions", relaxed_memory_names,
                       RELAXED_MEMORIES, tejas_memories, err) &&
           draw_shares(study, folder, "figure11", "Figure 11: instructions by their active lanes",
                       tejas_lane_names, TEJAS_LANES, tejas_lanes, err) &&
           draw_scaling(study, false, folder, err) && draw_scaling(study, true, folder, err) &&
           draw_deviation(study, folder, err);
}
