#include "base/bits.h"
#include "base/mem.h"
#include "cachesim/evaluate/evaluate.h"

#include <math.h>

static uint32_t series_of(struct sheet *sheet, const char *name, bool is_right)
{
    for (uint32_t i = 0; i < sheet->series_count; i++) {
        if (!strcmp(sheet->series[i].name, name) && sheet->series[i].is_right == is_right)
            return i;
    }
    mem_grow(sheet->series, sheet->series_count, sheet->series_capacity);
    struct sheet_series *series = &sheet->series[sheet->series_count];
    snprintf(series->name, SHEET_NAME, "%s", name);
    series->is_right = is_right;
    return (uint32_t)sheet->series_count++;
}

static uint32_t column_of(struct sheet *sheet, const char *name)
{
    for (uint32_t i = 0; i < sheet->column_count; i++) {
        if (!strcmp(sheet->columns[i], name))
            return i;
    }
    mem_grow(sheet->columns, sheet->column_count, sheet->column_capacity);
    snprintf(sheet->columns[sheet->column_count], SHEET_NAME, "%s", name);
    return (uint32_t)sheet->column_count++;
}

static void put(struct sheet *sheet, uint32_t series, const char *column, double value)
{
    mem_grow(sheet->cells, sheet->cell_count, sheet->cell_capacity);
    sheet->cells[sheet->cell_count++] = (struct sheet_cell){series, column_of(sheet, column), value};
}

void sheet_put(struct sheet *sheet, const char *series, const char *column, double value)
{
    put(sheet, series_of(sheet, series, false), column, value);
}

void sheet_put_right(struct sheet *sheet, const char *series, const char *column, double value)
{
    put(sheet, series_of(sheet, series, true), column, value);
}

double sheet_value(const struct sheet *sheet, size_t series, size_t column)
{
    for (size_t i = 0; i < sheet->cell_count; i++) {
        if (sheet->cells[i].series == series && sheet->cells[i].column == column)
            return sheet->cells[i].value;
    }
    return NAN;
}

void sheet_fini(struct sheet *sheet)
{
    mem_free(sheet->series);
    mem_free(sheet->columns);
    mem_free(sheet->cells);
    text_fini(&sheet->note);
    text_fini(&sheet->commands);
}

char *evaluate_number_of(char cell[CELL], double value)
{
    double size = fabs(value);
    if (!isfinite(value))
        snprintf(cell, CELL, "-");
    else if (size >= 1000)
        return cell_whole(cell, (uint64_t)llround(value));
    else
        snprintf(cell, CELL, "%.*f", size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size ? 4 : 0, value);
    return cell;
}
