#include "report/compare/compare.h"
#include "base/bits.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_METRICS = 40 };

static const char time_metric[] = "gpu__time_duration.sum", count_metric[] = "smsp__inst_executed.sum";

/* ---- numbers ---- */

double comparison_change(double before, double after)
{
    if (before == after)
        return 0;
    return before != 0 ? 100 * (after - before) / fabs(before) : INFINITY;
}

void comparison_launches(const struct runfile *run, const char *kernel, struct launch_list *list)
{
    const struct json_value *launches = json_member(run->json, "launches");
    for (size_t i = 0; i < json_length(launches); i++) {
        const struct json_value *launch = json_element(launches, i);
        if (strcmp(json_text_at(launch, "kernel", ""), kernel) != 0)
            continue;
        mem_grow(list->at, list->count, list->capacity);
        list->at[list->count++] = launch;
    }
}

static double metric_of(const struct json_value *launch, const char *name)
{
    return json_number_at(json_member(launch, "metrics"), name, 0);
}

/* Whether it grows with the number of launches. */
static bool is_sum(const struct metric_row *row)
{
    return row->section != METRIC_LAUNCH && (row->whole || !strcmp(row->name, time_metric)) &&
           strcmp(row->name, "heddle__sms_used") != 0;
}

/* ---- what changed ---- */

static const struct json_value *find_kernel(const struct runfile *run, const char *kernel, bool timed)
{
    const struct json_value *kernels = json_member(run->json, "kernels");
    for (size_t i = 0; i < json_length(kernels); i++) {
        const struct json_value *one = json_element(kernels, i);
        if (!strcmp(json_text_at(one, "kernel", ""), kernel) &&
            timed == (json_member(one, "stall_cycles") != NULL))
            return one;
    }
    return NULL;
}

static int by_change(const void *left, const void *right)
{
    const struct compared_metric *a = left, *b = right;
    double x = fabs(a->change), y = fabs(b->change);
    return x != y ? (x < y) - (x > y) : (a->row > b->row) - (a->row < b->row);
}

static void compare_metrics(struct compared_kernel *kernel, const struct json_value *before,
                            const struct json_value *after, bool timed)
{
    double launches_before = json_number_at(before, "launches", 1),
           launches_after = json_number_at(after, "launches", 1);
    size_t capacity = 0;
    for (const struct metric_row *row = metric_rows; row->name; row++) {
        double x, y;
        if ((row->section == METRIC_TIMED && !timed) || (row->section == METRIC_COUNTED && timed) ||
            !json_number(json_member(json_member(before, "metrics"), row->name), &x) ||
            !json_number(json_member(json_member(after, "metrics"), row->name), &y))
            continue;
        if (is_sum(row)) {
            x /= launches_before > 0 ? launches_before : 1;
            y /= launches_after > 0 ? launches_after : 1;
        }
        if (x == y)
            continue;
        mem_grow(kernel->metrics, kernel->metric_count, capacity);
        kernel->metrics[kernel->metric_count++] =
            (struct compared_metric){.row = row, .before = x, .after = y, .change = comparison_change(x, y)};
    }
    if (kernel->metric_count)
        qsort(kernel->metrics, kernel->metric_count, sizeof *kernel->metrics, by_change);
    kernel->metric_count = min_u64(kernel->metric_count, MOST_METRICS);
}

/* ---- what moved with it ---- */

/* Metrics that explain others, and by how much they must change to be told: points of a percentage, or
 * percent. */
static const struct {
    const char *metric, *words;
    bool in_points;
    double least;
} causes[] = {
    {"smsp__inst_executed.sum", "instructions", false, 2},
    {"l1tex__t_sectors.sum", "sectors asked of L1", false, 5},
    {"l1tex__t_sector_hit_rate.pct", "L1 hit rate", true, 2},
    {"lts__t_sector_hit_rate.pct", "L2 hit rate", true, 2},
    {"dram__bytes.sum", "DRAM bytes", false, 5},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM use", true, 3},
    {"heddle__peer_bytes.sum", "bytes over the fabric", false, 5},
    {"heddle__page_bytes.sum", "bytes of pages", false, 5},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "bank conflicts", false, 10},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy", true, 2},
    {"heddle__sms_used", "SMs used", false, 1},
    {"gpc__cycles_elapsed.avg.per_second", "the SMs' clock", false, 0.5},
};

static void add_comma(struct text *text)
{
    text_add(text, "%s", text->length ? ", " : "");
}

