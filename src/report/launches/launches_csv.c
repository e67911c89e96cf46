/* Launches in the layout of `ncu --csv --page raw --print-units base`: a head, a row of units, and a row for
 * each launch that was kept. Columns are metrics that ncu has, too; scripts made for its files read these. */
#include "report/launches/launches.h"
#include "base/demangle.h"
#include "base/file.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

/* ncu's words for units. */
static const char *unit_of(const struct metric_row *row)
{
    static const char *const units[][2] = {
        {"Hz", "hz"}, {"register", "register/thread"}, {"inst/cycle", "inst/cycle"}, {"byte/s", "byte/s"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(row->unit, units[i][0]))
            return units[i][1];
    return row->unit;
}

static bool is_of_ncu(const struct metric_row *row)
{
    return strstr(row->name, "__") && strncmp(row->name, "heddle__", 8) != 0;
}

static void put_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text == '\n' ? ' ' : *text, file);
    }
    fputc('"', file);
}

/* "1,234.5": of a number that is not whole, up to six digits behind the point. */
static void put_number(FILE *file, double value)
{
    char digits[400];
    snprintf(digits, sizeof digits, "%.6f", fabs(value));
    size_t whole = strcspn(digits, "."), length = strlen(digits);
    while (digits[length - 1] == '0')
        length--;
    length -= digits[length - 1] == '.';
    fprintf(file, "\"%s", value < 0 ? "-" : "");
    for (size_t i = 0; i < length; i++) {
        if (i && i < whole && (whole - i) % 3 == 0)
            fputc(',', file);
        fputc(digits[i], file);
    }
    fputc('"', file);
}

static void put_sides(FILE *file, const uint64_t sides[3])
{
    fprintf(file, "\"(%llu, %llu, %llu)\"", (unsigned long long)sides[0], (unsigned long long)sides[1],
            (unsigned long long)sides[2]);
}

struct csv {
    FILE *file;
    const struct launch_run *run;
    uint64_t count;
};

static bool is_column(const struct csv *csv, const struct metric_row *row)
{
    enum metric_section other = csv->run->timing ? METRIC_COUNTED : METRIC_TIMED;
    return row->section != other && is_of_ncu(row);
}

static void write_head(const struct csv *csv)
{
    fputs(
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
        "Size\",\"Grid Size\",\"Device\",\"CC\"",
        csv->file);
    for (const struct metric_row *row = metric_rows; row->name; row++)
        if (is_column(csv, row))
            fprintf(csv->file, ",\"%s\"", row->name);
    fputs("\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"", csv->file);
    for (const struct metric_row *row = metric_rows; row->name; row++)
        if (is_column(csv, row))
            fprintf(csv->file, ",\"%s\"", unit_of(row));
    fputc('\n', csv->file);
}

static void write_values(const struct csv *csv, const struct metric_source *source)
{
    double *values = metric_values(source);
    for (const struct metric_row *row = metric_rows; row->name; row++) {
        if (!is_column(csv, row))
            continue;
        fputc(',', csv->file);
        if (metric_applies(row, source))
            put_number(csv->file, values[row - metric_rows]);
        else
            fputs("\"n/a\"", csv->file);
    }
    mem_free(values);
}

static void write_launch(void *user, const struct launch_one *line)
{
    struct csv *csv = user;
    struct launch_facts facts;
    struct text name = {0};
    struct metric_source source = launches_source(line, csv->run->system, &facts);
    const char *program = csv->run->program ? csv->run->program : "", *slash = strrchr(program, '/');
    demangle_whole(line->kernel, &name);
    fprintf(csv->file, "\"%llu\",\"1\",", (unsigned long long)csv->count++);
    put_quoted(csv->file, slash ? slash + 1 : program);
    fputs(",\"heddle\",", csv->file);
    put_quoted(csv->file, name.at);
    fprintf(csv->file, ",\"1\",\"%llu\",", (unsigned long long)line->numbers.stream);
    put_sides(csv->file, line->numbers.block);
    fputc(',', csv->file);
    put_sides(csv->file, line->numbers.grid);
    fprintf(csv->file, ",\"%llu\",\"%llu.%llu\"", (unsigned long long)line->numbers.device,
            (unsigned long long)source.gpu->major, (unsigned long long)source.gpu->minor);
    write_values(csv, &source);
    fputc('\n', csv->file);
    text_fini(&name);
}

bool launches_write_csv(const struct launches *lines, const struct launch_run *run, const char *path,
                        struct err *err)
{
    struct file_writer writer;
    if (!file_open(&writer, path, err))
        return false;
    struct csv csv = {.file = writer.stream, .run = run};
    write_head(&csv);
    launches_each(lines, write_launch, &csv);
    return file_close(&writer, err);
}
