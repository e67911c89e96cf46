/* heddle boot: a whole computer with the simulated GPU. */
#include "boot/boot.h"
#include "cli/folder.h"
#include "cli/process.h"
#include "cli/shared_machine.h"
#include "cli/stats_launches.h"
#include "cli/timing.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/unit.h"
#include "report/launches/launches.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GIB (UINT64_C(1) << 30)

struct boot_request {
    struct timing_request timing; /* of it: the mode and the system */
    struct boot_options how;
    const char **programs;
    size_t program_count, program_capacity;
    unsigned threads;
    const char *stats, *stats_launches;
    bool wants_help;
};

static const struct option_row options[] = {
    {"--mode", "MODE", "functional: what is computed; timing: how long it takes on the GPU, too"},
    {"--system", "NAME|FILE", "the system to simulate (h200 unless told; `heddle params gpu`)"},
    {"--gpus", "N", "so many of its GPUs, on their usual fabric (--set system.gpus=N)"},
    {"--set", "PATH.KEY=VALUE", "change the system, such as dram.bandwidth=2TB/s; may come several times"},
    {"--threads", "N|all", "threads of this machine that simulate the GPU (all unless told)"},
    {"--program", "FILE", "a program that the guest finds in its PATH, too; may come several times"},
    {"--share", "FOLDER", "the guest's /share, where the command starts; read and written"},
    {"--checkpoint", "FILE", "save the guest when it has booted, before the command runs"},
    {"--checkpoint-stop", NULL, "... and end there"},
    {"--resume", "FILE", "go on from a checkpoint instead of booting; the command may be another one"},
    {"--stats", "FILE", "write what every kernel and launch did, as JSON"},
    STATS_LAUNCHES_OPTION,
    {"--timeout", "SECONDS", "end a guest that runs longer (real time): exit status 124"},
    {"--icount", NULL, "the guest's clock counts its instructions, instead of the host's time"},
    {"--cpus", "N", "processors of the guest (1 unless told)"},
    {"--memory", "SIZE", "memory of the guest (1GiB unless told)"},
    {"--window", "SIZE", "memory of the PCI device, for four programs at a time (64GiB unless told)"},
    {"--kernel", "FILE", "the guest's kernel (the newest /boot/vmlinuz-* unless told)"},
    {NULL, NULL, NULL},
};

/* ---- options ---- */

static bool take_size(const struct option_row *row, const char *value, uint64_t least, uint64_t most,
                      uint64_t *size, struct err *err)
{
    struct err why;
    if (!unit_parse(UNIT_size, value, size, &why))
        return err_set(err, "%s: %s", row->name, why.text);
    return (*size >= least && *size <= most && !(*size & (*size - 1))) ||
           err_set(err, "%s: expected a power of two from %lluMiB to %lluGiB, not '%.80s'", row->name,
                   (unsigned long long)(least >> 20), (unsigned long long)(most >> 30), value);
}

static bool take_timeout(const char *value, double *seconds, struct err *err)
{
    char *end;
    *seconds = strtod(value, &end);
    return (end != value && !*end && isfinite(*seconds) && *seconds > 0) ||
           err_set(err, "--timeout: expected seconds, such as 60, not '%.80s'", value);
}

static bool take_cpus(const char *value, unsigned *cpus, struct err *err)
{
    char *end;
    unsigned long count = strtoul(value, &end, 10);
    *cpus = (unsigned)count;
    return (end != value && !*end && count >= 1 && count <= 64) ||
           err_set(err, "--cpus: expected 1 to 64, not '%.80s'", value);
}

