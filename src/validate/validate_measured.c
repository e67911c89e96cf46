/* Reads what tools/measure wrote, or what is known of a GPU otherwise: CSV without quotes, after a line that
 * says on what and when. */
#include "validate/validate.h"
#include "base/file.h"
#include "base/install.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MOST = 256 };

struct table {
    const char *path;
    struct text content;
    char *at; /* what was not read yet */
    size_t line;
    const char *names[COLUMNS_MOST];
    size_t columns;
    const char *cells[COLUMNS_MOST]; /* of the row read last */
};

/* Cuts the next line off; NULL at the end. */
static char *next_line(struct table *table)
{
    char *line = table->at;
    if (!line || !*line)
        return NULL;
    table->at = line + strcspn(line, "\n");
    if (*table->at)
        *table->at++ = 0;
    table->line++;
    line[strcspn(line, "\r")] = 0;
    return line;
}

static size_t split(char *line, const char **cells)
{
    size_t count = 0;
    for (char *cell; count < COLUMNS_MOST && (cell = strsep(&line, ","));)
        cells[count++] = cell;
    return count;
}

/* The comment of its first line goes to `machine`, or nowhere. */
static bool table_open(struct table *table, const char *path, struct text *machine, struct err *err)
{
    enum { LIMIT = 64 << 20 };
    *table = (struct table){.path = path};
    struct err why;
    if (!file_read(path, LIMIT, &table->content, &why))
        return err_set(err, "no figures of a real GPU: %.300s (HEDDLE_HOME says where Heddle is)", why.text);
    table->at = table->content.at;
    char *line = next_line(table);
    if (line && *line == '#') {
        if (machine)
            text_add(machine, "%s", line + 1 + strspn(line + 1, " "));
        line = next_line(table);
    }
    table->columns = line ? split(line, table->names) : 0;
    return table->columns || err_set(err, "%.300s: expected a line with the names of its columns", path);
}

/* False at the end, and with an error, which is "" at the end. */
static bool table_row(struct table *table, struct err *err)
{
    char *line = next_line(table);
    err->text[0] = 0;
    if (!line)
        return false;
    size_t count = split(line, table->cells);
    return count == table->columns || err_set(err, "%.300s, line %zu: expected %zu cells, not %zu",
                                              table->path, table->line, table->columns, count);
}

static bool find_column(const struct table *table, const char *name, size_t *column, struct err *err)
{
    for (*column = 0; *column < table->columns; ++*column) {
        if (!strcmp(table->names[*column], name))
            return true;
    }
    return err_set(err, "%.300s: it has no column %s", table->path, name);
}

/* An empty cell is NAN. */
static bool take_number(const struct table *table, size_t column, double *value, struct err *err)
{
    const char *cell = table->cells[column];
    char *end;
    *value = *cell ? strtod(cell, &end) : NAN;
    return !*cell || (!*end && isfinite(*value)) ||
           err_set(err, "%.300s, line %zu: '%.40s' is no number", table->path, table->line, cell);
}

static struct point *find_point(struct validation *validation, const char *name)
{
    for (size_t i = 0; i < validation->count; i++) {
        if (!strcmp(validation->points[i].row->name, name))
            return &validation->points[i];
    }
    return NULL;
}

/* ---- counters ---- */

#define COUNTERS(C)                                                                                          \
    C(launches, "launches")                                                                                  \
    C(cycles, "gpc__cycles_elapsed.max")                                                                     \
    C(instructions, "smsp__inst_executed.sum")                                                               \
    C(l1_rate, "l1tex__t_sector_hit_rate.pct")                                                               \
    C(tex, "lts__t_sectors_srcunit_tex.sum")                                                                 \
    C(tex_hit, "lts__t_sectors_srcunit_tex_lookup_hit.sum")                                                  \
    C(fabric, "lts__t_sectors_srcunit_ltcfabric.sum")                                                        \
    C(fabric_hit, "lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum")                                         \
    C(dram_read, "dram__bytes_read.sum")                                                                     \
    C(dram_written, "dram__bytes_write.sum")

enum counter {
#define C(id, name) COUNTER_##id,
    COUNTERS(C)
#undef C
        COUNTER_COUNT
};

static const char *const counter_names[] = {
#define C(id, name) name,
    COUNTERS(C)
#undef C
};

/* Sums over the kernels of a point: what a kernel lacks, the point lacks. The hit rate of L1 is weighted by
 * cycles, as tools/measure does for the launches of a kernel. */
struct sums {
    double of[COUNTER_COUNT];
};

/* The profiler counts sectors and hits in different runs of a kernel. What other units do beside it drowns
 * few sectors, and can lift the rate of many a little above 100. */
static double l2_rate(const double of[COUNTER_COUNT])
{
    enum { SECTORS_LEAST = 1000 };
    double hits = of[COUNTER_tex_hit] + of[COUNTER_fabric_hit];
    if (!(of[COUNTER_tex] >= SECTORS_LEAST) || isnan(hits))
        return NAN;
    return fmin(100, 100 * hits / (of[COUNTER_tex] + of[COUNTER_fabric]));
}

static void put_point(struct point *point, const struct sums *sums)
{
    const double *of = sums->of;
    point->launches_measured = (uint64_t)of[COUNTER_launches];
    point->measured[QUANTITY_CYCLES] = of[COUNTER_cycles];
    point->measured[QUANTITY_INSTRUCTIONS] = of[COUNTER_instructions];
    point->measured[QUANTITY_L1_HIT] = of[COUNTER_l1_rate] / of[COUNTER_cycles];
    point->measured[QUANTITY_L2_HIT] = l2_rate(of);
    point->measured[QUANTITY_DRAM_BYTES] = of[COUNTER_dram_read] + of[COUNTER_dram_written];
}

