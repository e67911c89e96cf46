/* Chrome's trace events, as JSON: one event a line. Times are microseconds, to the picosecond. */
#include "tracks/format.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { PS_PER_US = 1000000 };

static void add_bytes(struct format_state *state, const char *bytes, size_t count)
{
    struct proto *to = &state->bytes;
    if (to->length + count > to->capacity) {
        size_t more = 2 * (to->capacity + count);
        to->at = mem_resize(to->at, to->capacity, more, 1);
        to->capacity = more;
    }
    memcpy(to->at + to->length, bytes, count);
    to->length += count;
}

static void add(struct format_state *state, const char *text)
{
    add_bytes(state, text, strlen(text));
}

static void add_number(struct format_state *state, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    add_bytes(state, digits + at, sizeof digits - at);
}

static void add_time(struct format_state *state, uint64_t ps)
{
    char rest[7] = ".000000";
    uint64_t part = ps % PS_PER_US;
    for (int i = 6; i; i--, part /= 10)
        rest[i] = (char)('0' + part % 10);
    add_number(state, ps / PS_PER_US);
    add_bytes(state, rest, sizeof rest);
}

/* In quotes. Bytes that JSON cannot have are written as escapes. */
static void add_text(struct format_state *state, const char *text)
{
    add(state, "\"");
    for (const char *at = text; *at;) {
        size_t plain = 0;
        char escape[8];
        while (at[plain] >= ' ' && at[plain] <= '~' && at[plain] != '"' && at[plain] != '\\')
            plain++;
        add_bytes(state, at, plain);
        at += plain;
        if (*at) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*at++);
            add(state, escape);
        }
    }
    add(state, "\"");
}

static void begin_line(struct format_state *state)
{
    add(state, state->any ? ",\n{" : "\n{");
    state->any = true;
}

static void begin(struct format_state *state)
{
    add(state, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

static void end(struct format_state *state)
{
    add(state, "\n]}\n");
}

static void add_place(struct format_state *state, uint32_t number, const struct track *track)
{
    add(state, ",\"pid\":");
    add_number(state, track->process);
    add(state, ",\"tid\":");
    add_number(state, number);
}

static void add_track(struct format_state *state, uint32_t number, const struct track *track)
{
    static const char *const kinds[] = {"process_name", "thread_name"};
    if (track->kind == TRACK_COUNTER) /* it has its name in each of its events */
        return;
    begin_line(state);
    add(state, "\"ph\":\"M\",\"name\":");
    add_text(state, kinds[track->kind != TRACK_PROCESS]);
    add_place(state, number, track);
    add(state, ",\"args\":{\"name\":");
    add_text(state, track->name);
    add(state, "}}");
    begin_line(state);
    add(state, track->kind == TRACK_PROCESS ? "\"ph\":\"M\",\"name\":\"process_sort_index\""
                                            : "\"ph\":\"M\",\"name\":\"thread_sort_index\"");
    add_place(state, number, track);
    add(state, ",\"args\":{\"sort_index\":");
    add_number(state, number);
    add(state, "}}");
}

static void add_values(struct format_state *state, const struct track_slice *slice)
{
    if (!slice->value_count)
        return;
    add(state, ",\"args\":{");
    for (size_t i = 0; i < slice->value_count; i++) {
        add(state, i ? "," : "");
        add_text(state, slice->values[i].name);
        add(state, ":");
        if (slice->values[i].text)
            add_text(state, slice->values[i].text);
        else
            add_number(state, slice->values[i].number);
    }
    add(state, "}");
}

static void begin_event(struct format_state *state, const char *phase, const struct track_slice *slice)
{
    begin_line(state);
    add(state, "\"ph\":\"");
    add(state, phase);
    add(state, "\",\"name\":");
    add_text(state, slice->name);
    add(state, ",\"cat\":");
    add_text(state, slice->category);
    add(state, ",\"ts\":");
    add_time(state, slice->begin_ps);
}

static void add_flow(struct format_state *state, uint32_t number, const struct track *track,
                     const struct track_slice *slice)
{
    begin_event(state, slice->flow_starts ? "s" : "f",
                &(struct track_slice){.name = "launch", .category = "flow", .begin_ps = slice->begin_ps});
    add_place(state, number, track);
    add(state, slice->flow_starts ? ",\"id\":" : ",\"bp\":\"e\",\"id\":");
    add_number(state, slice->flow);
    add(state, "}");
}

static void add_slice(struct format_state *state, uint32_t number, const struct track *track,
                      const struct track_slice *slice)
{
    begin_event(state, "X", slice);
    add(state, ",\"dur\":");
    add_time(state, slice->end_ps - slice->begin_ps);
    add_place(state, number, track);
    add_values(state, slice);
    add(state, "}");
    if (slice->flow)
        add_flow(state, number, track, slice);
}

static void add_mark(struct format_state *state, uint32_t number, const struct track *track,
                     const struct track_slice *mark)
{
    begin_event(state, "i", mark);
    add(state, ",\"s\":\"t\"");
    add_place(state, number, track);
    add_values(state, mark);
    add(state, "}");
}

static void add_count(struct format_state *state, uint32_t number, const struct track *track,
                      uint64_t time_ps, double value)
{
    char digits[40];
    begin_event(state, "C",
                &(struct track_slice){.name = track->name, .category = "counter", .begin_ps = time_ps});
    add_place(state, number, track);
    snprintf(digits, sizeof digits, "%.6g", value);
    add(state, ",\"args\":{");
    add_text(state, track->unit);
    add(state, ":");
    add(state, digits);
    add(state, "}}");
}

const struct track_format track_format_chrome = {begin, end, add_track, add_slice, add_mark, add_count};
