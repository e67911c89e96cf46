#include "cli/trace_mem.h"
#include "cli/folder.h"
#include "base/file.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOTE_MOST = 1 << 16 };

bool cmd_trace_mem_check(const char *prefix, const struct timing_request *timing, struct err *err)
{
    struct text path = {0};
    struct err why;
    if (!prefix)
        return true;
    if (timing->checkpoint || timing->resume)
        return err_set(err, "--trace-mem: a checkpoint has no traces: expected no --checkpoint and --resume");
    if (timing->attach || timing->shared)
        return err_set(err, "--trace-mem does not go with --attach or --shared: a machine in another process "
                            "writes no traces");
    const char *slash = strrchr(prefix, '/');
    if (!*prefix || (slash && !slash[1]))
        return err_set(err, "--trace-mem: expected how names of traces shall begin, not '%.200s'", prefix);
    text_add(&path, "%s.0.htrace", prefix);
    bool good = file_check(path.at, &why) || err_set(err, "--trace-mem: %s", why.text);
    text_fini(&path);
    return good;
}

static void tell_whole(const char *note, struct text *text)
{
    uint32_t first, last, sms;
    uint64_t accesses, bytes;
    int at = 0;
    if (sscanf(note, "whole %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %n", &first, &last,
               &sms, &accesses, &bytes, &at) < 5)
        BUG("a note of traces that is none");
    const char *prefix = note + at;
    text_add(text, "heddle: traces of %u SM%s, %" PRIu64 " accesses, %.2f bytes each: %s.%u.htrace", sms,
             sms == 1 ? "" : "s", accesses, (double)bytes / (double)accesses, prefix, first);
    if (last != first)
        text_add(text, " to %s.%u.htrace", prefix, last);
    text_add(text, "\n");
}

bool cmd_trace_mem_tell(const char *folder, struct text *text, struct err *err)
{
    bool good = true;
    unsigned number = 0;
    for (;; number++) {
        struct text path = {0}, note = {0};
        text_add(&path, "%s/traces.%u", folder, number);
        bool there = !access(path.at, F_OK) && file_read(path.at, NOTE_MOST, &note, err);
        char *line = there ? text_trim(note.at) : NULL;
        if (there && !strncmp(line, "whole ", 6)) {
            tell_whole(line, text);
        } else if (there && !strncmp(line, "failed ", 7)) {
            good = err_set(err, "--trace-mem: there are no traces: %s", line + 7);
        } else if (there) {
            good = err_set(err, "--trace-mem: a process of the program ended before its traces were whole: "
                                "there are none");
            if (!strncmp(line, "unfinished ", 11))
                folder_free(mem_text(line + 11));
        }
        text_fini(&path);
        text_fini(&note);
        if (!there)
            break;
    }
    return good && (number || err_set(err, "--trace-mem: no kernel accessed global memory: there are no "
                                           "traces"));
}
