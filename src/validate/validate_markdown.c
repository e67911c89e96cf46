/* docs/accuracy.md: the same as a page. */
#include "validate/validate.h"
#include "base/text.h"
#include "report/wrap.h"

#include <math.h>
#include <string.h>

#define CORRELATION_AIM 0.97

static void write_summary(const struct summary *summary, FILE *f)
{
    char a[CELL], b[CELL];
    const struct error_sum *own = summary->workloads, *all = summary->all;
    fprintf(f, "| | workloads | all points | aim |\n| --- | --- | --- | --- |\n");
    fprintf(f, "| points | %zu | %zu | |\n", summary->points_workloads, summary->points_all);
    for (int i = 0; i < QUANTITY_COUNT; i++)
        fprintf(f, "| %s, mean absolute error | %s | %s | %s |\n", quantity_rows[i].title,
                validate_cell_mean(a, &own[i], quantity_rows[i].in_points),
                validate_cell_mean(b, &all[i], quantity_rows[i].in_points), quantity_rows[i].aim);
    fprintf(f, "| cycles, correlation | %s | %s | %.2f |\n",
            validate_cell_correlation(a, own[QUANTITY_CYCLES].correlation),
            validate_cell_correlation(b, all[QUANTITY_CYCLES].correlation), CORRELATION_AIM);
    fprintf(f, "| correlation of their logarithms | %s | %s | %.2f |\n",
            validate_cell_correlation(a, own[QUANTITY_CYCLES].correlation_log),
            validate_cell_correlation(b, all[QUANTITY_CYCLES].correlation_log), CORRELATION_AIM);
    fprintf(f, "\nMicrobenchmarks measured %zu figures with the GPU's clock: latencies, rates, bandwidths. ",
            summary->figures);
    fprintf(f, "%zu of them are within 5%% in the model, %zu within 10%%. (The aim: all within 5%%.)\n",
            summary->within_5, summary->within_10);
}

static void write_how(const struct validation *validation, FILE *f)
{
    fprintf(
        f,
        "\n## How it was made\n\n    %s\n\n"
        "Measured: %s, with `tools/measure` ([bench/h200](../bench/h200/README.md)). Model: `%s`. The points "
        "are the rows of\n[bench/points.def](../bench/points.def); the host's side of a workload is the same "
        "code in both. Every launch begins with empty caches, as the profiler makes them\n"
        "(`ncu --cache-control all`), and a point is the sum over its launches.\n\n",
        validation->command.at, validation->machine.at, validation->system_name);
    fprintf(f,
            "- Errors are the model's value over the measured one, less one; of hit rates, the difference in "
            "points of percent. A mean is over absolute values.\n"
            "- Cycles: `gpc__cycles_elapsed.max`; the launch itself takes about 2,700 of them, and they vary "
            "by 200 from one run to the next.\n"
            "- L1 hit rate: `l1tex__t_sector_hit_rate.pct`, of loads and stores; what is on its way already "
            "is a hit for the profiler.\n"
            "- L2 hit rate: of sectors that SMs ask for and that one half of L2 asks the other for "
            "(`lts__t_sectors_srcunit_tex` and `_ltcfabric`). The profiler's own rate has sectors of\n"
            "  other units in it and comes out above 100%% for short kernels, so it is not used. Compared "
            "where SMs asked for 1,000 sectors or more.\n"
            "- DRAM bytes: read and written; compared where a GPU moved 64 KiB or more.\n"
            "- `spinlock`, `prodcons` and `bfs` depend on which warp comes first, on the GPU too.\n");
}

static void write_point(const struct point *point, FILE *f)
{
    char cells[QUANTITY_COUNT][CELL], measured[CELL], model[CELL];
    fprintf(f, "| %s ", point->row->name);
    if (!point->ran) {
        fprintf(f, "| %s | | | | | | |\n", *point->wrong ? point->wrong : "not run: interrupted");
        return;
    }
    fprintf(f, "| %s | %s ", validate_cell_count(measured, point->measured[QUANTITY_CYCLES]),
            validate_cell_count(model, point->model[QUANTITY_CYCLES]));
    for (int i = 0; i < QUANTITY_COUNT; i++)
        fprintf(
            f, "| %s ",
            validate_cell_error(cells[i], point_error(point, (enum quantity)i), quantity_rows[i].in_points));
    fputs("|\n", f);
}

static void write_points(const struct validation *validation, FILE *f)
{
    fprintf(f,
            "\n## Workloads\n\n| point | cycles | model | error | instructions | L1 hit | L2 hit | DRAM |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < validation->count; i++) {
        if (!validation->points[i].micro)
            write_point(&validation->points[i], f);
    }
}

static void write_figure(const struct figure *figure, const char *before, FILE *f)
{
    char measured[CELL], model[CELL], error[CELL];
    fprintf(f, "%s%s %s, %s (%s)", before, figure->name, validate_cell_figure(measured, figure->measured),
            validate_cell_figure(model, figure->model),
            validate_cell_error(error, figure_error(figure), false));
}

