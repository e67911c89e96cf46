#include "study/study.h"
#include "report/svg.h"

#include <math.h>

static const char *name_of(const struct study_threads *study, size_t run)
{
    return run < study->count ? study->runs[run].row->workload : "mean";
}

void study_threads_print(const struct study_threads *study, FILE *f)
{
    fprintf(
        f,
        "How much faster than one thread, model %s; the mean is geometric. Results were the same with any "
        "number.\n\n",
        study->system);
    fprintf(f, "%-20s %-10s %11s", "workload", "mode", "1 thread, s");
    for (size_t k = 1; k < study->counts; k++)
        fprintf(f, " %3u threads", study->threads[k]);
    fputc('\n', f);
    for (int mode = 0; mode < STUDY_MODES; mode++) {
        for (size_t i = 0; i <= study->count; i++) {
            fprintf(f, "%-20s %-10s", name_of(study, i), study_modes[mode]);
            if (i < study->count)
                fprintf(f, " %11.3f", study->runs[i].seconds[mode][0]);
            else
                fprintf(f, " %11s", "");
            for (size_t k = 1; k < study->counts; k++)
                fprintf(f, " %10.2fx", study_speedup(study, i, mode, k));
            fputc('\n', f);
        }
    }
}

/* ---- a drawing: bars, a group for each workload ---- */

static const struct svg_field field = {.left = 60, .top = 80, .width = 860, .height = 300};

static struct svg_scale scale_of(const struct study_threads *study)
{
    double most = 1;
    for (size_t i = 0; i <= study->count; i++)
        for (int mode = 0; mode < STUDY_MODES; mode++)
            for (size_t k = 1; k < study->counts; k++)
                most = fmax(most, study_speedup(study, i, mode, k));
    return (struct svg_scale){false, 0, svg_round_up(most)};
}

/* A mode has a colour, and more threads are darker. */
static struct svg_bar bar_of(const struct study_threads *study, int mode, size_t k)
{
    return (struct svg_bar){.colour = svg_pen((size_t)mode).colour,
                            .opacity = 0.3 + 0.7 * (double)k / (double)(study->counts - 1)};
}

static void draw_group(const struct study_threads *study, const struct svg_scale *scale, size_t run, FILE *f)
{
    double group = field.width / (double)(study->count + 1), left = field.left + group * (double)run;
    double wide = 0.84 * group / (double)(STUDY_MODES * (study->counts - 1));
    for (int mode = 0; mode < STUDY_MODES; mode++) {
        for (size_t k = 1; k < study->counts; k++) {
            struct svg_bar bar = bar_of(study, mode, k);
            double speedup = study_speedup(study, run, mode, k);
            size_t number = (size_t)mode * (study->counts - 1) + k - 1;
            bar.x = left + 0.08 * group + wide * (double)number;
            bar.y = svg_y(&field, svg_share(scale, speedup));
            bar.width = 0.94 * wide;
            bar.height = svg_y(&field, 0) - bar.y;
            svg_bar(f, &bar, "%s, %s, %u threads: %.2f", name_of(study, run), study_modes[mode],
                    study->threads[k], speedup);
        }
    }
    svg_label(f, left + group / 2, svg_y(&field, 0) + 20, SVG_MIDDLE, "%s", name_of(study, run));
}

static void draw_key(const struct study_threads *study, FILE *f)
{
    double x = field.left;
    for (int mode = 0; mode < STUDY_MODES; mode++) {
        for (size_t k = 1; k < study->counts; k++, x += 170) {
            struct svg_bar bar = bar_of(study, mode, k);
            bar.x = x, bar.y = 46, bar.width = SVG_KEY_WIDTH, bar.height = 10;
            svg_bar(f, &bar, "%s", study_modes[mode]);
            svg_label(f, x + SVG_KEY_WIDTH + 6, 55, SVG_START, "%s, %u threads", study_modes[mode],
                      study->threads[k]);
        }
    }
}

void study_threads_svg(const struct study_threads *study, FILE *f)
{
    enum { STEPS = 4 };
    struct svg_scale scale = scale_of(study);
    svg_begin(f, field.left + field.width + 20, field.top + field.height + 40);
    svg_heading(f, field.left, 28, SVG_START, "How much faster than one thread, model %s", study->system);
    for (int i = 0; i <= STEPS; i++) {
        char label[32];
        snprintf(label, sizeof label, "%.3g", scale.to * i / STEPS);
        svg_grid_across(f, &field, svg_y(&field, (double)i / STEPS), label);
    }
    svg_frame(f, &field);
    draw_key(study, f);
    for (size_t i = 0; i <= study->count; i++)
        draw_group(study, &scale, i, f);
    svg_end(f);
}
