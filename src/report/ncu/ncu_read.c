#include "report/ncu/ncu.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_FILE = 1 << 30,
    MOST_FIELDS = 1 << 16,
};

/* ---- rows of fields ---- */

struct row {
    char **at;
    size_t count, capacity;
};

struct reader {
    const char *name, *at, *end;
    uint32_t line; /* of the row that was read last */
    uint32_t next_line;
    struct row row;
};

static void clear_row(struct row *row)
{
    for (size_t i = 0; i < row->count; i++)
        mem_free(row->at[i]);
    row->count = 0;
}

static void free_row(struct row *row)
{
    clear_row(row);
    mem_free(row->at);
}

/* A field with quotes goes to the next quote that is not doubled; it may hold line breaks. */
static bool read_field(struct reader *reader, struct text *field, struct err *err)
{
    bool quoted = reader->at < reader->end && *reader->at == '"';
    reader->at += quoted;
    for (; reader->at < reader->end; reader->at++) {
        char letter = *reader->at;
        bool doubled = quoted && letter == '"' && reader->at + 1 < reader->end && reader->at[1] == '"';
        if (doubled) {
            reader->at++;
        } else if (quoted ? letter == '"' : letter == ',' || letter == '\n') {
            reader->at += quoted;
            return true;
        }
        reader->next_line += letter == '\n';
        if (letter && letter != '\r')
            text_add_bytes(field, &letter, 1);
    }
    return !quoted || err_set(err, "%.300s:%u: the file ends inside a quoted field: it was cut", reader->name,
                              reader->line);
}

/* The fields of the next line. False at the end, or with an error. */
static bool read_row(struct reader *reader, bool *is_bad, struct err *err)
{
    clear_row(&reader->row);
    reader->line = reader->next_line;
    if (reader->at >= reader->end)
        return false;
    for (;;) {
        struct text field = {0};
        text_add(&field, "%s", "");
        if (!read_field(reader, &field, err)) {
            text_fini(&field);
            *is_bad = true;
            return false;
        }
        mem_grow(reader->row.at, reader->row.count, reader->row.capacity);
        reader->row.at[reader->row.count++] = field.at;
        if (reader->at < reader->end && *reader->at == ',' && reader->row.count < MOST_FIELDS) {
            reader->at++;
            continue;
        }
        while (reader->at < reader->end && *reader->at != '\n') /* behind a closing quote */
            reader->at++;
        reader->at += reader->at < reader->end;
        reader->next_line++;
        return true;
    }
}

/* Goes to the head of the table; what the program and ncu printed before it is passed over. */
static bool find_head(struct reader *reader)
{
    static const char *const heads[] = {"\"ID\",", "ID,"};
    while (reader->at < reader->end) {
        for (size_t i = 0; i < COUNT_OF(heads); i++)
            if ((size_t)(reader->end - reader->at) > strlen(heads[i]) &&
                !memcmp(reader->at, heads[i], strlen(heads[i])))
                return true;
        const char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
        reader->at = newline ? newline + 1 : reader->end;
        reader->next_line++;
    }
    return false;
}

/* ---- values ---- */

static const struct {
    const char *unit;
    double scale;
} units[] = {
    {"nsecond", 1},
    {"usecond", 1e3},
    {"msecond", 1e6},
    {"second", 1e9},
    {"ns", 1},
    {"us", 1e3},
    {"ms", 1e6},
    {"s", 1e9},
    {"Kbyte", 1e3},
    {"Mbyte", 1e6},
    {"Gbyte", 1e9},
    {"Tbyte", 1e12},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
    {"Kibyte", 1024},
    {"Mibyte", 1048576},
    {"Khz", 1e3},
    {"Mhz", 1e6},
    {"Ghz", 1e9},
    {"KHz", 1e3},
    {"MHz", 1e6},
    {"GHz", 1e9},
    {"cycle/nsecond", 1e9},
    {"cycle/usecond", 1e6},
    {"cycle/msecond", 1e3},
};

/* "Gbyte/second" is as "Gbyte": of a second are all that we have. */
static double scale_of(const char *unit)
{
    size_t length = strlen(unit);
    const char *slash = strchr(unit, '/');
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (!strcmp(unit, units[i].unit))
            return units[i].scale;
    if (slash && (!strcmp(slash, "/second") || !strcmp(slash, "/s") || !strncmp(slash, "/block", 6)))
        length = (size_t)(slash - unit);
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (strlen(units[i].unit) == length && !strncmp(unit, units[i].unit, length))
            return units[i].scale;
    return 1;
}

enum number { NUMBER_IS, NUMBER_IS_NONE, NUMBER_IS_FOREIGN };

