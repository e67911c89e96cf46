/* heddle.h, implemented with the driver. */
#include "heddle.h"
#include "driver/facts.h"
#include "driver/internal.h"
#include "driver/locality.h"
#include "driver/timeline.h"
#include "base/bits.h"
#include "base/mem.h"
#include "report/explain/bottleneck.h"

#include <math.h>

struct heddle {
    struct driver *driver;
    pthread_mutex_t lock;
    struct text faults; /* reports of kernels that failed */
    void (*listener)(void *user, struct heddle_event *event);
    void *listener_user;
};

/* ---- errors ---- */

const char *heddle_version(void)
{
    return HEDDLE_VERSION;
}

const char *heddle_error(void)
{
    return driver_detail();
}

static void keep_report(void *user, const char *text)
{
    struct heddle *heddle = user;
    pthread_mutex_lock(&heddle->lock);
    text_add(&heddle->faults, "%s%s", heddle->faults.length ? "\n" : "", text);
    pthread_mutex_unlock(&heddle->lock);
}

/* The error of a device says more than its number where its kernel's report is known. */
static int tell(struct heddle *heddle, struct device *device, enum result result)
{
    if (result && device && device_error(device) == result) {
        pthread_mutex_lock(&heddle->lock);
        if (heddle->faults.length)
            err_set(driver_detail_err(), "%s", heddle->faults.at);
        pthread_mutex_unlock(&heddle->lock);
    }
    return (int)result;
}

/* A call of heddle.h that lacks what it needs is the program's mistake, not a crash. */
static int missing(const char *what)
{
    return driver_fail(RESULT_INVALID_VALUE, "%s is NULL", what);
}

/* ---- the system ---- */

static struct heddle *open_as(const char *system, const char *const *settings, unsigned threads, bool timed)
{
    struct heddle *heddle = mem_alloc(1, sizeof *heddle);
    pthread_mutex_init(&heddle->lock, NULL);
    struct driver_options options = {.system = system,
                                     .settings = settings,
                                     .threads = threads,
                                     .keep_launches = true,
                                     .timing = {.on = timed, .profile = timed},
                                     .report = keep_report,
                                     .user = heddle};
    if (driver_take_ranks(&options, driver_detail_err())) {
        heddle->driver = driver_new(&options, driver_detail_err());
        if (options.timing.over_ranks)
            driver_keep_ranks(heddle->driver);
    }
    if (heddle->driver)
        return heddle;
    heddle_close(heddle);
    return NULL;
}

struct heddle *heddle_open_with(const char *system, const char *const *settings, unsigned threads)
{
    return open_as(system, settings, threads, false);
}

struct heddle *heddle_open_timed(const char *system, const char *const *settings, unsigned threads)
{
    return open_as(system, settings, threads, true);
}

uint64_t heddle_time_ps(struct heddle *heddle)
{
    return driver_is_forked(heddle->driver) ? 0 : driver_time_ps(heddle->driver);
}

struct heddle *heddle_open(const char *system)
{
    return heddle_open_with(system, NULL, 0);
}

void heddle_close(struct heddle *heddle)
{
    if (!heddle)
        return;
    driver_free(heddle->driver);
    driver_give_ranks_back(heddle->driver);
    pthread_mutex_destroy(&heddle->lock);
    text_fini(&heddle->faults);
    mem_free(heddle);
}

unsigned heddle_device_count(const struct heddle *heddle)
{
    return driver_device_count(heddle->driver);
}

uint64_t heddle_property(const struct heddle *heddle, const char *name)
{
    const struct gpu_spec *spec = &driver_system(heddle->driver)->device;
    for (size_t i = 0; i < gpu_params.row_count; i++) {
        const struct param_row *row = &gpu_params.rows[i];
        const char *field = (const char *)spec + row->offset;
        if (strcmp(row->name, name) != 0)
            continue;
        if (row->type == PARAM_flag)
            return *(const bool *)field;
        return row->type == PARAM_text || row->type == PARAM_real || row->type == PARAM_choice
                   ? 0
                   : *(const uint64_t *)field;
    }
    return !strcmp(name, "l2") ? spec->l2 : 0;
}

/* ---- memory ---- */

/* A child of fork cannot use what its parent opened. */
static enum result usable(const struct heddle *heddle)
{
    return driver_is_forked(heddle->driver)
               ? driver_fail(RESULT_NOT_INITIALIZED, "the system was opened by the process that this one was "
                                                     "forked from; open one here")
               : RESULT_SUCCESS;
}

