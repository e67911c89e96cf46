#include "plugin/plugin.h"
#include "plugin/loaded.h"
#include "base/mem.h"

struct ear {
    const struct heddle_listener *listener;
    void *user;
};

struct plugin_ears {
    struct ear *all;
    size_t count, capacity;
    uint32_t kinds;
    struct probe program;
};

const char *plugin_listening(void)
{
    for (size_t i = 0; i < plugin_count(); i++) {
        const struct heddle_listener *row = plugin_at(i)->plugin->listeners;
        if (row && row->name)
            return plugin_at(i)->plugin->name;
    }
    return NULL;
}

struct plugin_ears *plugin_ears_new(void)
{
    struct plugin_ears ears = {.program = probe_of_nobody};
    for (size_t i = 0; i < plugin_count(); i++) {
        const struct plugin_loaded *from = plugin_at(i);
        for (const struct heddle_listener *row = from->plugin->listeners; row && row->name; row++) {
            mem_grow(ears.all, ears.count, ears.capacity);
            ears.all[ears.count++] = (struct ear){row, row->begin ? row->begin(from->text) : NULL};
            ears.kinds |= row->kinds;
        }
    }
    if (!ears.count)
        return NULL;
    struct plugin_ears *made = mem_alloc(1, sizeof *made);
    *made = ears;
    return made;
}

void plugin_ears_free(struct plugin_ears *ears)
{
    if (!ears)
        return;
    for (size_t i = 0; i < ears->count; i++)
        if (ears->all[i].listener->end)
            ears->all[i].listener->end(ears->all[i].user);
    mem_free(ears->all);
    mem_free(ears);
}

static void tell(void *user, struct probe_event *event)
{
    struct plugin_ears *ears = user;
    for (size_t i = 0; i < ears->count; i++) {
        const struct ear *ear = &ears->all[i];
        if (ear->listener->kinds >> event->kind & 1)
            ear->listener->event(ear->user, (struct heddle_event *)(void *)event);
    }
    if (ears->program.kinds >> event->kind & 1)
        probe_tell(&ears->program, *event);
}

struct probe plugin_ears_probe(struct plugin_ears *ears, const struct probe *program)
{
    ears->program = *program;
    return (struct probe){.kinds = ears->kinds | program->kinds, .call = tell, .user = ears};
}