static void tell_cause(size_t i, double before, double after, struct text *why)
{
    double change = causes[i].in_points ? after - before : comparison_change(before, after);
    if (fabs(change) < causes[i].least || before == after)
        return;
    add_comma(why);
    text_add(why, "%s ", causes[i].words);
    if (causes[i].in_points)
        text_add(why, "%.3g%% to %.3g%%", before, after);
    else
        comparison_change_tell(change, why);
}

struct stall_change {
    enum stall stall;
    double change; /* percent of the warps' time before, or of the time now if that is longer */
};

static int by_size(const void *left, const void *right)
{
    const struct stall_change *a = left, *b = right;
    double x = fabs(a->change), y = fabs(b->change);
    return x != y ? (x < y) - (x > y) : (int)a->stall - (int)b->stall;
}

/* The two reasons whose cycles changed most, of a launch on average. */
static void tell_stalls(const struct json_value *before, const struct json_value *after, struct text *why)
{
    enum { TOLD = 2, LEAST = 3 };
    struct stall_change changes[STALL_COUNT];
    const struct json_value *x = json_member(before, "stall_cycles"), *y = json_member(after, "stall_cycles");
    double launches_x = fmax(json_number_at(before, "launches", 1), 1),
           launches_y = fmax(json_number_at(after, "launches", 1), 1), all_x = 0, all_y = 0;
    for (int i = 0; i < STALL_COUNT; i++) {
        double a = json_number_at(x, stall_name((enum stall)i), 0) / launches_x,
               b = json_number_at(y, stall_name((enum stall)i), 0) / launches_y;
        changes[i] =
            (struct stall_change){(enum stall)i, i == STALL_selected || i == STALL_not_selected ? 0 : b - a};
        all_x += a;
        all_y += b;
    }
    double whole = fmax(fmax(all_x, all_y), 1);
    qsort(changes, STALL_COUNT, sizeof *changes, by_size);
    for (int i = 0; i < TOLD; i++) {
        double share = 100 * changes[i].change / whole;
        if (fabs(share) < LEAST)
            break;
        add_comma(why);
        text_add(why, "warps wait %s for %s (%.0f%% of their time)", share > 0 ? "longer" : "less",
                 stall_name(changes[i].stall), fabs(share));
    }
}

static void tell_why(struct compared_kernel *kernel, const struct json_value *before,
                     const struct json_value *after)
{
    double launches_before = fmax(json_number_at(before, "launches", 1), 1),
           launches_after = fmax(json_number_at(after, "launches", 1), 1);
    for (size_t i = 0; i < COUNT_OF(causes); i++) {
        double x = metric_of(before, causes[i].metric), y = metric_of(after, causes[i].metric);
        bool sum = strstr(causes[i].metric, ".sum");
        tell_cause(i, sum ? x / launches_before : x, sum ? y / launches_after : y, &kernel->why);
    }
    tell_stalls(before, after, &kernel->why);
    if (!kernel->why.length)
        text_add(&kernel->why, "%s", kernel->change == 0 ? "nothing" : "nothing else by much");
}

/* ---- kernels ---- */

static void add_line(struct text **list, size_t *count, size_t *capacity, struct text line)
{
    mem_grow(*list, *count, *capacity);
    (*list)[(*count)++] = line;
}

static void note_only(struct comparison *c, const char *name, double launches, bool in_before)
{
    struct text line = {0};
    text_add(&line, "%s: %.0f launch%s only in %s", name, launches, launches == 1 ? "" : "es",
             in_before ? "the baseline" : "the other run");
    add_line(&c->only, &c->only_count, &c->only_capacity, line);
}

static void compare_pairs(struct compared_kernel *kernel, const struct launch_list *before,
                          const struct launch_list *after, const char *metric)
{
    kernel->launches = min_u64(before->count, after->count);
    for (size_t i = 0; i < kernel->launches; i++) {
        double x = metric_of(before->at[i], metric), y = metric_of(after->at[i], metric),
               change = comparison_change(x, y);
        kernel->before += x;
        kernel->after += y;
        if (fabs(change) > fabs(kernel->worst_change)) {
            kernel->worst = i;
            kernel->worst_change = change;
        }
    }
}

