/* A sweep as a line chart: miss rates upwards, one key across, a line for each combination of the others. */
#include "cachesim/runs/runs.h"
#include "report/svg.h"
#include "base/bits.h"
#include "base/mem.h"

#include <math.h>

enum { WIDTH = 900, KEY = 24 };
static const struct svg_field field = {.left = 70, .top = 64, .width = 560, .height = 380};

struct chart {
    const struct sweep *sweep;
    const struct sweep_axis *x;
    bool of_l2;
    struct svg_scale scale; /* upwards, in percent */
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
    enum { MARGIN = 16 };
    return svg_x(&field, (MARGIN + (field.width - 2 * MARGIN) * share_across(x, value)) / field.width);
}

static double upwards(const struct chart *chart, double rate)
{
    return svg_y(&field, svg_share(&chart->scale, rate));
}

/* ---- drawing ---- */

static void draw_axes(const struct chart *chart, FILE *f)
{
    enum { STEPS = 5, LABEL_WIDTH = 44 };
    const struct sweep_axis *x = chart->x;
    struct text name = {0};
    for (int i = 0; i <= STEPS; i++) {
        char label[32];
        double rate = chart->scale.to * i / STEPS;
        snprintf(label, sizeof label, "%.4g%%", rate);
        svg_grid_across(f, &field, upwards(chart, rate), label);
    }
    double last = -LABEL_WIDTH;
    for (size_t i = 0; i < x->count; i++) {
        struct text label = {0};
        double at = across(x, x->values[i]);
        bool has_room = fabs(at - last) >= LABEL_WIDTH;
        sweep_value_print(x->key, x->values[i], &label);
        svg_grid_upwards(f, &field, at, has_room ? label.at : NULL);
        text_fini(&label);
        last = has_room ? at : last;
    }
    svg_frame(f, &field);
    text_add(&name, "%s: %s", x->key->name, x->key->help);
    svg_name_across(f, &field, name.at);
    svg_name_upwards(f, &field, 16, chart->of_l2 ? "L2 misses, of accesses" : "L1 misses, of accesses");
    text_fini(&name);
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

static int from_left(const void *a, const void *b)
{
    double x = ((const struct svg_point *)a)->x, y = ((const struct svg_point *)b)->x;
    return x < y ? -1 : x > y;
}

/* All that are on the line of this one, which is the first. */
static void draw_line(const struct chart *chart, const struct configurations *all, size_t first,
                      size_t number, FILE *f)
{
    struct svg_pen pen = svg_pen(number);
    struct svg_point *points = mem_alloc(all->count, sizeof *points);
    struct text name = {0};
    size_t count = 0;
    name_line(chart, &all->at[first].spec, &name);
    for (size_t i = first; i < all->count; i++) {
        const struct configuration *one = &all->at[i];
        if (!is_drawn(chart, one) || !same_line(chart, &all->at[first].spec, &one->spec))
            continue;
        double rate = rate_of(chart, one);
        points[count] = (struct svg_point){across(chart->x, sweep_value_of(chart->x->key, &one->spec)),
                                           upwards(chart, rate)};
        svg_dot(f, points[count++], pen.colour, "%s%s%.4g%%", name.length ? name.at : "",
                name.length ? ": " : "", rate);
    }
    qsort(points, count, sizeof *points, from_left);
    svg_line(f, pen, points, count);
    if (name.length)
        svg_key(f, svg_x(&field, 1) + KEY, field.top + 8 + SVG_KEY_ROW * (int)number, pen, name.at);
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
    const char *source = r->generate ? r->generate : r->traces[0];
    svg_heading(f, field.left, 24, SVG_START, "%s miss rate by %s", chart->of_l2 ? "L2" : "L1",
                chart->x->key->name);
    if (r->trace_count > 1)
        svg_label(f, field.left, 46, SVG_START, "%s and %u more", source, r->trace_count - 1);
    else
        svg_label(f, field.left, 46, SVG_START, "%s", source);
}

void sweep_svg(const struct caches_request *r, const struct configurations *all, FILE *f)
{
    struct chart chart = {.sweep = &r->sweep, .x = choose_axis(&r->sweep)};
    double most = 0;
    for (size_t i = 0; i < all->count && !strncmp(chart.x->key->name, "l2.", 3); i++)
        chart.of_l2 |= all->at[i].spec.machine != CACHES_L1;
    for (size_t i = 0; i < all->count; i++)
        most = fmax(most, rate_of(&chart, &all->at[i]));
    chart.scale.to = svg_round_up(most);
    int rows = (int)draw_lines(&chart, all, NULL);
    svg_begin(f, WIDTH, field.top + (int)fmax(field.height + 64, SVG_KEY_ROW * rows + 24));
    draw_titles(&chart, r, f);
    draw_axes(&chart, f);
    draw_lines(&chart, all, f);
    svg_end(f);
}
