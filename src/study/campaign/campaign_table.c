/* A figure as a table: columns are the labels of one axis, rows the combinations of all others. */
#include "study/campaign/campaign.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

const char *campaign_column(const struct campaign_table *table, size_t column)
{
    return table->across->variants[table->columns[column]].label;
}

static struct campaign_row *add_row(struct campaign_table *table, const char *name, bool is_mean)
{
    mem_grow(table->rows, table->row_count, table->row_capacity);
    struct campaign_row *row = &table->rows[table->row_count++];
    *row = (struct campaign_row){.name = mem_text(name),
                                 .is_mean = is_mean,
                                 .cells = mem_alloc(table->column_count, sizeof *row->cells)};
    return row;
}

/* False: there are no such points, or the metric is none of theirs. */
static bool fill_row(const struct campaign_table *table, const struct campaign *campaign, size_t *labels,
                     struct campaign_row *row)
{
    bool any = false;
    for (size_t i = 0; i < table->column_count; i++) {
        labels[table->figure->columns] = table->columns[i];
        row->cells[i] = campaign_figure_value(campaign, table->figure, labels);
        const struct campaign_point *point = campaign_point_at(campaign, labels);
        any |= point && (point->state != CAMPAIGN_DONE || !isnan(row->cells[i]));
    }
    return any;
}

static void drop_row(struct campaign_table *table)
{
    struct campaign_row *row = &table->rows[--table->row_count];
    mem_free(row->name);
    mem_free(row->cells);
}

/* The labels of the axes that have several, but for that of the columns. */
static void name_row(const struct campaign *campaign, const struct campaign_figure *figure,
                     const size_t *labels, bool is_mean, struct text *name)
{
    for (size_t i = 0; i < campaign->axis_count; i++) {
        const struct campaign_axis *axis = &campaign->axes[i];
        const char *label = axis->variants[labels[i]].label;
        bool is_named = i == CAMPAIGN_WORKLOADS || campaign_axis_varies(axis);
        if (i != figure->columns && is_named)
            text_add(name, "%s%s", name->length ? ", " : "",
                     is_mean && i == CAMPAIGN_WORKLOADS ? "mean" : label);
    }
}

/* Whether any of the rows has this column. */
static bool is_column_known(const struct campaign_table *table, size_t first, size_t end, size_t column)
{
    for (size_t i = first; i < end; i++) {
        if (table->rows[i].cells[column] > 0)
            return true;
    }
    return false;
}

/* Over the rows that have all columns that any has, so that columns can be compared. */
static void add_mean(struct campaign_table *table, const struct campaign *campaign, const size_t *labels,
                     size_t first)
{
    size_t whole = 0, end = table->row_count;
    struct text name = {0};
    name_row(campaign, table->figure, labels, true, &name);
    double *logs = mem_alloc(table->column_count, sizeof *logs);
    for (size_t i = first; i < end; i++) {
        const double *cells = table->rows[i].cells;
        bool has_all = true;
        for (size_t k = 0; k < table->column_count; k++)
            has_all &= cells[k] > 0 || !is_column_known(table, first, end, k);
        for (size_t k = 0; has_all && k < table->column_count; k++)
            logs[k] += log(cells[k]);
        whole += has_all;
    }
    if (whole < end - first)
        text_add(&name, " of %zu", whole);
    struct campaign_row *mean = add_row(table, name.at, true);
    for (size_t k = 0; k < table->column_count; k++)
        mean->cells[k] = whole ? exp(logs[k] / (double)whole) : NAN;
    mem_free(logs);
    text_fini(&name);
}

/* Rows of all workloads, for one combination of the other axes. */
static void add_group(struct campaign_table *table, const struct campaign *campaign, size_t *labels)
{
    size_t first = table->row_count;
    bool across = table->figure->columns == CAMPAIGN_WORKLOADS;
    for (size_t i = 0; i < (across ? 1 : campaign->axes[CAMPAIGN_WORKLOADS].count); i++) {
        struct text name = {0};
        labels[CAMPAIGN_WORKLOADS] = i;
        name_row(campaign, table->figure, labels, false, &name);
        if (!fill_row(table, campaign, labels, add_row(table, name.at ? name.at : "", false)))
            drop_row(table);
        text_fini(&name);
    }
    if (!across && table->figure->spec.shows != CAMPAIGN_VALUE && table->row_count - first > 1)
        add_mean(table, campaign, labels, first);
}

/* Whether there is a next combination of the axes that neither are columns nor workloads. */
static bool next_group(const struct campaign *campaign, const struct campaign_figure *figure, size_t *labels)
{
    for (size_t i = campaign->axis_count; i-- > 0;) {
        if (i == CAMPAIGN_WORKLOADS || i == figure->columns)
            continue;
        if (++labels[i] < campaign->axes[i].count)
            return true;
        labels[i] = 0;
    }
    return false;
}

void campaign_table_init(struct campaign_table *table, const struct campaign *campaign,
                         const struct campaign_figure *figure)
{
    const struct campaign_axis *across = &campaign->axes[figure->columns];
    size_t *labels = mem_alloc(campaign->axis_count, sizeof *labels);
    *table = (struct campaign_table){
        .figure = figure, .across = across, .columns = mem_alloc(across->count, sizeof *table->columns)};
    for (size_t i = 0; i < across->count; i++) {
        if (!across->variants[i].is_out)
            table->columns[table->column_count++] = i;
    }
    do
        add_group(table, campaign, labels);
    while (next_group(campaign, figure, labels));
    mem_free(labels);
}

void campaign_table_fini(struct campaign_table *table)
{
    while (table->row_count)
        drop_row(table);
    mem_free(table->rows);
    mem_free(table->columns);
}
