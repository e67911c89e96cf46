/* A sender and a receiver over one link: the sender's messages are given by the test, the receiver notes when
 * each one arrives, and takes them at once or one every `take_every` ps. */
#ifndef TESTS_ENGINE_PAIR_H
#define TESTS_ENGINE_PAIR_H

#include "check.h"

enum { MOST_MESSAGES = 64 };

struct sender_spec {
    int count;
    struct {
        uint64_t at;
        uint32_t to;
        uint16_t bytes;
    } messages[MOST_MESSAGES];
};

struct sender {
    uint64_t next, refused;
};

struct receiver_spec {
    uint64_t take_every; /* 0: at once */
};

struct receiver {
    uint64_t count;
    uint64_t times[MOST_MESSAGES]; /* of arrival */
    uint64_t from[MOST_MESSAGES];
    uint64_t values[MOST_MESSAGES]; /* the first 8 bytes of the payload */
    uint64_t kinds[MOST_MESSAGES];
};

static void sender_send(struct component *self, void *state)
{
    struct sender *sender = state;
    const struct sender_spec *spec = component_spec(self);
    while (sender->next < (uint64_t)spec->count && spec->messages[sender->next].at <= component_now(self)) {
        uint64_t payload[3] = {sender->next, 2, 3};
        if (!port_send(component_port(self, 0), spec->messages[sender->next].to, 0, 1, payload,
                       spec->messages[sender->next].bytes)) {
            sender->refused++;
            return;
        }
        sender->next++;
    }
    if (sender->next < (uint64_t)spec->count)
        component_wake(self, spec->messages[sender->next].at);
}

static void sender_start(struct component *self, void *state)
{
    (void)state;
    const struct sender_spec *spec = component_spec(self);
    if (spec->count)
        component_wake(self, spec->messages[0].at);
}

static void sender_ready(struct component *self, void *state, struct port *port, uint32_t plug)
{
    (void)port, (void)plug;
    sender_send(self, state);
}

static void sender_arrive(struct component *self, void *state, struct port *port)
{
    (void)self, (void)state;
    port_pop(port);
}

static void receiver_arrive(struct component *self, void *state, struct port *port)
{
    struct receiver *receiver = state;
    const struct receiver_spec *spec = component_spec(self);
    const struct event *head = port_head(port);
    assert_true(receiver->count < MOST_MESSAGES);
    if (!spec->take_every || port_fill(port) == 1)
        memcpy(&receiver->values[receiver->count], head->payload, 8);
    receiver->times[receiver->count] = component_now(self);
    receiver->from[receiver->count] = head->from;
    receiver->kinds[receiver->count] = head->kind;
    receiver->count++;
    if (!spec->take_every)
        port_pop(port);
    else if (port_fill(port) == 1)
        component_schedule(self, spec->take_every, 0, "", 0);
}

static void receiver_take(struct component *self, void *state, const struct event *event)
{
    (void)state, (void)event;
    const struct receiver_spec *spec = component_spec(self);
    struct port *port = component_port(self, 0);
    port_pop(port);
    if (port_fill(port))
        component_schedule(self, spec->take_every, 0, "", 0);
}

static const struct component_ops sender_ops = {.type = "sender",
                                                .start = sender_start,
                                                .wake = sender_send,
                                                .ready = sender_ready,
                                                .arrive = sender_arrive};
static const struct component_ops receiver_ops = {
    .type = "receiver", .arrive = receiver_arrive, .event = receiver_take};

struct pair {
    struct engine *engine;
    struct component *sender, *receiver;
    struct link *link;
    struct sender_spec sends;
    struct receiver_spec takes;
};

/* Sender is plug 0, receiver plug 1. */
static inline void pair_init(struct pair *pair, const struct link_spec *link)
{
    struct engine *engine = pair->engine = engine_new(&(struct engine_spec){.seed = 1});
    pair->sender = engine_component(engine, engine_island(engine, "left"), "sender", &sender_ops,
                                    &pair->sends, sizeof(struct sender), "out");
    pair->receiver = engine_component(engine, engine_island(engine, "right"), "receiver", &receiver_ops,
                                      &pair->takes, sizeof(struct receiver), "in");
    pair->link = engine_link(engine, "wire", link);
    must(link_plug(pair->link, component_port(pair->sender, 0), err));
    must(link_plug(pair->link, component_port(pair->receiver, 0), err));
    must(engine_ready(engine, err));
}

static inline const struct receiver *pair_run(struct pair *pair)
{
    must(run_to(pair->engine, TIME_NEVER, 1, err) == ENGINE_FINISHED);
    return component_state(pair->receiver);
}

static inline void pair_send(struct pair *pair, uint64_t at, uint16_t bytes)
{
    int i = pair->sends.count++;
    pair->sends.messages[i].at = at;
    pair->sends.messages[i].to = 1;
    pair->sends.messages[i].bytes = bytes;
}

#endif
