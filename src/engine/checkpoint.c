/* Checkpoints: the state of all islands in a file, and back.
 *
 * The archive has a digest of the model's structure, the islands with their sorted queues, the ports, and the
 * components. Events are written as they are (struct event). */
#include "engine/island.h"
#include "base/archive.h"
#include "ranks/parts.h"

#include <stdio.h>

static const struct archive_kind kind = {
    .magic = "HEDDLECP", .name = "checkpoint of Heddle", .version = {2, ENGINE_MESSAGE_VERSION}};

static uint64_t digest_text(uint64_t digest, const char *text)
{
    return digest_bytes(digest_word(digest, strlen(text)), text, strlen(text));
}

/* What must be alike in the model that saves and the one that loads. */
uint64_t engine_shape(const struct engine *engine)
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

/* ---- events ---- */

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

static void save_event(struct archive *archive, const struct event *event)
{
    struct event header = *event;
    ARCHIVE_VALUE(archive, header);
    archive_bytes(archive, (void *)(uintptr_t)event->payload, event->bytes);
}

/* The next event, in the island's pool; NULL when it does not fit. */
static struct pooled *load_event(struct archive *archive, struct island *island)
{
    struct event header;
    ARCHIVE_VALUE(archive, header);
    if (!archive->good || !archive_check(archive, event_fits(&header, island)))
        return NULL;
    struct pooled *pooled = pool_take(&island->pool);
    pooled->event = header;
    archive_bytes(archive, pooled->event.payload, header.bytes);
    return pooled;
}

static void save_queue(struct archive *archive, const struct queue *queue)
{
    size_t count = queue_count(queue);
    const struct pooled **list = mem_alloc(count, sizeof *list);
    queue_list(queue, list);
    archive_number(archive, count, UINT64_MAX);
    for (size_t i = 0; i < count; i++)
        save_event(archive, &list[i]->event);
    mem_free(list);
}

static void load_queue(struct archive *archive, struct island *island)
{
    for (uint64_t count = archive_number(archive, 0, UINT64_MAX); archive->good && count; count--) {
        struct pooled *pooled = load_event(archive, island);
        if (pooled)
            queue_push(&island->queue, pooled);
    }
}

static void load_messages(struct archive *archive, struct port *port, uint64_t count)
{
    for (; archive->good && count; count--) {
        struct pooled *pooled = load_event(archive, port->island);
        bool message = pooled && pooled->event.target == port->index &&
                       (pooled->event.what == EVENT_MESSAGE || pooled->event.what == EVENT_RECEIVED);
        if (archive_check(archive, message))
            port_enqueue(port, pooled);
    }
}

/* ---- both ways ---- */

static void archive_island(struct archive *archive, struct island *island)
{
    ARCHIVE_VALUE(archive, island->now);
    ARCHIVE_VALUE(archive, island->order);
    ARCHIVE_VALUE(archive, island->events);
    ARCHIVE_VALUE(archive, island->same_time);
    ARCHIVE_VALUE(archive, island->same_time_at);
    ARCHIVE_VALUE(archive, island->watch_digest);
    if (archive->reading)
        load_queue(archive, island);
    else
        save_queue(archive, &island->queue);
}

static void archive_serializer(struct archive *archive, struct serializer *serializer)
{
    ARCHIVE_VALUE(archive, serializer->free_at);
    serializer->fraction = (uint32_t)archive_number(archive, serializer->fraction, UINT32_MAX);
}

static void archive_port(struct archive *archive, struct port *port)
{
    uint64_t plugs = port->link ? port->link->plug_count : 0;
    port->waits_for = (uint32_t)archive_number(archive, port->waits_for, plugs);
    archive_serializer(archive, &port->out);
    archive_serializer(archive, &port->in);
    if (port->credits)
        archive_bytes(archive, port->credits, plugs * sizeof *port->credits);
    uint64_t count = archive_number(archive, port->fill, UINT64_MAX);
    if (archive->reading)
        load_messages(archive, port, count);
    else
        for (const struct pooled *pooled = port->head; pooled; pooled = pooled->next)
            save_event(archive, &pooled->event);
}

static void archive_component(struct archive *archive, struct component *component)
{
    uint64_t wake_time = component->wake_time;
    ARCHIVE_VALUE(archive, wake_time);
    archive_bytes(archive, component->state, component->state_bytes);
    if (archive->reading && archive->good && wake_time != TIME_NEVER)
        component_wake(component, wake_time);
    if (component->ops->archive)
        component->ops->archive(component, component->state, archive);
}

