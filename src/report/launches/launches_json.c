/* The launches of processes as JSON: --stats FILE. */
#include "report/launches/launches.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/file.h"
#include "base/mem.h"
#include "report/json.h"
#include "report/runfile.h"
#include "driver/facts.h"
#include "driver/result.h"

struct metric_source launches_source(const struct launch_one *line, const struct system *system,
                                     struct launch_facts *facts)
{
    *facts = (struct launch_facts){.registers = line->numbers.registers,
                                   .shared_static = line->numbers.shared_bytes,
                                   .shared_dynamic = line->numbers.dynamic_shared_bytes,
                                   .blocks_per_sm = line->numbers.blocks_per_sm};
    for (int i = 0; i < 3; i++) {
        facts->grid[i] = line->numbers.grid[i];
        facts->block[i] = line->numbers.block[i];
    }
#define C(name) facts->name = line->numbers.name;
    LAUNCH_COUNTS(C)
#undef C
    return facts_source(facts, system_of_device(system, (uint32_t)line->numbers.device),
                        line->timed ? &line->timing : NULL);
}

struct metric_source launches_kernel_source(const struct launch_kernel *kernel, const struct system *system,
                                            struct launch_facts *facts)
{
    struct metric_source source = launches_source(&kernel->longest, system, facts);
#define C(name) facts->name = kernel->name;
    LAUNCH_COUNTS(C)
#undef C
    if (kernel->longest.timed)
        source.timing = &kernel->sum;
    return source;
}

/* Of the longest launch: others may differ in size, and then sums are of no use for reasons. */
void launches_kernel_why(const struct launch_kernel *kernel, const struct system *system, struct text *text)
{
    struct launch_facts facts;
    struct metric_source source =
        launches_source(&kernel->longest, system, &facts); /* sums have no SMs of their own */
    bottleneck_tell(&source, kernel->longest.places, kernel->longest.place_count, text);
}

static void write_sides(struct json_writer *json, const char *name, const uint64_t sides[3])
{
    json_open_list(json, name);
    for (int i = 0; i < 3; i++)
        json_put_count(json, NULL, sides[i]);
    json_close(json);
}

static void write_place(struct json_writer *json, const struct code_place *place)
{
    if (place->file) {
        json_put_text(json, "file", place->file);
        json_put_count(json, "line", place->line);
    }
    if (place->function)
        json_put_text(json, "function", demangled(place->function));
    json_put_text(json, "module", place->module);
    if (place->ptx_line)
        json_put_count(json, "ptx_line", place->ptx_line);
    if (place->code_at)
        json_put_count(json, "code_at", place->code_at);
    json_put_text(json, "instruction", place->instruction);
    json_open_object(json, "units");
    for (int i = 0; i < UNIT_COUNT; i++) {
        if (place->steps[i])
            json_put_count(json, metric_unit_name(i), place->steps[i]);
    }
    json_close(json);
}

