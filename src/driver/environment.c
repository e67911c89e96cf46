/* The process's own driver, configured by environment variables. */
#include "driver/checking.h"
#include "driver/internal.h"
#include "driver/ledger_format.h"
#include "driver/onlooker.h"
#include "driver/region.h"
#include "driver/timeline.h"
#include "attach/attach.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unit.h"
#include "ranked/ranked.h"
#include "ranks/ranks.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t own_once = PTHREAD_ONCE_INIT;
static struct driver *own;
static struct err own_err;
static const char *default_system;
static _Atomic int stopped_by; /* a signal */

/* ---- settings ---- */

/* NULL: not set. */
static const char *text_of(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static bool count_of(const char *name, uint64_t most, uint64_t *value)
{
    const char *text = text_of(name);
    struct err why;
    if (!text)
        return true;
    if (!unit_parse(UNIT_count, text, value, &why))
        return err_set(&own_err, "%s: %s", name, why.text);
    return *value <= most ||
           err_set(&own_err, "%s: expected at most %llu, not %s", name, (unsigned long long)most, text);
}

/* One of two words; the first when it is not set. */
static bool word_of(const char *name, const char *first, const char *second, bool *is_second)
{
    const char *text = text_of(name);
    *is_second = text && !strcmp(text, second);
    return !text || *is_second || !strcmp(text, first) ||
           err_set(&own_err, "%s: expected %s or %s, not %.80s", name, first, second, text);
}

/* "3-5", "7" or "3-": launches by their numbers, to before the end; without one, to `no_end`. */
static bool launches_of(const char *name, uint64_t *first, uint64_t *behind, uint64_t no_end)
{
    const char *text = text_of(name);
    char *end;
    if (!text)
        return true;
    *first = strtoull(text, &end, 10);
    *behind = *first + 1;
    if (*end == '-')
        *behind = end[1] ? strtoull(end + 1, &end, 10) + 1 : (end++, no_end);
    return !*end || err_set(&own_err, "%s: expected numbers such as 3-5, not %.80s", name, text);
}

/* Lines of assignments, cut into a list that ends in NULL. */
static const char **settings_of(const char *name, char **copy)
{
    const char *text = text_of(name);
    const char **list = NULL;
    size_t count = 0, capacity = 0;
    *copy = mem_text(text ? text : "");
    for (char *at = *copy, *line; (line = strsep(&at, "\n"));) {
        if (*line) {
            mem_grow(list, count, capacity);
            list[count++] = line;
        }
    }
    mem_grow(list, count, capacity);
    list[count] = NULL;
    return list;
}

/* What MPI's starters tell a process of its job: its rank, and how many there are. */
static void take_rank(struct timing_options *timing)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"SLURM_PROCID", "SLURM_NTASKS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = text_of(names[i][0]), *ranks = text_of(names[i][1]);
        uint64_t number = rank ? strtoull(rank, NULL, 10) : 0, count = ranks ? strtoull(ranks, NULL, 10) : 0;
        if (!rank || !ranks || number >= count || count > UINT32_MAX)
            continue;
        timing->rank = (uint32_t)number;
        timing->ranks = (uint32_t)count;
        return;
    }
}

