/* A figure as a plot: groups of bars, or lines over an axis of numbers. */
#include "study/campaign/campaign.h"
#include "base/bits.h"
#include "base/mem.h"
#include "report/svg.h"

#include <math.h>
#include <string.h>

enum { STEPS = 4, LETTER = 7, KEY_TOP = 44, BAR = 14, GROUP_LEAST = 90, LINES_WIDTH = 640, HEIGHT = 300 };

/* What is drawn: the table, and where. */
struct plot {
    const struct campaign *campaign;
    const struct campaign_table *table;
    struct svg_field field;
    struct svg_scale upwards;
    FILE *f;
};

/* A little more than the most, so that a scale does not double for a value just above a round one. */
static double scale_top(double most)
{
    static const double steps[] = {1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10};
    double power = pow(10, floor(log10(most)));
    size_t i = 0;
    while (steps[i] * power < most && i + 1 < COUNT_OF(steps))
        i++;
    return steps[i] * power;
}

static struct svg_scale scale_of(const struct campaign_table *table)
{
    double most = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        for (size_t k = 0; k < table->column_count; k++)
            most = fmax(most, table->rows[i].cells[k]); /* which takes a number before NAN */
    }
    return (struct svg_scale){false, 0, most > 0 ? scale_top(most) : 1};
}

/* The names of bars or lines, in rows; returns how high they are. NULL: only measured. */
static int draw_key(FILE *f, const char *const *names, size_t count, bool is_bars, int left, int width)
{
    int x = left, y = KEY_TOP + 10;
    for (size_t i = 0; i < count; i++) {
        int wide = SVG_KEY_WIDTH + 24 + LETTER * (int)strlen(names[i]);
        if (x > left && x + wide > left + width) {
            x = left;
            y += SVG_KEY_ROW;
        }
        if (f && is_bars) {
            svg_bar(f, &(struct svg_bar){x, y - 5, SVG_KEY_WIDTH, 10, svg_pen(i).colour, 1}, "%s", names[i]);
            svg_label(f, x + SVG_KEY_WIDTH + 6, y + 4, SVG_START, "%s", names[i]);
        } else if (f) {
            svg_key(f, x, y, svg_pen(i), names[i]);
        }
        x += wide;
    }
    return y + SVG_KEY_ROW;
}

