/* heddle run: what the program's processes launched, read from the files they left, summed up and written. */
#include "cli/run.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/host.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "system/occupancy.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = INT32_MAX };

/* ---- reading ---- */

/* Where the value of this key begins in a line, or NULL. Values hold no quoted keys. */
static const char *value_of(const char *line, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    return at ? at + strlen(quoted) : NULL;
}

static bool read_number(const char *line, const char *key, uint64_t *number)
{
    const char *value = value_of(line, key);
    if (value)
        *number = strtoull(value, NULL, 10);
    return value != NULL;
}

static bool read_sides(const char *line, const char *key, uint64_t sides[3])
{
    const char *value = value_of(line, key);
    return value &&
           sscanf(value, "[%" SCNu64 ",%" SCNu64 ",%" SCNu64 "]", &sides[0], &sides[1], &sides[2]) == 3;
}

static bool read_line(const char *line, struct launch_line *launch)
{
    const char *kernel = value_of(line, "kernel");
    if (!kernel || *kernel != '"' || !read_sides(line, "grid", launch->grid) ||
        !read_sides(line, "block", launch->block))
        return false;
#define N(name)                                                                                              \
    if (!read_number(line, #name, &launch->name))                                                            \
        return false;
    LAUNCH_NUMBERS(N)
#undef N
    struct text name = {0};
    text_add(&name, "%.*s", (int)strcspn(kernel + 1, "\""), kernel + 1);
    launch->kernel = name.at;
    return true;
}

static int by_number(const void *left, const void *right)
{
    const struct launch_line *a = left, *b = right;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

/* The launches of one process, in the order they were made in. */
static bool read_process(const char *path, struct launch_lines *lines, struct err *err)
{
    struct text content = {0};
    if (!file_read(path, LARGEST_FILE, &content, err)) {
        text_fini(&content);
        return false;
    }
    for (char *line = content.at, *end; (end = strchr(line, '\n')); line = end + 1) {
        struct launch_line launch = {0};
        *end = 0;
        if (!read_line(line, &launch)) /* cut short by the end of a process; all others are whole */
            continue;
        mem_grow(lines->at, lines->count, lines->capacity);
        lines->at[lines->count++] = launch;
    }
    text_fini(&content);
    if (lines->count)
        qsort(lines->at, lines->count, sizeof *lines->at, by_number);
    return true;
}

static int compare_launches(const struct launch_line *a, const struct launch_line *b)
{
    int order = strcmp(a->kernel, b->kernel);
    for (int i = 0; !order && i < 3; i++) {
        order = (a->grid[i] > b->grid[i]) - (a->grid[i] < b->grid[i]);
        order = order ? order : (a->block[i] > b->block[i]) - (a->block[i] < b->block[i]);
    }
#define N(name) order = order ? order : (a->name > b->name) - (a->name < b->name);
    LAUNCH_NUMBERS(N)
#undef N
    return order;
}

static int by_content(const void *left, const void *right)
{
    const struct launch_lines *a = left, *b = right;
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        int order = compare_launches(&a->at[i], &b->at[i]);
        if (order)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

bool launches_read(const char *folder, struct launch_lines *lines, struct err *err)
{
    struct launch_lines *processes = NULL;
    size_t count = 0, capacity = 0;
    bool good = true;
    DIR *open = opendir(folder);
    for (struct dirent *entry; good && open && (entry = readdir(open));) {
        struct text path = {0};
        text_add(&path, "%s/%s", folder, entry->d_name);
        if (strstr(entry->d_name, ".launches")) {
            mem_grow(processes, count, capacity);
            good = read_process(path.at, &processes[count++], err);
        }
        text_fini(&path);
    }
    if (open)
        closedir(open);
    if (count)
        qsort(processes, count, sizeof *processes, by_content);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < processes[i].count; k++) {
            mem_grow(lines->at, lines->count, lines->capacity);
            lines->at[lines->count++] = processes[i].at[k];
        }
        mem_free(processes[i].at);
    }
    mem_free(processes);
    return good;
}

void launches_fini(struct launch_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        mem_free(lines->at[i].kernel);
    mem_free(lines->at);
}

/* ---- telling ---- */

static void add_count(struct text *text, double count)
{
    static const char *const units[] = {"", " thousand", " million", " billion", " trillion"};
    int unit = 0;
    while (count >= 10000 && unit < 4) {
        count /= 1000;
        unit++;
    }
    text_add(text, unit ? "%.4g%s" : "%.0f%s", count, units[unit]);
}

void launches_summarize(const struct launch_lines *lines, const struct run *run, struct text *text)
{
    struct names kernels = {0};
    double warps = 0, threads = 0;
    for (size_t i = 0; i < lines->count; i++) {
        names_add(&kernels, lines->at[i].kernel);
        warps += (double)lines->at[i].warp_instructions;
        threads += (double)lines->at[i].thread_instructions;
    }
    if (run->signal)
        text_add(text, "%s was ended by signal %d (%s)%s; ", run->request->words[0], run->signal,
                 strsignal(run->signal),
                 run->signal == SIGSEGV || run->signal == SIGABRT || run->signal == SIGBUS
                     ? " in its own code, not in a kernel"
                     : "");
    if (!lines->count) {
        text_add(text, run->signal ? "no launch had ended (--limit N ends one that never would)"
                                   : "no kernel was launched");
    } else {
        text_add(text, "%zu kernel%s, %zu launch%s, ", kernels.count, kernels.count == 1 ? "" : "s",
                 lines->count, lines->count == 1 ? "" : "es");
        add_count(text, warps);
        text_add(text, " warp instructions (");
        add_count(text, threads);
        text_add(text, " of threads) in %.2f s", run->wall_s);
        if (run->wall_s > 0.001) {
            text_add(text, ": ");
            add_count(text, warps / run->wall_s);
            text_add(text, " a second");
        }
    }
    names_fini(&kernels);
}

/* ---- statistics as JSON ---- */

/* Named as NVIDIA's profiler names them: name, value. `l` is the launch, `o` its occupancy. */
#define METRICS(M)                                                                                           \
    M("launch__grid_size", l->grid[0] * l->grid[1] * l->grid[2])                                             \
    M("launch__block_size", l->block[0] * l->block[1] * l->block[2])                                         \
    M("launch__thread_count", l->threads)                                                                    \
    M("launch__registers_per_thread", l->registers)                                                          \
    M("launch__shared_mem_per_block_static", l->shared_bytes)                                                \
    M("launch__shared_mem_per_block_dynamic", l->dynamic_shared_bytes)                                       \
    M("launch__occupancy_limit_blocks", system->gpu.blocks_per_sm)                                           \
    M("launch__occupancy_limit_registers", o.by_registers)                                                   \
    M("launch__occupancy_limit_shared_mem", min_u64(o.by_shared, system->gpu.blocks_per_sm))                 \
    M("launch__occupancy_limit_warps", o.by_warps)                                                           \
    M("smsp__warps_launched.sum", l->warps)                                                                  \
    M("smsp__inst_executed.sum", l->warp_instructions)                                                       \
    M("smsp__thread_inst_executed.sum", l->thread_instructions)                                              \
    M("smsp__thread_inst_executed_pred_on.sum", l->thread_instructions_pred_on)                              \
    M("smsp__sass_branch_targets_threads_uniform.sum", l->branches - l->divergent_branches)                  \
    M("smsp__sass_branch_targets_threads_divergent.sum", l->divergent_branches)

static void write_sides(struct json *json, const char *name, const uint64_t sides[3])
{
    json_array(json, name);
    for (int i = 0; i < 3; i++)
        json_u64(json, NULL, sides[i]);
    json_end(json);
}

static void write_launch(struct json *json, const struct launch_line *l, const struct system *system)
{
    struct occupancy o = occupancy_of(
        &system->gpu, &(struct occupancy_need){.threads = l->block[0] * l->block[1] * l->block[2],
                                               .registers = l->registers,
                                               .shared_static = l->shared_bytes,
                                               .shared_dynamic = l->dynamic_shared_bytes,
                                               .dynamic_limit = l->dynamic_shared_bytes,
                                               .carveout = -1});
    json_object(json, NULL);
    json_text(json, "kernel", l->kernel);
    json_u64(json, "device", l->device);
    json_u64(json, "stream", l->stream);
    write_sides(json, "grid", l->grid);
    write_sides(json, "block", l->block);
    if (l->result)
        json_u64(json, "error", l->result);
    json_object(json, "metrics");
#define M(name, value) json_u64(json, name, value);
    METRICS(M)
#undef M
    json_end(json);
    json_end(json);
}

bool launches_write(const struct launch_lines *lines, const struct run *run, const struct system *system,
                    const char *path, struct err *err)
{
    struct file_writer writer;
    struct json json;
    const char *asked = run->request->threads ? run->request->threads : getenv("HEDDLE_THREADS");
    unsigned threads = asked && strcmp(asked, "all") ? (unsigned)strtoul(asked, NULL, 10) : host_cores();
    if (!file_open(&writer, path, err))
        return false;
    json_init(&json, writer.stream);
    json_object(&json, NULL);
    json_text(&json, "heddle", HEDDLE_VERSION);
    json_text(&json, "system", run->request->system ? run->request->system : "h200");
    json_text(&json, "mode", "functional");
    json_array(&json, "launches");
    for (size_t i = 0; i < lines->count; i++)
        write_launch(&json, &lines->at[i], system);
    json_end(&json);
    json_object(&json, "host");
    json_real(&json, "wall_s", run->wall_s);
    json_real(&json, "cpu_s", run->cpu_s);
    json_u64(&json, "threads", threads);
    json_end(&json);
    json_end(&json);
    return file_close(&writer, err);
}
