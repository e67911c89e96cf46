#include "report/compare/compare.h"
#include "base/bits.h"
#include "base/mem.h"
#include "report/compare/pairing.h"

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

/* One of both: of a launch, on average. */
struct side {
    double *values; /* by row of metric_rows; NAN: it has none */
    double stalls[STALL_COUNT];
};

static size_t row_count(void)
{
    size_t count = 0;
    while (metric_rows[count].name)
        count++;
    return count;
}

static bool row_applies(const struct metric_row *row, bool timed)
{
    return row->section == METRIC_LAUNCH || (row->section == METRIC_TIMED) == timed;
}

static struct side empty_side(void)
{
    struct side side = {.values = mem_alloc(row_count() + 1, sizeof *side.values)};
    for (size_t i = 0; i < row_count(); i++)
        side.values[i] = NAN;
    return side;
}

/* Of a kernel's sums over its launches. */
static struct side side_of_kernel(const struct json_value *kernel, bool timed)
{
    struct side side = empty_side();
    const struct json_value *metrics = json_member(kernel, "metrics");
    double launches = fmax(json_number_at(kernel, "launches", 1), 1);
    for (size_t i = 0; metric_rows[i].name; i++) {
        const struct metric_row *row = &metric_rows[i];
        if (row_applies(row, timed) && json_number(json_member(metrics, row->name), &side.values[i]) &&
            is_sum(row))
            side.values[i] /= launches;
    }
    for (int i = 0; i < STALL_COUNT; i++)
        side.stalls[i] =
            json_number_at(json_member(kernel, "stall_cycles"), stall_name((enum stall)i), 0) / launches;
    return side;
}

/* Of some of its launches: what is no sum counts by the time of its launch. */
static struct side side_of_launches(const struct launch_list *launches, bool timed)
{
    struct side side = empty_side();
    for (size_t i = 0; metric_rows[i].name; i++) {
        const struct metric_row *row = &metric_rows[i];
        double sum = 0, weights = 0, value;
        for (size_t k = 0; k < launches->count && row_applies(row, timed); k++) {
            double time = is_sum(row) || !timed ? 1 : fmax(metric_of(launches->at[k], time_metric), 1e-9);
            if (!json_number(json_member(json_member(launches->at[k], "metrics"), row->name), &value))
                continue;
            sum += value * time;
            weights += time;
        }
        if (weights > 0)
            side.values[i] = sum / weights;
    }
    for (size_t k = 0; k < launches->count; k++)
        for (int i = 0; i < STALL_COUNT; i++)
            side.stalls[i] +=
                json_number_at(json_member(launches->at[k], "stall_cycles"), stall_name((enum stall)i), 0) /
                (double)launches->count;
    return side;
}

static double value_of(const struct side *side, const char *name)
{
    for (size_t i = 0; metric_rows[i].name; i++)
        if (!strcmp(metric_rows[i].name, name) && !isnan(side->values[i]))
            return side->values[i];
    return 0;
}

static int by_change(const void *left, const void *right)
{
    const struct compared_metric *a = left, *b = right;
    double x = fabs(a->change), y = fabs(b->change);
    return x != y ? (x < y) - (x > y) : (a->row > b->row) - (a->row < b->row);
}