static void draw_frame(const struct plot *plot)
{
    for (int i = 0; i <= STEPS; i++) {
        char label[32];
        snprintf(label, sizeof label, "%.4g", plot->upwards.to * i / STEPS);
        svg_grid_across(plot->f, &plot->field, svg_y(&plot->field, (double)i / STEPS), label);
    }
    svg_frame(plot->f, &plot->field);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- bars: a group for each row ---- */

static void draw_group(const struct plot *plot, size_t row)
{
    const struct campaign_table *table = plot->table;
    const struct campaign_row *shown = &table->rows[row];
    double group = (double)plot->field.width / (double)table->row_count;
    double left = plot->field.left + group * (double)row, wide = 0.84 * group / (double)table->column_count;
    for (size_t k = 0; k < table->column_count; k++) {
        double y = svg_y(&plot->field, svg_share(&plot->upwards, shown->cells[k]));
        if (isnan(shown->cells[k]))
            continue;
        struct svg_bar bar = {left + 0.08 * group + wide * (double)k,
                              y,
                              0.94 * wide,
                              svg_y(&plot->field, 0) - y,
                              svg_pen(k).colour,
                              1};
        svg_bar(plot->f, &bar, "%s, %s=%s: %.4g", shown->name, table->across->name, campaign_column(table, k),
                shown->cells[k]);
    }
    svg_label(plot->f, left + group / 2, svg_y(&plot->field, 0) + 20, SVG_MIDDLE, "%s", shown->name);
}

static int bars_width(const struct campaign_table *table)
{
    size_t longest = 0;
    for (size_t i = 0; i < table->row_count; i++)
        longest = larger(longest, strlen(table->rows[i].name));
    size_t group = larger(larger(longest * LETTER + 10, GROUP_LEAST), BAR * (table->column_count + 1));
    return (int)(group * larger(table->row_count, 4));
}

/* ---- lines: one for each row ---- */

/* Logarithmic if the numbers are far apart. */
static struct svg_scale scale_across(const struct campaign_table *table)
{
    enum { FAR = 8 };
    double least = INFINITY, most = 0;
    for (size_t k = 0; k < table->column_count; k++) {
        double number = table->across->variants[table->columns[k]].number;
        least = fmin(least, number);
        most = fmax(most, number);
    }
    bool is_logarithmic = least > 0 && most >= FAR * least;
    return (struct svg_scale){is_logarithmic, is_logarithmic ? least : 0, most > 0 ? most : 1};
}

static double place_of(const struct plot *plot, const struct svg_scale *scale, size_t column)
{
    double number = plot->table->across->variants[plot->table->columns[column]].number;
    return svg_x(&plot->field, svg_share(scale, number));
}

static void draw_line(const struct plot *plot, const struct svg_scale *scale, size_t row)
{
    const struct campaign_table *table = plot->table;
    const struct campaign_row *shown = &table->rows[row];
    struct svg_point *points = mem_alloc(table->column_count, sizeof *points);
    size_t count = 0;
    for (size_t k = 0; k < table->column_count; k++) {
        if (isnan(shown->cells[k]))
            continue;
        points[count] = (struct svg_point){place_of(plot, scale, k),
                                           svg_y(&plot->field, svg_share(&plot->upwards, shown->cells[k]))};
        svg_dot(plot->f, points[count++], svg_pen(row).colour, "%s, %s=%s: %.4g", shown->name,
                table->across->name, campaign_column(table, k), shown->cells[k]);
    }
    svg_line(plot->f, svg_pen(row), points, count);
    mem_free(points);
}

static void draw_lines(const struct plot *plot)
{
    struct svg_scale scale = scale_across(plot->table);
    for (size_t k = 0; k < plot->table->column_count; k++)
        svg_grid_upwards(plot->f, &plot->field, place_of(plot, &scale, k), campaign_column(plot->table, k));
    for (size_t i = 0; i < plot->table->row_count; i++)
        draw_line(plot, &scale, i);
}

/* ---- both ---- */

static void draw(const struct campaign *campaign, const struct campaign_table *table, bool is_bars, FILE *f)
{
    enum { LEFT = 80, RIGHT = 30, BELOW = 60 };
    size_t count = is_bars ? table->column_count : table->row_count;
    const char **names = mem_alloc(count, sizeof *names);
    struct text title = {0};
    int width = is_bars ? bars_width(table) : LINES_WIDTH;
    for (size_t i = 0; i < count; i++)
        names[i] = is_bars ? campaign_column(table, i) : table->rows[i].name;
    int top = draw_key(NULL, names, count, is_bars, LEFT, width);
    struct plot plot = {campaign, table, {LEFT, top, width, HEIGHT}, scale_of(table), f};
    campaign_figure_title(campaign, table->figure, &title);
    svg_begin(f, LEFT + width + RIGHT, top + HEIGHT + BELOW);
    svg_heading(f, LEFT, 28, SVG_START, "%s", title.at);
    draw_key(f, names, count, is_bars, LEFT, width);
    draw_frame(&plot);
    for (size_t i = 0; is_bars && i < table->row_count; i++)
        draw_group(&plot, i);
    if (!is_bars) {
        draw_lines(&plot);
        svg_name_across(f, &plot.field, table->across->title);
    }
    svg_end(f);
    text_fini(&title);
    mem_free(names);
}

void campaign_svg(const struct campaign *campaign, const struct campaign_figure *figure, FILE *stream)
{
    struct campaign_table table;
    bool is_lines = campaign_figure_plot(campaign, figure) == CAMPAIGN_LINES &&
                    campaign->axes[figure->columns].is_numeric;
    campaign_table_init(&table, campaign, figure);
    draw(campaign, &table, !is_lines, stream);
    campaign_table_fini(&table);
}
