/* A run, or several, as one HTML file that needs nothing else: figures, drawings, sources.
 *
 * The file holds a style sheet, scripts, and the data as JSON in a script element of its own. All text of
 * runs gets onto the page as text nodes. The browser is told (Content-Security-Policy) to load nothing. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "base/names.h"
#include "base/text.h"
#include "report/experiment.h"
#include "report/json.h"
#include "report/runfile.h"

#include <stdio.h>

/* Code of a module, a line at a time: `at` is its number, or where it is in machine code. */
struct html_lines {
    struct json_writer *json;
    const struct names *kernels; /* of a module: which of its kernels ran (names in its code) */
    uint32_t from, to;           /* what is wanted */
    struct html_line {
        uint32_t at;
        struct text text;
    } * list;
    size_t count, capacity;
};
void html_lines_add(struct html_lines *lines, uint32_t at, const char *text, size_t bytes);
/* All lines of a text, from the first on. */
void html_lines_add_text(struct html_lines *lines, const char *text, size_t bytes);

/* A key of sweeps, and where it is in their JSON's `config`. */
struct html_key {
    const char *name, *path, *unit, *help;
};

struct html_request {
    const struct runfile *runs;
    size_t run_count;
    bool no_sources;
    const struct experiment *experiments; /* or NULL */
    size_t experiment_count;
    const struct html_key *sweep_keys; /* what sweeps change; ends with a NULL name */
    /* Gives the lines of a module that a profile names, as far as they can be read; or NULL. */
    void (*code)(void *user, const char *module, struct html_lines *lines);
    /* Adds members to the data: what was compared, measured or drawn; or NULL. */
    void (*more)(void *user, struct json_writer *json);
    void *user;
};

void html_write(const struct html_request *request, FILE *file);

/* ---- for this room ---- */

void html_run_write(const struct html_request *request, const struct runfile *run, struct json_writer *json);
void html_kernels_write(const struct runfile *run, struct json_writer *json);
void html_launches_write(const struct runfile *run, struct json_writer *json);
void html_experiments_write(const struct html_request *request, struct json_writer *json);
void html_series_write(const struct json_value *series, struct json_writer *json);
void html_sources_write(const struct html_request *request, const struct runfile *run,
                        struct json_writer *json);

/* Floating-point operations of each thread that executes such an instruction once; 0: it does none. `kind`
 * becomes "fp16", "fp32", "fp64" or "tensor". */
double html_flops(const char *instruction, const char **kind);

#endif
