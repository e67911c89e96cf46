/* Markdown whose long lines of prose are wrapped, as all pages of the documentation are. */
#ifndef REPORT_WRAP_H
#define REPORT_WRAP_H

#include <stdio.h>

/* Rows of tables, code and pictures stay as they are; what follows an item of a list is indented as its text
 * is. */
void wrap_markdown(const char *text, FILE *file);

#endif
