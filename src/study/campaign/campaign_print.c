/* All figures as tables: of text, or of Markdown. */
#include "study/campaign/campaign.h"
#include "base/mem.h"
#include "report/cell.h"

#include <math.h>
#include <string.h>

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static const char *cell_of(const struct campaign_table *table, double value, char cell[CELL])
{
    static const double whole_from = 1000, whole_to = 1e15;
    if (isnan(value))
        return "-";
    if (table->figure->spec.shows != CAMPAIGN_VALUE)
        snprintf(cell, CELL, "%.2f", value);
    else if (value == 0 || (value >= whole_from && value < whole_to))
        cell_whole(cell, (uint64_t)llround(value));
    else
        snprintf(cell, CELL, "%.4g", value);
    return cell;
}

static size_t row_width(const struct campaign_table *table)
{
    size_t width = strlen("workload");
    for (size_t i = 0; i < table->row_count; i++)
        width = larger(width, strlen(table->rows[i].name));
    return width;
}

static size_t column_width(const struct campaign_table *table, size_t column)
{
    char cell[CELL];
    size_t width = strlen(campaign_column(table, column));
    for (size_t i = 0; i < table->row_count; i++)
        width = larger(width, strlen(cell_of(table, table->rows[i].cells[column], cell)));
    return width;
}

static void print_line(const struct campaign_table *table, const struct campaign_row *row, FILE *f)
{
    char cell[CELL];
    fprintf(f, "%-*s", (int)row_width(table), row ? row->name : "");
    for (size_t k = 0; k < table->column_count; k++)
        fprintf(f, "  %*s", (int)column_width(table, k),
                row ? cell_of(table, row->cells[k], cell) : campaign_column(table, k));
    fputc('\n', f);
}

static void print_table(const struct campaign_table *table, const char *title, FILE *f)
{
    fprintf(f, "\n%s; columns: %s\n", title, table->across->title);
    print_line(table, NULL, f);
    for (size_t i = 0; i < table->row_count; i++)
        print_line(table, &table->rows[i], f);
    if (!table->row_count)
        fprintf(f, "no point has this figure\n");
}

static void markdown_table(const struct campaign_table *table, const char *title, FILE *f)
{
    char cell[CELL];
    fprintf(f, "\n## %s\n\n| %s |", title, table->across->title);
    for (size_t k = 0; k < table->column_count; k++)
        fprintf(f, " %s |", campaign_column(table, k));
    fputs("\n| --- |", f);
    for (size_t k = 0; k < table->column_count; k++)
        fputs(" ---: |", f);
    for (size_t i = 0; i < table->row_count; i++) {
        fprintf(f, "\n| %s |", table->rows[i].name);
        for (size_t k = 0; k < table->column_count; k++)
            fprintf(f, " %s |", cell_of(table, table->rows[i].cells[k], cell));
    }
    fputc('\n', f);
}

static void each_table(const struct campaign *campaign, FILE *f,
                       void (*tell)(const struct campaign_table *table, const char *title, FILE *f))
{
    for (size_t i = 0; i < campaign->figure_count; i++) {
        struct campaign_table table;
        struct text title = {0};
        campaign_table_init(&table, campaign, &campaign->figures[i]);
        campaign_figure_title(campaign, &campaign->figures[i], &title);
        tell(&table, title.at, f);
        text_fini(&title);
        campaign_table_fini(&table);
    }
}

static const char *title_of(const struct campaign *campaign)
{
    return *campaign->spec.title ? campaign->spec.title : campaign->path;
}

void campaign_print(const struct campaign *campaign, FILE *stream)
{
    fprintf(stream, "%s%s: %zu points\n", title_of(campaign), campaign->is_quick ? " (quick)" : "",
            campaign->point_count);
    each_table(campaign, stream, print_table);
}

void campaign_markdown(const struct campaign *campaign, FILE *stream)
{
    fprintf(stream, "# %s%s\n", title_of(campaign), campaign->is_quick ? " (quick)" : "");
    each_table(campaign, stream, markdown_table);
}
