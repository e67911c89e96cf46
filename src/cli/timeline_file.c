#include "cli/timeline_file.h"
#include "base/file.h"
#include "driver/ledger_format.h"

enum { NOTE_MOST = 1 << 13 };

static bool read_note(const char *folder, unsigned number, struct text *note)
{
    struct text path = {0};
    struct err unused;
    text_add(&path, "%s/" LEDGER_DRAWN "%u", folder, number);
    bool good = file_read(path.at, NOTE_MOST, note, &unused);
    text_fini(&path);
    return good;
}

bool cmd_timeline_tell(const char *folder, const struct picture_options *options, FILE *to, struct err *err)
{
    struct text note = {0};
    unsigned number = 1, missing = 0;
    if (!options->path)
        return true;
    for (; read_note(folder, number, &note); number++) {
        if (note.length)
            fprintf(to, "heddle: timeline %s", note.at);
        else
            missing++;
        text_fini(&note);
        note = (struct text){0};
    }
    if (number == 1)
        fputs("heddle: no timeline was drawn: no GPU was used in simulated time\n", to);
    return !missing ||
           err_set(err, "--timeline: %u file%s not written", missing, missing == 1 ? " was" : "s were");
}
