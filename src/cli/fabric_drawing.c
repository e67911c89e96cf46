#include "cli/fabric_drawing.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unit.h"
#include "system/fabric.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum {
    PAGE_LEAST = 720,
    BOX_WIDTH = 76,
    BOX_HEIGHT = 26,
    BOX_APART = 18,    /* between two boxes, at least */
    CURVE_POINTS = 33, /* of a link that bends */
    LETTER_WIDTH = 7,  /* of a label, about */
    LABEL_HEIGHT = 12,
};

struct box {
    double left, top, right, bottom;
};

struct drawing {
    const struct net_graph *graph;
    double page;
    struct svg_point *places; /* of nodes: the middle of their boxes */
    struct box *labels;       /* that are there already */
    size_t label_count, label_capacity;
};

/* ---- places ---- */

/* Buses are drawn as the links that they are parts of. */
static bool is_shown(const struct drawing *d, uint32_t node)
{
    return !d->graph->nodes[node].is_bus;
}

static bool moves(const struct drawing *d, uint32_t node)
{
    return is_shown(d, node) && !d->graph->nodes[node].is_endpoint;
}

/* Endpoints stand on a circle; switches begin in its middle. */
static void place_endpoints(struct drawing *d)
{
    static const double tau = 6.28318530717959;
    size_t count = 0, number = 0;
    for (size_t i = 0; i < d->graph->node_count; i++)
        count += d->graph->nodes[i].is_endpoint;
    double radius = fmax(0.42 * PAGE_LEAST, (double)count * (BOX_WIDTH - BOX_APART) / tau);
    d->page = radius / 0.42;
    for (size_t i = 0; i < d->graph->node_count; i++) {
        bool outer = d->graph->nodes[i].is_endpoint;
        double angle = outer ? tau * (double)number++ / (double)count - tau / 4 : 0;
        d->places[i] = (struct svg_point){d->page / 2 + (outer ? radius * cos(angle) : 0),
                                          d->page / 2 + (outer ? radius * sin(angle) : 0)};
    }
}

/* A switch stands in the middle of what it is connected to. */
static void pull(struct drawing *d, uint32_t node)
{
    struct svg_point sum = {0};
    size_t count = 0;
    for (size_t i = 0; i < d->graph->link_count; i++) {
        struct fabric_link link;
        if (!fabric_described_link(d->graph, i, &link) || (link.ends[0] != node && link.ends[1] != node))
            continue;
        const struct svg_point *other = &d->places[link.ends[link.ends[0] == node]];
        sum.x += other->x;
        sum.y += other->y;
        count++;
    }
    if (count)
        d->places[node] = (struct svg_point){sum.x / (double)count, sum.y / (double)count};
}

/* ... and not on another box. */
static void push(struct drawing *d, uint32_t node)
{
    for (uint32_t i = 0; i < d->graph->node_count; i++) {
        struct svg_point *own = &d->places[node], *other = &d->places[i];
        double x = own->x - other->x, y = own->y - other->y;
        if (i == node || !is_shown(d, i) || fabs(x) >= BOX_WIDTH + BOX_APART ||
            fabs(y) >= BOX_HEIGHT + BOX_APART)
            continue;
        double away = hypot(x, y) > 1 ? hypot(x, y) : 1;
        own->x += hypot(x, y) > 1 ? 6 * x / away : 6 * cos(node);
        own->y += hypot(x, y) > 1 ? 6 * y / away : 6 * sin(node);
    }
}

static void place_switches(struct drawing *d)
{
    enum { PULLS = 60, PUSHES = 200 };
    for (int step = 0; step < PULLS + PUSHES; step++)
        for (uint32_t i = 0; i < d->graph->node_count; i++)
            if (moves(d, i))
                (step < PULLS ? pull : push)(d, i);
}

/* ---- links ---- */

static struct box box_of(const struct drawing *d, uint32_t node, double more)
{
    struct svg_point at = d->places[node];
    double x = BOX_WIDTH / 2.0 + more, y = BOX_HEIGHT / 2.0 + more;
    return (struct box){at.x - x, at.y - y, at.x + x, at.y + y};
}

static bool is_inside(struct box box, struct svg_point at)
{
    return at.x > box.left && at.x < box.right && at.y > box.top && at.y < box.bottom;
}