static void compare_metrics(struct compared_kernel *kernel, const struct side *before,
                            const struct side *after)
{
    size_t capacity = 0;
    for (size_t i = 0; metric_rows[i].name; i++) {
        double x = before->values[i], y = after->values[i];
        if (isnan(x) || isnan(y) || x == y)
            continue;
        mem_grow(kernel->metrics, kernel->metric_count, capacity);
        kernel->metrics[kernel->metric_count++] = (struct compared_metric){
            .row = &metric_rows[i], .before = x, .after = y, .change = comparison_change(x, y)};
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

/* The two reasons whose cycles changed most. */
static void tell_stalls(const struct side *before, const struct side *after, struct text *why)
{
    enum { TOLD = 2, LEAST = 3 };
    struct stall_change changes[STALL_COUNT];
    double all_x = 0, all_y = 0;
    for (int i = 0; i < STALL_COUNT; i++) {
        double a = before->stalls[i], b = after->stalls[i];
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

static void tell_why(struct compared_kernel *kernel, const struct side *before, const struct side *after)
{
    for (size_t i = 0; i < COUNT_OF(causes); i++)
        tell_cause(i, value_of(before, causes[i].metric), value_of(after, causes[i].metric), &kernel->why);
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

static void note_only(struct comparison *c, const char *name, double launches, bool in_before,
                      const char *more)
{
    struct text line = {0};
    text_add(&line, "%s: %.0f launch%s only in %s%s", name, launches, launches == 1 ? "" : "es",
             in_before ? "the baseline" : "the other run", more);
    add_line(&c->only, &c->only_count, &c->only_capacity, line);
}

static void note_rests(struct comparison *c, const char *name, const struct pairing *pairing)
{
    for (size_t i = 0; i < pairing->rest_count; i++) {
        const struct launch_rest *rest = &pairing->rests[i];
        struct text shaped = {0};
        text_add(&shaped, "%s %s", name, rest->shape.at);
        note_only(c, pairing->shapes > 1 ? shaped.at : name, (double)rest->count, rest->in_before, "");
        text_fini(&shaped);
    }
}

static void compare_pairs(struct compared_kernel *kernel, const struct launch_group *group,
                          const char *metric)
{
    kernel->launches = group->before.count;
    for (size_t i = 0; i < kernel->launches; i++) {
        double x = metric_of(group->before.at[i], metric), y = metric_of(group->after.at[i], metric),
               change = comparison_change(x, y);
        kernel->before += x;
        kernel->after += y;
        if (fabs(change) > fabs(kernel->worst_change)) {
            kernel->worst = i;
            kernel->worst_change = change;
        }
    }
}

/* The sides end here. */
static void add_kernel(struct comparison *c, struct compared_kernel kernel, struct side before,
                       struct side after)
{
    kernel.change = comparison_change(kernel.before, kernel.after);
    compare_metrics(&kernel, &before, &after);
    tell_why(&kernel, &before, &after);
    c->total_before += kernel.before;
    c->total_after += kernel.after;
    mem_grow(c->kernels, c->kernel_count, c->kernel_capacity);
    c->kernels[c->kernel_count++] = kernel;
    mem_free(before.values);
    mem_free(after.values);
}

/* All launches of the kernel have one shape, or are not known one by one: sums over all of them. */
static void compare_whole(struct comparison *c, struct compared_kernel kernel,
                          const struct json_value *before, const struct json_value *after,
                          const struct launch_group *group)
{
    const char *metric = c->timed ? time_metric : count_metric;
    double launches_before = json_number_at(before, "launches", 1),
           launches_after = json_number_at(after, "launches", 1);
    if (group) {
        compare_pairs(&kernel, group, metric);
    } else if (launches_before > 0 && launches_after > 0) { /* the mean of all */
        kernel.launches = (size_t)fmin(launches_before, launches_after);
        kernel.before = metric_of(before, metric) / launches_before * (double)kernel.launches;
        kernel.after = metric_of(after, metric) / launches_after * (double)kernel.launches;
    }
    if (launches_before != launches_after)
        note_only(c, kernel.name.at, fabs(launches_before - launches_after), launches_before > launches_after,
                  "");
    add_kernel(c, kernel, side_of_kernel(before, c->timed), side_of_kernel(after, c->timed));
}

static void compare_groups(struct comparison *c, const char *title, const struct pairing *pairing)
{
    for (size_t i = 0; i < pairing->group_count; i++) {
        const struct launch_group *group = &pairing->groups[i];
        struct compared_kernel kernel = {0};
        text_add(&kernel.name, "%s", title);
        text_add(&kernel.shape, "%s", group->shape.at);
        compare_pairs(&kernel, group, c->timed ? time_metric : count_metric);
        add_kernel(c, kernel, side_of_launches(&group->before, c->timed),
                   side_of_launches(&group->after, c->timed));
    }
    note_rests(c, title, pairing);
}

static const char *key_of(const struct json_value *kernel)
{
    return json_text_at(kernel, "kernel", json_text_at(kernel, "name", ""));
}

/* Only launches that were kept one by one have a shape. */
static void note_unknown(struct comparison *c, const char *title, const struct json_value *kernel,
                         const struct launch_list *kept, bool in_before)
{
    struct text line = {0};
    double unknown = json_number_at(kernel, "launches", 1) - (double)kept->count;
    if (unknown < 1)
        return;
    text_add(&line, "%s: %.0f launch%s of %s %s not kept one by one, and not compared", title, unknown,
             unknown == 1 ? "" : "es", in_before ? "the baseline" : "the other run",
             unknown == 1 ? "was" : "were");
    add_line(&c->only, &c->only_count, &c->only_capacity, line);
}

/* title: what it is called, in both or with both names. */
static void compare_kernel(struct comparison *c, const char *title, const struct json_value *before,
                           const struct json_value *after)
{
    struct launch_list old = {0}, new = {0};
    struct pairing pairing;
    comparison_launches(c->before, key_of(before), &old);
    comparison_launches(c->after, key_of(after), &new);
    pairing_make(&pairing, &old, &new);
    if (pairing.shapes > 1) {
        compare_groups(c, title, &pairing);
        note_unknown(c, title, before, &old, true);
        note_unknown(c, title, after, &new, false);
    } else {
        struct compared_kernel kernel = {0};
        text_add(&kernel.name, "%s", title);
        compare_whole(c, kernel, before, after, pairing.group_count ? &pairing.groups[0] : NULL);
    }
    pairing_fini(&pairing);
    mem_free(old.at);
    mem_free(new.at);
}

/* ---- kernels that are in one of both ---- */

static bool is_alone(const struct runfile *other, const struct json_value *kernel)
{
    return !find_kernel(other, key_of(kernel), json_member(kernel, "stall_cycles"));
}

static bool are_alike(const struct comparison *c, const struct json_value *before,
                      const struct json_value *after)
{
    struct launch_list old = {0}, new = {0};
    bool is_timed = json_member(before, "stall_cycles");
    comparison_launches(c->before, key_of(before), &old);
    comparison_launches(c->after, key_of(after), &new);
    bool alike = is_timed == c->timed && is_timed == (json_member(after, "stall_cycles") != NULL) &&
                 pairing_is_alike(&old, &new);
    mem_free(old.at);
    mem_free(new.at);
    return alike;
}

/* The kernel that is like this one and in one of both runs, too, if there is no more than one such; else
 * NULL. */
static const struct json_value *only_like(const struct comparison *c, const struct json_value *kernel,
                                          bool in_before)
{
    const struct runfile *other = in_before ? c->after : c->before;
    const struct json_value *kernels = json_member(other->json, "kernels"), *found = NULL;
    for (size_t i = 0; i < json_length(kernels); i++) {
        const struct json_value *one = json_element(kernels, i);
        if (!is_alone(in_before ? c->before : c->after, one) ||
            !(in_before ? are_alike(c, kernel, one) : are_alike(c, one, kernel)))
            continue;
        if (found)
            return NULL;
        found = one;
    }
    return found;
}

/* What it is called in the other run, as far as launches tell. */
static const struct json_value *renamed(const struct comparison *c, const struct json_value *kernel,
                                        bool in_before)
{
    const struct json_value *other = only_like(c, kernel, in_before);
    return other && only_like(c, other, !in_before) == kernel ? other : NULL;
}

/* In both, but with time in one of them alone. */
static void note_timed_once(struct comparison *c, const char *name, bool timed_before)
{
    struct text line = {0};
    text_add(&line, "%s: not compared: %s simulated its time, and %s ran it functionally", name,
             timed_before ? "the baseline" : "the other run",
             timed_before ? "the other run" : "the baseline");
    add_line(&c->only, &c->only_count, &c->only_capacity, line);
}

static void tell_alone(struct comparison *c, const struct json_value *kernel, bool in_before)
{
    const char *name = json_text_at(kernel, "name", "");
    bool timed = json_member(kernel, "stall_cycles");
    if (find_kernel(in_before ? c->after : c->before, key_of(kernel), !timed)) {
        if (in_before) /* once */
            note_timed_once(c, name, timed);
        return;
    }
    const struct json_value *other = renamed(c, kernel, in_before);
    struct text title = {0};
    if (!other) {
        note_only(c, name, json_number_at(kernel, "launches", 1), in_before,
                  in_before ? ", the other run has no such kernel" : ", the baseline has no such kernel");
    } else if (in_before) { /* once */
        text_add(&title, "%s (was %s)", json_text_at(other, "name", ""), name);
        compare_kernel(c, title.at, kernel, other);
    }
    text_fini(&title);
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
    int order = strcmp(a->name.at, b->name.at);
    return x != y  ? (x < y) - (x > y)
           : order ? order
                   : strcmp(a->shape.at ? a->shape.at : "", b->shape.at ? b->shape.at : "");
}

void comparison_make(struct comparison *c, const struct runfile *before, const struct runfile *after)
{
    const struct json_value *old = json_member(before->json, "kernels"),
                            *new = json_member(after->json, "kernels");
    *c = (struct comparison){
        .before = before, .after = after, .timed = runfile_is_timed(before) && runfile_is_timed(after)};
    json_each_member(json_member(before->json, "config"), add_section, c);
    for (size_t i = 0; i < json_length(old); i++) {
        const struct json_value *kernel = json_element(old, i);
        bool timed = json_member(kernel, "stall_cycles");
        const struct json_value *other = find_kernel(after, key_of(kernel), timed);
        if (other && timed == c->timed)
            compare_kernel(c, json_text_at(kernel, "name", ""), kernel, other);
        else if (!other)
            tell_alone(c, kernel, true);
    }
    for (size_t i = 0; i < json_length(new); i++)
        if (is_alone(before, json_element(new, i)))
            tell_alone(c, json_element(new, i), false);
    if (c->kernel_count)
        qsort(c->kernels, c->kernel_count, sizeof *c->kernels, by_time);
}

void comparison_fini(struct comparison *c)
{
    for (size_t i = 0; i < c->kernel_count; i++) {
        text_fini(&c->kernels[i].why);
        text_fini(&c->kernels[i].name);
        text_fini(&c->kernels[i].shape);
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
