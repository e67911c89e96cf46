/* heddle trace record: traces of a program's threads, as QEMU runs it with our plugin. */
#include "cli/recording.h"
#include "cli/trace.h"
#include "base/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define COMMAND "trace record"

static const struct option_row options[] = {
    {"--output", "PREFIX", "traces are called PREFIX.0.htrace and so on (the program's name unless told)"},
    {"--accesses", "N", "record N of each thread; when each has them, the program is ended"},
    {"--run-on", NULL, "or goes on to its own end, unrecorded"},
    {"--skip-until-threads", "N", "begin when the program has N threads, the first included"},
    {"--skip", "N", "then let all threads together run N instructions before recording begins"},
    {"--only-threads", "LIST", "these alone, such as 1- or 0,2-5; the first is 0, by order of appearance"},
    {"--no-progress", NULL, "no line on the terminal that shows how far it is"},
    {NULL, NULL, NULL},
};

/* ---- options ---- */

/* "0,2-5,8-" */
static bool parse_ranges(const char *text, struct record_options *record, struct err *err)
{
    const char *at = text;
    record->range_count = 0;
    do {
        struct record_range range;
        int length = 0, more = 0;
        bool good = sscanf(at, "%9" SCNu32 "%n", &range.first, &length) == 1 && *at >= '0' && *at <= '9';
        range.last = range.first;
        if (good && at[length] == '-' && sscanf(at + length, "-%9" SCNu32 "%n", &range.last, &more) != 1) {
            range.last = UINT32_MAX;
            more = 1;
        }
        at += length + more;
        if (!good || range.last < range.first || (*at && *at != ','))
            return err_set(
                err, "--only-threads: expected numbers and ranges such as 1- or 0,2-5, not '%.80s'", text);
        if (record->range_count == RECORD_RANGES)
            return err_set(err, "--only-threads: expected at most %d ranges", RECORD_RANGES);
        record->ranges[record->range_count++] = range;
    } while (*at++);
    return true;
}

static bool parse_count(const char *option, const char *value, uint64_t most, uint64_t *count,
                        struct err *err)
{
    struct err why;
    if (!unit_parse(UNIT_count, value, count, &why))
        return err_set(err, "%s: %s", option, why.text);
    return (*count >= 1 && *count <= most) ||
           err_set(err, "%s: expected a number from 1 to %" PRIu64 ", not '%.80s'", option, most, value);
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct record_request *request = user;
    struct record_options *record = &request->record;
    if (!row) /* "-", which is no program */
        return err_set(err, COMMAND ": expected a program, not '%.80s'", value);
    if (!strcmp(row->name, "--help")) {
        request->wants_help = true;
    } else if (!strcmp(row->name, "--output")) {
        request->output = value;
    } else if (!strcmp(row->name, "--run-on")) {
        record->run_on = true;
    } else if (!strcmp(row->name, "--no-progress")) {
        request->no_progress = true;
    } else if (!strcmp(row->name, "--accesses")) {
        return parse_count(row->name, value, UINT64_MAX - 1, &record->accesses, err);
    } else if (!strcmp(row->name, "--skip")) {
        return parse_count(row->name, value, TRACE_INSTRUCTIONS_MOST, &record->skip, err);
    } else if (!strcmp(row->name, "--skip-until-threads")) {
        return parse_count(row->name, value, RECORD_LANES, &record->skip_threads, err);
    } else if (!strcmp(row->name, "--only-threads")) {
        return parse_ranges(value, record, err);
    }
    return true;
}

/* ---- what came of it ---- */

static const char *millions(double count, char text[32])
{
    snprintf(text, 32, "%.1f million", count / 1e6);
    return text;
}

static void tell_thread(const struct cmd_recording *recording, const struct record_thread *thread)
{
    struct text path = {0};
    struct stat info;
    output_name(recording->place, thread->number, &path);
    double bytes = stat(path.at, &info) ? 0 : (double)info.st_size;
    fprintf(stderr,
            "heddle: thread %u: %" PRIu64 " accesses (%" PRIu64 " reads, %" PRIu64 " writes), %" PRIu64
            " instructions, %.2f bytes an access: %s\n",
            thread->number, thread->accesses, thread->accesses - thread->writes, thread->writes,
            thread->instructions, bytes / (double)thread->accesses, path.at);
    text_fini(&path);
}

static void tell(const struct cmd_recording *recording)
{
    const struct process *process = &recording->process;
    const struct record_shared *shared = recording->shared;
    size_t count;
    const struct record_thread *threads = collect_threads(recording->collect, &count);
    uint64_t accesses = 0;
    char text[32];
    for (size_t i = 0; i < count; i++) {
        tell_thread(recording, &threads[i]);
        accesses += threads[i].accesses;
    }
    fprintf(stderr, "heddle: %zu of %u thread%s, %s accesses in %.2f s, ", count, shared->threads,
            shared->threads == 1 ? "" : "s", millions((double)accesses, text), process->wall_s);
    fprintf(stderr, "%s/s", millions((double)accesses / process->wall_s, text));
    if (shared->over && !recording->request->record.run_on)
        fprintf(stderr, "; the program was ended then");
    else if (process->signal)
        fprintf(stderr, "; the program was ended by signal %d (%s), and they are of the time until then",
                process->signal, strsignal(process->signal));
    if (shared->children)
        fprintf(stderr, "; %u process%s that it made %s not recorded", shared->children,
                shared->children == 1 ? "" : "es", shared->children == 1 ? "was" : "were");
    fputc('\n', stderr);
}

static int run(int count, char **words)
{
    struct err err;
    struct record_request request = {0};
    struct cmd_recording recording = {.request = &request};
    int own = options_own_words(options, count, words), status = EXIT_USAGE;
    request.words = words + own;
    if (!options_parse(options, own, words, &request, took, &err))
        return complain(status, &err);
    if (request.wants_help) {
        cmd_print_help(&cmd_trace_record);
        return EXIT_GOOD;
    }
    if (own == count) {
        err_set(&err, COMMAND ": expected a program, such as `heddle trace record -- pigz -p 4 FILE`");
        return complain(status, &err);
    }
    if (!cmd_recording_run(&recording, &err)) {
        status = complain(recording.status, &err);
    } else {
        tell(&recording);
        status = recording.status;
    }
    cmd_recording_fini(&recording);
    return status;
}

const struct cmd cmd_trace_record = {
    .name = COMMAND,
    .arguments = "[options] PROGRAM [ARGUMENTS]",
    .help = "record the accesses of a program's threads",
    .more =
        "Runs any program for Linux, as it is, in QEMU (the package qemu-user), and writes a trace of each\n"
        "thread. Options stand before the program; all words behind it are its own, and its exit status\n"
        "becomes that of heddle. What a program does until it is ended by a signal is kept; of processes\n"
        "that it makes nothing is recorded. See docs/recording.md.",
    .options = options,
    .passes_words = true,
    .run = run,
};
