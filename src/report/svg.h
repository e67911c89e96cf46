/* Drawings as SVG: the page, fields with their scales, lines, dots and labels. Colours suit light and dark.
 * All places are in pixels, from the upper left corner. */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

#define SVG_FORMAT(at) __attribute__((format(__printf__, at, at + 1)))

/* Whether an option's file may hold a drawing: one with another ending would not open as what it says. */
bool svg_check_name(const char *option, const char *path, struct err *err);

/* The page up to what is drawn on it. */
void svg_begin(FILE *f, int width, int height);
void svg_end(FILE *f);

/* ---- text: any, it is escaped ---- */

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

void svg_label(FILE *f, double x, double y, enum svg_anchor anchor, const char *format, ...) SVG_FORMAT(5);
void svg_heading(FILE *f, double x, double y, enum svg_anchor anchor, const char *format, ...) SVG_FORMAT(5);

/* ---- a field: a frame, with scales at its sides ---- */

struct svg_field {
    int left, top, width, height;
};

/* Values along a side. One that is not logarithmic starts at 0. */
struct svg_scale {
    bool logarithmic;
    double from, to;
};

double svg_x(const struct svg_field *field, double share); /* 0 to 1, from the left */
double svg_y(const struct svg_field *field, double share); /* 0 to 1, from below */
double svg_share(const struct svg_scale *scale, double value);

void svg_frame(FILE *f, const struct svg_field *field);

/* A line of the grid with its label: at this height, or this far from the left. A NULL label: none. */
void svg_grid_across(FILE *f, const struct svg_field *field, double y, const char *label);
void svg_grid_upwards(FILE *f, const struct svg_field *field, double x, const char *label);

/* What the scales are of. */
void svg_name_across(FILE *f, const struct svg_field *field, const char *name);
void svg_name_upwards(FILE *f, const struct svg_field *field, double x, const char *name);

/* The least of 1, 2, 5, 10, 20, ... (and parts of one) that is not below. */
double svg_round_up(double value);

/* ---- what is shown ---- */

struct svg_point {
    double x, y;
};

/* How a line looks. */
struct svg_pen {
    const char *colour, *dash;
};

/* Of the line of this number: all are told apart. */
struct svg_pen svg_pen(size_t number);

void svg_line(FILE *f, struct svg_pen pen, const struct svg_point *points, size_t count);

/* A dot, or a cross; words show where the pointer is on it. */
void svg_dot(FILE *f, struct svg_point at, const char *colour, const char *format, ...) SVG_FORMAT(4);
void svg_cross(FILE *f, struct svg_point at, const char *colour, const char *format, ...) SVG_FORMAT(4);

struct svg_bar {
    double x, y, width, height;
    const char *colour;
    double opacity;
};
void svg_bar(FILE *f, const struct svg_bar *bar, const char *format, ...) SVG_FORMAT(3);

/* A piece of the ground, on what was drawn so far: for a label. */
void svg_blank(FILE *f, double x, double y, double width, double height);

/* A row of the key: a piece of the line, and its name. */
enum { SVG_KEY_ROW = 18, SVG_KEY_WIDTH = 24 };
void svg_key(FILE *f, double x, double y, struct svg_pen pen, const char *name);

#endif
