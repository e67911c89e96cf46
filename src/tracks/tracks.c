#include "tracks/format.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/unit.h"

#include <string.h>

enum { WRITE_BYTES = 1 << 16 }; /* at a time */

struct tracks {
    const struct track_format *format;
    struct format_state state;
    struct tracks_window window;
    struct file_writer file;
    struct track *list; /* by number - 1 */
    size_t count, capacity;
    uint32_t processes;
    struct names texts;
    uint64_t slices;
};

/* ---- the window ---- */

static bool take_time(const char *text, size_t length, uint64_t *ps, struct err *err)
{
    char copy[40];
    struct err why;
    if (!length)
        return true;
    if (length >= sizeof copy)
        return err_set(err, "'%.80s' is too long for a time", text);
    memcpy(copy, text, length);
    copy[length] = 0;
    return unit_parse(UNIT_time, copy, ps, &why) || err_set(err, "%s", why.text);
}

bool tracks_window_parse(struct tracks_window *window, const char *text, struct err *err)
{
    const char *dots = strstr(text, "..");
    *window = (struct tracks_window){0};
    if (!dots)
        return err_set(err, "expected FROM..TO, such as 10us..1ms, not '%.80s'", text);
    if (!take_time(text, (size_t)(dots - text), &window->from_ps, err) ||
        !take_time(dots + 2, strlen(dots + 2), &window->to_ps, err))
        return false;
    return !window->to_ps || window->to_ps > window->from_ps ||
           err_set(err, "'%.80s' ends before it begins", text);
}

/* ---- the file ---- */

static void flush(struct tracks *tracks, size_t least)
{
    struct proto *bytes = &tracks->state.bytes;
    if (bytes->length < least)
        return;
    fwrite(bytes->at, 1, bytes->length, tracks->file.stream);
    bytes->length = 0;
}

static bool ends_in(const char *path, const char *end)
{
    size_t length = strlen(path), part = strlen(end);
    return length >= part && !strcmp(path + length - part, end);
}

struct tracks *tracks_new(const char *path, const struct tracks_window *window, struct err *err)
{
    struct tracks *tracks = mem_alloc(1, sizeof *tracks);
    tracks->format = ends_in(path, ".json") ? &track_format_chrome : &track_format_perfetto;
    tracks->window = *window;
    if (!file_open(&tracks->file, path, err)) {
        mem_free(tracks);
        return NULL;
    }
    tracks->format->begin(&tracks->state);
    return tracks;
}

bool tracks_free(struct tracks *tracks, struct err *err)
{
    tracks->format->end(&tracks->state);
    flush(tracks, 0);
    bool good = file_close(&tracks->file, err);
    for (int i = 0; i < INTERNED_KINDS; i++)
        names_fini(&tracks->state.names[i]);
    names_fini(&tracks->texts);
    proto_fini(&tracks->state.bytes);
    mem_free(tracks->list);
    mem_free(tracks);
    return good;
}

/* ---- what is in it ---- */

const char *tracks_keep(struct tracks *tracks, const char *text)
{
    size_t number = names_add(&tracks->texts, text);
    return tracks->texts.at[number];
}

static const struct track *track_at(const struct tracks *tracks, uint32_t number)
{
    REQUIRE(number && number <= tracks->count);
    return &tracks->list[number - 1];
}

uint32_t tracks_add(struct tracks *tracks, uint32_t parent, const char *name, enum track_kind kind,
                    const char *unit)
{
    uint32_t number = (uint32_t)tracks->count + 1;
    struct track made = {.name = tracks_keep(tracks, name),
                         .unit = unit ? tracks_keep(tracks, unit) : "",
                         .parent = parent,
                         .process = parent ? track_at(tracks, parent)->process : number,
                         .rank = parent ? tracks->list[parent - 1].children++ : tracks->processes++,
                         .kind = kind};
    mem_grow(tracks->list, tracks->count, tracks->capacity);
    tracks->list[tracks->count++] = made;
    tracks->format->track(&tracks->state, number, &made);
    return number;
}

static bool is_seen(const struct tracks *tracks, uint64_t begin_ps, uint64_t end_ps)
{
    const struct tracks_window *window = &tracks->window;
    return (end_ps > window->from_ps || (begin_ps == end_ps && end_ps == window->from_ps)) &&
           (!window->to_ps || begin_ps < window->to_ps);
}

void tracks_slice(struct tracks *tracks, uint32_t track, const struct track_slice *slice)
{
    if (!is_seen(tracks, slice->begin_ps, slice->end_ps))
        return;
    struct track_slice cut = *slice;
    cut.begin_ps = max_u64(cut.begin_ps, tracks->window.from_ps);
    if (tracks->window.to_ps)
        cut.end_ps = min_u64(cut.end_ps, tracks->window.to_ps);
    tracks->format->slice(&tracks->state, track, track_at(tracks, track), &cut);
    tracks->slices++;
    flush(tracks, WRITE_BYTES);
}

void tracks_mark(struct tracks *tracks, uint32_t track, const struct track_slice *mark)
{
    if (!is_seen(tracks, mark->begin_ps, mark->begin_ps))
        return;
    tracks->format->mark(&tracks->state, track, track_at(tracks, track), mark);
    flush(tracks, WRITE_BYTES);
}

void tracks_count(struct tracks *tracks, uint32_t track, uint64_t time_ps, double value)
{
    if (!is_seen(tracks, time_ps, time_ps))
        return;
    tracks->format->count(&tracks->state, track, track_at(tracks, track), time_ps, value);
    flush(tracks, WRITE_BYTES);
}

uint64_t tracks_slice_count(const struct tracks *tracks)
{
    return tracks->slices;
}
