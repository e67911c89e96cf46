#include "cli/recording.h"
#include "cli/cli.h"
#include "base/mem.h"
#include "record/emulator.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define COMMAND "trace record"
#define PLUGIN  "record/libheddle_record.so"

/* ---- before ---- */

static bool find_files(struct cmd_recording *recording, struct err *err)
{
    struct err why;
    recording->path = process_find(COMMAND, recording->request->words[0], &recording->status, err);
    if (!recording->path)
        return false;
    const char *name = emulator_of(COMMAND, recording->path, err);
    recording->status = EXIT_CANNOT_RUN;
    if (!name)
        return false;
    recording->emulator = process_find(COMMAND, name, &recording->status, &why);
    if (!recording->emulator)
        return err_set(err, COMMAND ": %s is missing, which runs the program: sudo apt-get install qemu-user",
                       name);
    recording->status = EXIT_FAILED;
    recording->plugin = process_beside(COMMAND, PLUGIN, err);
    return recording->plugin;
}

static bool find_place(struct cmd_recording *recording, struct err *err)
{
    const char *slash = strrchr(recording->path, '/'), *output = recording->request->output;
    struct err why;
    recording->place = output_new(output ? output : slash ? slash + 1 : recording->path, &why);
    return recording->place || err_set(err, "--output: %s", why.text);
}

/* What QEMU is called with. In its options, commas are written twice. */
static void make_words(struct cmd_recording *recording)
{
    char **words = recording->request->words;
    size_t count = 0, own = 0;
    while (words[count])
        count++;
    recording->words = mem_alloc(count + 6, sizeof *recording->words);
    for (const char *at = recording->plugin; *at; at++)
        text_add(&recording->plugin_word, *at == ',' ? ",," : "%c", *at);
    text_add(&recording->plugin_word, ",memory=%d", recording->shared_file);
    recording->words[own++] = recording->emulator;
    recording->words[own++] = (char *)"-plugin";
    recording->words[own++] = recording->plugin_word.at;
    recording->words[own++] = (char *)"-0"; /* what the program finds as its name */
    recording->words[own++] = words[0];
    recording->words[own++] = recording->path;
    memcpy(recording->words + own, words + 1, (count - 1) * sizeof *words);
}

/* ---- meanwhile ---- */

/* In the child: QEMU inherits the memory that it shares with us, and does not outlive us, as it would wait
 * for us to take what it recorded. The program's addresses are the same in each run. */
static void prepare(void *user)
{
    const struct cmd_recording *recording = user;
    fcntl(recording->shared_file, F_SETFD, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    personality(ADDR_NO_RANDOMIZE | (unsigned)personality(UINT32_MAX));
}

static void on_failure(void *user)
{
    (void)user;
    process_kill();
}

static void on_progress(void *user, uint64_t count)
{
    struct cmd_recording *recording = user;
    if (!recording->request->no_progress)
        progress_update(&recording->progress, -1, count);
}

static const struct collect_ops ops = {.failed = on_failure, .progress = on_progress};

static bool run_program(struct cmd_recording *recording, struct err *err)
{
    struct process *process = &recording->process;
    *process = (struct process){.command = COMMAND,
                                .path = recording->emulator,
                                .words = recording->words,
                                .prepare = prepare,
                                .user = recording};
    bool started = process_start(process, err);
    recording->status = started ? EXIT_FAILED : process->status;
    if (!started)
        return false;
    progress_init(&recording->progress, "record", "accesses");
    recording->collect = collect_new(recording->shared, output_folder(recording->place), &ops, recording);
    process_wait(process);
    bool good = collect_finish(recording->collect, err);
    progress_fini(&recording->progress);
    return good;
}

/* ---- after ---- */

/* Whether there is what was asked for. */
static bool check(const struct cmd_recording *recording, struct err *err)
{
    const struct record_shared *shared = recording->shared;
    const struct record_options *options = &recording->request->record;
    const char *name = recording->request->words[0];
    size_t count;
    collect_threads(recording->collect, &count);
    if (!shared->threads)
        return err_set(err, COMMAND ": %.200s did not come to run in QEMU (status %d)", name,
                       recording->process.status);
    if (shared->too_many_threads)
        return err_set(err, COMMAND ": %.200s had more than %d threads at a time", name, RECORD_LANES);
    if (shared->became_another)
        return err_set(err,
                       COMMAND ": %.200s became another program by exec, of which nothing is recorded; name "
                               "that program",
                       name);
    if (!shared->began && options->skip_threads > 1 && !shared->skipped)
        return err_set(err, COMMAND ": %.200s ended before it had %" PRIu64 " threads; there were %u in all",
                       name, options->skip_threads, shared->threads);
    if (!shared->began)
        return err_set(err, COMMAND ": %.200s ended before it had run the %" PRIu64 " instructions to skip",
                       name, options->skip);
    return count || err_set(err, COMMAND ": %.200s had no accesses to record: it had threads 0 to %u", name,
                            shared->threads - 1);
}

static bool prepare_all(struct cmd_recording *recording, struct err *err)
{
    if (!find_files(recording, err) || !find_place(recording, err))
        return false;
    recording->shared = record_shared_new(&recording->shared_file, err);
    if (!recording->shared)
        return false;
    recording->shared->options = recording->request->record;
    make_words(recording);
    return true;
}

bool cmd_recording_run(struct cmd_recording *recording, struct err *err)
{
    if (!prepare_all(recording, err) || !run_program(recording, err) || !check(recording, err) ||
        !output_commit(recording->place, err))
        return false;
    recording->status = recording->process.status;
    return true;
}

void cmd_recording_fini(struct cmd_recording *recording)
{
    if (recording->collect)
        collect_free(recording->collect);
    if (recording->shared)
        record_shared_free(recording->shared, recording->shared_file);
    if (recording->place)
        output_free(recording->place);
    text_fini(&recording->plugin_word);
    mem_free(recording->words);
    mem_free(recording->path);
    mem_free(recording->emulator);
    mem_free(recording->plugin);
}
