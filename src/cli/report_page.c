#include "cli/report_page.h"
#include "cli/report_code.h"
#include "base/file.h"
#include "base/mem.h"
#include "cachesim/runs/sweep.h"
#include "report/page/page.h"

#include <string.h>

enum { LARGEST_DRAWING = 8 << 20 };

/* ---- drawings: as images, whose scripts no browser runs ---- */

static void add_base64(const struct text *bytes, struct text *to)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes->length; i += 3) {
        uint32_t bits = 0;
        char four[4];
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < bytes->length ? (unsigned char)bytes->at[i + k] : 0);
        for (int k = 0; k < 4; k++)
            four[k] = i + (size_t)k <= bytes->length ? letters[bits >> (18 - 6 * k) & 63] : '=';
        text_add_bytes(to, four, sizeof four);
    }
}

static bool is_svg(const struct text *content)
{
    return content->length && memmem(content->at, content->length < 1000 ? content->length : 1000, "<svg", 4);
}

struct drawing {
    const char *name;
    struct text base64;
};

static bool read_drawing(const char *path, struct drawing *drawing, struct err *err)
{
    struct text content = {0};
    const char *slash = strrchr(path, '/');
    bool good = file_read(path, LARGEST_DRAWING, &content, err) &&
                (is_svg(&content) || err_set(err, "%.300s: expected a drawing as SVG", path));
    drawing->name = slash ? slash + 1 : path;
    if (good)
        add_base64(&content, &drawing->base64);
    text_fini(&content);
    return good;
}

/* ---- the page ---- */

struct writing {
    const struct report_page *page;
    const struct drawing *drawings;
    uint32_t arch;
};

static void write_more(void *user, struct json_writer *json)
{
    const struct writing *writing = user;
    const struct report_page *page = writing->page;
    if (page->comparison_count) {
        json_open_list(json, "compared");
        for (size_t i = 0; i < page->comparison_count; i++)
            comparison_write(&page->comparisons[i], json);
        json_close(json);
    }
    if (page->measured)
        measure_write(page->measured, json);
    json_open_list(json, "plots");
    for (size_t i = 0; i < page->drawing_count; i++) {
        json_open_object(json, NULL);
        json_put_text(json, "name", writing->drawings[i].name);
        json_put_text(json, "svg", writing->drawings[i].base64.at);
        json_close(json);
    }
    json_close(json);
}

static void give_code(void *user, const char *module, struct html_lines *lines)
{
    cmd_report_code(((struct writing *)user)->arch, module, lines);
}

/* "9.0" is 90. */
static uint32_t arch_of(const struct runfile *run)
{
    const struct json_value *gpu = json_at(run->json, "config.gpu");
    double major = json_number_at(gpu, "major", 9), minor = json_number_at(gpu, "minor", 0);
    return major >= 0 && major < 100 && minor >= 0 && minor < 10 ? (uint32_t)(10 * major + minor) : 90;
}

static bool is_apart(const struct report_page *page, struct err *err)
{
    const char *same = NULL;
    for (size_t i = 0; i < page->run_count; i++)
        if (file_same(page->output, page->runs[i].path))
            same = page->runs[i].path;
    for (size_t i = 0; i < page->experiment_count; i++)
        if (file_same(page->output, page->experiments[i].path))
            same = page->experiments[i].path;
    for (size_t i = 0; i < page->drawing_count; i++)
        if (file_same(page->output, page->drawings[i]))
            same = page->drawings[i];
    if (page->measured && file_same(page->output, page->measured->path))
        same = page->measured->path;
    return !same || !strcmp(page->output, "-") || err_set(err, "-o would write over %.300s", same);
}

static const struct html_key sweep_rows[] = {
#define X(name, kind, member, help) {name, #member, SWEEP_##kind == SWEEP_SIZE ? "byte" : "", help},
    SWEEP_KEYS(X)
#undef X
        {0}};

static bool write_page(struct writing *writing, struct err *err)
{
    struct file_writer writer;
    if (!file_open(&writer, writing->page->output, err))
        return false;
    html_write(&(struct html_request){.runs = writing->page->runs,
                                      .run_count = writing->page->run_count,
                                      .no_sources = writing->page->no_sources,
                                      .experiments = writing->page->experiments,
                                      .experiment_count = writing->page->experiment_count,
                                      .sweep_keys = sweep_rows,
                                      .code = give_code,
                                      .more = write_more,
                                      .user = writing},
               writer.stream);
    return file_close(&writer, err);
}

bool cmd_report_page(const struct report_page *page, struct err *err)
{
    struct drawing *drawings = mem_alloc(page->drawing_count, sizeof *drawings);
    struct writing writing = {page, drawings, page->run_count ? arch_of(page->runs) : 0};
    bool good = is_apart(page, err);
    for (size_t i = 0; i < page->drawing_count && good; i++)
        good = read_drawing(page->drawings[i], &drawings[i], err);
    good = good && write_page(&writing, err);
    if (good && strcmp(page->output, "-") != 0)
        fprintf(stderr, "heddle: report %s: any browser shows it\n", page->output);
    for (size_t i = 0; i < page->drawing_count; i++)
        text_fini(&drawings[i].base64);
    mem_free(drawings);
    return good;
}

/* ---- measured ---- */

bool cmd_report_measure(struct report_measured *measured, const struct runfile *run, const char *ncu,
                        struct err *err)
{
    return ncu_read(&measured->table, ncu, err) &&
           measure_run(&measured->measurement, run, &measured->table, ncu, err);
}

void cmd_report_forget(struct report_measured *measured)
{
    measure_fini(&measured->measurement);
    ncu_fini(&measured->table);
}