static void write_micro(const struct validation *validation, FILE *f)
{
    char measured[CELL], model[CELL], error[CELL];
    fprintf(f, "\n## Microbenchmarks\n\nFigures: measured, model (error).\n\n"
               "| point | cycles | model | error | figures |\n| --- | ---: | ---: | ---: | --- |\n");
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        if (!point->micro)
            continue;
        fprintf(f, "| %s | %s | %s | %s | ", point->row->name,
                validate_cell_count(measured, point->measured[QUANTITY_CYCLES]),
                validate_cell_count(model, point->model[QUANTITY_CYCLES]),
                validate_cell_error(error, point_error(point, QUANTITY_CYCLES), false));
        if (!point->ran)
            fprintf(f, "%s", *point->wrong ? point->wrong : "not run: interrupted");
        for (size_t k = 0; point->ran && k < point->figure_count; k++)
            write_figure(&point->figures[k], k ? "; " : "", f);
        fputs(" |\n", f);
    }
}

/* "WHAT: 2 of 9 workload points: NAME (+30%), ..." of those that are off by more. */
static void write_off(const struct validation *validation, enum quantity quantity, double limit,
                      const char *what, FILE *f)
{
    char cell[CELL];
    size_t count = 0, of = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            fprintf(f, "- %s: %zu of %zu workload points", what, count, of);
        for (size_t i = 0, told = 0; i < validation->count; i++) {
            const struct point *point = &validation->points[i];
            double error = point_error(point, quantity);
            if (point->micro || isnan(error))
                continue;
            of += !pass;
            if (fabs(error) <= limit)
                continue;
            count += !pass;
            if (pass)
                fprintf(f, "%s %s (%s)", told++ ? "," : ":", point->row->name,
                        validate_cell_error(cell, error, quantity_rows[quantity].in_points));
        }
    }
    fputs(".\n", f);
}

/* What the table above says, where it is not good. */
static void write_correlation(const struct summary *summary, FILE *f)
{
    const struct error_sum *cycles = &summary->workloads[QUANTITY_CYCLES];
    char plain[CELL], logs[CELL];
    if (cycles->correlation < CORRELATION_AIM) /* not so without a number */
        fprintf(f,
                "- The correlation of cycles over workloads is %s, below the aim of %.2f. Long kernels weigh "
                "most in it; that of the logarithms is %s.\n",
                validate_cell_correlation(plain, cycles->correlation), CORRELATION_AIM,
                validate_cell_correlation(logs, cycles->correlation_log));
}

static void write_bad(const struct validation *validation, const struct summary *summary, FILE *f)
{
    fprintf(f, "\n## What is not good\n\n");
    write_correlation(summary, f);
    write_off(validation, QUANTITY_CYCLES, 20, "Cycles off by more than 20%", f);
    write_off(validation, QUANTITY_INSTRUCTIONS, 10, "Warp instructions off by more than 10%", f);
    write_off(validation, QUANTITY_L1_HIT, 5, "L1 hit rate off by more than 5 points", f);
    write_off(validation, QUANTITY_L2_HIT, 5, "L2 hit rate off by more than 5 points", f);
    write_off(validation, QUANTITY_DRAM_BYTES, 10, "DRAM bytes off by more than 10%", f);
    if (summary->worst_count)
        fprintf(f, "- Figures of microbenchmarks, the worst (measured, model):\n");
    for (size_t i = 0; i < summary->worst_count; i++) {
        fprintf(f, "  %zu. %s:", i + 1, summary->worst[i].point->row->name);
        write_figure(summary->worst[i].figure, " ", f);
        fputc('\n', f);
    }
    if (validation->too_long)
        fprintf(f, "- %zu long point%s left out (`--all` runs all).\n", validation->too_long,
                validation->too_long == 1 ? " was" : "s were");
    if (validation->not_measured)
        fprintf(f, "- %zu point%s not measured.\n", validation->not_measured,
                validation->not_measured == 1 ? " was" : "s were");
    if (summary->failed)
        fprintf(f, "- %zu point%s failed in the model.\n", summary->failed, summary->failed == 1 ? "" : "s");
}

static void write_profiled(const struct validation *validation, const struct summary *summary, FILE *f)
{
    fprintf(f,
            "# How near the model comes to a real GPU\n\n<!-- made by `heddle validate --markdown`; do not "
            "edit -->\n\n");
    write_summary(summary, f);
    if (validation->picture)
        fprintf(f, "\n![cycles measured and in the model](%s)\n", validation->picture);
    write_bad(validation, summary, f);
    write_how(validation, f);
    write_points(validation, f);
    write_micro(validation, f);
}

static void write_page(const struct validation *validation, const struct summary *summary, FILE *f)
{
    (validation->profiled ? write_profiled : curves_markdown)(validation, summary, f);
}

static ssize_t take(void *page, const char *bytes, size_t count)
{
    text_add_bytes(page, bytes, count);
    return (ssize_t)count;
}

void validation_markdown(const struct validation *validation, const struct summary *summary, FILE *f)
{
    struct text page = {0};
    FILE *unwrapped = fopencookie(&page, "w", (cookie_io_functions_t){.write = take});
    write_page(validation, summary, unwrapped);
    fclose(unwrapped);
    wrap_markdown(page.at, f);
    text_fini(&page);
}
