/* Curves as small plots, three in a row: the hardware's points, and the model's line. MGPUSim's paper has
 * four such as its figure 5. */
#include "report/svg.h"
#include "base/mem.h"
#include "validate/validate.h"

#include <math.h>

enum { PANEL_WIDTH = 320, PANEL_HEIGHT = 240, PANELS_ACROSS = 3, TOP = 76 };
static const char hardware_colour[] = "#d4631a";
static const struct svg_pen model_pen = {"#1f6fb4", ""};

struct panel {
    const struct validation *validation;
    const struct curve_row *row;
    struct svg_field field;
    struct svg_scale across, upwards;
};

static bool is_shown(const struct panel *panel, const struct point *point)
{
    return point->curve == panel->row && point->ran;
}

/* From zero, unless all values lie far above it: then from the tenth below the least. */
static struct svg_scale scale_of(double least, double most)
{
    if (least < 0.5 * most)
        return (struct svg_scale){false, 0, svg_round_up(most)};
    double step = svg_round_up((most - least) / 2);
    return (struct svg_scale){false, step * floor(least / step), step * ceil(most / step)};
}

static void find_scales(struct panel *panel)
{
    double last = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < panel->validation->count; i++) {
        const struct point *point = &panel->validation->points[i];
        const struct figure *figure = &point->figures[0];
        if (!is_shown(panel, point))
            continue;
        last = fmax(last, point->at);
        least = fmin(least, fmin(figure->measured, figure->model));
        most = fmax(most, fmax(figure->measured, figure->model));
    }
    panel->across = (struct svg_scale){false, 0, last > 0 ? last : 1};
    panel->upwards = scale_of(least, most);
}

/* A scale that is not logarithmic starts at 0 in svg_share, so this is ours. */
static double share(const struct svg_scale *scale, double value)
{
    return (value - scale->from) / (scale->to - scale->from);
}

static struct svg_point place(const struct panel *panel, double at, double value)
{
    return (struct svg_point){svg_x(&panel->field, share(&panel->across, at)),
                              svg_y(&panel->field, share(&panel->upwards, value))};
}

static void draw_axes(const struct panel *panel, FILE *f)
{
    enum { STEPS = 4 };
    const struct svg_field *field = &panel->field;
    for (int i = 0; i <= STEPS; i++) {
        char label[CELL];
        double part = (double)i / STEPS;
        snprintf(label, sizeof label, "%.5g", panel->across.to * part);
        svg_grid_upwards(f, field, svg_x(field, part), label);
        snprintf(label, sizeof label, "%.5g",
                 panel->upwards.from + (panel->upwards.to - panel->upwards.from) * part);
        svg_grid_across(f, field, svg_y(field, part), label);
    }
    svg_frame(f, field);
    svg_label(f, svg_x(field, 0.5), svg_y(field, 1) - 8, SVG_MIDDLE, "%s", panel->row->title);
    svg_name_across(f, field, panel->row->across);
}

static void draw_values(const struct panel *panel, FILE *f)
{
    struct svg_point *line = mem_alloc(panel->validation->count, sizeof *line);
    size_t count = 0;
    for (size_t i = 0; i < panel->validation->count; i++) {
        const struct point *point = &panel->validation->points[i];
        const struct figure *figure = &point->figures[0];
        if (!is_shown(panel, point))
            continue;
        line[count++] = place(panel, point->at, figure->model);
        svg_dot(f, place(panel, point->at, figure->measured), hardware_colour,
                "%s: %.2f us measured, %.2f us in the model (%+.1f%%)", point->row->name, figure->measured,
                figure->model, figure_error(figure));
    }
    svg_line(f, model_pen, line, count);
    mem_free(line);
}

static void draw_key(const struct validation *validation, FILE *f)
{
    svg_heading(f, 20, 28, SVG_START, "Microbenchmarks: time of a launch in microseconds");
    svg_dot(f, (struct svg_point){32, 48}, hardware_colour, "hardware");
    svg_label(f, 46, 52, SVG_START, "%s", validation->machine.at);
    svg_key(f, 520, 48, model_pen, validation->system_name);
}

void curves_svg(const struct validation *validation, FILE *f)
{
    int count = 0;
    for (const struct curve_row *row = curve_rows; row->name; row++)
        count += curve_sum(validation, row).count > 0;
    int rows = (count + PANELS_ACROSS - 1) / PANELS_ACROSS, number = 0;
    svg_begin(f, PANELS_ACROSS * PANEL_WIDTH, TOP + rows * PANEL_HEIGHT);
    draw_key(validation, f);
    for (const struct curve_row *row = curve_rows; row->name; row++) {
        if (!curve_sum(validation, row).count)
            continue;
        int left = number % PANELS_ACROSS * PANEL_WIDTH, top = TOP + number / PANELS_ACROSS * PANEL_HEIGHT;
        struct panel panel = {
            validation, row, {left + 60, top + 16, PANEL_WIDTH - 80, PANEL_HEIGHT - 76}, {0}, {0}};
        find_scales(&panel);
        draw_axes(&panel, f);
        draw_values(&panel, f);
        number++;
    }
    svg_end(f);
}
