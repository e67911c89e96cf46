/* Runs a benchmark, with checkpoints, progress and results. */
#include "bench/bench.h"
#include "base/bits.h"
#include "base/file.h"
#include "report/json.h"
#include "base/log.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/progress.h"
#include "ranks/ranks.h"

#include <string.h>

struct running {
    const struct bench *bench;
    const struct config *config;
    const struct bench_options *options;
    struct bench_model model;
    struct progress progress;
    struct file_writer json;
    uint64_t events_before;    /* those of a resumed checkpoint */
    double shares[RANKS_MOST]; /* that are done by other ranks, as they told last */
    double seconds;
};

/* Whether this process has the results. */
static bool leads(const struct running *r)
{
    return !ranks_number(r->options->ranks);
}

static void tell_share(void *user, bool asked, struct text *bytes)
{
    const struct running *r = user;
    double share = asked && r->bench->share ? r->bench->share(&r->model) : 0;
    if (share > 0)
        text_add_bytes(bytes, (const char *)&share, sizeof share);
}

static bool take_share(void *user, uint32_t rank, const char *bytes, size_t count)
{
    struct running *r = user;
    if (count == sizeof *r->shares)
        memcpy(&r->shares[rank], bytes, sizeof *r->shares);
    return count == sizeof *r->shares;
}

static void ignore_time(void *user, uint64_t time)
{
    (void)user, (void)time;
}

/* Of this rank's work and that of others. */
static double share_of_all(const struct running *r)
{
    double share = r->bench->share(&r->model);
    for (uint32_t i = 0; i < ranks_count(r->options->ranks); i++)
        share += r->shares[i];
    return share;
}

static void show_progress(void *user, uint64_t time, uint64_t events)
{
    struct running *r = user;
    double share = r->bench->share                ? share_of_all(r)
                   : r->model.until == TIME_NEVER ? -1
                                                  : (double)time / (double)r->model.until;
    progress_update(&r->progress, share > 1 ? 1 : share, events - r->events_before);
}

static enum engine_outcome run_until(struct running *r, uint64_t until, struct err *err)
{
    double start = host_seconds();
    struct engine_asides asides = {tell_share, take_share, ignore_time, r};
    enum engine_outcome how =
        engine_run(r->model.engine,
                   &(struct engine_run){.until = until,
                                        .threads = r->options->threads,
                                        .interrupt = r->options->interrupt,
                                        .progress = r->progress.terminal && leads(r) ? show_progress : NULL,
                                        .user = r,
                                        .asides = &asides},
                   err);
    r->seconds += host_seconds() - start;
    return how;
}

static bool save(struct running *r, struct err *err)
{
    struct text note = {0};
    text_add(&note, "# heddle bench %s\n", r->bench->name);
    config_dump(r->config, &note);
    bool good = engine_save(r->model.engine, r->options->save, note.at, err);
    if (good)
        log_info("saved %s at %llu ps", r->options->save, (unsigned long long)engine_time(r->model.engine));
    text_fini(&note);
    return good;
}

/* Loads the checkpoint, if one is to be resumed, and checks that the times asked for lie ahead. */
static bool prepare(struct running *r, struct err *err)
{
    const struct bench_options *options = r->options;
    struct engine *engine = r->model.engine;
    if (options->until != TIME_NEVER)
        r->model.until = options->until;
    if (options->resume && !engine_load(engine, options->resume, err))
        return false;
    uint64_t now = engine_time(engine);
    if (options->until < now)
        return err_set(err, "--until: %s is at %llu ps already", options->resume, (unsigned long long)now);
    if (options->save_at < now)
        return err_set(err, "--at: %s is at %llu ps already", options->resume, (unsigned long long)now);
    r->events_before = engine_events(engine);
    return true;
}

static enum engine_outcome run_all(struct running *r, struct err *err)
{
    const struct bench_options *options = r->options;
    enum engine_outcome how = ENGINE_UNTIL;
    bool saved = !options->save;
    if (!saved && options->save_at < r->model.until) {
        how = run_until(r, options->save_at, err);
        if (how == ENGINE_UNTIL) {
            if (!save(r, err))
                return ENGINE_FAILED;
            saved = true;
        }
    }
    if (how == ENGINE_UNTIL)
        how = run_until(r, r->model.until, err);
    if (how == ENGINE_FINISHED && !saved && options->save_at != TIME_NEVER)
        log_warn("the run ended before --at: %s is of its end", options->save);
    if (how != ENGINE_FAILED && (!saved || (how == ENGINE_INTERRUPTED && options->save)) && !save(r, err))
        return ENGINE_FAILED;
    return how;
}

/* ---- what came of it ---- */

static bool is_first_of_its_type(const struct engine *engine, size_t index)
{
    const struct component_ops *type = component_type(engine_component_at(engine, index));
    for (size_t i = 0; i < index; i++) {
        if (component_type(engine_component_at(engine, i)) == type)
            return false;
    }
    return true;
}