static bool add_row(struct table *table, const size_t columns[COUNTER_COUNT], struct sums *sums,
                    struct err *err)
{
    double values[COUNTER_COUNT];
    for (int i = 0; i < COUNTER_COUNT; i++) {
        if (!take_number(table, columns[i], &values[i], err))
            return false;
    }
    values[COUNTER_l1_rate] *= values[COUNTER_cycles];
    for (int i = 0; i < COUNTER_COUNT; i++)
        sums->of[i] += values[i];
    return true;
}

static bool find_counters(const struct table *table, size_t columns[COUNTER_COUNT], struct err *err)
{
    for (int i = 0; i < COUNTER_COUNT; i++) {
        if (!find_column(table, counter_names[i], &columns[i], err))
            return false;
    }
    return true;
}

static bool read_counters(struct validation *validation, struct table *table, struct err *err)
{
    size_t columns[COUNTER_COUNT], name;
    if (!find_column(table, "point", &name, err) || !find_counters(table, columns, err))
        return false;
    struct sums *sums = mem_alloc(validation->count, sizeof *sums);
    bool good = true;
    while (good && table_row(table, err)) {
        struct point *point = find_point(validation, table->cells[name]);
        if (!point)
            continue;
        struct sums *own = &sums[point - validation->points];
        good = add_row(table, columns, own, err);
        put_point(point, own);
    }
    mem_free(sums);
    return good && !*err->text;
}

/* ---- figures ---- */

static bool read_figures(struct validation *validation, struct table *table, struct err *err)
{
    size_t name, figure, value;
    if (!find_column(table, "point", &name, err) || !find_column(table, "figure", &figure, err) ||
        !find_column(table, "value", &value, err))
        return false;
    while (table_row(table, err)) {
        struct point *point = find_point(validation, table->cells[name]);
        if (!point)
            continue;
        if (point->figure_count == POINT_FIGURES_MOST)
            return err_set(err, "%.300s, line %zu: more than %d figures of %s", table->path, table->line,
                           POINT_FIGURES_MOST, point->row->name);
        struct figure *own = &point->figures[point->figure_count++];
        snprintf(own->name, sizeof own->name, "%s", table->cells[figure]);
        own->model = NAN;
        if (!take_number(table, value, &own->measured, err))
            return false;
    }
    return !*err->text;
}

/* ---- curves ---- */

static bool read_curves(struct validation *validation, struct table *table, struct err *err)
{
    size_t curve, at, value;
    if (!find_column(table, "curve", &curve, err) || !find_column(table, "at", &at, err) ||
        !find_column(table, "value", &value, err))
        return false;
    while (table_row(table, err)) {
        double place, measured;
        if (!take_number(table, at, &place, err) || !take_number(table, value, &measured, err))
            return false;
        if (!(place >= 0 && place <= UINT32_MAX))
            return err_set(err, "%.300s, line %zu: expected a count, not '%.40s'", table->path, table->line,
                           table->cells[at]);
        if (!curve_add(validation, table->cells[curve], (uint64_t)place, measured))
            return err_set(err, "%.300s, line %zu: there is no curve '%.60s' in bench/curves_gcn3.def",
                           table->path, table->line, table->cells[curve]);
    }
    return !*err->text;
}

/* ---- files ---- */

/* bench/NAME of the system NAME or .../NAME.ini, if there is one; else bench/h200, for what runs its code. */
static bool find_folder(struct text *path, const struct validation *validation, struct err *err)
{
    const char *system = validation->system_name;
    struct text name = {0};
    const char *slash = strrchr(system, '/'), *last = slash ? slash + 1 : system;
    const char *end = strstr(last, ".ini");
    text_add(&name, "bench/%.*s", (int)(end ? (size_t)(end - last) : strlen(last)), last);
    install_add_data(path, name.at);
    text_fini(&name);
    if (access(path->at, F_OK) == 0)
        return true;
    text_fini(path);
    if (*validation->system.gpu.target)
        return err_set(err,
                       "validate: nothing was measured on %.200s; --measured names a folder of measurements",
                       system);
    install_add_data(path, "bench/h200");
    return true;
}

static bool has_file(const char *folder, const char *name)
{
    struct text path = {0};
    text_add(&path, "%s/%s", folder, name);
    bool has = access(path.at, F_OK) == 0;
    text_fini(&path);
    return has;
}

static bool read_file(struct validation *validation, const char *folder, const char *name,
                      struct text *machine,
                      bool (*take)(struct validation *validation, struct table *table, struct err *err),
                      struct err *err)
{
    struct text path = {0};
    struct table table;
    text_add(&path, "%s/%s", folder, name);
    bool good = table_open(&table, path.at, machine, err) && take(validation, &table, err);
    text_fini(&table.content);
    text_fini(&path);
    return good;
}

bool measured_read(struct validation *validation, const char *folder, struct err *err)
{
    struct text path = {0};
    if (folder)
        text_add(&path, "%s", folder);
    else if (!find_folder(&path, validation, err))
        return false;
    validation->profiled = has_file(path.at, "counters.csv") || !has_file(path.at, "curves.csv");
    bool good = validation->profiled
                    ? read_file(validation, path.at, "counters.csv", &validation->machine, read_counters, err)
                    : read_file(validation, path.at, "curves.csv", &validation->machine, read_curves, err);
    good = good && read_file(validation, path.at, "figures.csv", NULL, read_figures, err);
    text_fini(&path);
    return good;
}