/* "1,234.5". Names and "n/a" are no numbers; points between thousands are those of another locale. */
static enum number parse_number(const char *text, double *value)
{
    char digits[64];
    size_t count = 0, points = 0;
    for (const char *at = text; *at; at++) {
        points += *at == '.';
        if (*at == ',')
            continue;
        if (!strchr("0123456789.+-eE", *at) || count + 1 == sizeof digits)
            return NUMBER_IS_NONE;
        digits[count++] = *at;
    }
    char *end;
    digits[count] = 0;
    *value = strtod(digits, &end);
    if (points > 1)
        return NUMBER_IS_FOREIGN;
    return count && !*end && *value - *value == 0 ? NUMBER_IS : NUMBER_IS_NONE;
}

static bool take_value(struct reader *reader, struct ncu_table *table, struct ncu_launch *launch,
                       const char *metric, const char *unit, const char *text, struct err *err)
{
    double value;
    enum number number = parse_number(text, &value);
    if (number == NUMBER_IS_FOREIGN)
        return err_set(err, "%.200s:%u: '%.60s' has points between thousands: run ncu with LC_ALL=C",
                       reader->name, reader->line, text);
    if (number == NUMBER_IS_NONE || !*metric)
        return true;
    mem_grow(launch->values, launch->count, launch->capacity);
    launch->values[launch->count++] =
        (struct ncu_value){(uint32_t)names_add(&table->metrics, metric), value * scale_of(unit)};
    return true;
}

static struct ncu_launch *add_launch(struct ncu_table *table, const char *kernel, const char *id)
{
    mem_grow(table->launches, table->count, table->capacity);
    table->launches[table->count] = (struct ncu_launch){.kernel = mem_text(kernel), .id = mem_text(id)};
    return &table->launches[table->count++];
}

/* ---- one row for each launch: --page raw ---- */

enum { NO_COLUMN = -1 };

static int column_of(const struct row *head, const char *name)
{
    for (size_t i = 0; i < head->count; i++)
        if (!strcmp(head->at[i], name))
            return (int)i;
    return NO_COLUMN;
}

static struct row take_row(struct row *from)
{
    struct row row = *from;
    *from = (struct row){0};
    return row;
}

static bool has_width(const struct reader *reader, const struct row *head, struct err *err)
{
    return reader->row.count == head->count ||
           err_set(err, "%.300s:%u: a row of %zu fields, expected %zu, as the head has", reader->name,
                   reader->line, reader->row.count, head->count);
}

static bool is_blank(const struct row *row)
{
    return row->count == 1 && !*row->at[0];
}

static bool read_wide(struct reader *reader, struct ncu_table *table, const struct row *head, struct err *err)
{
    bool is_bad = false, good = true;
    int kernel = column_of(head, "Kernel Name");
    struct row unit_row = {0};
    if (read_row(reader, &is_bad, err) && *reader->row.at[0]) /* the row of units has no ID */
        good = err_set(
            err, "%.300s:%u: expected the row of units that follows the head: this is not ncu's raw page",
            reader->name, reader->line);
    good = good && !is_bad;
    if (good && reader->row.count)
        good = has_width(reader, head, err);
    unit_row = take_row(&reader->row);
    while (good && read_row(reader, &is_bad, err)) {
        if (is_blank(&reader->row))
            continue;
        good = has_width(reader, head, err);
        struct ncu_launch *launch =
            good ? add_launch(table, reader->row.at[kernel], reader->row.at[0]) : NULL;
        for (size_t i = 0; good && i < head->count; i++)
            good = !strstr(head->at[i], "__") ||
                   take_value(reader, table, launch, head->at[i], unit_row.at[i], reader->row.at[i], err);
    }
    free_row(&unit_row);
    return good && !is_bad;
}

/* ---- one row for each value: --page details, --metrics ---- */

/* What the details page calls metrics of ours. Some names stand for two, told apart by their units. */
static const struct {
    const char *label, *unit, *metric;
} labels[] = {
    {"Duration", "", "gpu__time_duration.sum"},
    {"Elapsed Cycles", "", "gpc__cycles_elapsed.max"},
    {"SM Frequency", "", "gpc__cycles_elapsed.avg.per_second"},
    {"SM Active Cycles", "", "sm__cycles_active.avg"},
    {"DRAM Throughput", "%", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"L2 Cache Throughput", "%", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"Memory Throughput", "byte", "dram__bytes.sum.per_second"},
    {"L1/TEX Hit Rate", "%", "l1tex__t_sector_hit_rate.pct"},
    {"L2 Hit Rate", "%", "lts__t_sector_hit_rate.pct"},
    {"Executed Ipc Active", "", "sm__inst_executed.avg.per_cycle_active"},
    {"Executed Ipc Elapsed", "", "sm__inst_executed.avg.per_cycle_elapsed"},
    {"Achieved Occupancy", "%", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"Theoretical Occupancy", "%", "sm__maximum_warps_per_active_cycle_pct"},
    {"Avg. Active Threads Per Warp", "", "smsp__thread_inst_executed_per_inst_executed.ratio"},
    {"Avg. Not Predicated Off Threads Per Warp", "",
     "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"},
    {"Executed Instructions", "", "smsp__inst_executed.sum"},
    {"Registers Per Thread", "", "launch__registers_per_thread"},
    {"Grid Size", "", "launch__grid_size"},
    {"Block Size", "", "launch__block_size"},
    {"Threads", "", "launch__thread_count"},
    {"Waves Per SM", "", "launch__waves_per_multiprocessor"},
    {"Block Limit SM", "", "launch__occupancy_limit_blocks"},
    {"Block Limit Registers", "", "launch__occupancy_limit_registers"},
    {"Block Limit Shared Mem", "", "launch__occupancy_limit_shared_mem"},
    {"Block Limit Warps", "", "launch__occupancy_limit_warps"},
    {"Static Shared Memory Per Block", "", "launch__shared_mem_per_block_static"},
    {"Dynamic Shared Memory Per Block", "", "launch__shared_mem_per_block_dynamic"},
};

