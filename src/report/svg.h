/* What drawings have in common: the page, colours that suit light and dark, scales. */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

/* Whether an option's file may hold a drawing: one with another ending would not open as what it says. */
bool svg_check_name(const char *option, const char *path, struct err *err);

/* The page up to what is drawn on it. Classes: g lines of the grid, f frames, b the ground. */
void svg_begin(FILE *f, int width, int height);
void svg_end(FILE *f);

/* Any text. */
void svg_text(FILE *f, const char *text);

/* Of the line of this number: all are told apart by both. */
const char *svg_colour(size_t number);
const char *svg_dash(size_t number);

/* The least of 1, 2, 5, 10, 20, ... (and parts of one) that is not below. */
double svg_round_up(double value);

#endif
