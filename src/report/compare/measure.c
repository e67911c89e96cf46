/* A run beside what ncu measured. */
#include "report/compare/compare.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

struct pairing { /* a kernel of the run, and how many of its launches were paired */
    const char *name, *kernel;
    struct launch_list launches;
    size_t used;
};

static void add_only(struct measurement *m, struct text line)
{
    mem_grow(m->only, m->only_count, m->only_capacity);
    m->only[m->only_count++] = line;
}

static struct pairing *find(struct pairing *pairings, size_t count, const char *ncu_name)
{
    for (size_t i = 0; i < count; i++)
        if (ncu_same_kernel(ncu_name, pairings[i].name, pairings[i].kernel))
            return &pairings[i];
    return NULL;
}

/* ---- points ---- */

static void add_point(struct measured_metric *metric, struct measured_point point)
{
    mem_grow(metric->points, metric->count, metric->capacity);
    metric->points[metric->count++] = point;
}

static void add_pair(struct measurement *m, const struct ncu_table *table, const struct ncu_launch *real,
                     const struct pairing *pairing)
{
    const struct json_value *metrics = json_member(pairing->launches.at[pairing->used], "metrics");
    for (size_t i = 0; i < m->metric_count; i++) {
        struct measured_point point = {.kernel = pairing->name, .launch = pairing->used};
        if (ncu_find(table, real, m->metrics[i].row->name, &point.real) &&
            json_number(json_member(metrics, m->metrics[i].row->name), &point.model))
            add_point(&m->metrics[i], point);
    }
    m->pairs++;
}

static double mean_error(const struct measured_metric *metric)
{
    bool in_points = !strcmp(metric->row->unit, "%");
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < metric->count; i++) {
        double real = metric->points[i].real, error = fabs(metric->points[i].model - real);
        if (!in_points && real == 0)
            continue;
        sum += in_points ? error : 100 * error / fabs(real);
        count++;
    }
    return count ? sum / (double)count : 0;
}

static double correlation(const struct measured_metric *metric)
{
    double n = (double)metric->count, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < metric->count; i++) {
        x += metric->points[i].real / n;
        y += metric->points[i].model / n;
    }
    for (size_t i = 0; i < metric->count; i++) {
        double a = metric->points[i].real - x, b = metric->points[i].model - y;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* ---- both ---- */

static void note_rest(struct measurement *m, const struct pairing *pairings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t rest = pairings[i].launches.count - pairings[i].used;
        struct text line = {0};
        if (!rest)
            continue;
        text_add(&line, "%s: %zu launch%s only in the run", pairings[i].name, rest, rest == 1 ? "" : "es");
        add_only(m, line);
    }
}

static void make_metrics(struct measurement *m, const struct ncu_table *table)
{
    size_t rows = 0;
    while (metric_rows[rows].name)
        rows++;
    m->metrics = mem_alloc(rows, sizeof *m->metrics);
    for (size_t i = 0; i < rows; i++)
        if (metric_rows[i].section != METRIC_COUNTED &&
            names_find(&table->metrics, metric_rows[i].name) != NO_NAME)
            m->metrics[m->metric_count++] = (struct measured_metric){.row = &metric_rows[i]};
}

/* The first is the time, or else the cycles: rows of the launch itself are known before it runs. */
static void order_metrics(struct measurement *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->metric_count; i++) {
        if (!m->metrics[i].count)
            continue;
        m->metrics[i].mean_error = mean_error(&m->metrics[i]);
        m->metrics[i].correlation = correlation(&m->metrics[i]);
        m->metrics[kept++] = m->metrics[i];
    }
    m->metric_count = kept;
    for (size_t i = 0; i < kept; i++)
        if (m->metrics[i].row->section == METRIC_TIMED) {
            struct measured_metric first = m->metrics[i];
            memmove(m->metrics + 1, m->metrics, i * sizeof *m->metrics);
            m->metrics[0] = first;
            return;
        }
}

bool measure_run(struct measurement *m, const struct runfile *run, const struct ncu_table *table,
                 const char *path, struct err *err)
{
    const struct json_value *kernels = json_member(run->json, "kernels");
    size_t count = json_length(kernels);
    struct pairing *pairings = mem_alloc(count, sizeof *pairings);
    *m = (struct measurement){.path = path, .run = run};
    for (size_t i = 0; i < count; i++) {
        const struct json_value *kernel = json_element(kernels, i);
        pairings[i].name = json_text_at(kernel, "name", "");
        pairings[i].kernel = json_text_at(kernel, "kernel", pairings[i].name);
        comparison_launches(run, pairings[i].kernel, &pairings[i].launches);
    }
    make_metrics(m, table);
    for (size_t i = 0; i < table->count; i++) {
        struct pairing *pairing = find(pairings, count, table->launches[i].kernel);
        if (pairing && pairing->used < pairing->launches.count) {
            add_pair(m, table, &table->launches[i], pairing);
            pairing->used++;
            continue;
        }
        struct text line = {0};
        text_add(&line, "%.200s: launch %.40s was measured, and is not in the run", table->launches[i].kernel,
                 table->launches[i].id);
        add_only(m, line);
    }
    note_rest(m, pairings, count);
    order_metrics(m);
    for (size_t i = 0; i < count; i++)
        mem_free(pairings[i].launches.at);
    mem_free(pairings);
    if (!m->pairs)
        return err_set(err,
                       "%.200s and %.200s have no launch of a kernel in common (--stats-launches says which "
                       "are kept)",
                       run->path, path);
    return m->metric_count || err_set(err, "%.200s has no metric that %.200s has", path, run->path);
}

void measure_fini(struct measurement *m)
{
    for (size_t i = 0; i < m->metric_count; i++)
        mem_free(m->metrics[i].points);
    for (size_t i = 0; i < m->only_count; i++)
        text_fini(&m->only[i]);
    mem_free(m->metrics);
    mem_free(m->only);
}
