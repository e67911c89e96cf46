/* A scatter plot of cycles: measured across, the model's upwards, both logarithmic. */
#include "validate/validate.h"

#include <math.h>

enum { WIDTH = 760, HEIGHT = 720, LEFT = 100, TOP = 50, SIDE = 600 };

struct scale {
    int from, to; /* powers of ten */
};

static struct scale scale_of(const struct validation *validation)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        if (isnan(point_error(point, QUANTITY_CYCLES)))
            continue;
        double a = point->measured[QUANTITY_CYCLES], b = point->model[QUANTITY_CYCLES];
        least = fmin(least, fmin(a, b));
        most = fmax(most, fmax(a, b));
    }
    if (!(most >= 1))
        return (struct scale){3, 4};
    int from = (int)floor(log10(fmax(least, 1))), to = (int)ceil(log10(most));
    return (struct scale){from, to > from ? to : from + 1};
}

/* Pixels from the lower left corner. */
static double along(const struct scale *scale, double value)
{
    return SIDE * (log10(value) - scale->from) / (scale->to - scale->from);
}

static double across(const struct scale *scale, double value)
{
    return LEFT + along(scale, value);
}

static double upwards(const struct scale *scale, double value)
{
    return TOP + SIDE - along(scale, value);
}

static void draw_axes(const struct scale *scale, FILE *f)
{
    fprintf(f, "<rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='#444'/>\n", LEFT, TOP, SIDE,
            SIDE);
    for (int power = scale->from; power <= scale->to; power++) {
        double value = pow(10, power), x = across(scale, value), y = upwards(scale, value);
        char label[CELL];
        cell_count(label, value);
        fprintf(f, "<path d='M%.1f %d V%d M%d %.1f H%d' stroke='#ddd'/>\n", x, TOP, TOP + SIDE, LEFT, y,
                LEFT + SIDE);
        fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n", x, TOP + SIDE + 20, label);
        fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>%s</text>\n", LEFT - 6, y + 4, label);
    }
    fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>cycles measured on the GPU</text>\n",
            LEFT + SIDE / 2, TOP + SIDE + 45);
    fprintf(
        f, "<text transform='translate(14 %d) rotate(-90)' text-anchor='middle'>cycles in the model</text>\n",
        TOP + SIDE / 2);
}

/* The model gives `factor` times what was measured. */
static void draw_line(const struct scale *scale, double factor, const char *style, FILE *f)
{
    double low = pow(10, scale->from), high = pow(10, scale->to);
    double x0 = factor < 1 ? low / factor : low, x1 = factor > 1 ? high / factor : high;
    fprintf(f, "<path d='M%.1f %.1f L%.1f %.1f' fill='none' %s/>\n", across(scale, x0),
            upwards(scale, x0 * factor), across(scale, x1), upwards(scale, x1 * factor), style);
}

static void draw_point(const struct scale *scale, const struct point *point, FILE *f)
{
    double x = across(scale, point->measured[QUANTITY_CYCLES]);
    double y = upwards(scale, point->model[QUANTITY_CYCLES]);
    if (point->micro)
        fprintf(f, "<path class='m' d='M%.1f %.1f l6 6 m-6 0 l6 -6'>", x - 3, y - 3);
    else
        fprintf(f, "<circle class='w' cx='%.1f' cy='%.1f' r='4'>", x, y);
    fprintf(f, "<title>%s: %.0f measured, %.0f in the model (%+.1f%%)</title></%s>\n", point->row->name,
            point->measured[QUANTITY_CYCLES], point->model[QUANTITY_CYCLES],
            point_error(point, QUANTITY_CYCLES), point->micro ? "path" : "circle");
}

static void draw_points(const struct validation *validation, const struct scale *scale, bool micro, FILE *f)
{
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        if (point->micro == micro && !isnan(point_error(point, QUANTITY_CYCLES)))
            draw_point(scale, point, f);
    }
}

static void draw_key(const struct summary *summary, FILE *f)
{
    char mean[2][CELL], correlation[CELL];
    int x = LEFT + 16, y = TOP + 24;
    fprintf(f, "<rect x='%d' y='%d' width='340' height='86' fill='#fff' stroke='#bbb'/>\n", x - 8, y - 16);
    fprintf(f, "<circle class='w' cx='%d' cy='%d' r='4'/>", x + 4, y);
    fprintf(f, "<text x='%d' y='%d'>workloads: mean error %s, correlation %s</text>\n", x + 16, y + 4,
            cell_mean(mean[0], &summary->workloads[QUANTITY_CYCLES], false),
            cell_correlation(correlation, summary->workloads[QUANTITY_CYCLES].correlation));
    fprintf(f, "<path class='m' d='M%d %d l6 6 m-6 0 l6 -6'/>", x + 1, y + 17);
    fprintf(f, "<text x='%d' y='%d'>microbenchmarks; all points: mean error %s</text>\n", x + 16, y + 24,
            cell_mean(mean[1], &summary->all[QUANTITY_CYCLES], false));
    fprintf(f, "<path d='M%d %d h14' stroke='#000'/><text x='%d' y='%d'>the same</text>\n", x - 3, y + 40,
            x + 16, y + 44);
    fprintf(f,
            "<path d='M%d %d h14' stroke='#000' stroke-dasharray='5 4'/>"
            "<text x='%d' y='%d'>20%% more, 20%% less</text>\n",
            x - 3, y + 60, x + 16, y + 64);
}

void validation_svg(const struct validation *validation, const struct summary *summary, FILE *f)
{
    struct scale scale = scale_of(validation);
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d' "
            "font-family='sans-serif' font-size='12'>\n"
            "<style>.w{fill:#1f6fb4;fill-opacity:.7;stroke:#134}.m{stroke:#d4631a;stroke-opacity:.7;"
            "stroke-width:1.4;fill:none}</style>\n"
            "<rect width='%d' height='%d' fill='#fff'/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    fprintf(f,
            "<text x='%d' y='28' font-size='16' text-anchor='middle'>Cycles of kernels: a real GPU and "
            "the model</text>\n",
            LEFT + SIDE / 2);
    draw_axes(&scale, f);
    draw_line(&scale, 1.2, "stroke='#000' stroke-dasharray='5 4'", f);
    draw_line(&scale, 0.8, "stroke='#000' stroke-dasharray='5 4'", f);
    draw_line(&scale, 1, "stroke='#000'", f);
    draw_points(validation, &scale, true, f);
    draw_points(validation, &scale, false, f);
    draw_key(summary, f);
    fputs("</svg>\n", f);
}