static bool overlap(struct box a, struct box b)
{
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/* From one end to the other, with its middle so far beside the straight line. */
static void bend(const struct drawing *d, const struct fabric_link *link, double by,
                 struct svg_point points[static CURVE_POINTS])
{
    struct svg_point from = d->places[link->ends[0]], to = d->places[link->ends[1]];
    double x = to.x - from.x, y = to.y - from.y, length = fmax(hypot(x, y), 1);
    for (int i = 0; i < CURVE_POINTS; i++) {
        double share = (double)i / (CURVE_POINTS - 1), beside = 4 * by * share * (1 - share);
        points[i] = (struct svg_point){from.x + share * x - beside * y / length,
                                       from.y + share * y + beside * x / length};
    }
}

/* How many points are behind boxes of others. */
static size_t points_hidden(const struct drawing *d, const struct fabric_link *link,
                            const struct svg_point points[static CURVE_POINTS])
{
    size_t hidden = 0;
    for (uint32_t node = 0; node < d->graph->node_count; node++)
        for (int i = 0; i < CURVE_POINTS; i++)
            hidden += is_shown(d, node) && node != link->ends[0] && node != link->ends[1] &&
                      is_inside(box_of(d, node, 5), points[i]);
    return hidden;
}

/* As straight as boxes of others allow. */
static void lay(const struct drawing *d, const struct fabric_link *link,
                struct svg_point points[static CURVE_POINTS])
{
    enum { STEP = 12, STEPS = 24 };
    double best = 0;
    size_t least = SIZE_MAX;
    for (int step = 0; step < STEPS && least; step++) {
        double by = (step % 2 ? 1 : -1) * ((step + 1) / 2) * STEP;
        bend(d, link, by, points);
        size_t hidden = points_hidden(d, link, points);
        if (hidden < least) {
            least = hidden;
            best = by;
        }
    }
    bend(d, link, best, points);
}

static bool label_is_free(const struct drawing *d, struct box label)
{
    for (size_t i = 0; i < d->label_count; i++)
        if (overlap(label, d->labels[i]))
            return false;
    for (uint32_t i = 0; i < d->graph->node_count; i++)
        if (is_shown(d, i) && overlap(label, box_of(d, i, 2)))
            return false;
    return true;
}

/* Somewhere on its link, where nothing else is, the middle first. */
static void draw_label(FILE *f, struct drawing *d, const struct svg_point points[static CURVE_POINTS],
                       const char *words)
{
    double half = LETTER_WIDTH * (double)strlen(words) / 2;
    struct box label = {0};
    struct svg_point at = {0};
    for (int step = 0; step < CURVE_POINTS - 4; step++) {
        at = points[CURVE_POINTS / 2 + (step % 2 ? 1 : -1) * ((step + 1) / 2)];
        label = (struct box){at.x - half, at.y - LABEL_HEIGHT / 2.0, at.x + half, at.y + LABEL_HEIGHT / 2.0};
        if (label_is_free(d, label))
            break;
    }
    mem_grow(d->labels, d->label_count, d->label_capacity);
    d->labels[d->label_count++] = label;
    svg_blank(f, label.left, label.top, label.right - label.left, label.bottom - label.top);
    svg_label(f, at.x, at.y + 4, SVG_MIDDLE, "%s", words);
}

static void draw_link(FILE *f, const struct drawing *d, const struct fabric_link *link)
{
    struct svg_point points[CURVE_POINTS];
    lay(d, link, points);
    svg_line(f, svg_pen(0), points, CURVE_POINTS);
}

static void name_link(FILE *f, struct drawing *d, const struct fabric_link *link)
{
    struct svg_point points[CURVE_POINTS];
    struct text words = {0};
    unit_print(UNIT_rate, link->bytes_per_s, &words);
    text_add(&words, "%s", link->is_half_duplex ? " half duplex" : "");
    lay(d, link, points);
    draw_label(f, d, points, words.at);
    text_fini(&words);
}

/* ---- all ---- */

static void draw_node(FILE *f, const struct drawing *d, uint32_t node)
{
    struct box box = box_of(d, node, 0);
    const struct net_node *this = &d->graph->nodes[node];
    struct svg_bar bar = {.x = box.left,
                          .y = box.top,
                          .width = BOX_WIDTH,
                          .height = BOX_HEIGHT,
                          .colour = svg_pen(this->is_endpoint ? 1 : 2).colour,
                          .opacity = 1};
    svg_bar(f, &bar, "%s", this->name);
    svg_heading(f, d->places[node].x, d->places[node].y + 5, SVG_MIDDLE, "%s", this->name);
}

/* Boxes hide the ends of links, and labels are above all. */
static void draw_all(FILE *f, struct drawing *d)
{
    struct fabric_link link;
    svg_begin(f, (int)d->page, (int)d->page);
    for (size_t i = 0; i < d->graph->link_count; i++)
        if (fabric_described_link(d->graph, i, &link))
            draw_link(f, d, &link);
    for (uint32_t i = 0; i < d->graph->node_count; i++)
        if (is_shown(d, i))
            draw_node(f, d, i);
    for (size_t i = 0; i < d->graph->link_count; i++)
        if (fabric_described_link(d->graph, i, &link))
            name_link(f, d, &link);
    svg_end(f);
}

bool drawing_of_fabric(const struct net_graph *graph, const char *path, struct err *err)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return err_set(err, "cannot write %.200s: %s", path, strerror(errno));
    struct drawing d = {.graph = graph, .places = mem_alloc(graph->node_count + 1, sizeof *d.places)};
    place_endpoints(&d);
    place_switches(&d);
    draw_all(f, &d);
    mem_free(d.places);
    mem_free(d.labels);
    bool bad = ferror(f);
    return !(fclose(f) || bad) || err_set(err, "cannot write %.200s", path);
}
