#include "driver/internal.h"
#include "driver/onlooker.h"
#include "driver/picture.h"
#include "driver/region.h"
#include "driver/timeline.h"
#include "driver/checking.h"
#include "driver/itracing.h"
#include "driver/replaying.h"
#include "driver/tracing.h"
#include "attach/attach.h"
#include "base/host.h"
#include "system/cluster.h"
#include "base/mem.h"
#include "plugin/plugin.h"

#include <stdarg.h>
#include <unistd.h>

/* ---- what went wrong, for humans ---- */

static _Thread_local struct err detail;

const char *driver_detail(void)
{
    return detail.text;
}

struct err *driver_detail_err(void)
{
    return &detail;
}

enum result driver_fail(enum result result, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(detail.text, sizeof detail.text, format, list);
    va_end(list);
    return result;
}

static _Thread_local struct err last_report;

bool driver_reported(const char *text)
{
    return strcmp(last_report.text, text) == 0;
}

void driver_report(struct driver *driver, const char *text)
{
    err_set(&last_report, "%s", text);
    look_note(driver->onlooker, text);
    pthread_mutex_lock(&driver->report_lock);
    if (driver->options.report)
        driver->options.report(driver->options.user, text);
    else
        fprintf(stderr, "heddle: %s\n", text);
    pthread_mutex_unlock(&driver->report_lock);
}

void driver_notice(struct driver *driver, const char *text)
{
    look_note(driver->onlooker, text);
    pthread_mutex_lock(&driver->report_lock);
    fprintf(stderr, "heddle: %s\n", text);
    pthread_mutex_unlock(&driver->report_lock);
}

/* ---- one driver ---- */

/* Drivers that are there, for threads that end and have streams of them. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *registry; /* numbers */
static size_t registry_count, registry_capacity;
static uint64_t last_number;

static uint64_t forks; /* between the first process and this one */
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* In the child, which has one thread. */
static void after_fork(void)
{
    forks++;
    registry_count = 0;
    pthread_mutex_init(&registry_lock, NULL); /* another thread of the parent may have held it */
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

bool driver_is_forked(const struct driver *driver)
{
    return driver->forks != forks;
}

static void register_driver(struct driver *driver)
{
    pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&registry_lock);
    driver->number = ++last_number;
    driver->forks = forks;
    mem_grow(registry, registry_count, registry_capacity);
    registry[registry_count++] = driver->number;
    pthread_mutex_unlock(&registry_lock);
}

static size_t registered(uint64_t number)
{
    size_t i = 0;
    while (i < registry_count && registry[i] != number)
        i++;
    return i;
}

static void unregister_driver(struct driver *driver)
{
    pthread_mutex_lock(&registry_lock);
    registry[registered(driver->number)] = registry[--registry_count];
    if (!registry_count) {
        mem_free(registry);
        registry = NULL;
        registry_capacity = 0;
    }
    pthread_mutex_unlock(&registry_lock);
}

void driver_end_stream(uint64_t driver_number, struct stream *stream, uint64_t id)
{
    pthread_mutex_lock(&registry_lock);
    if (registered(driver_number) < registry_count)
        stream_end(stream, id);
    pthread_mutex_unlock(&registry_lock);
}

static bool load_system(struct driver *driver, struct err *err)
{
    struct text folder = {0};
    if (driver->options.home && *driver->options.home)
        text_add(&folder, "%s/systems", driver->options.home);
    bool good = system_load(&driver->system, driver->options.system, folder.at, err);
    text_fini(&folder);
    const char *const *setting = driver->options.settings;
    if (!good)
        return false;
    for (; good && setting && *setting; setting++)
        good = system_set(&driver->system, *setting, err);
    good = good && system_check(&driver->system, err);
    if (!good)
        system_fini(&driver->system);
    return good;
}

/* From here on there are no other nodes, but in numbers of GPUs that others are told. */
static void keep_node(struct driver *driver)
{
    struct system_spec *spec = &driver->system.spec;
    uint32_t gpus = system_node_devices(&driver->system);
    driver->nodes = (uint32_t)spec->nodes;
    if (driver->nodes == 1)
        return;
    driver->node = driver->attach ? attach_seat(driver->attach)->node
                                  : cluster_node_of_rank(&driver->system, driver->options.timing.rank,
                                                         driver->options.timing.ranks);
    driver->first_gpu = driver->node * gpus;
    spec->gpus = gpus;
    spec->nodes = 1;
}