static void add_program(struct boot_request *request, const char *path)
{
    mem_grow(request->programs, request->program_count, request->program_capacity);
    request->programs[request->program_count++] = path;
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct boot_request *request = user;
    struct boot_options *how = &request->how;
    bool taken;
    if (!strcmp(row->name, "--help"))
        request->wants_help = true;
    else if (!strcmp(row->name, "--threads"))
        return options_threads(value, &request->threads, err);
    else if (!strcmp(row->name, "--program"))
        add_program(request, value);
    else if (!strcmp(row->name, "--share"))
        how->share = value;
    else if (!strcmp(row->name, "--checkpoint"))
        how->checkpoint = value;
    else if (!strcmp(row->name, "--checkpoint-stop"))
        how->checkpoint_stop = true;
    else if (!strcmp(row->name, "--resume"))
        how->resume = value;
    else if (!strcmp(row->name, "--stats"))
        request->stats = value;
    else if (!strcmp(row->name, "--stats-launches"))
        request->stats_launches = value;
    else if (!strcmp(row->name, "--timeout"))
        return take_timeout(value, &how->timeout_s, err);
    else if (!strcmp(row->name, "--icount"))
        how->counts_time = true;
    else if (!strcmp(row->name, "--cpus"))
        return take_cpus(value, &how->cpus, err);
    else if (!strcmp(row->name, "--memory"))
        return take_size(row, value, GIB / 4, 64 * GIB, &how->memory, err);
    else if (!strcmp(row->name, "--window"))
        return take_size(row, value, GIB, 256 * GIB, &how->window, err);
    else if (!strcmp(row->name, "--kernel"))
        how->kernel = value;
    else
        return timing_took(&request->timing, row, value, &taken, err);
    return true;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return !stat(path, &about) && S_ISDIR(about.st_mode);
}

static bool makes_sense(const struct boot_request *request, struct err *err)
{
    const struct boot_options *how = &request->how;
    if (how->checkpoint_stop && !how->checkpoint)
        return err_set(err, "--checkpoint-stop needs --checkpoint FILE");
    if (how->checkpoint && how->resume)
        return err_set(err,
                       "--checkpoint does not go with --resume: a guest is saved when it has booted, and "
                       "a resumed one has");
    if (how->counts_time && how->cpus > 1)
        return err_set(err, "--icount needs one processor (--cpus 1)");
    if (how->share && !is_folder(how->share))
        return err_set(err, "--share: %.200s is no folder", how->share);
    if (how->share && strchr(how->share, ','))
        return err_set(err, "--share: QEMU takes no folder with a comma in its name");
    if (how->checkpoint && !file_check(how->checkpoint, err))
        return false;
    return (!request->stats || file_check(request->stats, err)) && timing_check(&request->timing, err);
}

/* ---- what came of it ---- */

static void tell_work(struct text *text, const struct boot_work *work, bool timing)
{
    const uint64_t *gpu = work->gpu; /* as SERVE_LIVE has them */
    text_add(text,
             "%.1f million instructions, %llu kernels of %llu warp instructions, %llu copies of %llu bytes",
             1e-6 * (double)work->instructions, (unsigned long long)gpu[1], (unsigned long long)gpu[4],
             (unsigned long long)gpu[2], (unsigned long long)gpu[3]);
    if (timing)
        text_add(text, ", %.3f us of kernels", 1e-6 * (double)gpu[5]);
    text_add(text, "\n");
}

static void tell_guest(const struct boot_request *request, const struct boot_result *result)
{
    struct text text = {0};
    const struct boot_options *how = &request->how;
    text_add(&text, "heddle: guest: %s in %.2f s (%.2f s of CPU", how->resume ? "resumed" : "booted",
             result->boot_s, result->boot_cpu_s);
    if (!how->resume)
        text_add(&text, ", %llu instructions", (unsigned long long)result->boot_instructions);
    text_add(&text, "); ended after %.2f s (%.2f s)\n", result->wall_s, result->cpu_s);
    if (how->checkpoint)
        text_add(&text, "heddle: guest: checkpoint %s of %.1f MB written in %.2f s\n", how->checkpoint,
                 1e-6 * (double)result->checkpoint_bytes, result->checkpoint_s);
    text_add(&text, "heddle: guest: in all ");
    tell_work(&text, &result->all, how->timing);
    if (result->regions) {
        text_add(&text, "heddle: guest: region of interest, entered %llu times: ",
                 (unsigned long long)result->regions);
        tell_work(&text, &result->region, how->timing);
    }
    fputs(text.at, stderr);
    text_fini(&text);
}