/* Counters of a type, added up over all components. */
static void write_sums(const struct engine *engine, const struct component_ops *type,
                       struct json_writer *json)
{
    uint64_t *sums = mem_alloc(type->stats->count, sizeof *sums);
    for (size_t i = 0; i < engine_component_count(engine); i++) {
        const struct component *component = engine_component_at(engine, i);
        if (component_type(component) == type)
            stat_add(type->stats, component_state(component), sums);
    }
    json_open_object(json, type->type);
    for (size_t i = 0; i < type->stats->count; i++)
        json_put_count(json, type->stats->rows[i].name, sums[i]);
    json_close(json);
    mem_free(sums);
}

static void write_stats(const struct engine *engine, struct json_writer *json)
{
    json_open_object(json, "sums");
    for (size_t i = 0; i < engine_component_count(engine); i++) {
        const struct component_ops *type = component_type(engine_component_at(engine, i));
        if (type->stats && is_first_of_its_type(engine, i))
            write_sums(engine, type, json);
    }
    json_close(json);
    json_open_object(json, "components");
    for (size_t i = 0; i < engine_component_count(engine); i++) {
        const struct component *component = engine_component_at(engine, i);
        if (!component_type(component)->stats)
            continue;
        json_open_object(json, component_name(component));
        json_put_stats(json, component_type(component)->stats, component_state(component));
        json_close(json);
    }
    json_close(json);
}

static bool write_json(struct running *r, const char *state, struct err *err)
{
    struct json_writer json;
    char checksum[32];
    const struct engine *engine = r->model.engine;
    snprintf(checksum, sizeof checksum, "%016llx", (unsigned long long)bench_checksum(engine));
    json_begin(&json, r->json.stream);
    json_open_object(&json, NULL);
    json_put_text(&json, "heddle", HEDDLE_VERSION);
    json_put_text(&json, "bench", r->bench->name);
    json_put_text(&json, "state", state);
    json_open_object(&json, "config");
    json_put_config(&json, r->config);
    json_close(&json);
    json_open_object(&json, "result");
    json_put_count(&json, "events", engine_events(engine));
    json_put_count(&json, "time_ps", engine_time(engine));
    json_put_text(&json, "checksum", checksum);
    json_close(&json);
    json_open_object(&json, "stats");
    write_stats(engine, &json);
    json_close(&json);
    json_open_object(&json, "host");
    json_put_count(&json, "threads", r->options->threads ? r->options->threads : 1);
    json_put_real(&json, "wall_s", r->seconds);
    json_put_count(&json, "windows", engine_windows(engine));
    json_put_count(&json, "island_windows", engine_island_windows(engine));
    json_close(&json);
    json_close(&json);
    return file_close(&r->json, err);
}

static void write_line(const struct running *r, FILE *out)
{
    uint64_t events = engine_events(r->model.engine);
    double rate = r->seconds > 0 ? (double)(events - r->events_before) / r->seconds : 0;
    fprintf(out, "%s events=%llu seconds=%.3f rate=%.0f checksum=%016llx\n", r->bench->name,
            (unsigned long long)events, r->seconds, rate,
            (unsigned long long)bench_checksum(r->model.engine));
}

/* Where results will go is tried out before the time is spent. */
static bool open_outputs(struct running *r, struct err *err)
{
    const struct bench_options *options = r->options;
    return (!options->save || file_check(options->save, err)) &&
           (!options->json || file_open(&r->json, options->json, err));
}

enum bench_outcome bench_run(const struct bench *bench, const struct config *config,
                             const struct bench_options *options, FILE *out, struct err *err)
{
    struct running r = {.bench = bench, .config = config, .options = options};
    if (!bench_model_init(&r.model, bench, config, options->ranks, err))
        return BENCH_FAILED;
    if (!prepare(&r, err) || (leads(&r) && !open_outputs(&r, err))) {
        bench_model_fini(&r.model);
        return BENCH_FAILED;
    }
    progress_init(&r.progress, bench->name, "events");
    enum engine_outcome how = run_all(&r, err);
    progress_fini(&r.progress);
    if (how != ENGINE_FAILED && !engine_gather(r.model.engine, err))
        how = ENGINE_FAILED;
    enum bench_outcome result = how == ENGINE_FAILED        ? BENCH_FAILED
                                : how == ENGINE_INTERRUPTED ? BENCH_INTERRUPTED
                                                            : BENCH_DONE;
    struct err why;
    const char *const states[] = {"finished", "interrupted", "failed"};
    if (options->json && leads(&r) && !write_json(&r, states[result], &why) && result != BENCH_FAILED) {
        *err = why;
        result = BENCH_FAILED;
    }
    bool json_on_stdout =
        options->json && (!strcmp(options->json, "-") || !strcmp(options->json, "/dev/stdout"));
    if (result != BENCH_FAILED && leads(&r))
        write_line(&r, json_on_stdout ? stderr : out); /* so that a reader of the JSON gets nothing else */
    bench_model_fini(&r.model);
    return result;
}
