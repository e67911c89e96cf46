#include "cli/timeline_file.h"
#include "base/file.h"
#include "driver/picture.h"
#include "driver/ledger_format.h"

#include <stdio.h>
#include <string.h>

enum { NOTE_MOST = 1 << 13 };

static const char by_machine[] = "machine";

bool cmd_timeline_plan(struct machine_picture *picture, const struct picture_options *options,
                       const char *folder, bool has_cores, struct err *err)
{
    struct picture_plan parsed;
    *picture = (struct machine_picture){0};
    if (!options->path)
        return true;
    if (!picture_parse(&parsed, options, err))
        return false;
    if (parsed.detail == TRACK_CALLS && !has_cores)
        return true; /* the machine has nothing to draw then */
    const char *name = strrchr(options->path, '/'), *dot = strrchr(name ? name : options->path, '.');
    if (has_cores)
        text_add(&picture->path, "%s", options->path);
    else if (dot)
        text_add(&picture->path, "%.*s.machine%s", (int)(dot - options->path), options->path, dot);
    else
        text_add(&picture->path, "%s.machine", options->path);
    text_add(&picture->note, "%s/" LEDGER_DRAWN "%s", folder, by_machine);
    picture->plan = (struct track_plan){picture->path.at, picture->note.at, parsed.detail, parsed.window};
    return true;
}

void cmd_timeline_forget(struct machine_picture *picture)
{
    text_fini(&picture->path);
    text_fini(&picture->note);
}

static bool read_note(const char *folder, const char *name, struct text *note)
{
    struct text path = {0};
    struct err unused;
    text_add(&path, "%s/" LEDGER_DRAWN "%s", folder, name);
    bool good = file_read(path.at, NOTE_MOST, note, &unused);
    text_fini(&path);
    return good;
}

/* 0: nobody began it. */
static bool tell_note(const char *folder, const char *name, unsigned *missing, FILE *to)
{
    struct text note = {0};
    bool is_there = read_note(folder, name, &note);
    if (is_there && note.length)
        fprintf(to, "heddle: timeline %s", note.at);
    else if (is_there)
        ++*missing;
    text_fini(&note);
    return is_there;
}

bool cmd_timeline_tell(const char *folder, const struct picture_options *options, bool machine_draws,
                       FILE *to, struct err *err)
{
    char name[16];
    unsigned number = 1, missing = 0;
    if (!options->path)
        return true;
    while (snprintf(name, sizeof name, "%u", number), tell_note(folder, name, &missing, to))
        number++;
    if (machine_draws)
        missing += !tell_note(folder, by_machine, &missing, to);
    else if (number == 1)
        fputs("heddle: no timeline was drawn: no GPU was used in simulated time\n", to);
    return !missing ||
           err_set(err, "--timeline: %u file%s not written", missing, missing == 1 ? " was" : "s were");
}
