/* Checkpoints: the state of all islands in a file, and back.
 *
 * The file: magic, version, a digest of the model's shape, a note, the islands with their queues in order,
 * the ports, the components, and last a digest of everything before it, so that a file cut short or damaged
 * is refused before any of it is believed. Events are written as they are (struct event). */
#include "engine/island.h"
#include "base/file.h"
#include "base/text.h"

#include <stdio.h>

static const char magic[8] = "HEDDLECP";
enum { CHECKPOINT_VERSION = 1 };
static const size_t largest_file = (size_t)1 << 40;

static uint64_t digest_text(uint64_t digest, const char *text)
{
    return digest_bytes(digest_word(digest, strlen(text)), text, strlen(text));
}

/* What must be alike in the model that saves and the one that loads. */
static uint64_t shape_digest(const struct engine *engine)
{
    uint64_t digest = digest_word(engine->spec.seed, engine->spec.payload_bytes);
    digest = digest_word(digest, engine->watched);
    for (size_t i = 0; i < engine->island_count; i++)
        digest = digest_text(digest, engine->islands[i]->name);
    for (size_t i = 0; i < engine->component_count; i++) {
        const struct component *component = engine->components[i];
        digest = digest_text(digest_text(digest, component->name), component->ops->type);
        digest = digest_word(digest_word(digest, component->state_bytes), component->island->index);
    }
    for (size_t i = 0; i < engine->link_count; i++) {
        const struct link *link = engine->links[i];
        digest = digest_text(digest, link->name);
        digest = digest_word(digest_word(digest, link->latency), link->ps_per_byte);
        digest = digest_word(digest_word(digest, link->overhead_bytes), link->credits);
        digest = digest_word(digest, link->spec.limits);
        digest = digest_bytes(digest, link->plugs, link->plug_count * sizeof *link->plugs);
    }
    return digest;
}

/* ---- writing ---- */

static void put(struct text *out, const void *bytes, size_t count)
{
    text_add_bytes(out, bytes, count);
}

static void put_u64(struct text *out, uint64_t value)
{
    put(out, &value, sizeof value);
}

static void put_event(struct text *out, const struct event *event)
{
    struct event header = *event;
    put(out, &header, sizeof header);
    put(out, event->payload, event->bytes);
}

static void save_queue(struct text *out, const struct queue *queue)
{
    size_t count = queue_count(queue);
    const struct pooled **list = mem_alloc(count, sizeof *list);
    queue_list(queue, list);
    put_u64(out, count);
    for (size_t i = 0; i < count; i++)
        put_event(out, &list[i]->event);
    mem_free(list);
}

static void save_island(struct text *out, const struct island *island)
{
    put_u64(out, island->now);
    put_u64(out, island->order);
    put_u64(out, island->events);
    put_u64(out, island->same_time);
    put_u64(out, island->same_time_at);
    put_u64(out, island->watch_digest);
    save_queue(out, &island->queue);
}

static void save_port(struct text *out, const struct port *port)
{
    put_u64(out, port->waits_for);
    put_u64(out, port->out.free_at);
    put_u64(out, port->out.fraction);
    put_u64(out, port->in.free_at);
    put_u64(out, port->in.fraction);
    if (port->credits)
        put(out, port->credits, port->link->plug_count * sizeof *port->credits);
    put_u64(out, port->fill);
    for (const struct pooled *pooled = port->head; pooled; pooled = pooled->next)
        put_event(out, &pooled->event);
}

bool engine_save(const struct engine *engine, const char *path, const char *note, struct err *err)
{
    if (engine->failure)
        return err_set(err, "cannot save %s: the simulation has failed", path);
    struct text out = {0};
    put(&out, magic, sizeof magic);
    put_u64(&out, CHECKPOINT_VERSION);
    put_u64(&out, ENGINE_MESSAGE_VERSION);
    put_u64(&out, strlen(note));
    put(&out, note, strlen(note));
    put_u64(&out, shape_digest(engine));
    put_u64(&out, engine->started);
    put_u64(&out, engine->time);
    for (size_t i = 0; i < engine->island_count; i++)
        save_island(&out, engine->islands[i]);
    for (size_t i = 0; i < engine->port_count; i++)
        save_port(&out, engine->ports[i]);
    for (size_t i = 0; i < engine->component_count; i++) {
        put_u64(&out, engine->components[i]->wake_time);
        put(&out, engine->components[i]->state, engine->components[i]->state_bytes);
    }
    put_u64(&out, digest_bytes(0, out.at, out.length));

    struct file_writer writer;
    bool good = file_open(&writer, path, err);
    if (good) {
        fwrite(out.at, 1, out.length, writer.stream);
        good = file_close(&writer, err);
    }
    text_fini(&out);
    return good;
}

/* ---- reading ---- */

struct source {
    const char *at, *end;
    bool good; /* false once something did not fit */
};

static void get(struct source *in, void *bytes, size_t count)
{
    if (!in->good || (size_t)(in->end - in->at) < count) {
        in->good = false;
        memset(bytes, 0, count);
        return;
    }
    memcpy(bytes, in->at, count);
    in->at += count;
}

static uint64_t get_u64(struct source *in)
{
    uint64_t value;
    get(in, &value, sizeof value);
    return value;
}

