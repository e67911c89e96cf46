/* The launches of processes, from the files they left. */
#include "cli/launches.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/metrics_line.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = INT32_MAX };

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

/* The text between quotes. */
static char *quoted(const char *value)
{
    struct text text = {0};
    text_add(&text, "%.*s", (int)strcspn(value + 1, "\""), value + 1);
    return text.at;
}

/* Places in code, by the numbers that a process gave them. */
struct wheres {
    const struct code_place **at;
    size_t count, capacity;
};

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
    launch->kernel = quoted(kernel);
    launch->timed = metrics_line_read(line, &launch->timing);
    launch->interrupted = value_of(line, "interrupted");
    return true;
}

/* A line that gives a number to a place in code. */
static bool read_where(const char *line, struct wheres *wheres, struct place_list *places)
{
    uint64_t number;
    if (!read_number(line, "place", &number) || number != wheres->count)
        return false;
    const struct code_place *place = place_list_read(places, line);
    if (!place)
        return false;
    mem_grow(wheres->at, wheres->count, wheres->capacity);
    wheres->at[wheres->count++] = place;
    return true;
}

/* When copies of a kind ended last: they wait for each other. */
enum { DEVICES_MOST = 64 };
typedef uint64_t copy_ends[COPIED_KINDS][DEVICES_MOST];

/* A line that tells of a copy; they come in the order they ended in. */
static bool read_copy(const char *line, copy_ends ends, struct launch_lines *lines)
{
    static const char *const kinds[] = {
#define K(name, words) "\"" #name "\"",
        COPY_KINDS(K)
#undef K
    };
    uint64_t device, bytes, start, end;
    const char *what = value_of(line, "copy");
    if (!what || !read_number(line, "device", &device) || !read_number(line, "bytes", &bytes) ||
        !read_number(line, "start_ps", &start) || !read_number(line, "end_ps", &end) ||
        device >= DEVICES_MOST)
        return false;
    for (int kind = 0; kind < COPIED_KINDS; kind++) {
        if (strncmp(what, kinds[kind], strlen(kinds[kind])) != 0)
            continue;
        uint64_t *last = &ends[kind][device];
        struct copy_sum *sum = &lines->copies[kind];
        sum->count++;
        sum->bytes += bytes;
        sum->busy_ps += end - (start > *last ? start : *last);
        *last = end;
        lines->end_ps = end > lines->end_ps ? end : lines->end_ps;
    }
    return true;
}

/* [[place, counts, stalls...], ...] */
static void read_profile(const char *line, const struct wheres *wheres, struct launch_line *launch)
{
    const char *at = value_of(line, "profile");
    uint64_t place;
    struct op_profile counts;
    for (at = at ? at + 1 : ""; (at = profile_line_read(at, &place, &counts)); at += *at == ',') {
        if (place >= wheres->count)
            return;
        mem_grow(launch->places, launch->place_count, launch->place_capacity);
        launch->places[launch->place_count++] =
            (struct metric_place){.at = wheres->at[place], .counts = counts};
    }
}

static int by_number(const void *left, const void *right)
{
    const struct launch_line *a = left, *b = right;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

/* The launches of one process, in the order they were made in. */
static bool read_process(const char *path, struct launch_lines *all, struct launch_lines *lines,
                         struct err *err)
{
    struct text content = {0};
    struct wheres wheres = {0};
    copy_ends ends = {{0}};
    if (!file_read(path, LARGEST_FILE, &content, err)) {
        text_fini(&content);
        return false;
    }
    for (char *line = content.at, *end; (end = strchr(line, '\n')); line = end + 1) {
        struct launch_line launch = {0};
        *end = 0;
        if (read_where(line, &wheres, &all->places) || read_copy(line, ends, all) ||
            !read_line(line, &launch))
            continue; /* what a process had no time to write whole */
        read_profile(line, &wheres, &launch);
        if (launch.timed && launch.timing.end_ps > all->end_ps)
            all->end_ps = launch.timing.end_ps;
        mem_grow(lines->at, lines->count, lines->capacity);
        lines->at[lines->count++] = launch;
    }
    text_fini(&content);
    mem_free(wheres.at);
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
            good = read_process(path.at, lines, &processes[count++], err);
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
    for (size_t i = 0; i < lines->count; i++) {
        mem_free(lines->at[i].kernel);
        mem_free(lines->at[i].places);
    }
    mem_free(lines->at);
    place_list_fini(&lines->places);
}
