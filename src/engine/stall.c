/* Reports of a stall: no event is left, but something still waits. Says who waits for whom. */
#include "engine/away.h"
#include "engine/waits.h"
#include "base/text.h"

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

/* What components say themselves that they wait for. */
static void tell_waiting(const struct engine *engine, struct text *waiting, size_t *count)
{
    for (size_t i = 0; i < engine->component_count; i++) {
        const struct component *component = engine->components[i];
        struct text what = {0};
        if (waits_of(component, &what)) {
            if ((*count)++ < MOST_LINES)
                text_add(waiting, "\n  %s waits for %s", component->name, what.at ? what.at : "something");
        }
        text_fini(&what);
    }
}

void engine_each_wait(const struct engine *engine,
                      void (*call)(void *user, const char *who, const char *what), void *user)
{
    for (size_t i = 0; i < engine->port_count; i++) {
        const struct port *port = engine->ports[i],
                          *full = port->waits_for ? refusing_port(engine, port) : NULL;
        struct err what;
        if (full) {
            err_set(&what, "room at %s, which holds %u", full->name, full->fill);
            call(user, port->name, what.text);
        }
    }
    for (size_t i = 0; i < engine->component_count; i++) {
        struct text what = {0};
        if (waits_of(engine->components[i], &what))
            call(user, engine->components[i]->name, what.at ? what.at : "something");
        text_fini(&what);
    }
}

bool engine_is_stalled(struct engine *engine, struct err *err)
{
    if (ranks_count(engine->spec.ranks) > 1)
        away_share_waits(engine);
    size_t ports = 0, components = 0, told = 0;
    const struct port *blocked = NULL;
    struct text waiting = {0};
    for (size_t i = 0; i < engine->port_count; i++)
        ports += engine->ports[i]->waits_for || engine->ports[i]->fill;
    tell_waiting(engine, &waiting, &components);
    if (!ports && !components)
        return false;
    size_t all = ports ? ports : components;
    err_set(err, "the simulation is stuck at %llu ps: no event is left, but %zu %s%s still wait%s",
            (unsigned long long)engine->time, all, ports ? "port" : "component", all == 1 ? "" : "s",
            all == 1 ? "s" : "");
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
    if (ports > told)
        err_add(err, "\n  and %zu more", ports - told);
    if (blocked)
        tell_circle(engine, blocked, err);
    if (components)
        err_add(err, "%s", waiting.at);
    if (components > MOST_LINES)
        err_add(err, "\n  and %zu more", components - MOST_LINES);
    text_fini(&waiting);
    return true;
}
