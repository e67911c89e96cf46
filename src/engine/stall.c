/* When nothing will happen any more although something waits: who waits for whom. */
#include "engine/island.h"

enum { MOST_LINES = 12 };

static const struct port *refusing_port(const struct engine *engine, const struct port *port)
{
    return engine->ports[port->link->plugs[port->waits_for - 1].port];
}

static void tell_blocked(const struct engine *engine, const struct port *port, struct err *err)
{
    const struct port *full = refusing_port(engine, port);
    err_add(err, "\n  %s waits for room at %s, which holds %u message%s (%u from here fill it)", port->name,
            full->name, full->fill, full->fill == 1 ? "" : "s", port->link->credits);
}

/* The first port of this component that waits for room. */
static const struct port *blocked_port(const struct component *component)
{
    for (uint32_t i = 0; i < component->port_count; i++) {
        if (component->ports[i].waits_for)
            return &component->ports[i];
    }
    return NULL;
}

static void tell_untaken(const struct port *port, struct err *err)
{
    const struct component *owner = port->component;
    err_add(err, "\n  %s holds %u message%s that %s %s", port->name, port->fill, port->fill == 1 ? "" : "s",
            owner->name, blocked_port(owner) ? "cannot take, because it waits itself" : "does not take");
}

/* Follows who waits for whom from `port` and tells the circle it ends in, if it does. */
static void tell_circle(const struct engine *engine, const struct port *port, struct err *err)
{
    const struct port *start = port;
    for (size_t steps = 0; start && steps <= engine->component_count;
         steps++) /* by then it is on the circle */
        start = blocked_port(refusing_port(engine, start)->component);
    if (!start)
        return;
    err_add(err, "\n  a circle: %s", start->component->name);
    const struct port *at = start;
    for (int told = 0; told < MOST_LINES; told++) {
        at = blocked_port(refusing_port(engine, at)->component);
        err_add(err, " -> %s", at->component->name);
        if (at->component == start->component)
            return;
    }
    err_add(err, " -> ...");
}

bool engine_is_stalled(const struct engine *engine, struct err *err)
{
    size_t waiting = 0, told = 0;
    const struct port *blocked = NULL;
    uint64_t now = 0;
    for (size_t i = 0; i < engine->island_count; i++)
        now = max_u64(now, engine->islands[i]->now);
    for (size_t i = 0; i < engine->port_count; i++)
        waiting += engine->ports[i]->waits_for || engine->ports[i]->fill;
    if (!waiting)
        return false;
    err_set(err, "the simulation is stuck at %llu ps: no event is left, but %zu port%s still wait%s",
            (unsigned long long)now, waiting, waiting == 1 ? "" : "s", waiting == 1 ? "s" : "");
    for (size_t i = 0; i < engine->port_count && told < MOST_LINES; i++) {
        const struct port *port = engine->ports[i];
        if (port->waits_for) {
            tell_blocked(engine, port, err);
            blocked = blocked ? blocked : port;
            told++;
        } else if (port->fill) {
            tell_untaken(port, err);
            told++;
        }
    }
    if (waiting > told)
        err_add(err, "\n  and %zu more", waiting - told);
    if (blocked)
        tell_circle(engine, blocked, err);
    return true;
}
