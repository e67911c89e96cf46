/* Hooks: user code that observes, and may alter, what happens. */
#include "engine/island.h"

bool hooks_call(struct hook *hooks, struct hook_context *context)
{
    for (struct hook *hook = hooks; hook; hook = hook->next) {
        if (hook->points & context->point)
            hook->call(hook, context);
        if (context->drop)
            return false;
    }
    return true;
}

static void attach(struct hook **list, struct hook *hook)
{
    REQUIRE(hook->call && hook->points);
    while (*list) /* at the end: hooks are called in the order they were attached in */
        list = &(*list)->next;
    hook->next = NULL;
    *list = hook;
}

void component_hook(struct component *component, struct hook *hook)
{
    attach(&component->hooks, hook);
}

void port_hook(struct port *port, struct hook *hook)
{
    attach(&port->hooks, hook);
}

void link_hook(struct link *link, struct hook *hook)
{
    attach(&link->hooks, hook);
}
