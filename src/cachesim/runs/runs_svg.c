/* A sweep as a line chart: miss rates upwards, one key across, a line for each combination of the others. */
#include "cachesim_runs/runs.h"
#include "report/svg.h"
#include "base/bits.h"
#include "base/mem.h"

#include <math.h>

enum { WIDTH = 900, LEFT = 70, TOP = 64, ACROSS = 560, UP = 380, LEGEND = LEFT + ACROSS + 24, ROW = 18 };

struct chart {
    const struct sweep *sweep;
    const struct sweep_axis *x;
    bool of_l2;
    double most; /* of the scale upwards, in percent */
};

/* Sizes first, then what has the most values. */
static const struct sweep_axis *choose_axis(const struct sweep *sweep)
{
    const struct sweep_axis *best = &sweep->axes[0];
    for (size_t i = 1; i < sweep->count; i++) {
        const struct sweep_axis *axis = &sweep->axes[i];
        bool is_size = axis->key->kind == SWEEP_SIZE, best_is = best->key->kind == SWEEP_SIZE;
        if (is_size == best_is ? axis->count > best->count : is_size && axis->count > 1)
            best = axis;
    }
    return best;
}

static double rate_of(const struct chart *chart, const struct configuration *one)
{
    return miss_rate(chart->of_l2 ? &one->result.l2 : &one->result.l1);
}

static bool is_drawn(const struct chart *chart, const struct configuration *one)
{
    return !chart->of_l2 || one->spec.machine != CACHES_L1;
}

/* ---- places ---- */

/* From 0 to 1: by powers of two, or, of what is no number, evenly. */
static double share_across(const struct sweep_axis *x, uint64_t value)
{
    uint64_t least = UINT64_MAX, most = 0;
    size_t place = 0;
    for (size_t i = 0; i < x->count; i++) {
        least = min_u64(least, x->values[i]);
        most = max_u64(most, x->values[i]);
        place = x->values[i] == value ? i : place;
    }
    if (least == most)
        return 0.5;
    if (least && (x->key->kind == SWEEP_SIZE || x->key->kind == SWEEP_COUNT || x->key->kind == SWEEP_QUANTUM))
        return log2((double)value / (double)least) / log2((double)most / (double)least);
    return (double)place / (double)(x->count - 1);
}

static double across(const struct sweep_axis *x, uint64_t value)
{
    return LEFT + 16 + (ACROSS - 32) * share_across(x, value);
}

static double upwards(const struct chart *chart, double rate)
{
    return TOP + UP * (1 - rate / chart->most);
}

/* ---- drawing ---- */

static void draw_axes(const struct chart *chart, FILE *f)
{
    const struct sweep_axis *x = chart->x;
    for (int i = 0; i <= 5; i++) {
        double rate = chart->most * i / 5, y = upwards(chart, rate);
        fprintf(f, "<path class='g' d='M%d %.1f h%d'/>", LEFT, y, ACROSS);
        fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>%.4g%%</text>\n", LEFT - 8, y + 4, rate);
    }
    double last = -1e9;
    for (size_t i = 0; i < x->count; i++) {
        double at = across(x, x->values[i]);
        fprintf(f, "<path class='g' d='M%.1f %d v%d'/>", at, TOP, UP);
        if (fabs(at - last) < 44) /* no room for its label */
            continue;
        struct text label = {0};
        sweep_value_print(x->key, x->values[i], &label);
        fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n", at, TOP + UP + 20, label.at);
        text_fini(&label);
        last = at;
    }
    fprintf(f, "<rect class='f' x='%d' y='%d' width='%d' height='%d'/>\n", LEFT, TOP, ACROSS, UP);
    fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>%s: %s</text>\n", LEFT + ACROSS / 2, TOP + UP + 44,
            x->key->name, x->key->help);
    fprintf(f,
            "<text transform='translate(16 %d) rotate(-90)' text-anchor='middle'>%s misses, of accesses"
            "</text>\n",
            TOP + UP / 2, chart->of_l2 ? "L2" : "L1");
}

/* Both are of the same line. */
static bool same_line(const struct chart *chart, const struct caches_spec *a, const struct caches_spec *b)
{
    for (size_t i = 0; i < chart->sweep->count; i++) {
        const struct sweep_axis *axis = &chart->sweep->axes[i];
        if (axis != chart->x && sweep_value_of(axis->key, a) != sweep_value_of(axis->key, b))
            return false;
    }
    return true;
}

