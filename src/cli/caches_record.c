#include "cli/caches_record.h"
#include "cli/cli.h"
#include "cli/recording.h"
#include "base/mem.h"

/* The program goes on for as long as accesses are wanted. */
bool cmd_caches_record(const struct trace_wish *wish, struct err *err)
{
    struct text name = {0}, threads = {0};
    text_add(&name, "threads/%s", wish->program);
    text_add(&threads, "%u", wish->threads);
    char *path = process_beside("caches", name.at, err);
    char *words[] = {path, (char *)"--threads", threads.at, (char *)"--rounds", (char *)"16777216", NULL};
    struct record_request request = {.record = {.accesses = wish->accesses,
                                                .skip_threads = wish->threads + 1,
                                                .range_count = 1,
                                                .ranges = {{1, UINT32_MAX}}},
                                     .output = wish->output,
                                     .words = words,
                                     .no_progress = wish->no_progress};
    struct cmd_recording recording = {.request = &request};
    bool good = path && cmd_recording_run(&recording, err);
    catch_interrupts(); /* meanwhile they went to the program */
    interrupted = interrupted ? interrupted : process_asked_to_end();
    if (good && recording.process.signal)
        good = err_set(err, "it was ended by signal %d while it was recorded", recording.process.signal);
    cmd_recording_fini(&recording);
    mem_free(path);
    text_fini(&name);
    text_fini(&threads);
    return good;
}