/* The machine's system is told by a file beside its socket. */
static bool enter_machine(struct driver *driver, struct err *err)
{
    const struct timing_options *timing = &driver->options.timing;
    struct text path = {0};
    struct seat_wish wish = {
        .seat = timing->seat ? timing->seat - 1 : SEAT_ANY, .rank = timing->rank, .ranks = timing->ranks};
    driver->attach = attach_new(timing->attach, &wish, err);
    if (!driver->attach)
        return false;
    driver->options.timing.untimed = attach_seat(driver->attach)->untimed;
    text_add(&path, "%s.ini", timing->attach);
    driver->options.system = path.at;
    driver->options.settings = NULL;
    bool good = load_system(driver, err);
    driver->options.system = NULL;
    text_fini(&path);
    if (good)
        keep_node(driver);
    if (good && system_devices(&driver->system) != attach_seat(driver->attach)->gpu_count) {
        good = err_set(err, "%s.ini is not of the machine that is there", timing->attach);
        system_fini(&driver->system);
    }
    if (!good)
        attach_free(driver->attach);
    return good;
}

static void release(struct driver *driver)
{
    while (driver->modules)
        module_end(driver->modules);
    for (unsigned i = 0; i < driver->device_count; i++)
        device_fini(&driver->devices[i]);
    for (size_t i = 0; i < driver->memory.count; i++) {
        mem_free(driver->memory.table[i]->graph);
        mem_free(driver->memory.table[i]);
    }
    mem_free(driver->memory.table);
    mem_free(driver->memory.placed);
    mappings_fini(driver);
    ipc_fini(driver);
    arena_fini(&driver->memory.host);
    if (driver->memory.moves_managed)
        arena_fini(&driver->memory.managed);
    areas_fini(&driver->memory.areas);
    ledger_fini(&driver->ledger);
    replaying_fini(driver);
    pthread_mutex_destroy(&driver->memory.lock);
    pthread_mutex_destroy(&driver->module_lock);
    pthread_mutex_destroy(&driver->report_lock);
    system_fini(&driver->system);
    choice_fini(&driver->kernels);
    mem_free(driver->devices);
    mem_free(driver);
}

struct driver *driver_new(const struct driver_options *options, struct err *err)
{
    struct driver *driver = mem_alloc(1, sizeof *driver);
    driver->options = *options;
    driver->instruction_limit = options->instruction_limit;
    if (!plugin_load_from_environment(err) ||
        !choice_init(&driver->kernels, "--kernels", options->kernels, err) ||
        !region_init(options->region, err) ||
        !(options->timing.attach ? enter_machine(driver, err) : load_system(driver, err))) {
        choice_fini(&driver->kernels);
        mem_free(driver);
        return NULL;
    }
    if (options->of_node && !driver->attach)
        keep_node(driver);
    driver->threads = options->threads ? options->threads : host_cores();
    pthread_mutex_init(&driver->module_lock, NULL);
    pthread_mutex_init(&driver->report_lock, NULL);
    ledger_init(&driver->ledger, options->run_dir, options->first_line, options->end_line);
    commands_init(&driver->commands);
    register_driver(driver);
    uint32_t devices = system_devices(&driver->system);
    driver->devices = mem_alloc(devices, sizeof *driver->devices);
    bool good = memory_init(driver, err);
    for (unsigned i = 0; good && i < devices; i++) {
        driver->device_count++;
        good = device_init(&driver->devices[i], driver, i, err);
    }
    if (good && options->trace_mem)
        driver->tracing = tracing_new(options->trace_mem, options->run_dir, driver->device_count,
                                      (uint32_t)driver->devices[0].spec->sm_count);
    if (good && options->record.folder)
        good = (driver->itracing = itracing_new(driver, err));
    if (good && options->check)
        good = checking_new(driver, err);
    if (good && options->live && (driver->attach || options->timing.over_ranks))
        good = err_set(err, "HEDDLE_LIVE does not go with %s, where the machine is not in this process alone",
                       driver->attach ? "HEDDLE_ATTACH" : "ranks");
    if (good && options->timing.on && options->live)
        driver->onlooker = onlooker_new(driver);
    if (good && options->timing.on)
        good = timeline_new(driver, err) && timeline_begin_listening(driver, err);
    if (good && driver->timeline && options->picture.path)
        good = picture_begin(driver, err);
    if (good && driver->onlooker)
        good = onlooker_begin(driver, err);
    if (!good) {
        driver_free(driver);
        return NULL;
    }
    return driver;
}

