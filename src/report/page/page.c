#include "report/page/page.h"
#include "base/bits.h"
#include "base/mem.h"
#include "gpu/metrics.h"

/* ---- files of this folder, which are part of the program ---- */

#define PAGE_FILE(symbol, file)                                                                              \
    extern const char symbol[], symbol##_end[];                                                              \
    __asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"" PAGE_FOLDER "/" file "\"\n" #symbol             \
            "_end:\n.byte 0\n.popsection\n");
#define PAGE_SCRIPTS(F)                                                                                      \
    F(page_numbers, "numbers.js")                                                                            \
    F(page_elements, "elements.js")                                                                          \
    F(page_charts, "charts.js")                                                                              \
    F(page_memory, "memory.js")                                                                              \
    F(page_tables, "tables.js")                                                                              \
    F(page_source, "source.js")                                                                              \
    F(page_kernel, "kernel.js")                                                                              \
    F(page_activity, "activity.js")                                                                          \
    F(page_gpus, "gpus.js")                                                                                  \
    F(page_compare, "compare.js")                                                                            \
    F(page_measured, "measured.js")                                                                          \
    F(page_experiments, "experiments.js")                                                                    \
    F(page_views, "views.js")                                                                                \
    F(page_main, "main.js")

PAGE_FILE(page_style, "style.css")
PAGE_SCRIPTS(PAGE_FILE)

static void put(const char *from, const char *end, FILE *file)
{
    fwrite(from, 1, (size_t)(end - from), file);
}

/* ---- data ---- */

static void write_rows(struct json_writer *json)
{
    json_open_list(json, "rows");
    for (const struct metric_row *row = metric_rows; row->name; row++) {
        json_open_list(json, NULL);
        json_put_text(json, NULL, row->name);
        json_put_text(json, NULL, row->unit);
        json_put_text(json, NULL, row->help);
        json_close(json);
    }
    json_close(json);
    json_open_list(json, "stalls");
    for (int i = 0; i < STALL_COUNT; i++) {
        json_open_list(json, NULL);
        json_put_text(json, NULL, stall_name((enum stall)i));
        json_put_text(json, NULL, stall_help((enum stall)i));
        json_close(json);
    }
    json_close(json);
    json_open_list(json, "counters");
#define X(name, help)                                                                                        \
    json_open_list(json, NULL);                                                                              \
    json_put_text(json, NULL, #name);                                                                        \
    json_put_text(json, NULL, help);                                                                         \
    json_close(json);
    OP_COUNTERS(X)
#undef X
    json_close(json);
}

void html_run_write(const struct html_request *request, const struct runfile *run, struct json_writer *json)
{
    static const char *const as_they_are[] = {
        "heddle",        "system",        "mode",   "state",   "exit_status", "signal", "program",
        "arguments",     "options",       "config", "time_ps", "copies",      "links",  "launches_total",
        "launches_kept", "launches_lost", "guest",  "cpu",     "host"};
    json_open_object(json, NULL);
    json_put_text(json, "path", run->path);
    for (size_t i = 0; i < COUNT_OF(as_they_are); i++)
        json_put_value(json, as_they_are[i], json_member(run->json, as_they_are[i]));
    html_kernels_write(run, json);
    html_launches_write(run, json);
    html_series_write(json_member(run->json, "series"), json);
    html_sources_write(request, run, json);
    json_close(json);
}

static void write_data(const struct html_request *request, FILE *file)
{
    struct json_writer json;
    json_begin_in_script(&json, file);
    json_open_object(&json, NULL);
    json_put_text(&json, "heddle", HEDDLE_VERSION);
    write_rows(&json);
    json_open_list(&json, "runs");
    for (size_t i = 0; i < request->run_count; i++)
        html_run_write(request, &request->runs[i], &json);
    json_close(&json);
    html_experiments_write(request, &json);
    if (request->more)
        request->more(request->user, &json);
    json_close(&json);
}

/* ---- the page ---- */

void html_write(const struct html_request *request, FILE *file)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; "
          "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>Heddle report</title>\n<style>\n",
          file);
    put(page_style, page_style_end, file);
    fputs("</style>\n</head>\n<body>\n<noscript>This report is drawn by a script in it, which the browser "
          "does not "
          "run.</noscript>\n<div id=\"page\"></div>\n<script type=\"application/json\" id=\"data\">",
          file);
    write_data(request, file);
    fputs("</script>\n<script>\n\"use strict\";\n", file);
#define F(symbol, name) put(symbol, symbol##_end, file);
    PAGE_SCRIPTS(F)
#undef F
    fputs("</script>\n</body>\n</html>\n", file);
}