static bool options_of(struct driver_options *options)
{
    struct timing_options *timing = &options->timing;
    uint64_t threads = 0;
    uint64_t seat = 0, show = CHECK_SHOW;
    bool quiet, no_profile;
    if (!count_of("HEDDLE_SEAT", SEATS_MOST, &seat) || !count_of("HEDDLE_THREADS", 65536, &threads) ||
        !word_of("HEDDLE_BOUNDS", "exact", "padded", &options->padded_bounds) ||
        !count_of("HEDDLE_INSTRUCTION_LIMIT", UINT64_MAX, &options->instruction_limit) ||
        !word_of("HEDDLE_MODE", "functional", "timing", &timing->on) ||
        !count_of("HEDDLE_MAX_CYCLES", UINT64_MAX, &timing->max_cycles) ||
        !count_of("HEDDLE_RECORD_LIMIT", UINT64_MAX, &options->record.limit) ||
        !count_of("HEDDLE_CHECK_SHOW", UINT64_MAX, &show) ||
        !launches_of("HEDDLE_STATS_LAUNCHES", &options->first_line, &options->end_line, UINT64_MAX) ||
        !word_of("HEDDLE_ISLANDS", "together", "apart", &timing->islands_apart) ||
        !word_of("HEDDLE_CACHES", "warm", "cold", &timing->cold_caches) ||
        !word_of("HEDDLE_PROGRESS", "yes", "no", &quiet) ||
        !word_of("HEDDLE_PROFILE", "yes", "no", &no_profile) ||
        !count_of("HEDDLE_SERIES", UINT64_MAX, &timing->series_cycles) ||
        !count_of("HEDDLE_CHECKPOINT_AT", UINT64_MAX, &timing->checkpoint_at) ||
        !count_of("HEDDLE_CHECKPOINT_EVERY", UINT64_MAX, &timing->checkpoint_every) ||
        !word_of("HEDDLE_CHECKPOINT_STOP", "no", "yes", &timing->checkpoint_stop))
        return false;
    if (timing->on && options->instruction_limit)
        return err_set(&own_err,
                       "HEDDLE_INSTRUCTION_LIMIT: expected HEDDLE_MAX_CYCLES instead of it in timing mode");
    options->threads = (unsigned)threads;
    options->of_node = true;
    take_rank(timing);
    timing->seat = (uint32_t)seat;
    timing->progress = !quiet;
    timing->profile = !no_profile;
    timing->follow_machine = getenv("HEDDLE_CPU"); /* the host has a time of its own */
    timing->watch_host = !timing->follow_machine;
    options->trace_mem = text_of("HEDDLE_TRACE_MEM");
    options->record.folder = text_of("HEDDLE_RECORD");
    options->check = text_of("HEDDLE_CHECK");
    options->check_show = show;
    options->kernels = text_of("HEDDLE_KERNELS");
    options->region = text_of("HEDDLE_REGION");
    struct choice kernels; /* what is wrong is said by the variable's name */
    struct err why;
    if (!choice_init(&kernels, "HEDDLE_KERNELS", options->kernels, &own_err))
        return false;
    choice_fini(&kernels);
    if (!region_init(options->region, &why))
        return err_set(&own_err, "HEDDLE_REGION: %s", why.text);
    timing->attach = text_of("HEDDLE_ATTACH");
    timing->on |= timing->attach != NULL;
    timing->checkpoint = text_of("HEDDLE_CHECKPOINT");
    timing->resume = text_of("HEDDLE_RESUME");
    options->picture = (struct picture_options){.path = text_of("HEDDLE_TIMELINE"),
                                                .detail = text_of("HEDDLE_TIMELINE_DETAIL"),
                                                .window = text_of("HEDDLE_TIMELINE_WINDOW")};
    options->live = text_of("HEDDLE_LIVE");
    timing->write_load = text_of("HEDDLE_WRITE_LOAD");
    timing->placement = text_of("HEDDLE_PLACEMENT");
    timing->identity = text_of("HEDDLE_IDENTITY");
    return true;
}

/* ---- Ctrl-C ---- */

/* What a simulation that is under way knows is written before the program ends as the signal says; so is a
 * checkpoint, if there is to be one, when the program makes its next call. A second signal ends it at once,
 * unless it comes so soon that it is the same one: who signals a group reaches the program, and `heddle run`,
 * which passes it on. */
