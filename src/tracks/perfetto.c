/* Perfetto's format: a stream of TracePackets. The numbers of fields are those of its protos (trace_packet,
 * track_descriptor, track_event, interned_data, debug_annotation). */
#include "tracks/format.h"

enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,

    FLAG_CLEARED = 1, /* a reader knows nothing of what was interned before */
    FLAG_NEEDS = 2,   /* it needs what was */

    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_OF_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_OF_COUNTER = 8,
    TRACK_ORDERING = 11,
    TRACK_RANK = 12,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    COUNTER_UNIT = 6,
    ORDERED_BY_RANK = 3,

    EVENT_CATEGORY = 3,
    EVENT_VALUE = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_COUNT = 44,
    EVENT_FLOW = 47,
    TYPE_BEGIN = 1,
    TYPE_END,
    TYPE_INSTANT,
    TYPE_COUNTER,

    VALUE_KEY = 1,
    VALUE_NUMBER = 3,
    VALUE_TEXT = 17,
    INTERNED_ID = 1,
    INTERNED_STRING = 2,

    SEQUENCE = 1,
    PS_PER_NS = 1000,
};

static const uint32_t interned_fields[INTERNED_KINDS] = {1, 2, 3, 29};

static size_t begin_packet(struct format_state *state)
{
    size_t packet = proto_begin(&state->bytes, TRACE_PACKET);
    proto_number(&state->bytes, PACKET_SEQUENCE, SEQUENCE);
    return packet;
}

static void begin(struct format_state *state)
{
    size_t packet = begin_packet(state);
    proto_number(&state->bytes, PACKET_FLAGS, FLAG_CLEARED);
    proto_end(&state->bytes, packet);
}

static void end(struct format_state *state)
{
    (void)state;
}

static void add_track(struct format_state *state, uint32_t number, const struct track *track)
{
    struct proto *to = &state->bytes;
    size_t packet = begin_packet(state), descriptor = proto_begin(to, PACKET_TRACK);
    proto_number(to, TRACK_UUID, number);
    if (track->kind == TRACK_PROCESS) {
        size_t process = proto_begin(to, TRACK_OF_PROCESS);
        proto_number(to, PROCESS_PID, number);
        proto_text(to, PROCESS_NAME, track->name);
        proto_end(to, process);
    } else {
        proto_text(to, TRACK_NAME, track->name);
        proto_number(to, TRACK_PARENT, track->parent);
        proto_number(to, TRACK_RANK, track->rank);
    }
    if (track->kind == TRACK_COUNTER) {
        size_t counter = proto_begin(to, TRACK_OF_COUNTER);
        proto_text(to, COUNTER_UNIT, track->unit);
        proto_end(to, counter);
    } else {
        proto_number(to, TRACK_ORDERING, ORDERED_BY_RANK);
    }
    proto_end(to, descriptor);
    proto_end(to, packet);
}

/* What a packet is the first to name. */
struct fresh {
    enum interned kind;
    uint64_t id;
    const char *text;
};
struct fresh_list {
    struct fresh list[24];
    size_t count;
};

static uint64_t interned(struct format_state *state, enum interned kind, const char *text,
                         struct fresh_list *fresh)
{
    struct names *names = &state->names[kind];
    size_t known = names->count, number = names_add(names, text);
    if (names->count > known)
        fresh->list[fresh->count++] = (struct fresh){kind, number + 1, text};
    return number + 1;
}

static void add_fresh(struct proto *to, const struct fresh_list *fresh)
{
    size_t data = proto_begin(to, PACKET_INTERNED);
    for (size_t i = 0; i < fresh->count; i++) {
        size_t one = proto_begin(to, interned_fields[fresh->list[i].kind]);
        proto_number(to, INTERNED_ID, fresh->list[i].id);
        proto_text(to, INTERNED_STRING, fresh->list[i].text);
        proto_end(to, one);
    }
    proto_end(to, data);
}

static size_t begin_event(struct format_state *state, size_t *packet, uint64_t time_ps, uint32_t number,
                          uint32_t type)
{
    struct proto *to = &state->bytes;
    *packet = begin_packet(state);
    proto_number(to, PACKET_TIMESTAMP, time_ps / PS_PER_NS);
    proto_number(to, PACKET_FLAGS, FLAG_NEEDS);
    size_t event = proto_begin(to, PACKET_EVENT);
    proto_number(to, EVENT_TYPE, type);
    proto_number(to, EVENT_TRACK, number);
    return event;
}

static void add_value(struct format_state *state, const struct track_value *value, struct fresh_list *fresh)
{
    struct proto *to = &state->bytes;
    size_t one = proto_begin(to, EVENT_VALUE);
    proto_number(to, VALUE_KEY, interned(state, INTERNED_KEY, value->name, fresh));
    if (value->text)
        proto_number(to, VALUE_TEXT, interned(state, INTERNED_TEXT, value->text, fresh));
    else
        proto_number(to, VALUE_NUMBER, value->number);
    proto_end(to, one);
}

static void add_named(struct format_state *state, uint32_t number, const struct track_slice *slice,
                      uint32_t type)
{
    struct proto *to = &state->bytes;
    struct fresh_list fresh;
    size_t packet, event = begin_event(state, &packet, slice->begin_ps, number, type);
    fresh.count = 0;
    proto_number(to, EVENT_NAME, interned(state, INTERNED_NAME, slice->name, &fresh));
    proto_number(to, EVENT_CATEGORY, interned(state, INTERNED_CATEGORY, slice->category, &fresh));
    if (slice->flow)
        proto_fixed(to, EVENT_FLOW, slice->flow);
    for (size_t i = 0; i < slice->value_count; i++)
        add_value(state, &slice->values[i], &fresh);
    proto_end(to, event);
    if (fresh.count)
        add_fresh(to, &fresh);
    proto_end(to, packet);
}

static void add_slice(struct format_state *state, uint32_t number, const struct track *track,
                      const struct track_slice *slice)
{
    size_t packet;
    (void)track;
    add_named(state, number, slice, TYPE_BEGIN);
    proto_end(&state->bytes, begin_event(state, &packet, slice->end_ps, number, TYPE_END));
    proto_end(&state->bytes, packet);
}

static void add_mark(struct format_state *state, uint32_t number, const struct track *track,
                     const struct track_slice *mark)
{
    (void)track;
    add_named(state, number, mark, TYPE_INSTANT);
}

static void add_count(struct format_state *state, uint32_t number, const struct track *track,
                      uint64_t time_ps, double value)
{
    (void)track;
    size_t packet, event = begin_event(state, &packet, time_ps, number, TYPE_COUNTER);
    proto_double(&state->bytes, EVENT_COUNT, value);
    proto_end(&state->bytes, event);
    proto_end(&state->bytes, packet);
}

const struct track_format track_format_perfetto = {begin, end, add_track, add_slice, add_mark, add_count};