static struct device *device_at(struct heddle *heddle, unsigned index)
{
    struct device *device = driver_device(heddle->driver, index);
    if (usable(heddle))
        return NULL;
    if (!device)
        driver_fail(RESULT_INVALID_DEVICE, "there is no device %u: the system has %u", index,
                    driver_device_count(heddle->driver));
    return device;
}

uint64_t heddle_alloc(struct heddle *heddle, unsigned device, size_t bytes)
{
    uint64_t address = 0;
    struct device *on = device_at(heddle, device);
    if (on)
        tell(heddle, on, memory_alloc(on, bytes, &address));
    return address;
}

int heddle_release(struct heddle *heddle, uint64_t address)
{
    enum result result = usable(heddle);
    return (int)(result ? result : memory_free(heddle->driver, address));
}

/* The default stream of the device that the address is of, or NULL. */
static struct stream *stream_of(struct heddle *heddle, uint64_t address)
{
    struct memory_facts facts;
    if (usable(heddle))
        return NULL;
    if (!memory_find(heddle->driver, address, &facts) || !facts.device) {
        driver_fail(RESULT_INVALID_VALUE, "0x%llx is no memory of a device", (unsigned long long)address);
        return NULL;
    }
    return device_default_stream(facts.device);
}

static int copy(struct heddle *heddle, uint64_t device_side, uint64_t to, uint64_t from, size_t bytes)
{
    if (!bytes)
        return 0;
    struct stream *stream = stream_of(heddle, device_side);
    if (!stream)
        return RESULT_INVALID_VALUE;
    return tell(heddle, stream_device(stream), stream_copy_bytes(stream, to, from, bytes, true));
}

int heddle_upload(struct heddle *heddle, uint64_t to, const void *from, size_t bytes)
{
    return !from && bytes ? missing("what to upload")
                          : copy(heddle, to, to, (uint64_t)(uintptr_t)from, bytes);
}

int heddle_download(struct heddle *heddle, void *to, uint64_t from, size_t bytes)
{
    return !to && bytes ? missing("where to download to")
                        : copy(heddle, from, (uint64_t)(uintptr_t)to, from, bytes);
}

int heddle_copy(struct heddle *heddle, uint64_t to, uint64_t from, size_t bytes)
{
    int result = copy(heddle, from, to, from, bytes);
    return result ? result : heddle_wait(heddle);
}

int heddle_fill(struct heddle *heddle, uint64_t at, int byte, size_t bytes)
{
    struct fill fill = {.to.address = at,
                        .value = (uint32_t)byte & 0xff,
                        .element_bytes = 1,
                        .width = bytes,
                        .height = 1,
                        .depth = 1};
    struct stream *stream = stream_of(heddle, at);
    if (!stream)
        return RESULT_INVALID_VALUE;
    return tell(heddle, stream_device(stream), stream_fill(stream, &fill, true));
}

/* ---- modules and kernels ---- */

/* A module of heddle.h is one of the driver: another name for the same. */
static struct module *inside(struct heddle_module *module)
{
    return (struct module *)module;
}

/* What is wrong with a module shows now, not at the first launch. */
static struct heddle_module *loaded(struct heddle *heddle, enum result result, struct module *module)
{
    if (!result)
        result = module_prepare(module, driver_device(heddle->driver, 0));
    return result ? NULL : (struct heddle_module *)module;
}

struct heddle_module *heddle_load(struct heddle *heddle, const char *path)
{
    struct module *module = NULL;
    if (!heddle || !path) {
        missing(heddle ? "the path of a module" : "the system");
        return NULL;
    }
    enum result result = usable(heddle);
    if (!result)
        result = module_load_file(heddle->driver, path, &module);
    return loaded(heddle, result, module);
}

struct heddle_module *heddle_load_text(struct heddle *heddle, const char *name, const char *ptx)
{
    struct module *module = NULL;
    if (!heddle || !name || !ptx) {
        missing(!heddle ? "the system" : name ? "the text of a module" : "the name of a module");
        return NULL;
    }
    enum result result = usable(heddle);
    if (!result)
        result = module_load(heddle->driver, name, ptx, 0, &module);
    return loaded(heddle, result, module);
}

int heddle_unload(struct heddle *heddle, struct heddle_module *module)
{
    if (!module)
        return missing("the module");
    enum result result = usable(heddle);
    return tell(heddle, NULL, result ? result : module_unload(inside(module)));
}