static void on_signal(int number)
{
    static const int64_t same_ns = 1000000000;
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    bool waits = !driver_is_forked(own) && (timeline_is_driving(own) || own->options.timing.checkpoint);
    if (stopped_by && (now.tv_sec - first.tv_sec) * same_ns + now.tv_nsec - first.tv_nsec < same_ns && waits)
        return;
    if (!stopped_by && waits) {
        first = now;
        stopped_by = number;
        own->interrupt = 1;
        return;
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void end_as_told(struct driver *driver)
{
    if (stopped_by) {
        driver_finish_picture(driver);
        signal(stopped_by, SIG_DFL);
        raise(stopped_by);
    }
}

/* The program is not to go on: a checkpoint was written and that was all, or it could not be gone on from. */
static void end_now(bool good)
{
    if (own)
        driver_finish_picture(own);
    _exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Where the program has no handler of its own; one that it sets later takes the place of this. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        if (!sigaction(numbers[i], NULL, &now) && now.sa_handler == SIG_DFL)
            signal(numbers[i], on_signal);
    }
    own->on_interrupt = end_as_told;
    own->on_end = end_now;
}

/* ---- the driver ---- */

/* Whoever started the process tells of it by the system that it runs on. */
static void note_system(const struct driver_options *options)
{
    struct text path = {0};
    if (!options->run_dir || text_of("HEDDLE_SYSTEM") || !default_system)
        return;
    text_add(&path, "%s/" LEDGER_SYSTEM, options->run_dir);
    FILE *file = fopen(path.at, "w");
    if (file) {
        fputs(default_system, file);
        fclose(file);
    }
    text_fini(&path);
}

/* Of `heddle run` over ranks: the first program that uses the GPU has them. */
static struct ranks *ranks_of_run;
static pid_t ranks_process;         /* that has joined them; not a child of it */
static bool ranks_are_used;         /* by a driver of this process, */
static struct driver *ranks_driver; /* made by heddle_open_timed; or NULL */

bool driver_take_ranks(struct driver_options *options, struct err *err)
{
    const char *folder = text_of("HEDDLE_RUN_DIR");
    struct text path = {0};
    if (!text_of("HEDDLE_RANKS") || !options->timing.on)
        return true;
    if (ranks_are_used)
        return err_set(err, "another system of this program has the run's ranks: close it first");
    if (!ranks_of_run) {
        text_add(&path, "%s/" LEDGER_RANKS, folder ? folder : ".");
        int file = open(path.at, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        text_fini(&path);
        if (file < 0)
            return err_set(err,
                           "another process of this run has its ranks already: one program can use them");
        close(file);
        ranks_of_run = ranks_start(err);
        ranks_process = getpid();
    }
    options->timing.over_ranks = ranks_of_run;
    return ranks_are_used = ranks_of_run;
}

/* Of a program that ends: of what heddle_open_timed gave, and was maybe not closed. */
__attribute__((destructor)) static void dismiss_ranks(void)
{
    if (!ranks_of_run || own || getpid() != ranks_process)
        return;
    if (ranks_driver) {
        timeline_leave_ranks(ranks_driver);
    } else {
        ranked_dismiss(ranks_of_run);
        ranks_end(ranks_of_run);
    }
    ranks_of_run = NULL;
}

void driver_keep_ranks(struct driver *driver)
{
    ranks_driver = driver;
    ranks_are_used = driver;
}

void driver_give_ranks_back(const struct driver *driver)
{
    if (driver && ranks_driver == driver)
        driver_keep_ranks(NULL);
}

static void make_own(void)
{
    char *settings;
    struct driver_options options = {
        .system = text_of("HEDDLE_SYSTEM") ? text_of("HEDDLE_SYSTEM") : default_system,
        .home = getenv("HEDDLE_HOME"),
        .run_dir = getenv("HEDDLE_RUN_DIR"),
        .settings = settings_of("HEDDLE_SETTINGS", &settings),
    };
    bool over_ranks = text_of("HEDDLE_RANKS");
    if (options_of(&options) && driver_take_ranks(&options, &own_err))
        own = driver_new(&options, &own_err);
    if (own) {
        own->options.settings = NULL;
        note_system(&options);
    }
    if (own && own->timeline)
        catch_signals();
    if (!own && (options.timing.resume || over_ranks ||
                 options.live)) { /* nothing that the program would do then is of use */
        fprintf(stderr, "heddle: %s\n", own_err.text);
        end_now(false);
    }
    mem_free((void *)(uintptr_t)options.settings);
    mem_free(settings);
}

void driver_set_default_system(const char *name)
{
    default_system = name;
}

struct driver *driver_get(struct err *err)
{
    pthread_once(&own_once, make_own);
    if (!own) {
        *err = own_err;
        return NULL;
    }
    if (driver_is_forked(own)) {
        err_set(err, "a process that was forked from one that used the GPU cannot use it");
        return NULL;
    }
    return own;
}

void driver_at_exit(void)
{
    if (!own || driver_is_forked(own))
        return;
    if (!timeline_ends(own))
        end_now(false);
    if (region_was_missed() && own->ledger.submitted) {
        struct err line;
        err_set(&line, "no launch was in the region %s: none was timed or recorded",
                text_of("HEDDLE_REGION"));
        driver_notice(own, line.text);
    }
    checking_finish(own);
    own->ended = true;
    own->interrupt = 1;
    look_end(own->onlooker);
    driver_finish_picture(own);
    driver_finish_tracing(own);
    timeline_write_load(own);
    timeline_end_listening(own);
    timeline_leave_ranks(own);
}