/* Whether an event of a file can be on this island: its target is there, and is plugged in as it says. */
static bool event_fits(const struct event *event, const struct island *island)
{
    const struct engine *engine = island->engine;
    if (event->bytes > engine->spec.payload_bytes || event->what > EVENT_CREDIT)
        return false;
    if (event->what == EVENT_OWN)
        return event->target < engine->component_count && engine->components[event->target]->island == island;
    if (event->target >= engine->port_count)
        return false;
    const struct port *port = engine->ports[event->target];
    return port->island == island && port->link && event->from < port->link->plug_count &&
           (event->what != EVENT_CREDIT || port->credits);
}

/* The next event, in the island's pool; NULL when it does not fit. */
static struct pooled *get_event(struct source *in, struct island *island)
{
    struct event header;
    get(in, &header, sizeof header);
    in->good = in->good && event_fits(&header, island);
    if (!in->good)
        return NULL;
    struct pooled *pooled = pool_take(&island->pool);
    pooled->event = header;
    get(in, pooled->event.payload, header.bytes);
    return pooled;
}

static void load_island(struct source *in, struct island *island)
{
    island->now = get_u64(in);
    island->order = get_u64(in);
    island->events = get_u64(in);
    island->same_time = get_u64(in);
    island->same_time_at = get_u64(in);
    island->watch_digest = get_u64(in);
    for (uint64_t count = get_u64(in); in->good && count; count--) {
        struct pooled *pooled = get_event(in, island);
        if (pooled)
            queue_push(&island->queue, pooled);
    }
}

static void load_port(struct source *in, struct port *port)
{
    port->waits_for = (uint32_t)get_u64(in);
    port->out.free_at = get_u64(in);
    port->out.fraction = (uint32_t)get_u64(in);
    port->in.free_at = get_u64(in);
    port->in.fraction = (uint32_t)get_u64(in);
    if (port->waits_for && (!port->link || port->waits_for > port->link->plug_count))
        in->good = false;
    if (port->credits)
        get(in, port->credits, port->link->plug_count * sizeof *port->credits);
    for (uint64_t count = get_u64(in); in->good && count; count--) {
        struct pooled *pooled = get_event(in, port->island);
        bool message = pooled && pooled->event.target == port->index &&
                       (pooled->event.what == EVENT_MESSAGE || pooled->event.what == EVENT_RECEIVED);
        if (message)
            port_enqueue(port, pooled);
        else
            in->good = false;
    }
}

static void load_component(struct source *in, struct component *component)
{
    uint64_t wake_time = get_u64(in);
    get(in, component->state, component->state_bytes);
    if (in->good && wake_time != TIME_NEVER)
        component_wake(component, wake_time);
}

/* Reads the file, checks that it is whole and ours, and leaves `in` behind the note. */
static bool open_checkpoint(const char *path, struct text *content, struct source *in, struct text *note,
                            struct err *err)
{
    char found[sizeof magic];
    uint64_t digest;
    if (file_is_endless(path))
        return err_set(err, "%s is no checkpoint of Heddle", path);
    if (!file_read(path, largest_file, content, err))
        return false;
    *in = (struct source){.at = content->at, .end = content->at + content->length, .good = true};
    get(in, found, sizeof found);
    if (!in->good || memcmp(found, magic, sizeof magic))
        return err_set(err, "%s is no checkpoint of Heddle", path);
    uint64_t version = get_u64(in), message_version = get_u64(in);
    if (version != CHECKPOINT_VERSION || message_version != ENGINE_MESSAGE_VERSION)
        return err_set(err,
                       "%s was written by another version of Heddle (format %llu.%llu, this one reads %d.%d)",
                       path, (unsigned long long)version, (unsigned long long)message_version,
                       CHECKPOINT_VERSION, ENGINE_MESSAGE_VERSION);
    if ((size_t)(in->end - in->at) < sizeof digest)
        return err_set(err, "%s is cut short", path);
    in->end -= sizeof digest;
    memcpy(&digest, in->end, sizeof digest);
    if (digest != digest_bytes(0, content->at, content->length - sizeof digest))
        return err_set(err, "%s is damaged or cut short: its digest does not fit", path);
    uint64_t length = get_u64(in);
    if (length > (size_t)(in->end - in->at))
        return err_set(err, "%s is damaged: its note does not fit", path);
    if (note)
        text_add_bytes(note, in->at, length);
    in->at += length;
    return true;
}

bool engine_read_note(const char *path, struct text *note, struct err *err)
{
    struct text content = {0};
    struct source in;
    bool good = open_checkpoint(path, &content, &in, note, err);
    text_fini(&content);
    return good;
}

static bool load(struct engine *engine, const char *path, struct source *in, struct err *err)
{
    if (get_u64(in) != shape_digest(engine))
        return err_set(err, "%s was saved from another model or with other parameters", path);
    bool started = get_u64(in);
    engine->time = get_u64(in);
    for (size_t i = 0; i < engine->island_count; i++)
        load_island(in, engine->islands[i]);
    for (size_t i = 0; i < engine->port_count; i++)
        load_port(in, engine->ports[i]);
    for (size_t i = 0; i < engine->component_count; i++)
        load_component(in, engine->components[i]);
    if (!in->good || in->at != in->end) {
        err_set(err, "%s is damaged: its content does not fit the model", path);
        engine->failure =
            mem_alloc(1, sizeof *engine->failure); /* half of it is in: this engine cannot run */
        *engine->failure = *err;
        return false;
    }
    engine->started = started;
    return true;
}

bool engine_load(struct engine *engine, const char *path, struct err *err)
{
    REQUIRE(engine->ready && !engine->started);
    struct text content = {0};
    struct source in;
    bool good = open_checkpoint(path, &content, &in, NULL, err) && load(engine, path, &in, err);
    text_fini(&content);
    return good;
}
