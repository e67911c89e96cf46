#include "cli/protocol_drawing.h"
#include "base/file.h"
#include "report/svg.h"

#include <math.h>

enum { FIELD = 620, MARGIN = 60, CURVE_POINTS = 17 };

/* States stand on a circle; those at rest on an inner one. */
static struct svg_point place(const struct coh_table *table, size_t state, double left)
{
    bool rests = coh_state_is(table, (unsigned)state, COH_REST);
    size_t count = 0, number = 0;
    for (size_t i = 0; i < table->state_count; i++) {
        if (coh_state_is(table, (unsigned)i, COH_REST) != rests)
            continue;
        number += i < state;
        count++;
    }
    double angle = 6.28318530717959 * ((double)number + (rests ? 0 : 0.5)) / (double)count - 1.5707963267949;
    double radius = (rests ? 0.22 : 0.42) * FIELD;
    return (struct svg_point){left + FIELD / 2.0 + radius * cos(angle),
                              MARGIN + FIELD / 2.0 + radius * sin(angle)};
}

/* All events that lead from one state to another share an arrow, which bends to its right. */
static void draw_arrow(FILE *f, const struct protocol *protocol, const struct coh_table *table, size_t from,
                       size_t to, double left)
{
    struct svg_point a = place(table, from, left), b = place(table, to, left), points[CURVE_POINTS];
    struct text events = {0};
    for (size_t i = 0; i < table->row_count; i++) {
        const struct coh_row *row = &table->rows[i];
        if (row->state == from && row->next == to && from != to)
            text_add(&events, "%s%s", events.length ? ", " : "", coh_event_name(protocol, row->event));
    }
    if (!events.length)
        return;
    double dx = b.x - a.x, dy = b.y - a.y, bend = 0.12;
    for (int i = 0; i < CURVE_POINTS; i++) {
        double t = 0.08 + 0.84 * i / (CURVE_POINTS - 1), arc = 4 * t * (1 - t) * bend;
        points[i] = (struct svg_point){a.x + t * dx - arc * dy, a.y + t * dy + arc * dx};
    }
    struct svg_pen pen = svg_pen(from);
    svg_line(f, pen, points, CURVE_POINTS);
    const struct svg_point *end = &points[CURVE_POINTS - 1], *before = &points[CURVE_POINTS - 3];
    double angle = atan2(end->y - before->y, end->x - before->x);
    struct svg_point head[3] = {{end->x - 8 * cos(angle - 0.4), end->y - 8 * sin(angle - 0.4)},
                                *end,
                                {end->x - 8 * cos(angle + 0.4), end->y - 8 * sin(angle + 0.4)}};
    svg_line(f, pen, head, 3);
    svg_dot(f, points[CURVE_POINTS / 2], pen.colour, "%s -> %s: %s", table->states[from].name,
            table->states[to].name, events.at);
    text_fini(&events);
}

static void draw_table(FILE *f, const struct protocol *protocol, const struct coh_table *table, double left)
{
    svg_heading(f, left + FIELD / 2.0, MARGIN / 2.0, SVG_MIDDLE, "%s, %s: %s", protocol->name, table->name,
                table->help);
    for (size_t from = 0; from < table->state_count; from++)
        for (size_t to = 0; to < table->state_count; to++)
            draw_arrow(f, protocol, table, from, to, left);
    for (size_t i = 0; i < table->state_count; i++) {
        struct svg_point at = place(table, i, left);
        svg_blank(f, at.x - 16, at.y - 10, 32, 18);
        if (coh_state_is(table, (unsigned)i, COH_REST))
            svg_heading(f, at.x, at.y + 4, SVG_MIDDLE, "%s", table->states[i].name);
        else
            svg_label(f, at.x, at.y + 4, SVG_MIDDLE, "%s", table->states[i].name);
    }
}

bool drawing_of_protocol(const struct protocol *protocol, const char *path, struct err *err)
{
    struct file_writer writer;
    int tables = 0, drawn = 0;
    if (!file_open(&writer, path, err))
        return false;
    for (int role = 0; role < COH_ROLE_COUNT; role++)
        tables += protocol->tables[role] != NULL;
    svg_begin(writer.stream, tables * FIELD, FIELD + 2 * MARGIN);
    for (int role = 0; role < COH_ROLE_COUNT; role++)
        if (protocol->tables[role])
            draw_table(writer.stream, protocol, protocol->tables[role], FIELD * (double)drawn++);
    svg_label(writer.stream, FIELD / 2.0, FIELD + 1.6 * MARGIN, SVG_MIDDLE,
              "inner circle: at rest; outer circle: under way; a dot tells the events of its arrow");
    svg_end(writer.stream);
    return file_close(&writer, err);
}
