/* A sheet as a drawing: columns across, evenly; series as lines or as bars. */
#include "cachesim/evaluate/evaluate.h"
#include "base/mem.h"
#include "report/svg.h"

#include <math.h>

enum { WIDTH = 960 };
static const struct svg_field field = {.left = 70, .top = 48, .width = 560, .height = 360};

static struct svg_scale scale_of(const struct sheet *sheet, bool is_right)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < sheet->cell_count; i++) {
        const struct sheet_cell *cell = &sheet->cells[i];
        if (sheet->series[cell->series].is_right != is_right || !(cell->value > 0))
            continue;
        least = fmin(least, cell->value);
        most = fmax(most, cell->value);
    }
    if (!most || !sheet->logarithmic || is_right)
        return (struct svg_scale){false, 0, svg_round_up(most)};
    double from = pow(10, floor(log10(0.7 * least))), to = pow(10, ceil(log10(most)));
    return (struct svg_scale){true, from, to > from ? to : 10 * from};
}

static double upwards(const struct svg_scale *scale, double value)
{
    return svg_y(&field, svg_share(scale, value));
}

static double across(const struct sheet *sheet, size_t column)
{
    return svg_x(&field, ((double)column + 0.5) / (double)sheet->column_count);
}

/* ---- axes ---- */

static void draw_step(const struct svg_scale *scale, double value, bool is_right, FILE *f)
{
    char cell[CELL];
    double y = upwards(scale, value);
    if (value < 1000)
        snprintf(cell, sizeof cell, "%.4g", value);
    else
        evaluate_number_of(cell, value);
    if (is_right)
        svg_label(f, svg_x(&field, 1) + 8, y + 4, SVG_START, "%s", cell);
    else
        svg_grid_across(f, &field, y, cell);
}

static void draw_scale(const struct svg_scale *scale, const char *name, bool is_right, FILE *f)
{
    enum { STEPS = 5 };
    for (int i = 0; !scale->logarithmic && i <= STEPS; i++)
        draw_step(scale, scale->to * i / STEPS, is_right, f);
    for (double value = scale->from; scale->logarithmic && value <= scale->to * 1.001; value *= 10)
        draw_step(scale, value, is_right, f);
    svg_name_upwards(f, &field, is_right ? svg_x(&field, 1) + 56 : 16, name);
}

static void draw_columns(const struct sheet *sheet, FILE *f)
{
    for (size_t i = 0; i < sheet->column_count; i++)
        svg_label(f, across(sheet, i), svg_y(&field, 0) + 20, SVG_MIDDLE, "%s", sheet->columns[i]);
    svg_name_across(f, &field, sheet->across);
    svg_frame(f, &field);
}

/* ---- series ---- */

static size_t shades_of(const struct sheet *sheet)
{
    return sheet->shades ? sheet->shades : 1;
}

static double shade_of(const struct sheet *sheet, size_t series)
{
    size_t shades = shades_of(sheet);
    return 1 - 0.65 * (double)(shades - 1 - series % shades) / (double)shades;
}

static struct svg_pen pen_of(const struct sheet *sheet, size_t series)
{
    struct svg_pen pen = svg_pen(series);
    if (sheet->series[series].is_right)
        pen.dash = "3 3";
    return pen;
}

static void draw_line(const struct sheet *sheet, const struct svg_scale *scale, size_t series, FILE *f)
{
    struct svg_pen pen = pen_of(sheet, series);
    struct svg_point *points = mem_alloc(sheet->column_count, sizeof *points);
    char cell[CELL];
    size_t count = 0;
    for (size_t i = 0; i < sheet->column_count; i++) {
        double value = sheet_value(sheet, series, i);
        if (!isfinite(value))
            continue;
        points[count] = (struct svg_point){across(sheet, i), upwards(scale, value)};
        svg_dot(f, points[count++], pen.colour, "%s, %s: %s", sheet->series[series].name, sheet->columns[i],
                evaluate_number_of(cell, value));
    }
    svg_line(f, pen, points, count);
    mem_free(points);
}

static void draw_bars(const struct sheet *sheet, const struct svg_scale *scale, size_t series, FILE *f)
{
    double room = 0.86 * field.width / (double)sheet->column_count, wide = room / (double)sheet->series_count;
    char cell[CELL];
    for (size_t i = 0; i < sheet->column_count; i++) {
        double value = sheet_value(sheet, series, i), y = upwards(scale, value);
        if (!isfinite(value))
            continue;
        struct svg_bar bar = {.x = across(sheet, i) - room / 2 + wide * (double)series,
                              .y = y,
                              .width = wide * 0.92,
                              .height = svg_y(&field, 0) - y,
                              .colour = svg_pen(series / shades_of(sheet)).colour,
                              .opacity = shade_of(sheet, series)};
        svg_bar(f, &bar, "%s, %s: %s", sheet->series[series].name, sheet->columns[i],
                evaluate_number_of(cell, value));
    }
}

static void draw_key(const struct sheet *sheet, double x, FILE *f)
{
    for (size_t i = 0; i < sheet->series_count; i++) {
        double y = field.top + 8 + SVG_KEY_ROW * (double)i;
        struct svg_bar bar = {.x = x,
                              .y = y - 5,
                              .width = SVG_KEY_WIDTH,
                              .height = 10,
                              .colour = svg_pen(i / shades_of(sheet)).colour,
                              .opacity = shade_of(sheet, i)};
        if (!sheet->bars) {
            svg_key(f, x, y, pen_of(sheet, i), sheet->series[i].name);
            continue;
        }
        svg_bar(f, &bar, "%s", sheet->series[i].name);
        svg_label(f, x + SVG_KEY_WIDTH + 6, y + 4, SVG_START, "%s", sheet->series[i].name);
    }
}

void sheet_svg(const struct sheet *sheet, FILE *f)
{
    struct svg_scale left = scale_of(sheet, false), right = scale_of(sheet, true);
    double rows = SVG_KEY_ROW * (double)sheet->series_count;
    svg_begin(f, WIDTH, field.top + (int)fmax(field.height + 64, rows + 24));
    svg_heading(f, field.left, 28, SVG_START, "%s", sheet->title);
    draw_scale(&left, sheet->upwards, false, f);
    if (sheet->right)
        draw_scale(&right, sheet->right, true, f);
    draw_columns(sheet, f);
    for (size_t i = 0; i < sheet->series_count; i++)
        (sheet->bars ? draw_bars : draw_line)(sheet, sheet->series[i].is_right ? &right : &left, i, f);
    draw_key(sheet, svg_x(&field, 1) + (sheet->right ? 76 : 24), f);
    svg_end(f);
}