static void compare_kernel(struct comparison *c, const struct json_value *before,
                           const struct json_value *after)
{
    const char *name = json_text_at(before, "name", ""), *kernel_name = json_text_at(before, "kernel", name);
    const char *metric = c->timed ? time_metric : count_metric;
    struct launch_list old = {0}, new = {0};
    struct compared_kernel kernel = {.name = name};
    comparison_launches(c->before, kernel_name, &old);
    comparison_launches(c->after, kernel_name, &new);
    double launches_before = json_number_at(before, "launches", 1),
           launches_after = json_number_at(after, "launches", 1);
    compare_pairs(&kernel, &old, &new, metric);
    if (!kernel.launches && launches_before > 0 &&
        launches_after > 0) { /* none was kept one by one: the mean of all */
        kernel.launches = (size_t)fmin(launches_before, launches_after);
        kernel.before = metric_of(before, metric) / launches_before * (double)kernel.launches;
        kernel.after = metric_of(after, metric) / launches_after * (double)kernel.launches;
    }
    if (launches_before != launches_after)
        note_only(c, name, fabs(launches_before - launches_after), launches_before > launches_after);
    kernel.change = comparison_change(kernel.before, kernel.after);
    compare_metrics(&kernel, before, after, c->timed);
    tell_why(&kernel, before, after);
    c->total_before += kernel.before;
    c->total_after += kernel.after;
    c->kernels[c->kernel_count++] = kernel;
    mem_free(old.at);
    mem_free(new.at);
}

/* ---- systems ---- */

struct settings {
    struct comparison *c;
    const struct json_value *other; /* section */
    const char *section;
};

static void add_setting(void *user, const char *name, const struct json_value *value)
{
    struct settings *settings = user;
    struct text before = {0}, after = {0}, line = {0};
    json_value_tell(value, &before);
    json_value_tell(json_member(settings->other, name), &after);
    if (strcmp(before.at, after.at) != 0) {
        text_add(&line, "%s.%s: %.80s, was %.80s", settings->section, name, after.at, before.at);
        add_line(&settings->c->settings, &settings->c->setting_count, &settings->c->setting_capacity, line);
    }
    text_fini(&before);
    text_fini(&after);
}

static void add_section(void *user, const char *name, const struct json_value *value)
{
    struct comparison *c = user;
    struct settings settings = {
        .c = c, .other = json_member(json_member(c->after->json, "config"), name), .section = name};
    if (json_has_members(value))
        json_each_member(value, add_setting, &settings);
}

/* ---- both ---- */

static int by_time(const void *left, const void *right)
{
    const struct compared_kernel *a = left, *b = right;
    double x = fabs(a->after - a->before), y = fabs(b->after - b->before);
    return x != y ? (x < y) - (x > y) : strcmp(a->name, b->name);
}

void comparison_make(struct comparison *c, const struct runfile *before, const struct runfile *after)
{
    const struct json_value *old = json_member(before->json, "kernels"),
                            *new = json_member(after->json, "kernels");
    *c = (struct comparison){
        .before = before, .after = after, .timed = runfile_is_timed(before) && runfile_is_timed(after)};
    c->kernels = mem_alloc(json_length(old), sizeof *c->kernels);
    json_each_member(json_member(before->json, "config"), add_section, c);
    for (size_t i = 0; i < json_length(old); i++) {
        const struct json_value *kernel = json_element(old, i);
        const char *name = json_text_at(kernel, "name", "");
        bool timed = json_member(kernel, "stall_cycles");
        const struct json_value *other = find_kernel(after, json_text_at(kernel, "kernel", name), timed);
        if (other && timed == c->timed)
            compare_kernel(c, kernel, other);
        else if (!other)
            note_only(c, name, json_number_at(kernel, "launches", 1), true);
    }
    for (size_t i = 0; i < json_length(new); i++) {
        const struct json_value *kernel = json_element(new, i);
        const char *name = json_text_at(kernel, "name", "");
        if (!find_kernel(before, json_text_at(kernel, "kernel", name), json_member(kernel, "stall_cycles")))
            note_only(c, name, json_number_at(kernel, "launches", 1), false);
    }
    if (c->kernel_count)
        qsort(c->kernels, c->kernel_count, sizeof *c->kernels, by_time);
}

void comparison_fini(struct comparison *c)
{
    for (size_t i = 0; i < c->kernel_count; i++) {
        text_fini(&c->kernels[i].why);
        mem_free(c->kernels[i].metrics);
    }
    for (size_t i = 0; i < c->setting_count; i++)
        text_fini(&c->settings[i]);
    for (size_t i = 0; i < c->only_count; i++)
        text_fini(&c->only[i]);
    mem_free(c->kernels);
    mem_free(c->settings);
    mem_free(c->only);
}
