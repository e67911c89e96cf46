#include "cli/fabric_drawing.h"
#include "base/text.h"
#include "base/unit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { PAGE = 720, BOX_WIDTH = 76, BOX_HEIGHT = 26 };

/* Endpoints stand on the outer circle, switches on an inner one. */
static struct svg_point place_of(const struct net_graph *graph, uint32_t node)
{
    bool outer = graph->nodes[node].is_endpoint;
    uint32_t of_kind = 0, before = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        of_kind += graph->nodes[i].is_endpoint == outer;
        before += i < node && graph->nodes[i].is_endpoint == outer;
    }
    double radius = outer ? PAGE * 0.42 : of_kind > 1 ? PAGE * 0.18 : 0;
    double angle = 2 * 3.14159265358979 * before / of_kind - 3.14159265358979 / 2;
    return (struct svg_point){PAGE / 2 + radius * cos(angle), PAGE / 2 + radius * sin(angle)};
}

static void draw_link(FILE *f, const struct net_graph *graph, const struct net_link *link)
{
    struct svg_point ends[2] = {place_of(graph, link->ends[0]), place_of(graph, link->ends[1])};
    struct text rate = {0};
    unit_print(UNIT_rate, link->bytes_per_s, &rate);
    svg_line(f, svg_pen(0), ends, 2);
    svg_label(f, 0.6 * ends[0].x + 0.4 * ends[1].x, 0.6 * ends[0].y + 0.4 * ends[1].y - 4, SVG_MIDDLE, "%s",
              rate.at);
    text_fini(&rate);
}

static void draw_node(FILE *f, const struct net_graph *graph, uint32_t node)
{
    struct svg_point at = place_of(graph, node);
    const struct net_node *this = &graph->nodes[node];
    struct svg_bar box = {.x = at.x - BOX_WIDTH / 2,
                          .y = at.y - BOX_HEIGHT / 2,
                          .width = BOX_WIDTH,
                          .height = BOX_HEIGHT,
                          .colour = svg_pen(this->is_endpoint ? 1 : 2).colour,
                          .opacity = 0.85};
    svg_bar(f, &box, "%s", this->name);
    svg_heading(f, at.x, at.y + 4, SVG_MIDDLE, "%s", this->name);
}

bool drawing_of_fabric(const struct net_graph *graph, const char *path, struct err *err)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return err_set(err, "cannot write %.200s: %s", path, strerror(errno));
    svg_begin(f, PAGE, PAGE);
    for (size_t i = 0; i < graph->link_count; i++)
        draw_link(f, graph, &graph->links[i]);
    for (uint32_t i = 0; i < graph->node_count; i++)
        draw_node(f, graph, i);
    svg_end(f);
    bool bad = ferror(f);
    return !(fclose(f) || bad) || err_set(err, "cannot write %.200s", path);
}
