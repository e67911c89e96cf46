/* The table for people, on the terminal, and the cells that it shares with the page. */
#include "validate/validate.h"

#include <math.h>
#include <string.h>

char *validate_cell_count(char cell[CELL], double value)
{
    return value >= 0 && value < 0x1p63 ? cell_whole(cell, (uint64_t)llround(value)) : strcpy(cell, "-");
}

char *validate_cell_figure(char cell[CELL], double value)
{
    if (isnan(value))
        return strcpy(cell, "-");
    snprintf(cell, CELL, value >= 1000 ? "%.0f" : "%.4g", value);
    return cell;
}

char *validate_cell_error(char cell[CELL], double error, bool in_points)
{
    if (isnan(error))
        return strcpy(cell, "-");
    snprintf(cell, CELL, in_points ? "%+.1f" : "%+.1f%%", error);
    return cell;
}

char *validate_cell_mean(char cell[CELL], const struct error_sum *sum, bool in_points)
{
    if (!sum->count)
        return strcpy(cell, "-");
    snprintf(cell, CELL, in_points ? "%.1f points" : "%.1f%%", sum->mean);
    return cell;
}

char *validate_cell_correlation(char cell[CELL], double correlation)
{
    if (isnan(correlation))
        return strcpy(cell, "-");
    snprintf(cell, CELL, "%.4f", correlation);
    return cell;
}

/* ---- tables ---- */

static void print_point(const struct point *point, FILE *stream)
{
    char cells[2 + QUANTITY_COUNT][CELL];
    if (!point->ran) {
        fprintf(stream, "%-30s %s\n", point->row->name,
                *point->wrong ? point->wrong : "(not run: interrupted)");
        return;
    }
    for (int i = 0; i < QUANTITY_COUNT; i++)
        validate_cell_error(cells[2 + i], point_error(point, (enum quantity)i), quantity_rows[i].in_points);
    fprintf(stream, "%-30s %11s %11s %8s %8s %7s %7s %8s\n", point->row->name,
            validate_cell_count(cells[0], point->measured[QUANTITY_CYCLES]),
            validate_cell_count(cells[1], point->model[QUANTITY_CYCLES]), cells[2], cells[3], cells[4],
            cells[5], cells[6]);
}

static void print_points(const struct validation *validation, bool micro, FILE *stream)
{
    bool any = false;
    for (size_t i = 0; i < validation->count; i++) {
        if (validation->points[i].micro != micro)
            continue;
        if (!any)
            fprintf(stream, "%s%-30s %11s %11s %8s %8s %7s %7s %8s\n", micro ? "\n" : "",
                    micro ? "microbenchmark" : "workload", "cycles", "model", "error", "insts", "L1 hit",
                    "L2 hit", "DRAM");
        any = true;
        print_point(&validation->points[i], stream);
    }
}

void validate_print_figure(const struct point *point, const struct figure *figure, FILE *stream)
{
    char measured[CELL], model[CELL], error[CELL];
    fprintf(stream, "%-30s %-32s %10s %10s %8s\n", point->row->name, figure->name,
            validate_cell_figure(measured, figure->measured), validate_cell_figure(model, figure->model),
            validate_cell_error(error, figure_error(figure), false));
}

static void print_figures(const struct validation *validation, FILE *stream)
{
    bool any = false;
    for (size_t i = 0; i < validation->count; i++) {
        const struct point *point = &validation->points[i];
        for (size_t k = 0; point->ran && k < point->figure_count; k++) {
            if (!any)
                fprintf(stream, "\n%-30s %-32s %10s %10s %8s\n", "microbenchmark", "its own figure",
                        "measured", "model", "error");
            any = true;
            validate_print_figure(point, &point->figures[k], stream);
        }
    }
}

/* ---- the summary ---- */

static void print_sums(const char *title, const char *own, const char *all, const char *aim, FILE *stream)
{
    fprintf(stream, "  %-34s %12s %12s   %s\n", title, own, all, aim);
}

static void print_means(const struct summary *summary, FILE *stream)
{
    char a[CELL], b[CELL], title[60];
    const struct error_sum *own = &summary->workloads[QUANTITY_CYCLES];
    const struct error_sum *all = &summary->all[QUANTITY_CYCLES];
    print_sums("", "workloads", "all points", "aim", stream);
    print_sums("points", validate_cell_count(a, (double)summary->points_workloads),
               validate_cell_count(b, (double)summary->points_all), "", stream);
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        bool in_points = quantity_rows[i].in_points;
        snprintf(title, sizeof title, "%s, mean error", quantity_rows[i].title);
        print_sums(title, validate_cell_mean(a, &summary->workloads[i], in_points),
                   validate_cell_mean(b, &summary->all[i], in_points), quantity_rows[i].aim, stream);
    }
    print_sums("cycles, correlation", validate_cell_correlation(a, own->correlation),
               validate_cell_correlation(b, all->correlation), "0.97", stream);
    print_sums("... of their logarithms", validate_cell_correlation(a, own->correlation_log),
               validate_cell_correlation(b, all->correlation_log), "0.97", stream);
}

void validate_print_left_out(const struct validation *validation, const struct summary *summary, FILE *stream)
{
    if (validation->too_long)
        fprintf(stream, "Left out: %zu long point%s (--all runs all, --most N more of them).\n",
                validation->too_long, validation->too_long == 1 ? "" : "s");
    if (validation->not_measured)
        fprintf(stream, "Left out: %zu point%s not measured.\n", validation->not_measured,
                validation->not_measured == 1 ? " that was" : "s that were");
    if (summary->failed)
        fprintf(stream, "Failed: %zu point%s.\n", summary->failed, summary->failed == 1 ? "" : "s");
}

void validation_print(const struct validation *validation, const struct summary *summary, FILE *stream)
{
    if (!validation->profiled) {
        curves_print(validation, summary, stream);
        return;
    }
    print_points(validation, false, stream);
    print_points(validation, true, stream);
    print_figures(validation, stream);
    fprintf(stream, "\n%s, beside the model %s:\n", validation->machine.at, validation->system_name);
    print_means(summary, stream);
    if (summary->figures)
        fprintf(stream, "  figures of microbenchmarks: %zu, %zu within 5%%, %zu within 10%%\n",
                summary->figures, summary->within_5, summary->within_10);
    if (summary->worst_count)
        fprintf(stream, "  the worst:\n");
    for (size_t i = 0; i < summary->worst_count; i++) {
        fputs("    ", stream);
        validate_print_figure(summary->worst[i].point, summary->worst[i].figure, stream);
    }
    validate_print_left_out(validation, summary, stream);
}