/* For JSON. A machine that keeps no time has no times to tell. */
enum { COUNTS_MOST = 16 };

static void fill_counts(struct launch_option *counts, const struct boot_work *work, uint64_t regions,
                        bool timing)
{
    static const char *const names[] = {
#define L(name) #name,
        SERVE_LIVE(L)
#undef L
    };
    size_t count = 0;
    counts[count++] = (struct launch_option){"instructions", work->instructions};
    if (regions)
        counts[count++] = (struct launch_option){"entered", regions};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (timing || !strstr(names[i], "_ps"))
            counts[count++] = (struct launch_option){names[i], work->gpu[i]};
    }
    counts[count].name = NULL;
}

static bool tell_launches(const struct boot_request *request, const struct system *system,
                          const struct boot_result *result, struct err *err)
{
    const struct boot_options *how = &request->how;
    struct text folder = {0}, summary = {0};
    struct launches lines = {0};
    char *const *command = how->command;
    struct launch_run run = {.program = command ? command[0] : "sh",
                             .arguments = command ? command + 1 : NULL,
                             .system_name = request->timing.system ? request->timing.system : "h200",
                             .system = system,
                             .timing = how->timing,
                             .threads = request->threads,
                             .wall_s = result->wall_s,
                             .cpu_s = result->cpu_s,
                             .signal = result->signal,
                             .exit_status = result->status,
                             .interrupted = result->interrupted,
                             .first_line = how->first_line,
                             .end_line = how->end_line};
    struct launch_option all[COUNTS_MOST], region[COUNTS_MOST];
    fill_counts(all, &result->all, 0, how->timing);
    fill_counts(region, &result->region, result->regions, how->timing);
    run.guest = all;
    run.region = result->regions ? region : NULL;
    text_add(&folder, "%s/%s", how->folder, how->ledger);
    bool good = launches_read(folder.at, &lines, err);
    if (good && request->stats)
        good = launches_write(&lines, &run, request->stats, err);
    good = good && launches_are_whole(&lines, folder.at, err);
    text_add(&summary, "heddle: ");
    launches_summarize(&lines, &run, &summary);
    text_add(&summary, "\n");
    launches_explain(&lines, &run, &summary);
    fputs(summary.at, stderr);
    launches_fini(&lines);
    text_fini(&folder);
    text_fini(&summary);
    return good;
}

/* ---- the run ---- */

/* Statistics of the guest's programs go there, as those of `heddle run` go to its folder. */
static bool make_ledger(const struct boot_options *how, struct err *err)
{
    struct text path = {0}, from = {0};
    text_add(&path, "%s/job", how->folder);
    text_add(&from, "%s/losses", how->folder);
    bool good = !mkdir(path.at, 0755);
    path.length = 0;
    text_add(&path, "%s/%s", how->folder, how->ledger);
    good = good && !mkdir(path.at, 0755);
    text_add(&path, "/losses");
    good = (good && !rename(from.at, path.at)) ||
           err_set(err, "boot: cannot write to %.200s: %s", how->folder, strerror(errno));
    text_fini(&path);
    text_fini(&from);
    return good;
}