/* A metric's own name, or that of a label; "" if it is none of ours. */
static const char *metric_of(const char *label, const char *unit)
{
    if (strstr(label, "__"))
        return label;
    for (size_t i = 0; i < COUNT_OF(labels); i++)
        if (!strcmp(label, labels[i].label) && (!*labels[i].unit || strstr(unit, labels[i].unit)))
            return labels[i].metric;
    return "";
}

static bool read_long(struct reader *reader, struct ncu_table *table, const struct row *head, struct err *err)
{
    int kernel = column_of(head, "Kernel Name"), metric = column_of(head, "Metric Name"),
        unit = column_of(head, "Metric Unit"), value = column_of(head, "Metric Value");
    bool is_bad = false, good = true;
    struct ncu_launch *launch = NULL;
    if (unit == NO_COLUMN)
        return err_set(err, "%.300s:%u: the head has no column Metric Unit", reader->name, reader->line);
    while (good && read_row(reader, &is_bad, err)) {
        if (is_blank(&reader->row))
            continue;
        /* rules have fewer fields in some versions, and are no values */
        size_t needed = (size_t)(metric > value ? metric : value);
        if (reader->row.count <= needed || reader->row.count <= (size_t)unit ||
            reader->row.count <= (size_t)kernel) {
            good = has_width(reader, head, err);
            continue;
        }
        char **row = reader->row.at;
        if (!launch || strcmp(launch->id, row[0]) != 0)
            launch = add_launch(table, row[kernel], row[0]);
        good =
            take_value(reader, table, launch, metric_of(row[metric], row[unit]), row[unit], row[value], err);
    }
    return good && !is_bad;
}

/* ---- files ---- */

static bool read_table(struct reader *reader, struct ncu_table *table, struct err *err)
{
    bool is_bad = false;
    if (!find_head(reader))
        return err_set(
            err,
            "%.300s: this is no CSV of ncu: expected a line that begins with \"ID\", as `ncu --csv --page "
            "raw` writes",
            reader->name);
    if (!read_row(reader, &is_bad, err))
        return false;
    struct row head = take_row(&reader->row);
    bool good =
        column_of(&head, "Kernel Name") != NO_COLUMN ||
        err_set(err, "%.300s:%u: the head has no column Kernel Name: this version of ncu is not known",
                reader->name, reader->line);
    bool is_long =
        column_of(&head, "Metric Name") != NO_COLUMN && column_of(&head, "Metric Value") != NO_COLUMN;
    good = good && (is_long ? read_long(reader, table, &head, err) : read_wide(reader, table, &head, err));
    free_row(&head);
    if (!good)
        return false;
    for (size_t i = 0; i < table->count; i++)
        if (table->launches[i].count)
            return true;
    return err_set(err,
                   "%.300s: ncu measured nothing that is known here: expected metrics such as "
                   "gpu__time_duration.sum",
                   reader->name);
}

bool ncu_read_text(struct ncu_table *table, const char *name, const char *text, size_t bytes, struct err *err)
{
    struct reader reader = {.name = name, .at = text, .end = text + bytes, .line = 1, .next_line = 1};
    *table = (struct ncu_table){0};
    bool good = read_table(&reader, table, err);
    free_row(&reader.row);
    return good;
}

bool ncu_read(struct ncu_table *table, const char *path, struct err *err)
{
    struct text content = {0};
    *table = (struct ncu_table){0};
    bool good = !file_is_endless(path) || err_set(err, "%.300s is a device, expected a file", path);
    good = good && file_read(path, LARGEST_FILE, &content, err) &&
           ncu_read_text(table, path, content.length ? content.at : "", content.length, err);
    text_fini(&content);
    return good;
}

void ncu_fini(struct ncu_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        mem_free(table->launches[i].kernel);
        mem_free(table->launches[i].id);
        mem_free(table->launches[i].values);
    }
    mem_free(table->launches);
    names_fini(&table->metrics);
    *table = (struct ncu_table){0};
}

bool ncu_find(const struct ncu_table *table, const struct ncu_launch *launch, const char *metric,
              double *value)
{
    size_t number = names_find(&table->metrics, metric);
    for (size_t i = 0; i < launch->count && number != NO_NAME; i++)
        if (launch->values[i].metric == number) {
            *value = launch->values[i].value;
            return true;
        }
    return false;
}