static void name_line(const struct chart *chart, const struct caches_spec *spec, struct text *name)
{
    for (size_t i = 0; i < chart->sweep->count; i++) {
        const struct sweep_axis *axis = &chart->sweep->axes[i];
        if (axis == chart->x || axis->count < 2)
            continue;
        text_add(name, "%s%s ", name->length ? ", " : "", axis->key->name);
        sweep_value_print(axis->key, sweep_value_of(axis->key, spec), name);
    }
}

static int compare_points(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct point {
    double x, y, rate;
};

/* All that are on the line of this one, which is the first. */
static void draw_line(const struct chart *chart, const struct configurations *all, size_t first,
                      size_t number, FILE *f)
{
    const char *colour = svg_colour(number);
    const char *dash = svg_dash(number);
    struct point *points = mem_alloc(all->count, sizeof *points);
    struct text name = {0};
    size_t count = 0;
    for (size_t i = first; i < all->count; i++) {
        const struct configuration *one = &all->at[i];
        if (!is_drawn(chart, one) || !same_line(chart, &all->at[first].spec, &one->spec))
            continue;
        double rate = rate_of(chart, one);
        points[count++] = (struct point){across(chart->x, sweep_value_of(chart->x->key, &one->spec)),
                                         upwards(chart, rate), rate};
    }
    qsort(points, count, sizeof *points, compare_points);
    fprintf(f, "<path fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s' d='", colour, dash);
    for (size_t i = 0; i < count; i++)
        fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M', points[i].x, points[i].y);
    fputs("'/>\n", f);
    name_line(chart, &all->at[first].spec, &name);
    for (size_t i = 0; i < count; i++)
        fprintf(f, "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'><title>%s%s%.4g%%</title></circle>\n",
                points[i].x, points[i].y, colour, name.length ? name.at : "", name.length ? ": " : "",
                points[i].rate);
    if (name.length) {
        int y = TOP + 8 + ROW * (int)number;
        fprintf(f, "<path stroke='%s' stroke-width='2' stroke-dasharray='%s' d='M%d %d h24'/>", colour, dash,
                LEGEND, y);
        fprintf(f, "<text x='%d' y='%d'>%s</text>\n", LEGEND + 30, y + 4, name.at);
    }
    text_fini(&name);
    mem_free(points);
}

/* The lines, each by its first configuration; or only their number. */
static size_t draw_lines(const struct chart *chart, const struct configurations *all, FILE *f)
{
    size_t lines = 0;
    for (size_t i = 0; i < all->count; i++) {
        bool is_first = is_drawn(chart, &all->at[i]);
        for (size_t k = 0; k < i && is_first; k++)
            is_first = !is_drawn(chart, &all->at[k]) || !same_line(chart, &all->at[i].spec, &all->at[k].spec);
        if (is_first && f)
            draw_line(chart, all, i, lines, f);
        lines += is_first;
    }
    return lines;
}

static void draw_titles(const struct chart *chart, const struct caches_request *r, FILE *f)
{
    fprintf(f, "<text x='%d' y='24' font-size='16'>%s miss rate by %s</text>\n", LEFT,
            chart->of_l2 ? "L2" : "L1", chart->x->key->name);
    fprintf(f, "<text x='%d' y='46'>", LEFT);
    svg_text(f, r->generate ? r->generate : r->traces[0]);
    if (r->trace_count > 1)
        fprintf(f, " and %u more", r->trace_count - 1);
    fputs("</text>\n", f);
}

void sweep_svg(const struct caches_request *r, const struct configurations *all, FILE *f)
{
    struct chart chart = {.sweep = &r->sweep, .x = choose_axis(&r->sweep)};
    for (size_t i = 0; i < all->count && !strncmp(chart.x->key->name, "l2.", 3); i++)
        chart.of_l2 |= all->at[i].spec.machine != CACHES_L1;
    for (size_t i = 0; i < all->count; i++)
        chart.most = fmax(chart.most, rate_of(&chart, &all->at[i]));
    chart.most = svg_round_up(chart.most);
    int rows = (int)draw_lines(&chart, all, NULL), height = TOP + (int)fmax(UP + 64, ROW * rows + 24);
    svg_begin(f, WIDTH, height);
    draw_titles(&chart, r, f);
    draw_axes(&chart, f);
    draw_lines(&chart, all, f);
    svg_end(f);
}
