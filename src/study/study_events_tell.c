#include "study/study.h"
#include "report/svg.h"

#include <math.h>

void study_events_print(const struct study_events *study, FILE *f)
{
    fprintf(f,
            "Islands with something to do in a window of the engine, model %s; so many can run at once.\n\n",
            study->system);
    fprintf(f, "%-20s %9s %8s %8s %8s %8s\n", "workload", "windows", "least", "median", "mean", "most");
    for (size_t i = 0; i < study->count; i++) {
        const struct study_events_run *run = &study->runs[i];
        fprintf(f, "%-20s %9zu %8llu %8llu %8.1f %8llu\n", run->row->workload, run->count,
                (unsigned long long)run->least, (unsigned long long)run->median, run->mean,
                (unsigned long long)run->most);
    }
}

/* ---- a drawing: a field for each workload ---- */

enum { FIELD_WIDTH = 320, FIELD_HEIGHT = 220, FIELDS_ACROSS = 3, TOP = 60, BINS = 120 };
#define PS_PER_US 1e6

static struct svg_scale islands_scale(const struct study_events *study)
{
    double most = 1;
    for (size_t i = 0; i < study->count; i++)
        most = fmax(most, (double)study->runs[i].most);
    return (struct svg_scale){false, 0, svg_round_up(most)};
}

static void draw_axes(const struct svg_field *field, const struct svg_scale *scale,
                      const struct study_events_run *run, double us, FILE *f)
{
    enum { STEPS = 4 };
    for (int i = 0; i <= STEPS; i++) {
        char label[32];
        double part = (double)i / STEPS;
        snprintf(label, sizeof label, "%.4g", us * part);
        svg_grid_upwards(f, field, svg_x(field, part), label);
        snprintf(label, sizeof label, "%.4g", scale->to * part);
        svg_grid_across(f, field, svg_y(field, part), label);
    }
    svg_frame(f, field);
    svg_label(f, svg_x(field, 0.5), svg_y(field, 1) - 8, SVG_MIDDLE, "%s: mean %.1f", run->row->workload,
              run->mean);
    svg_name_across(f, field, "simulated time, us");
}

/* The mean of the windows that begin in each part of the time. */
static void draw_run(const struct svg_field *field, const struct svg_scale *scale,
                     const struct study_events_run *run, FILE *f)
{
    struct svg_point line[BINS];
    double sums[BINS] = {0}, counts[BINS] = {0};
    uint64_t first = run->windows[0].time_ps, last = run->windows[run->count - 1].time_ps;
    double span = fmax((double)(last - first), 1);
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++) {
        int bin = (int)fmin(BINS - 1, BINS * (double)(run->windows[i].time_ps - first) / span);
        sums[bin] += (double)run->windows[i].islands;
        counts[bin]++;
    }
    for (int i = 0; i < BINS; i++) {
        if (counts[i] > 0)
            line[count++] = (struct svg_point){svg_x(field, (i + 0.5) / BINS),
                                               svg_y(field, svg_share(scale, sums[i] / counts[i]))};
    }
    draw_axes(field, scale, run, span / PS_PER_US, f);
    svg_line(f, svg_pen(0), line, count);
}

void study_events_svg(const struct study_events *study, FILE *f)
{
    struct svg_scale scale = islands_scale(study);
    int rows = ((int)study->count + FIELDS_ACROSS - 1) / FIELDS_ACROSS;
    svg_begin(f, FIELDS_ACROSS * FIELD_WIDTH, TOP + rows * FIELD_HEIGHT);
    svg_heading(f, 20, 28, SVG_START, "Islands that can run at once, model %s", study->system);
    for (size_t i = 0; i < study->count; i++) {
        int left = (int)i % FIELDS_ACROSS * FIELD_WIDTH, top = TOP + (int)i / FIELDS_ACROSS * FIELD_HEIGHT;
        struct svg_field field = {left + 50, top + 10, FIELD_WIDTH - 70, FIELD_HEIGHT - 76};
        draw_run(&field, &scale, &study->runs[i], f);
    }
    svg_end(f);
}