void driver_finish_picture(struct driver *driver)
{
    struct err err, line;
    if (!picture_finish(driver, &err)) {
        err_set(&line, "no timeline was written: %.2000s", err.text);
        driver_notice(driver, line.text);
    }
}

void driver_finish_tracing(struct driver *driver)
{
    struct err err, line;
    bool cut = driver->options.interrupt && *driver->options.interrupt; /* what there is then is not told */
    if (driver->tracing && !cut && !tracing_finish(driver->tracing, &err)) {
        err_set(&line, "no traces were written: %.2000s", err.text);
        driver_report(driver, line.text);
    }
    tracing_free(driver->tracing);
    driver->tracing = NULL;
    if (driver->itracing && !itracing_finish(driver, &err)) {
        err_set(&line, "no trace was recorded: %.2000s", err.text);
        driver_report(driver, line.text);
    }
}

void driver_free(struct driver *driver)
{
    if (!driver || driver_is_forked(driver))
        return;
    timeline_ends(driver);
    driver->interrupt = 1;
    look_end(driver->onlooker);
    unregister_driver(driver);
    commands_fini(driver);
    checking_finish(driver);
    for (unsigned i = 0; i < driver->device_count; i++)
        device_end_heap(&driver->devices[i]);
    timeline_write_load(driver);
    driver_finish_picture(driver);
    timeline_end_listening(driver);
    timeline_free(driver->timeline);
    driver->timeline = NULL;
    attach_free(driver->attach);
    picture_free(driver);
    look_free(driver->onlooker);
    driver_finish_tracing(driver);
    release(driver);
}

void driver_set_library(struct driver *driver, const struct driver_library *library)
{
    driver->library = library;
}

unsigned driver_device_count(const struct driver *driver)
{
    return driver->device_count;
}

struct device *driver_device(struct driver *driver, unsigned index)
{
    return index < driver->device_count ? &driver->devices[index] : NULL;
}

const struct system *driver_system(const struct driver *driver)
{
    return &driver->system;
}

uint32_t driver_first_gpu(const struct driver *driver)
{
    return driver->first_gpu;
}

uint32_t driver_node(const struct driver *driver)
{
    return driver->node;
}

uint32_t driver_nodes(const struct driver *driver)
{
    return driver->nodes ? driver->nodes : 1;
}

uint32_t driver_node_of_rank(const struct driver *driver, uint32_t rank)
{
    uint32_t ranks = driver->options.timing.ranks;
    return rank < ranks ? (uint32_t)((uint64_t)rank * driver_nodes(driver) / ranks) : 0;
}

uint64_t driver_time_ps(struct driver *driver)
{
    return driver->timeline ? timeline_now(driver) : 0;
}

uint64_t driver_clock_ps(struct driver *driver)
{
    return driver->timeline ? timeline_now(driver) : (uint64_t)(1e12 * host_seconds());
}

size_t driver_launch_count(struct driver *driver)
{
    if (driver_is_forked(driver))
        return 0;
    pthread_mutex_lock(&driver->ledger.lock);
    size_t count = driver->ledger.count;
    pthread_mutex_unlock(&driver->ledger.lock);
    return count;
}

bool driver_launch(struct driver *driver, size_t index, struct launch_record *record)
{
    if (driver_is_forked(driver))
        return false;
    pthread_mutex_lock(&driver->ledger.lock);
    bool found = index < driver->ledger.count;
    if (found)
        *record = driver->ledger.records[index];
    pthread_mutex_unlock(&driver->ledger.lock);
    return found;
}
