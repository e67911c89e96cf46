/* The launches of processes as JSON: --stats FILE. */
#include "cli/launches.h"
#include "base/file.h"
#include "base/json.h"
#include "driver/facts.h"

struct metric_source launch_source(const struct launch_line *line, const struct system *system,
                                   struct launch_facts *facts)
{
    *facts = (struct launch_facts){.registers = line->registers,
                                   .shared_static = line->shared_bytes,
                                   .shared_dynamic = line->dynamic_shared_bytes,
                                   .blocks_per_sm = line->blocks_per_sm};
    for (int i = 0; i < 3; i++) {
        facts->grid[i] = line->grid[i];
        facts->block[i] = line->block[i];
    }
#define C(name) facts->name = line->name;
    LAUNCH_COUNTS(C)
#undef C
    return facts_source(facts, system, line->timed ? &line->timing : NULL);
}

static void write_sides(struct json *json, const char *name, const uint64_t sides[3])
{
    json_array(json, name);
    for (int i = 0; i < 3; i++)
        json_u64(json, NULL, sides[i]);
    json_end(json);
}

static void write_places(struct json *json, const struct launch_line *line)
{
    json_array(json, "profile");
    for (size_t i = 0; i < line->place_count; i++) {
        const struct metric_place *place = &line->places[i];
        json_object(json, NULL);
        json_text(json, "where", place->where);
        json_u64(json, "issued", place->counts.issued);
        json_object(json, "stall_cycles");
        for (int k = 0; k < STALL_COUNT; k++) {
            if (place->counts.stalls[k])
                json_u64(json, stall_name(k), place->counts.stalls[k]);
        }
        json_end(json);
        json_end(json);
    }
    json_end(json);
}

static void write_launch(struct json *json, const struct launch_line *line, const struct system *system)
{
    struct launch_facts facts;
    struct metric_source source = launch_source(line, system, &facts);
    json_object(json, NULL);
    json_text(json, "kernel", line->kernel);
    json_u64(json, "device", line->device);
    json_u64(json, "stream", line->stream);
    write_sides(json, "grid", line->grid);
    write_sides(json, "block", line->block);
    if (line->result)
        json_u64(json, "error", line->result);
    if (line->interrupted)
        json_bool(json, "interrupted", true);
    if (line->timed) {
        json_u64(json, "start_ps", line->timing.start_ps);
        json_u64(json, "end_ps", line->timing.end_ps);
    }
    json_object(json, "metrics");
    metrics_write(&source, json);
    json_end(json);
    if (line->timed)
        metrics_write_tables(&line->timing, json);
    if (line->place_count)
        write_places(json, line);
    json_end(json);
}

bool launches_write(const struct launch_lines *lines, const struct launch_run *run, const char *path,
                    struct err *err)
{
    struct file_writer writer;
    struct json json;
    if (!file_open(&writer, path, err))
        return false;
    json_init(&json, writer.stream);
    json_object(&json, NULL);
    json_text(&json, "heddle", HEDDLE_VERSION);
    json_text(&json, "system", run->system_name);
    json_text(&json, "mode", run->timing ? "timing" : "functional");
    json_array(&json, "launches");
    for (size_t i = 0; i < lines->count; i++)
        write_launch(&json, &lines->at[i], run->system);
    json_end(&json);
    json_object(&json, "host");
    json_real(&json, "wall_s", run->wall_s);
    json_real(&json, "cpu_s", run->cpu_s);
    json_u64(&json, "threads", run->threads);
    json_end(&json);
    json_end(&json);
    return file_close(&writer, err);
}
