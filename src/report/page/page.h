/* A run, or several, as one HTML file that needs nothing else: figures, drawings, sources.
 *
 * The file holds a style sheet, scripts, and the data as JSON in a script element of its own. All text of
 * runs gets onto the page as text nodes. The browser is told (Content-Security-Policy) to load nothing. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "base/text.h"
#include "report/json.h"
#include "report/run_file.h"

#include <stdio.h>

/* Code of a module, a line at a time: `at` is its number, or where it is in machine code. */
struct page_lines {
    struct json_writer *json;
    uint32_t from, to; /* what is wanted */
    struct page_line {
        uint32_t at;
        struct text text;
    } * list;
    size_t count, capacity;
};
void page_lines_add(struct page_lines *lines, uint32_t at, const char *text, size_t bytes);

struct page_request {
    const struct run_file *runs;
    size_t run_count;
    bool no_sources;
    /* Gives the lines of a module that a profile names, as far as they can be read; or NULL. */
    void (*code)(void *user, const char *module, struct page_lines *lines);
    /* Adds members to the data: what was compared, measured or drawn; or NULL. */
    void (*more)(void *user, struct json_writer *json);
    void *user;
};

void page_write(const struct page_request *request, FILE *file);

/* ---- for this room ---- */

void page_run_write(const struct page_request *request, const struct run_file *run, struct json_writer *json);
void page_kernels_write(const struct run_file *run, struct json_writer *json);
void page_launches_write(const struct run_file *run, struct json_writer *json);
void page_series_write(const struct json_value *series, struct json_writer *json);
void page_sources_write(const struct page_request *request, const struct run_file *run,
                        struct json_writer *json);

/* Floating-point operations of each thread that executes such an instruction once; 0: it does none. `kind`
 * becomes "fp16", "fp32", "fp64" or "tensor". */
double page_flops(const char *instruction, const char **kind);

#endif
