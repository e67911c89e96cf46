/* A program that is recorded: started in QEMU with our plugin, waited for, its traces put in their place. */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "cli/process.h"
#include "base/progress.h"
#include "base/text.h"
#include "record/collect.h"
#include "trace/place.h"

struct record_request {
    struct record_options record;
    const char *output; /* how the names of the traces begin; NULL: the program's name */
    char **words;       /* the program and its arguments; ends in NULL */
    bool wants_help, no_progress;
};

struct cmd_recording {
    const struct record_request *request;
    int status;                     /* for heddle to end with */
    char *path, *emulator, *plugin; /* files */
    struct output_place *place;     /* where the traces are */
    struct record_shared *shared;
    int shared_file;
    char **words; /* of QEMU */
    struct text plugin_word;
    struct collect *collect;
    struct progress progress;
    struct process process;
};

/* Runs the request to its end; false: there are no traces, and err says why. */
bool cmd_recording_run(struct cmd_recording *recording, struct err *err);
void cmd_recording_fini(struct cmd_recording *recording);

#endif