uint64_t heddle_variable(struct heddle *heddle, unsigned device, struct heddle_module *module,
                         const char *name)
{
    struct symbol symbol;
    if (!module || !name) {
        missing(module ? "the name of a variable" : "the module");
        return 0;
    }
    struct device *on = device_at(heddle, device);
    return on && !module_variable(inside(module), on, name, &symbol) ? symbol.address : 0;
}

int heddle_launch(struct heddle *heddle, unsigned device, struct heddle_module *module, const char *kernel,
                  const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes,
                  void *const *arguments)
{
    const char *lacks = !heddle   ? "the system"
                        : !module ? "the module"
                        : !kernel ? "the name of a kernel"
                        : !grid   ? "the grid"
                        : !block  ? "the block"
                                  : NULL;
    if (lacks)
        return missing(lacks);
    struct device *on = device_at(heddle, device);
    if (!on)
        return usable(heddle) ? RESULT_NOT_INITIALIZED : RESULT_INVALID_DEVICE;
    struct function *function;
    struct launch_config config = {.grid = {grid[0], grid[1], grid[2]},
                                   .block = {block[0], block[1], block[2]},
                                   .shared_bytes = shared_bytes};
    enum result result = module_function(inside(module), kernel, &function);
    if (!result)
        result = stream_launch(device_default_stream(on), function, &config, arguments);
    return tell(heddle, on, result);
}

/* ---- the Locality API ---- */

unsigned heddle_member_count(struct heddle *heddle, unsigned device)
{
    const struct device *on = heddle ? device_at(heddle, device) : NULL;
    return on ? locality_members(on) : 0;
}

int heddle_member(struct heddle *heddle, unsigned device, unsigned member, struct heddle_member *facts)
{
    struct locality_member found;
    if (!heddle || !facts)
        return missing(heddle ? "where the facts go" : "the system");
    struct device *on = device_at(heddle, device);
    if (!on)
        return usable(heddle) ? RESULT_NOT_INITIALIZED : RESULT_INVALID_DEVICE;
    enum result result = locality_member(on, member, &found);
    if (!result)
        *facts = (struct heddle_member){found.sm_count, found.first_sm, found.memory, found.placed};
    return tell(heddle, on, result);
}

int heddle_place_memory(struct heddle *heddle, uint64_t at, size_t bytes, unsigned member)
{
    if (!heddle)
        return missing("the system");
    enum result result = usable(heddle);
    return (int)(result ? result : locality_place_memory(heddle->driver, at, bytes, member));
}

int heddle_place_blocks(struct heddle *heddle, const struct heddle_blocks *ranges, size_t count)
{
    if (!heddle || (count && !ranges))
        return missing(heddle ? "the ranges of blocks" : "the system");
    enum result result = usable(heddle);
    return (int)(result ? result : locality_place_ranges(ranges, count));
}

void heddle_limit(struct heddle *heddle, uint64_t most)
{
    if (driver_is_forked(heddle->driver))
        return;
    if (heddle->driver->timeline)
        timeline_set_limit(heddle->driver, most);
    else
        heddle->driver->instruction_limit = most;
}

/* ---- who listens ---- */