static void write_places(struct json_writer *json, const struct metric_place *places, size_t count)
{
    json_open_list(json, "profile");
    for (size_t i = 0; i < count; i++) {
        const struct metric_place *place = &places[i];
        json_open_object(json, NULL);
        write_place(json, place->at);
#define X(name, help)                                                                                        \
    if (place->counts.name)                                                                                  \
        json_put_count(json, #name, place->counts.name);
        OP_COUNTERS(X)
#undef X
        json_open_object(json, "stall_cycles");
        for (int k = 0; k < STALL_COUNT; k++) {
            if (place->counts.stalls[k])
                json_put_count(json, stall_name(k), place->counts.stalls[k]);
        }
        json_close(json);
        json_close(json);
    }
    json_close(json);
}

static void write_metrics(struct json_writer *json, const struct metric_source *source)
{
    double *values = metric_values(source);
    json_open_object(json, "metrics");
    for (const struct metric_row *row = metric_rows; row->name; row++) {
        if (metric_applies(row, source) && row->whole)
            json_put_count(json, row->name, (uint64_t)values[row - metric_rows]);
        else if (metric_applies(row, source))
            json_put_real(json, row->name, values[row - metric_rows]);
    }
    json_close(json);
    mem_free(values);
}

static void write_tables(struct json_writer *json, const struct gpu_kernel_stats *stats)
{
    const struct sm_counters *sm = &stats->sm;
    json_open_object(json, "instructions_by_unit");
    for (int i = 0; i < UNIT_COUNT; i++)
        json_put_count(json, metric_unit_name((enum isa_unit)i), sm->by_unit[i]);
    json_close(json);
    json_open_object(json, "stall_cycles");
    for (int i = 0; i < STALL_COUNT; i++)
        json_put_count(json, stall_name((enum stall)i), sm->stalls[i]);
    json_close(json);
    json_open_list(json, "active_lanes");
    for (uint32_t i = 0; i <= stats->warp_lanes; i++)
        json_put_count(json, NULL, sm->lanes_active[i]);
    json_close(json);
}

static void write_launch(struct json_writer *json, const struct launch_one *line, const struct system *system)
{
    struct launch_facts facts;
    struct metric_source source = launches_source(line, system, &facts);
    json_open_object(json, NULL);
    struct text name = {0}, why = {0};
    demangle(line->kernel, &name);
    json_put_text(json, "kernel", line->kernel);
    json_put_text(json, "name", name.at);
    json_put_count(json, "device", line->numbers.device);
    json_put_count(json, "stream", line->numbers.stream);
    write_sides(json, "grid", line->numbers.grid);
    write_sides(json, "block", line->numbers.block);
    if (line->numbers.result)
        json_put_count(json, "error", line->numbers.result);
    if (launches_failed(line))
        json_put_text(json, "failed", result_text((int)line->numbers.result));
    if (line->interrupted)
        json_put_bool(json, "interrupted", true);
    if (line->timed) {
        json_put_count(json, "start_ps", line->timing.start_ps);
        json_put_count(json, "end_ps", line->timing.end_ps);
        bottleneck_tell(&source, line->places, line->place_count, &why);
        json_put_text(json, "why", why.at);
    }
    write_metrics(json, &source);
    if (line->timed)
        write_tables(json, &line->timing);
    if (line->place_count)
        write_places(json, line->places, line->place_count);
    json_close(json);
    text_fini(&name);
    text_fini(&why);
}

/* All launches of a kernel. */
static void write_kernel(struct json_writer *json, const struct launch_kernel *kernel,
                         const struct system *system)
{
    struct launch_facts facts;
    struct metric_source source = launches_kernel_source(kernel, system, &facts);
    struct text name = {0}, why = {0};
    demangle(kernel->longest.kernel, &name);
    json_open_object(json, NULL);
    json_put_text(json, "kernel", kernel->longest.kernel);
    json_put_text(json, "name", name.at);
    json_put_count(json, "launches", kernel->launches);
    if (kernel->failed) {
        json_put_count(json, "launches_failed", kernel->failed);
        json_put_count(json, "error", kernel->error);
        json_put_text(json, "failed", result_text((int)kernel->error));
    }
    if (kernel->interrupted)
        json_put_count(json, "launches_interrupted", kernel->interrupted);
    write_sides(json, "grid", kernel->longest.numbers.grid);
    write_sides(json, "block", kernel->longest.numbers.block);
    if (kernel->longest.timed) {
        launches_kernel_why(kernel, system, &why);
        json_put_text(json, "why", why.at);
    }
    write_metrics(json, &source);
    if (kernel->longest.timed)
        write_tables(json, &kernel->sum);
    if (kernel->place_count)
        write_places(json, kernel->places, kernel->place_count);
    json_close(json);
    text_fini(&name);
    text_fini(&why);
}

/* All that figures depend on, but for the program itself. */
static void write_config(struct json_writer *json, const struct launch_run *run)
{
    json_put_text(json, "program", run->program);
    if (run->arguments) {
        json_open_list(json, "arguments");
        for (char *const *word = run->arguments; *word; word++)
            json_put_text(json, NULL, *word);
        json_close(json);
    }
    json_open_object(json, "options");
    for (const struct launch_option *option = run->options; option && option->name; option++)
        json_put_count(json, option->name, option->value);
    if (run->kernels)
        json_put_text(json, "kernels", run->kernels);
    if (run->max_cycles)
        json_put_count(json, "max_cycles", run->max_cycles);
    if (run->cold_caches)
        json_put_bool(json, "cold_caches", true);
    if (run->series_cycles)
        json_put_count(json, "series", run->series_cycles);
    json_close(json);
    json_open_object(json, "config");
    json_put_config(json, &run->system->config);
    json_close(json);
}

static void write_counts(struct json_writer *json, const struct launch_option *counts)
{
    for (; counts->name; counts++)
        json_put_count(json, counts->name, counts->value);
}

static void write_guest(struct json_writer *json, const struct launch_run *run)
{
    if (!run->guest)
        return;
    json_open_object(json, "guest");
    write_counts(json, run->guest);
    if (run->region) {
        json_open_object(json, "region");
        write_counts(json, run->region);
        json_close(json);
    }
    json_close(json);
}

static void write_copies(struct json_writer *json, const struct launches *lines)
{
    static const char *const names[] = {
#define K(name, words) #name,
        COPY_KINDS(K)
#undef K
    };
    json_put_count(json, "time_ps", lines->end_ps);
    json_open_object(json, "copies");
    for (int i = 0; i < COPIED_KINDS; i++) {
        json_open_object(json, names[i]);
        json_put_count(json, "count", lines->copies[i].count);
        json_put_count(json, "bytes", lines->copies[i].bytes);
        json_put_count(json, "busy_ps", lines->copies[i].busy_ps);
        json_close(json);
    }
    json_close(json);
}

static void put_both_ways(struct json_writer *json, const char *name, const uint64_t values[2])
{
    json_open_list(json, name);
    json_put_count(json, NULL, values[0]);
    json_put_count(json, NULL, values[1]);
    json_close(json);
}

static void write_links(struct json_writer *json, const struct launches *lines)
{
    if (!lines->link_count)
        return;
    json_open_list(json, "links");
    for (size_t i = 0; i < lines->link_count; i++) {
        const struct link_sum *link = &lines->links[i];
        json_open_object(json, NULL);
        json_put_text(json, "name", link->name);
        json_put_count(json, "bytes_per_s", link->bytes_per_s);
        put_both_ways(json, "messages", link->messages);
        put_both_ways(json, "bytes", link->bytes);
        put_both_ways(json, "busy_ps", link->busy_ps);
        json_close(json);
    }
    json_close(json);
}

/* How the program ended. */
static void write_state(struct json_writer *json, const struct launch_run *run)
{
    json_put_text(json, "state",
                  run->interrupted   ? "interrupted"
                  : run->signal      ? "killed"
                  : run->exit_status ? "failed"
                                     : "complete");
    if (run->signal)
        json_put_count(json, "signal", (uint64_t)run->signal);
    else
        json_put_count(json, "exit_status", (uint64_t)run->exit_status);
}

/* Which launches are there one by one. */
static void write_kept(struct json_writer *json, const struct launches *lines, const struct launch_run *run)
{
    struct text range = {0};
    if (lines->count == launches_kept(lines) && lines->count)
        text_add(&range, "all");
    else if (run->end_line > run->first_line)
        text_add(&range, "%llu-%llu", (unsigned long long)run->first_line,
                 (unsigned long long)run->end_line - 1);
    else
        text_add(&range, "none");
    json_put_count(json, "launches_total", lines->count);
    json_put_text(json, "launches_kept", range.at);
    if (lines->lost_entries || lines->lost_sums)
        json_put_count(json, "launches_lost", lines->lost_sums ? lines->lost_sums : lines->lost_entries);
    text_fini(&range);
}

struct launch_writer {
    struct json_writer *json;
    const struct system *system;
};

static void write_line(void *user, const struct launch_one *line)
{
    const struct launch_writer *writer = user;
    write_launch(writer->json, line, writer->system);
}

bool launches_write(struct launches *lines, const struct launch_run *run, const char *path, struct err *err)
{
    struct file_writer writer;
    struct json_writer json;
    if (!file_open(&writer, path, err))
        return false;
    json_begin(&json, writer.stream);
    json_open_object(&json, NULL);
    json_put_count(&json, "layout", STATS_LAYOUT);
    json_put_text(&json, "heddle", HEDDLE_VERSION);
    json_put_text(&json, "system", run->system_name);
    json_put_text(&json, "mode", run->timing ? "timing" : "functional");
    write_state(&json, run);
    write_config(&json, run);
    if (run->timing)
        write_copies(&json, lines);
    write_links(&json, lines);
    launches_write_series(lines, run, &json);
    write_guest(&json, run);
    write_kept(&json, lines, run);
    json_open_list(&json, "kernels");
    for (size_t i = 0; i < lines->kernel_count; i++)
        write_kernel(&json, &lines->kernels[i], run->system);
    json_close(&json);
    json_open_list(&json, "launches");
    launches_each(lines, write_line, &(struct launch_writer){&json, run->system});
    json_close(&json);
    if (run->more)
        run->more(run->user, &json);
    json_open_object(&json, "host");
    json_put_real(&json, "wall_s", run->wall_s);
    json_put_real(&json, "cpu_s", run->cpu_s);
    json_put_count(&json, "threads", run->threads);
    json_close(&json);
    json_close(&json);
    return file_close(&writer, err);
}
