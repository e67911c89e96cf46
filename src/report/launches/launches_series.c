/* Samples over time: read from the files of processes, and written as figures with rows of their own. */
#include "report/launches/launches.h"
#include "base/file.h"
#include "base/mem.h"
#include "report/json.h"

#include <string.h>

static bool is_more(const struct text *content, size_t count, const struct launches *lines)
{
    if (count != lines->sample_count)
        return count > lines->sample_count;
    return count &&
           memcmp(content->at + sizeof(uint64_t), lines->samples, count * sizeof *lines->samples) > 0;
}

/* Each process has a time of its own: of several, one is shown. */
bool launches_read_series(const char *path, struct launches *lines, struct err *err)
{
    static const size_t most = (size_t)1 << 34;
    struct text content = {0};
    bool good = file_read(path, most, &content, err);
    if (good && content.length >= sizeof(uint64_t) && *(const uint64_t *)content.at != LEDGER_SERIES_LAYOUT)
        good = err_set(err, "%s: the program's Heddle libraries are of another build", path);
    size_t count = good && content.length > sizeof(uint64_t)
                       ? (content.length - sizeof(uint64_t)) / sizeof *lines->samples
                       : 0;
    if (good && is_more(&content, count, lines)) {
        mem_free(lines->samples);
        lines->samples = mem_alloc(count, sizeof *lines->samples);
        memcpy(lines->samples, content.at + sizeof(uint64_t), count * sizeof *lines->samples);
        lines->sample_count = count;
    }
    text_fini(&content);
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

static const struct {
    const char *name, *unit, *help;
} rows[] = {
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

/* ---- as JSON ---- */

static void write_gpu(const struct launches *lines, uint64_t gpu, const struct system *system,
                      struct json_writer *json)
{
    json_open_object(json, NULL);
    json_put_count(json, "gpu", gpu);
    json_open_list(json, "time_ps");
    for (size_t i = 0; i < lines->sample_count; i++)
        if (lines->samples[i].gpu == gpu)
            json_put_count(json, NULL, lines->samples[i].time_ps);
    json_close(json);
    json_open_list(json, "values");
    for (size_t row = 0; row < ROWS; row++) {
        json_open_list(json, NULL);
        for (size_t i = 0; i < lines->sample_count; i++) {
            double values[ROWS];
            struct sampled_gpu of = gpu_of(&lines->samples[i], system);
            if (lines->samples[i].gpu != gpu)
                continue;
            evaluate(&lines->samples[i], &of, values);
            json_put_real(json, NULL, values[row]);
        }
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

void launches_write_series(const struct launches *lines, const struct launch_run *run,
                           struct json_writer *json)
{
    uint64_t gpus = 0;
    if (!run->series_cycles)
        return;
    json_open_object(json, "series");
    json_put_count(json, "cycles", run->series_cycles);
    json_open_list(json, "rows");
    for (size_t row = 0; row < ROWS; row++) {
        json_open_list(json, NULL);
        json_put_text(json, NULL, rows[row].name);
        json_put_text(json, NULL, rows[row].unit);
        json_put_text(json, NULL, rows[row].help);
        json_close(json);
    }
    json_close(json);
    for (size_t i = 0; i < lines->sample_count; i++)
        gpus = lines->samples[i].gpu >= gpus ? lines->samples[i].gpu + 1 : gpus;
    json_open_list(json, "gpus");
    for (uint64_t gpu = 0; gpu < gpus; gpu++)
        write_gpu(lines, gpu, run->system, json);
    json_close(json);
    json_close(json);
}
