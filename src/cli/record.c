#include "cli/record.h"
#include "cli/folder.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOTE_MOST = 1 << 16 };

bool cmd_record_took(struct timing_request *request, const struct option_row *row, const char *value,
                     bool *mine, struct err *err)
{
    struct err why;
    *mine = true;
    if (!strcmp(row->name, "--record")) {
        request->record = value;
        return *value || err_set(err, "--record: expected a folder");
    }
    if (!strcmp(row->name, "--record-limit")) {
        return unit_parse(UNIT_size, value, &request->record_limit, &why) ||
               err_set(err, "--record-limit: %s", why.text);
    }
    *mine = false;
    return true;
}

bool cmd_record_check(const struct timing_request *timing, struct err *err)
{
    struct text path = {0};
    if (!timing->record)
        return !timing->record_limit || err_set(err, "--record-limit: expected --record FOLDER with it");
    if (timing->checkpoint || timing->resume)
        return err_set(err, "--record: a checkpoint has no trace: expected no --checkpoint and --resume");
    if (timing->attach || timing->shared)
        return err_set(err, "--record does not go with --attach or --shared: a machine in another process "
                            "records nothing");
    text_add(&path, "%s/index", timing->record);
    bool taken = !access(path.at, F_OK);
    text_fini(&path);
    return !taken || err_set(err, "--record: %.400s already holds a trace", timing->record);
}

static void tell_whole(char *note, struct text *text)
{
    uint64_t launches, recorded, instructions, bytes;
    int at = 0;
    if (sscanf(note, "whole %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &launches, &recorded,
               &instructions, &bytes, &at) < 4)
        BUG("a note of a trace that is none");
    char *folder = note + at, *cut = strchr(folder, '\n');
    if (cut)
        *cut++ = 0;
    text_add(text, "heddle: recorded %" PRIu64 " of %" PRIu64 " launches, %" PRIu64 " warp instructions",
             recorded, launches, instructions);
    if (instructions)
        text_add(text, ", %.3f bytes each", (double)bytes / (double)instructions);
    text_add(text, ": %s\n", folder);
    if (cut && !strncmp(cut, "cut ", 4))
        text_add(text, "heddle: the trace ends before the program did: %s\n", cut + 4);
}

bool cmd_record_tell(const char *folder, struct text *text, struct err *err)
{
    bool good = true;
    unsigned number = 1;
    for (;; number++) {
        struct text path = {0}, note = {0};
        text_add(&path, "%s/recorded.%u", folder, number);
        bool there = !access(path.at, F_OK) && file_read(path.at, NOTE_MOST, &note, err);
        char *line = there ? text_trim(note.at) : NULL;
        if (there && !strncmp(line, "whole ", 6))
            tell_whole(line, text);
        else if (there && !strncmp(line, "failed ", 7))
            good = err_set(err, "--record: there is no trace: %s", line + 7);
        else if (there)
            good = err_set(err, "--record: %.200s is not whole: its process was killed, or ended by _exit",
                           strncmp(line, "unfinished ", 11) != 0 ? "a trace" : line + 11);
        text_fini(&path);
        text_fini(&note);
        if (!there)
            break;
    }
    return good && (number > 1 || err_set(err, "--record: the program used no GPU: there is no trace"));
}
