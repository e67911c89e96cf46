#include "report/svg.h"
#include "base/bits.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

bool svg_check_name(const char *option, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return !dot || !strcmp(dot, ".svg") ||
           err_set(err, "%s: a drawing is written as SVG, so its file is named .svg, not %.120s", option,
                   path);
}

/* Classes: b the ground, g lines of the grid, f frames. */
void svg_begin(FILE *f, int width, int height)
{
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d' "
            "font-family='sans-serif' font-size='12'>\n"
            "<style>.b{fill:#fff}text{fill:#222}.g{stroke:#ddd}.f{fill:none;stroke:#666}\n"
            "@media (prefers-color-scheme:dark){.b{fill:#16181c}text{fill:#ddd}.g{stroke:#3a3d44}"
            ".f{stroke:#999}}</style>\n"
            "<rect class='b' width='%d' height='%d'/>\n",
            width, height, width, height, width, height);
}

void svg_end(FILE *f)
{
    fputs("</svg>\n", f);
}

/* ---- text ---- */

static void escape(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (*text == '&' || *text == '<' || *text == '>')
            fprintf(f, "&#%d;", *text);
        else
            fputc((unsigned char)*text < ' ' ? '?' : *text, f);
    }
}

static void escape_all(FILE *f, const char *format, va_list more)
{
    char words[1000];
    vsnprintf(words, sizeof words, format, more);
    escape(f, words);
}

static const char *const anchors[] = {"start", "middle", "end"};

void svg_label(FILE *f, double x, double y, enum svg_anchor anchor, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    fprintf(f, "<text x='%.1f' y='%.1f' text-anchor='%s'>", x, y, anchors[anchor]);
    escape_all(f, format, more);
    fputs("</text>\n", f);
    va_end(more);
}

void svg_heading(FILE *f, double x, double y, enum svg_anchor anchor, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    fprintf(f, "<text x='%.1f' y='%.1f' font-size='16' text-anchor='%s'>", x, y, anchors[anchor]);
    escape_all(f, format, more);
    fputs("</text>\n", f);
    va_end(more);
}

/* ---- fields ---- */

double svg_x(const struct svg_field *field, double share)
{
    return field->left + field->width * share;
}

double svg_y(const struct svg_field *field, double share)
{
    return field->top + field->height * (1 - share);
}

double svg_share(const struct svg_scale *scale, double value)
{
    double share = scale->logarithmic
                       ? log10(fmax(value, scale->from) / scale->from) / log10(scale->to / scale->from)
                       : value / scale->to;
    return fmin(fmax(share, 0), 1);
}

void svg_frame(FILE *f, const struct svg_field *field)
{
    fprintf(f, "<rect class='f' x='%d' y='%d' width='%d' height='%d'/>\n", field->left, field->top,
            field->width, field->height);
}

void svg_grid_across(FILE *f, const struct svg_field *field, double y, const char *label)
{
    fprintf(f, "<path class='g' d='M%d %.1f h%d'/>\n", field->left, y, field->width);
    if (label)
        svg_label(f, field->left - 8, y + 4, SVG_END, "%s", label);
}

void svg_grid_upwards(FILE *f, const struct svg_field *field, double x, const char *label)
{
    fprintf(f, "<path class='g' d='M%.1f %d v%d'/>\n", x, field->top, field->height);
    if (label)
        svg_label(f, x, field->top + field->height + 20, SVG_MIDDLE, "%s", label);
}

void svg_name_across(FILE *f, const struct svg_field *field, const char *name)
{
    svg_label(f, svg_x(field, 0.5), field->top + field->height + 44, SVG_MIDDLE, "%s", name);
}

void svg_name_upwards(FILE *f, const struct svg_field *field, double x, const char *name)
{
    fprintf(f, "<text transform='translate(%.1f %.1f) rotate(-90)' text-anchor='middle'>", x,
            svg_y(field, 0.5));
    escape(f, name);
    fputs("</text>\n", f);
}

double svg_round_up(double value)
{
    double power = pow(10, floor(log10(fmax(value, 0.001))));
    double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (value <= steps[i] * power)
            return steps[i] * power;
    }
    return 10 * power;
}

/* ---- what is shown ---- */

struct svg_pen svg_pen(size_t number)
{
    static const char *const colours[] = {"#1f77b4", "#d9601a", "#2a9d4a", "#c2343b", "#8a63c2",
                                          "#8c6d31", "#d65fa6", "#1aa3b3", "#7f7f7f", "#9aa51f"};
    static const char *const dashes[] = {"", "7 4", "2 3", "9 3 2 3"};
    return (struct svg_pen){colours[number % COUNT_OF(colours)],
                            dashes[number / COUNT_OF(colours) % COUNT_OF(dashes)]};
}

void svg_line(FILE *f, struct svg_pen pen, const struct svg_point *points, size_t count)
{
    fprintf(f, "<path fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s' d='", pen.colour,
            pen.dash);
    for (size_t i = 0; i < count; i++)
        fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M', points[i].x, points[i].y);
    fputs("'/>\n", f);
}

static void end_titled(FILE *f, const char *element, const char *format, va_list more)
{
    fputs("<title>", f);
    escape_all(f, format, more);
    fprintf(f, "</title></%s>\n", element);
}

void svg_dot(FILE *f, struct svg_point at, const char *colour, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    fprintf(f, "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'>", at.x, at.y, colour);
    end_titled(f, "circle", format, more);
    va_end(more);
}

void svg_cross(FILE *f, struct svg_point at, const char *colour, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    fprintf(f, "<path d='M%.1f %.1f l6 6 m-6 0 l6 -6' stroke='%s' stroke-width='1.4' fill='none'>", at.x - 3,
            at.y - 3, colour);
    end_titled(f, "path", format, more);
    va_end(more);
}

void svg_bar(FILE *f, const struct svg_bar *bar, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    fprintf(f, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s' fill-opacity='%.2f'>", bar->x,
            bar->y, bar->width, bar->height, bar->colour, bar->opacity);
    end_titled(f, "rect", format, more);
    va_end(more);
}

void svg_blank(FILE *f, double x, double y, double width, double height)
{
    fprintf(f, "<rect class='b' x='%.1f' y='%.1f' width='%.1f' height='%.1f'/>\n", x, y, width, height);
}

void svg_key(FILE *f, double x, double y, struct svg_pen pen, const char *name)
{
    svg_line(f, pen, (struct svg_point[]){{x, y}, {x + SVG_KEY_WIDTH, y}}, 2);
    svg_label(f, x + SVG_KEY_WIDTH + 6, y + 4, SVG_START, "%s", name);
}