#define SAME(field)                                                                                          \
    _Static_assert(offsetof(struct heddle_event, field) == offsetof(struct probe_event, field), #field)
SAME(kind);
SAME(phase);
SAME(time_ps);
SAME(id);
SAME(gpu);
SAME(place);
SAME(stop);
SAME(what);
SAME(address);
SAME(bytes);
SAME(data);
SAME(data_bytes);
SAME(busy_ps);
_Static_assert((int)HEDDLE_LINK == (int)PROBE_LINK && (int)HEDDLE_ENDS == (int)PROBE_ENDS,
               "numbers are the same");

static void pass_on(void *user, struct probe_event *event)
{
    const struct heddle *heddle = user;
    heddle->listener(heddle->listener_user, (struct heddle_event *)(void *)event);
}

int heddle_listen(struct heddle *heddle, unsigned kinds, void (*call)(void *user, struct heddle_event *event),
                  void *user)
{
    enum result result = usable(heddle);
    if (result)
        return (int)result;
    if (kinds && !call)
        return missing("call");
    if (kinds >> PROBE_KIND_COUNT)
        return driver_fail(RESULT_INVALID_VALUE, "kinds 0x%x: there are %d, a bit each", kinds,
                           PROBE_KIND_COUNT);
    if (!heddle->driver->timeline)
        return driver_fail(RESULT_NOT_SUPPORTED, "only what heddle_open_timed opens has events");
    heddle->listener = call;
    heddle->listener_user = user;
    struct err why;
    bool good = timeline_listen(heddle->driver,
                                &(struct probe){.kinds = kinds, .call = pass_on, .user = heddle}, &why);
    return good ? 0 : (int)driver_fail(RESULT_NOT_SUPPORTED, "%s", why.text);
}

int heddle_wait(struct heddle *heddle)
{
    int first = (int)usable(heddle);
    for (unsigned i = 0; !driver_is_forked(heddle->driver) && i < driver_device_count(heddle->driver); i++) {
        struct device *device = driver_device(heddle->driver, i);
        int result = tell(heddle, device, device_synchronize(device));
        if (!first)
            first = result;
    }
    return first;
}

/* ---- statistics ---- */

struct statistic {
    const char *name;
    size_t offset, bytes; /* of the record's member */
};

#define S(member)                                                                                            \
    {#member, offsetof(struct launch_record, member), sizeof((struct launch_record *)0)->member},
static const struct statistic statistics[] = {S(device) S(registers) S(blocks_per_sm) S(shared_bytes)
                                                  S(dynamic_shared_bytes) LAUNCH_COUNTS(S)};
#undef S

size_t heddle_launch_count(struct heddle *heddle)
{
    return driver_launch_count(heddle->driver);
}

const char *heddle_launch_kernel(struct heddle *heddle, size_t launch)
{
    struct launch_record record;
    return driver_launch(heddle->driver, launch, &record) ? record.kernel : NULL;
}

uint64_t heddle_statistic(struct heddle *heddle, size_t launch, const char *name)
{
    struct launch_record record;
    if (!driver_launch(heddle->driver, launch, &record))
        return 0;
    for (size_t i = 0; i < COUNT_OF(statistics); i++) {
        const char *member = (const char *)&record + statistics[i].offset;
        if (strcmp(statistics[i].name, name) == 0)
            return statistics[i].bytes == sizeof(uint64_t) ? *(const uint64_t *)member
                                                           : *(const uint32_t *)member;
    }
    return 0;
}

const char *heddle_statistic_name(size_t index)
{
    return index < COUNT_OF(statistics) ? statistics[index].name : NULL;
}

/* ---- metrics ---- */

/* The launch and what metrics of it are made from; false when there is no such launch. */
static bool find_source(struct heddle *heddle, size_t launch, struct launch_record *record,
                        struct launch_facts *facts, struct metric_source *source)
{
    if (!driver_launch(heddle->driver, launch, record))
        return false;
    *facts = (struct launch_facts){.registers = record->registers,
                                   .shared_static = record->shared_bytes,
                                   .shared_dynamic = record->dynamic_shared_bytes,
                                   .blocks_per_sm = record->blocks_per_sm};
    for (int i = 0; i < 3; i++) {
        facts->grid[i] = record->grid[i];
        facts->block[i] = record->block[i];
    }
#define C(name) facts->name = record->name;
    LAUNCH_COUNTS(C)
#undef C
    *source =
        facts_source(facts, system_of_device(driver_system(heddle->driver), record->device), record->timing);
    return true;
}

double heddle_metric(struct heddle *heddle, size_t launch, const char *name)
{
    struct launch_record record;
    struct launch_facts facts;
    struct metric_source source;
    if (!find_source(heddle, launch, &record, &facts, &source))
        return NAN;
    const struct metric_row *row = metric_find(&source, name);
    return row ? metric_value(&source, row) : NAN;
}

const char *heddle_metric_name(size_t index)
{
    size_t i = 0;
    while (metric_rows[i].name && i < index)
        i++;
    return metric_rows[i].name;
}

/* Where warps were, to be freed; NULL: the launch has no profile. */
static struct metric_place *profile_of(const struct launch_record *record, size_t *count)
{
    *count = record->places ? record->timing->profile_count : 0;
    struct metric_place *places = *count ? mem_alloc(*count, sizeof *places) : NULL;
    for (size_t i = 0; i < *count; i++)
        places[i] = (struct metric_place){.at = record->places[i], .counts = record->timing->profile[i]};
    return places;
}

const char *heddle_bottleneck(struct heddle *heddle, size_t launch)
{
    static _Thread_local char words[1000];
    struct launch_record record;
    struct launch_facts facts;
    struct metric_source source;
    struct text text = {0};
    size_t count;
    if (!find_source(heddle, launch, &record, &facts, &source) || !record.timing)
        return NULL;
    struct metric_place *places = profile_of(&record, &count);
    bottleneck_tell(&source, places, count, &text);
    snprintf(words, sizeof words, "%s", text.at);
    mem_free(places);
    text_fini(&text);
    return words;
}
