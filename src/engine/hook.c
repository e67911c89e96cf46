/* Hooks, and the digest of all events, which is one. */
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

static void digest_event(struct hook *hook, struct hook_context *context)
{
    struct island *island = context->component->island;
    const struct event *event = context->event;
    (void)hook;
    uint64_t digest = digest_word(island->watch_digest, context->time ^ (uint64_t)island->index << 44);
    if (event) {
        uint64_t head = (uint64_t)event->target << 32 | (uint64_t)event->kind << 16 | event->bytes;
        digest = digest_bytes(digest_word(digest, head), event->payload, event->bytes);
    } else {
        digest = digest_word(digest, context->component->index);
    }
    island->watch_digest = digest;
}

void engine_watch(struct engine *engine)
{
    REQUIRE(engine->ready && !engine->watch && !engine->started);
    engine->watch = mem_alloc(engine->component_count, sizeof *engine->watch);
    for (size_t i = 0; i < engine->component_count; i++) {
        engine->watch[i] = (struct hook){.call = digest_event, .points = HOOK_HANDLE};
        component_hook(engine->components[i], &engine->watch[i]);
    }
}

uint64_t engine_watch_digest(const struct engine *engine)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < engine->island_count; i++)
        digest = digest_word(digest, engine->islands[i]->watch_digest);
    return digest;
}
