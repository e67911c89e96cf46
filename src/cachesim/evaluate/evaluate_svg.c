/* A sheet as a drawing: columns across, evenly; series as lines or as bars. */
#include "cachesim_evaluate/evaluate.h"
#include "report/svg.h"

#include <math.h>

enum { WIDTH = 960, LEFT = 70, TOP = 48, ACROSS = 560, UP = 360, RIGHT = LEFT + ACROSS, ROW = 18 };

struct scale {
    bool logarithmic;
    double from, to;
};

static struct scale scale_of(const struct sheet *sheet, bool is_right)
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
        return (struct scale){false, 0, svg_round_up(most)};
    double from = pow(10, floor(log10(0.7 * least))), to = pow(10, ceil(log10(most)));
    return (struct scale){true, from, to > from ? to : 10 * from};
}

static double upwards(const struct scale *scale, double value)
{
    double share = value / scale->to;
    if (scale->logarithmic)
        share = log10(fmax(value, scale->from) / scale->from) / log10(scale->to / scale->from);
    return TOP + UP * (1 - fmin(fmax(share, 0), 1));
}

static double across(const struct sheet *sheet, size_t column)
{
    return LEFT + ACROSS * ((double)column + 0.5) / (double)sheet->column_count;
}

/* ---- axes ---- */

static void draw_step(const struct scale *scale, double value, bool is_right, FILE *f)
{
    char cell[CACHES_CELL];
    double y = upwards(scale, value);
    if (value < 1000)
        snprintf(cell, sizeof cell, "%.4g", value);
    else
        number_of(cell, value);
    if (!is_right)
        fprintf(f, "<path class='g' d='M%d %.1f h%d'/>", LEFT, y, ACROSS);
    fprintf(f, "<text x='%d' y='%.1f' text-anchor='%s'>%s</text>\n", is_right ? RIGHT + 8 : LEFT - 8, y + 4,
            is_right ? "start" : "end", cell);
}

static void draw_scale(const struct scale *scale, const char *name, bool is_right, FILE *f)
{
    for (int i = 0; !scale->logarithmic && i <= 5; i++)
        draw_step(scale, scale->to * i / 5, is_right, f);
    for (double value = scale->from; scale->logarithmic && value <= scale->to * 1.001; value *= 10)
        draw_step(scale, value, is_right, f);
    fprintf(f, "<text transform='translate(%d %d) rotate(-90)' text-anchor='middle'>",
            is_right ? RIGHT + 56 : 16, TOP + UP / 2);
    svg_text(f, name);
    fputs("</text>\n", f);
}

static void draw_columns(const struct sheet *sheet, FILE *f)
{
    for (size_t i = 0; i < sheet->column_count; i++) {
        fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>", across(sheet, i), TOP + UP + 20);
        svg_text(f, sheet->columns[i]);
        fputs("</text>\n", f);
    }
    fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>", LEFT + ACROSS / 2, TOP + UP + 44);
    svg_text(f, sheet->across);
    fprintf(f, "</text>\n<rect class='f' x='%d' y='%d' width='%d' height='%d'/>\n", LEFT, TOP, ACROSS, UP);
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

static void draw_title(const struct sheet *sheet, size_t series, size_t column, double value, FILE *f)
{
    char cell[CACHES_CELL];
    fputs("<title>", f);
    svg_text(f, sheet->series[series].name);
    fputs(", ", f);
    svg_text(f, sheet->columns[column]);
    fprintf(f, ": %s</title>", number_of(cell, value));
}

static void draw_line(const struct sheet *sheet, const struct scale *scale, size_t series, FILE *f)
{
    const char *colour = svg_colour(series);
    bool is_right = sheet->series[series].is_right, has_begun = false;
    fprintf(f, "<path fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s' d='", colour,
            is_right ? "3 3" : svg_dash(series));
    for (size_t i = 0; i < sheet->column_count; i++) {
        double value = sheet_value(sheet, series, i);
        if (isfinite(value))
            fprintf(f, "%c%.1f %.1f", has_begun ? 'L' : 'M', across(sheet, i), upwards(scale, value));
        has_begun |= isfinite(value);
    }
    fputs("'/>\n", f);
    for (size_t i = 0; i < sheet->column_count; i++) {
        double value = sheet_value(sheet, series, i);
        if (!isfinite(value))
            continue;
        fprintf(f, "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'>", across(sheet, i), upwards(scale, value),
                colour);
        draw_title(sheet, series, i, value, f);
        fputs("</circle>\n", f);
    }
}

static void draw_bars(const struct sheet *sheet, const struct scale *scale, size_t series, FILE *f)
{
    double room = 0.86 * ACROSS / (double)sheet->column_count, wide = room / (double)sheet->series_count;
    for (size_t i = 0; i < sheet->column_count; i++) {
        double value = sheet_value(sheet, series, i), y = upwards(scale, value);
        if (!isfinite(value))
            continue;
        fprintf(f, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s' fill-opacity='%.2f'>",
                across(sheet, i) - room / 2 + wide * (double)series, y, wide * 0.92, TOP + UP - y,
                svg_colour(series / shades_of(sheet)), shade_of(sheet, series));
        draw_title(sheet, series, i, value, f);
        fputs("</rect>\n", f);
    }
}

static void draw_key(const struct sheet *sheet, int x, FILE *f)
{
    for (size_t i = 0; i < sheet->series_count; i++) {
        int y = TOP + 8 + ROW * (int)i;
        if (sheet->bars)
            fprintf(f, "<rect x='%d' y='%d' width='24' height='10' fill='%s' fill-opacity='%.2f'/>", x, y - 5,
                    svg_colour(i / shades_of(sheet)), shade_of(sheet, i));
        else
            fprintf(f, "<path stroke='%s' stroke-width='2' stroke-dasharray='%s' d='M%d %d h24'/>",
                    svg_colour(i), sheet->series[i].is_right ? "3 3" : svg_dash(i), x, y);
        fprintf(f, "<text x='%d' y='%d'>", x + 30, y + 4);
        svg_text(f, sheet->series[i].name);
        fputs("</text>\n", f);
    }
}

void sheet_svg(const struct sheet *sheet, FILE *f)
{
    struct scale left = scale_of(sheet, false), right = scale_of(sheet, true);
    int height = TOP + (int)fmax(UP + 64, ROW * (double)sheet->series_count + 24);
    svg_begin(f, WIDTH, height);
    fprintf(f, "<text x='%d' y='28' font-size='16'>", LEFT);
    svg_text(f, sheet->title);
    fputs("</text>\n", f);
    draw_scale(&left, sheet->upwards, false, f);
    if (sheet->right)
        draw_scale(&right, sheet->right, true, f);
    draw_columns(sheet, f);
    for (size_t i = 0; i < sheet->series_count; i++)
        (sheet->bars ? draw_bars : draw_line)(sheet, sheet->series[i].is_right ? &right : &left, i, f);
    draw_key(sheet, RIGHT + (sheet->right ? 76 : 24), f);
    svg_end(f);
}