static int run_guest(const struct boot_request *request, struct boot *boot, const struct system *system)
{
    struct shared_machine machine = {0};
    struct serve_options serve = {.path = request->how.machine,
                                  .system = system,
                                  .threads = request->threads,
                                  .patience_s = SHARED_MACHINE_PATIENCE_S};
    struct boot_result result = {.status = EXIT_FAILED};
    struct err err;
    boot_fill_machine(boot, &serve);
    bool good = shared_machine_start(&machine, "boot", &serve, &err);
    catch_interrupts();
    good = good && boot_run(boot, &result, &err);
    shared_machine_end(&machine);
    if (!good)
        return complain(result.status ? result.status : EXIT_FAILED, &err);
    tell_guest(request, &result);
    if (result.stopped)
        return EXIT_GOOD;
    if (!tell_launches(request, system, &result, &err))
        return complain(result.status ? result.status : EXIT_FAILED, &err);
    return result.interrupted ? EXIT_SIGNAL + interrupted : result.status;
}

static int boot_system(struct boot_request *request, const struct system *system)
{
    struct boot_options *how = &request->how;
    struct text machine = {0};
    struct err err;
    int status = EXIT_FAILED;
    char *folder = folder_new(&err), *cuda = process_beside("boot", "cuda/libheddle_preload.so", &err);
    char *plugin = process_beside("boot", "boot/libheddle_boot.so", &err);
    char *guest = process_beside("boot", "boot/heddle-guest", &err);
    struct boot *boot = NULL;
    if (cuda)
        *strrchr(cuda, '/') = 0;
    const char *libraries[] = {cuda, NULL};
    text_add(&machine, "%s/machine", folder ? folder : "");
    how->folder = folder;
    how->ledger = "job/ledger";
    how->machine = machine.at;
    how->plugin = plugin;
    how->guest = guest;
    how->libraries = libraries;
    how->timing = timing_is_on(&request->timing);
    how->interrupt = &interrupted;
    if (folder && cuda && plugin && guest && make_ledger(how, &err) && (boot = boot_new(how, &err)))
        status = run_guest(request, boot, system);
    else
        complain(status, &err);
    boot_free(boot);
    folder_free(folder);
    mem_free(cuda);
    mem_free(plugin);
    mem_free(guest);
    text_fini(&machine);
    return status;
}

static int boot_request(struct boot_request *request)
{
    struct boot_options *how = &request->how;
    struct system system;
    struct err err;
    if (!makes_sense(request, &err) ||
        !stats_launches_choose(request->stats, request->stats_launches, &how->first_line, &how->end_line,
                               &err) ||
        !timing_load_system(&request->timing, &system, &err))
        return complain(EXIT_USAGE, &err);
    add_program(request, NULL);
    how->programs = request->programs;
    int status = boot_system(request, &system);
    system_fini(&system);
    return status;
}

static int run(int count, char **words)
{
    struct boot_request request = {.how = {.memory = GIB, .window = 64 * GIB, .cpus = 1},
                                   .threads = host_cores()};
    struct err err;
    int own = options_own_words(options, count, words), status;
    if (own < count)
        request.how.command = words + own;
    if (!timing_from_environment(&request.timing, &err) ||
        !options_parse(options, own, words, &request, took, &err)) {
        status = complain(EXIT_USAGE, &err);
    } else if (request.wants_help) {
        cmd_print_help(&cmd_boot);
        status = EXIT_GOOD;
    } else {
        status = boot_request(&request);
    }
    timing_fini(&request.timing);
    mem_free(request.programs);
    return status;
}

const struct cmd cmd_boot = {
    .name = "boot",
    .arguments = "[options] [COMMAND [ARGUMENTS]]",
    .help = "a whole computer with the GPU: Debian's kernel in QEMU, the GPU as a PCI device",
    .more =
        "Boots Debian's kernel and a small userland in QEMU, and runs the command there, or a shell. A "
        "command\n"
        "with a slash in it is a program of this machine, which the guest gets with the libraries that "
        "it loads;\n"
        "any other is the guest's own. CUDA programs in the guest run on the simulated GPU. The command's "
        "exit\n"
        "status becomes that of heddle. See docs/boot.md.",
    .options = options,
    .passes_words = true,
    .run = run,
};