/* ---- parts: each is of one rank, and a file has them all, however many ranks there were ---- */

void engine_archive(struct engine *engine, struct archive *archive)
{
    bool started = engine->started;
    struct ranks_parts parts;
    struct archive one;
    REQUIRE(engine->ready && !(archive->reading && started));
    ranks_parts_begin(&parts, engine->spec.ranks, archive);
    if (archive->reading || !ranks_number(engine->spec.ranks)) {
        archive_expect(archive, engine_shape(engine));
        started = archive_number(archive, started, 1);
        ARCHIVE_VALUE(archive, engine->time);
    }
    for (size_t i = 0; i < engine->island_count; i++)
        if (ranks_part_open(&parts, archive, engine->islands[i]->rank, &one)) {
            archive_island(&one, engine->islands[i]);
            ranks_part_close(&parts, archive, &one);
        }
    for (size_t i = 0; i < engine->port_count; i++)
        if (ranks_part_open(&parts, archive, engine->ports[i]->island->rank, &one)) {
            archive_port(&one, engine->ports[i]);
            ranks_part_close(&parts, archive, &one);
        }
    for (size_t i = 0; i < engine->component_count; i++)
        if (ranks_part_open(&parts, archive, engine->components[i]->island->rank, &one)) {
            archive_component(&one, engine->components[i]);
            ranks_part_close(&parts, archive, &one);
        }
    ranks_parts_end(&parts, archive);
    engine->started = started;
}

/* ---- files of an engine alone ---- */

bool engine_save(const struct engine *engine, const char *path, const char *note, struct err *err)
{
    struct archive archive = archive_writer();
    bool leads = !ranks_number(engine->spec.ranks);
    if (engine->failure)
        return err_set(err, "cannot save %s: the simulation has failed", path);
    if (leads && !archive_create(&archive, path, &kind, note, err))
        return false;
    engine_archive((struct engine *)(uintptr_t)engine, &archive); /* which writing does not change */
    if (leads)
        return archive_commit(&archive, err);
    text_fini(&archive.text);
    return archive.good || err_set(err, "%s", archive.why);
}

bool engine_read_note(const char *path, struct text *note, struct err *err)
{
    struct archive archive;
    bool good = archive_open(&archive, path, &kind, note, err);
    if (good)
        archive_close(&archive);
    return good;
}

/* Rank 0 reads the file; the others get what is in it. Nothing, where it could not be read. */
static bool share_file(struct ranks *ranks, struct archive *archive, struct text *bytes, struct err *err)
{
    if (!ranks_number(ranks) && archive->good)
        text_add_bytes(bytes, archive->at, (size_t)(archive->end - archive->at));
    return ranks_broadcast(ranks, 0, bytes, err);
}

static bool load(struct engine *engine, struct archive *archive, const char *path, struct err *err)
{
    uint64_t shape = 0;
    if ((size_t)(archive->end - archive->at) >= sizeof shape)
        memcpy(&shape, archive->at, sizeof shape);
    if (shape != engine_shape(engine))
        return err_set(err, "%s was saved from another model or with other parameters", path);
    engine_archive(engine, archive);
    if (archive_at_end(archive))
        return true;
    err_set(err, "%s is damaged: its content does not fit the model", path);
    engine->started = false; /* half of it is in: this engine cannot run */
    engine->failure = mem_alloc(1, sizeof *engine->failure);
    *engine->failure = *err;
    return false;
}

bool engine_load(struct engine *engine, const char *path, struct err *err)
{
    struct ranks *ranks = engine->spec.ranks;
    struct archive archive = {0};
    struct text bytes = {0};
    REQUIRE(engine->ready && !engine->started);
    bool is_open = !ranks_number(ranks) && archive_open(&archive, path, &kind, NULL, err);
    bool good = is_open;
    if (ranks_count(ranks) > 1) {
        struct err lost;
        good = share_file(ranks, &archive, &bytes, &lost) && bytes.length;
        struct archive copy = archive_reader(bytes.at, bytes.length);
        good = good && load(engine, &copy, path, err);
    } else if (good) {
        good = load(engine, &archive, path, err);
    }
    if (is_open)
        archive_close(&archive);
    text_fini(&bytes);
    return good;
}
