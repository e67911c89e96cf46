/* Samples over time: read from the files of processes, and written as figures with rows of their own. */
#include "report/launches/launches.h"
#include "base/file.h"
#include "base/mem.h"
#include "report/json.h"

#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

static int by_place(const struct machine_part_sample *a, const struct machine_part_sample *b)
{
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int by_place_and_time(const void *left, const void *right)
{
    const struct machine_part_sample *a = left, *b = right;
    int order = by_place(a, b);
    return order ? order : (a->time_ps > b->time_ps) - (a->time_ps < b->time_ps);
}

/* A file that was cut short is read as far as it goes. */
static void take_apart(struct launch_series *series)
{
    struct series_head head;
    const char *end = series->file.at + series->file.length;
    for (const char *at = series->file.at + sizeof(uint64_t);
         (size_t)(end - at) >= sizeof head &&
         (memcpy(&head, at, sizeof head), (size_t)(end - at) - sizeof head >= head.bytes) &&
         head.bytes == (head.is_part ? sizeof *series->parts : sizeof *series->samples);
         at += sizeof head + head.bytes) {
        if (head.is_part) {
            mem_grow(series->parts, series->part_count, series->part_capacity);
            memcpy(&series->parts[series->part_count++], at + sizeof head, sizeof *series->parts);
        } else {
            mem_grow(series->samples, series->sample_count, series->sample_capacity);
            memcpy(&series->samples[series->sample_count++], at + sizeof head, sizeof *series->samples);
        }
    }
    if (series->part_count)
        qsort(series->parts, series->part_count, sizeof *series->parts, by_place_and_time);
}

static bool is_more(const struct launch_series *a, const struct launch_series *b)
{
    if (a->sample_count != b->sample_count)
        return a->sample_count > b->sample_count;
    if (a->file.length != b->file.length)
        return a->file.length > b->file.length;
    return memcmp(a->file.at, b->file.at, a->file.length) > 0;
}

void launches_series_fini(struct launch_series *series)
{
    mem_free(series->samples);
    mem_free(series->parts);
    text_fini(&series->file);
}

/* Each process has a time of its own: of several, one is shown. */
bool launches_read_series(const char *path, struct launches *lines, struct err *err)
{
    static const size_t most = (size_t)1 << 34;
    struct launch_series series = {0};
    bool good = file_read(path, most, &series.file, err);
    bool is_whole = good && series.file.length >= sizeof(uint64_t);
    if (is_whole && *(const uint64_t *)series.file.at != LEDGER_SERIES_LAYOUT)
        good = err_set(err, "%s: the program's Heddle libraries are of another build", path);
    if (good && is_whole)
        take_apart(&series);
    if (good && is_more(&series, &lines->series)) {
        struct launch_series before = lines->series;
        lines->series = series;
        series = before;
    }
    launches_series_fini(&series);
    return good;
}

/* ---- rows ---- */

struct sampled_gpu {
    double sms, cycles;                     /* SMs; cycles of the sample */
    double schedulers, seconds, dram_bytes; /* that DRAM could have moved */
};

enum { SECTOR = 32 };

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* name, unit, help, value: s is the sample, g the GPU */
#define SERIES_ROWS(R)                                                                                       \
    R("issue slots used", "%", "cycles in which a scheduler issued, of all schedulers' cycles",              \
      percent((double)s->issue_cycles, g->cycles * g->sms * g->schedulers))                                  \
    R("instructions", "inst/cycle", "warp instructions of all SMs in a cycle",                               \
      (double)s->instructions / g->cycles)                                                                   \
    R("blocks per SM", "block", "blocks on an SM at the end of the sample, mean over all SMs",               \
      (double)s->blocks / g->sms)                                                                            \
    R("warps per SM", "warp", "warps on an SM at the end of the sample, mean over all SMs",                  \
      (double)s->warps / g->sms)                                                                             \
    R("L2 traffic", "byte/s", "sectors that SMs asked the L2 for, in bytes",                                 \
      (double)(s->l2_sectors + s->l2_written + s->l2_atomic) * SECTOR / g->seconds)                          \
    R("DRAM use", "%", "bytes read and written, of what DRAM could move",                                    \
      percent((double)(s->dram_read + s->dram_written), g->dram_bytes))                                      \
    R("DRAM reads", "byte/s", "bytes read from memory", (double)s->dram_read / g->seconds)                   \
    R("DRAM writes", "byte/s", "bytes written to memory", (double)s->dram_written / g->seconds)              \
    R("fabric traffic", "byte/s", "bytes from or to other GPUs", (double)s->peer_bytes / g->seconds)         \
    R("host traffic", "byte/s", "bytes from or to the host's memory", (double)s->host_bytes / g->seconds)    \
    R("pages received", "page", "pages that came from elsewhere", (double)s->pages)                          \
    R("faults", "fault", "faults on managed memory", (double)s->faults)

struct row {
    const char *name, *unit, *help;
};

static const struct row rows[] = {
#define R(name, unit, help, ...) {name, unit, help},
    SERIES_ROWS(R)
#undef R
};

enum { ROWS = sizeof rows / sizeof *rows };

static void evaluate(const struct machine_sample *s, const struct sampled_gpu *g, double values[ROWS])
{
    size_t row = 0;
#define R(name, unit, help, ...) values[row++] = __VA_ARGS__;
    SERIES_ROWS(R)
#undef R
}

static struct sampled_gpu gpu_of(const struct machine_sample *sample, const struct system *system)
{
    const struct gpu_spec *gpu = &system_of_device(system, (uint32_t)sample->gpu)->gpu;
    const struct dram_spec *dram = &system_of_device(system, (uint32_t)sample->gpu)->dram;
    double seconds = (double)sample->span_ps * 1e-12;
    return (struct sampled_gpu){.sms = (double)gpu->sm_count * system_members(system),
                                .cycles = seconds * (double)gpu->clock,
                                .schedulers = (double)gpu->subcores_per_sm,
                                .seconds = seconds,
                                .dram_bytes = (double)dram->bandwidth * seconds * system_members(system)};
}

/* ---- rows of parts ---- */

/* name, unit, help, value: s is the sample; seconds and picoseconds are those of its span. */
#define LINK_ROWS(R)                                                                                         \
    R("busy", "%", "time in which messages left for the link's second end",                                  \
      percent((double)s->busy_ps[0], picoseconds))                                                           \
    R("busy, back", "%", "time in which messages left for the link's first end",                             \
      percent((double)s->busy_ps[1], picoseconds))                                                           \
    R("traffic", "byte/s", "bytes to the link's second end, with overhead",                                  \
      (double)s->bytes[0] / (picoseconds * 1e-12))                                                           \
    R("traffic, back", "byte/s", "bytes to the link's first end, with overhead",                             \
      (double)s->bytes[1] / (picoseconds * 1e-12))

#define PAGE_ROWS(R)                                                                                         \
    R("pages received", "page", "pages that came from elsewhere", (double)s->pages_received)                 \
    R("page bytes", "byte", "bytes of the pages that came", (double)s->page_bytes)                           \
    R("pages given", "page", "pages that left, as others wanted them", (double)s->pages_dropped)             \
    R("faults", "fault", "faults on managed memory that the driver handled", (double)s->managed_faults)      \
    R("managed bytes in", "byte", "managed memory that came to the GPU", (double)s->managed_bytes_in)        \
    R("managed bytes out", "byte", "managed memory that left the GPU", (double)s->managed_bytes_out)         \
    R("evictions", "block", "blocks of managed memory that had to leave, as the GPU had no room",            \
      (double)s->managed_evictions)

enum { MOST_PART_ROWS = 8 };

static void evaluate_link(const struct machine_part_sample *s, double picoseconds, double *value)
{
#define R(name, unit, help, ...) *value++ = __VA_ARGS__;
    LINK_ROWS(R)
#undef R
}

static void evaluate_pages(const struct machine_part_sample *s, double picoseconds, double *value)
{
    (void)picoseconds;
#define R(name, unit, help, ...) *value++ = __VA_ARGS__;
    PAGE_ROWS(R)
#undef R
}

static void name_link(const struct launches *lines, const struct system *system, uint64_t number,
                      struct text *name)
{
    (void)system;
    text_add(name, "%s", number < lines->link_count ? lines->links[number].name : "");
}

static void name_pages(const struct launches *lines, const struct system *system, uint64_t number,
                       struct text *name)
{
    uint32_t members = system_members(system);
    (void)lines;
    text_add(name, "GPU %llu", (unsigned long long)(number / members));
    if (members > 1)
        text_add(name, ", member %llu", (unsigned long long)(number % members));
}

/* Parts that have samples of their own. A sample stands only where the part did something. */
static const struct part_kind {
    const char *name;
    struct row rows[MOST_PART_ROWS];
    void (*name_one)(const struct launches *lines, const struct system *system, uint64_t number,
                     struct text *name);
    void (*evaluate)(const struct machine_part_sample *s, double picoseconds, double *values);
} parts[MACHINE_PARTS] = {
#define R(name, unit, help, ...) {name, unit, help},
    [MACHINE_LINK] = {"links", {LINK_ROWS(R)}, name_link, evaluate_link},
    [MACHINE_PAGES] = {"pages", {PAGE_ROWS(R)}, name_pages, evaluate_pages},
#undef R
};

/* ---- as JSON ---- */

static void write_gpu(const struct launches *lines, uint64_t gpu, const struct system *system,
                      struct json_writer *json)
{
    json_open_object(json, NULL);
    json_put_count(json, "gpu", gpu);
    json_open_list(json, "time_ps");
    for (size_t i = 0; i < lines->series.sample_count; i++)
        if (lines->series.samples[i].gpu == gpu)
            json_put_count(json, NULL, lines->series.samples[i].time_ps);
    json_close(json);
    json_open_list(json, "values");
    for (size_t row = 0; row < ROWS; row++) {
        json_open_list(json, NULL);
        for (size_t i = 0; i < lines->series.sample_count; i++) {
            double values[ROWS];
            struct sampled_gpu of = gpu_of(&lines->series.samples[i], system);
            if (lines->series.samples[i].gpu != gpu)
                continue;
            evaluate(&lines->series.samples[i], &of, values);
            json_put_real(json, NULL, values[row]);
        }
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static void write_rows(const struct row *row, size_t most, struct json_writer *json)
{
    json_open_list(json, "rows");
    for (size_t i = 0; i < most && row[i].name; i++) {
        json_open_list(json, NULL);
        json_put_text(json, NULL, row[i].name);
        json_put_text(json, NULL, row[i].unit);
        json_put_text(json, NULL, row[i].help);
        json_close(json);
    }
    json_close(json);
}

/* The ends of samples; those of all GPUs are the same. */
struct ends {
    uint64_t *at;
    size_t count;
};

static struct ends ends_of(const struct launch_series *series)
{
    struct ends ends = {.at = mem_alloc(series->sample_count + 1, sizeof *ends.at)};
    for (size_t i = 0; i < series->sample_count; i++)
        if (!series->samples[i].gpu)
            ends.at[ends.count++] = series->samples[i].time_ps;
    return ends;
}

static size_t number_at(const struct ends *ends, uint64_t time_ps)
{
    size_t from = 0, to = ends->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (ends->at[middle] < time_ps)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void write_part(const struct part_kind *kind, const struct machine_part_sample *samples, size_t count,
                       const struct ends *ends, struct json_writer *json)
{
    json_open_list(json, "samples");
    for (size_t i = 0; i < count; i++)
        json_put_count(json, NULL, number_at(ends, samples[i].time_ps));
    json_close(json);
    json_open_list(json, "values");
    for (size_t row = 0; row < MOST_PART_ROWS && kind->rows[row].name; row++) {
        json_open_list(json, NULL);
        for (size_t i = 0; i < count; i++) {
            double values[MOST_PART_ROWS];
            size_t number = number_at(ends, samples[i].time_ps);
            uint64_t begin_ps = number ? ends->at[number - 1] : 0;
            kind->evaluate(&samples[i], (double)(samples[i].time_ps - begin_ps), values);
            json_put_real(json, NULL, values[row]);
        }
        json_close(json);
    }
    json_close(json);
}

static void write_parts(const struct launches *lines, enum machine_part part, const struct ends *ends,
                        const struct system *system, struct json_writer *json)
{
    const struct machine_part_sample *list = lines->series.parts;
    size_t from = 0, end = lines->series.part_count, next;
    struct text name = {0};
    while (from < end && list[from].part != part)
        from++;
    if (from == end)
        return;
    json_open_object(json, parts[part].name);
    write_rows(parts[part].rows, MOST_PART_ROWS, json);
    json_open_list(json, "list");
    for (; from < end && list[from].part == part; from = next) {
        for (next = from; next < end && !by_place(&list[next], &list[from]);)
            next++;
        name.length = 0;
        parts[part].name_one(lines, system, list[from].number, &name);
        json_open_object(json, NULL);
        json_put_text(json, "name", name.at);
        write_part(&parts[part], &list[from], next - from, ends, json);
        json_close(json);
    }
    json_close(json);
    json_close(json);
    text_fini(&name);
}

void launches_write_series(const struct launches *lines, const struct launch_run *run,
                           struct json_writer *json)
{
    uint64_t gpus = 0;
    if (!run->series_cycles)
        return;
    json_open_object(json, "series");
    json_put_count(json, "cycles", run->series_cycles);
    write_rows(rows, ROWS, json);
    for (size_t i = 0; i < lines->series.sample_count; i++)
        gpus = lines->series.samples[i].gpu >= gpus ? lines->series.samples[i].gpu + 1 : gpus;
    json_open_list(json, "gpus");
    for (uint64_t gpu = 0; gpu < gpus; gpu++)
        write_gpu(lines, gpu, run->system, json);
    json_close(json);
    struct ends ends = ends_of(&lines->series);
    for (int part = 0; part < MACHINE_PARTS; part++)
        write_parts(lines, (enum machine_part)part, &ends, run->system, json);
    mem_free(ends.at);
    json_close(json);
}
