/* The launches of processes, from the files they left. */
#include "cli/launches.h"
#include "cli/timing.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/metrics_line.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PLACES = 1 << 28 };
enum { KEPT = 10000 }; /* launches that statistics have one by one, unless told */

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
    if (!read_number(line, "place", &number) || number > MOST_PLACES)
        return false;
    const struct code_place *place = place_list_read(places, line);
    if (!place)
        return false;
    while (wheres->count <= number) { /* a line that found no room leaves a gap */
        mem_grow(wheres->at, wheres->count, wheres->capacity);
        wheres->at[wheres->count++] = NULL;
    }
    wheres->at[number] = place;
    return true;
}

/* [[place, counts, stalls...], ...] */
static void read_profile(const char *line, const struct wheres *wheres, struct launch_line *launch)
{
    const char *at = value_of(line, "profile");
    uint64_t place;
    struct op_profile counts;
    for (at = at ? at + 1 : ""; (at = profile_line_read(at, &place, &counts)); at += *at == ',') {
        if (place >= wheres->count || !wheres->at[place])
            return;
        mem_grow(launch->places, launch->place_count, launch->place_capacity);
        launch->places[launch->place_count++] =
            (struct metric_place){.at = wheres->at[place], .counts = counts};
    }
}

/* ---- files ---- */

/* Where a line is. */
struct line_place {
    uint64_t launch;
    size_t at, bytes;
};

struct launch_file {
    char *content;
    size_t bytes;
    struct wheres wheres;
    struct line_place *lines; /* in the order of launches */
    size_t count, capacity;
};

static int by_number(const void *left, const void *right)
{
    const struct line_place *a = left, *b = right;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

/* The file in memory; nothing of it is read before it is used. */
static bool map_file(const char *path, struct launch_file *file, struct err *err)
{
    struct stat info;
    int open_file = open(path, O_RDONLY | O_CLOEXEC);
    bool good = open_file >= 0 && !fstat(open_file, &info);
    if (good && info.st_size) {
        file->content = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, open_file, 0);
        file->bytes = (size_t)info.st_size;
        good = file->content != MAP_FAILED;
    }
    int why = errno;
    if (open_file >= 0)
        close(open_file);
    if (!good)
        *file = (struct launch_file){0};
    return good || err_set(err, "cannot read %s: %s", path, strerror(why));
}

/* One line, as a text by itself. */
static void copy_line(const struct launch_file *file, size_t at, size_t bytes, struct text *line)
{
    line->length = 0;
    text_add_bytes(line, file->content + at, bytes);
}

/* Which lines a process left, and the places that they name. */
static bool read_file(const char *path, struct launch_lines *all, struct launch_file *file, struct err *err)
{
    struct text line = {0};
    if (!map_file(path, file, err))
        return false;
    for (size_t at = 0, bytes; at < file->bytes; at += bytes + 1) {
        const char *end = memchr(file->content + at, '\n', file->bytes - at);
        if (!end)
            break; /* what a process had no time to write whole */
        bytes = (size_t)(end - (file->content + at));
        copy_line(file, at, bytes, &line);
        uint64_t launch;
        if (read_where(line.at, &file->wheres, &all->places) || !read_number(line.at, "launch", &launch))
            continue;
        mem_grow(file->lines, file->count, file->capacity);
        file->lines[file->count++] = (struct line_place){launch, at, bytes};
    }
    text_fini(&line);
    if (file->count)
        qsort(file->lines, file->count, sizeof *file->lines, by_number);
    return true;
}

static bool read_launch(const struct launch_file *file, size_t index, struct text *line,
                        struct launch_line *launch)
{
    *launch = (struct launch_line){0};
    copy_line(file, file->lines[index].at, file->lines[index].bytes, line);
    if (!read_line(line->at, launch))
        return false;
    read_profile(line->at, &file->wheres, launch);
    return true;
}

void launch_line_fini(struct launch_line *line)
{
    mem_free(line->kernel);
    mem_free(line->places);
}

/* ---- processes, by what they launched ---- */

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
    const struct launch_file *a = left, *b = right;
    struct text line = {0};
    int order = 0;
    for (size_t i = 0; !order && i < a->count && i < b->count; i++) {
        struct launch_line x, y;
        bool has_x = read_launch(a, i, &line, &x), has_y = read_launch(b, i, &line, &y);
        order = has_x && has_y ? compare_launches(&x, &y) : has_x - has_y;
        launch_line_fini(&x);
        launch_line_fini(&y);
    }
    text_fini(&line);
    return order ? order : (a->count > b->count) - (a->count < b->count);
}

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), less = strlen(ending);
    return length > less && !strcmp(name + length - less, ending);
}

static bool read_one(const char *path, struct launch_lines *lines, struct err *err)
{
    if (ends_in(path, ".sums"))
        return launches_read_sums(path, lines, err);
    if (!ends_in(path, ".launches"))
        return true;
    mem_grow(lines->files, lines->file_count, lines->file_capacity);
    return read_file(path, lines, &lines->files[lines->file_count++], err);
}

/* It is there from the beginning: if not, somebody removed what processes left. */
static bool read_losses(const char *folder, struct launch_lines *lines, struct err *err)
{
    struct text path = {0}, content = {0};
    struct err why;
    text_add(&path, "%s/" LEDGER_LOSSES, folder);
    bool good = file_read(path.at, sizeof(struct launch_losses), &content, &why) &&
                content.length == sizeof(struct launch_losses);
    if (good) {
        const struct launch_losses *losses = (const struct launch_losses *)content.at;
        lines->lost_lines += losses->lines;
        lines->lost_sums += losses->sums;
        lines->loss = losses->error;
    }
    text_fini(&path);
    text_fini(&content);
    return good || err_set(err, "the statistics are lost: somebody removed %.200s during the run", folder);
}

bool launches_read(const char *folder, struct launch_lines *lines, struct err *err)
{
    bool good = true;
    DIR *open = opendir(folder);
    for (struct dirent *entry; good && open && (entry = readdir(open));) {
        struct text path = {0};
        text_add(&path, "%s/%s", folder, entry->d_name);
        good = read_one(path.at, lines, err);
        text_fini(&path);
    }
    if (open)
        closedir(open);
    if (lines->file_count)
        qsort(lines->files, lines->file_count, sizeof *lines->files, by_content);
    launches_sort_sums(lines);
    return good && read_losses(folder, lines, err);
}

bool launches_choose(const char *stats, const char *asked, uint64_t *first, uint64_t *end, struct err *err)
{
    *first = 0;
    *end = stats ? KEPT : 0;
    if (!asked)
        return true;
    if (!stats)
        return err_set(err, "--stats-launches: expected --stats FILE beside it");
    if (!strcmp(asked, "all")) {
        *end = UINT64_MAX;
        return true;
    }
    if (!launch_range("--stats-launches", asked, first, end, err))
        return false;
    *end = *end ? *end : UINT64_MAX;
    return true;
}

bool launches_are_whole(const struct launch_lines *lines, const char *folder, struct err *err)
{
    uint64_t lost = lines->lost_sums ? lines->lost_sums : lines->lost_lines;
    return !lost ||
           err_set(err, "the statistics lack %llu launch%s: cannot write to %.200s: %s (%s)",
                   (unsigned long long)lost, lost == 1 ? "" : "es", folder, strerror(lines->loss),
                   lines->loss == EFBIG ? "ulimit -f sets this limit" : "TMPDIR can name another folder");
}

uint64_t launches_kept(const struct launch_lines *lines)
{
    uint64_t count = 0;
    for (size_t i = 0; i < lines->file_count; i++)
        count += lines->files[i].count;
    return count;
}

void launches_each(struct launch_lines *lines, void (*take)(void *user, const struct launch_line *line),
                   void *user)
{
    struct text line = {0};
    for (size_t i = 0; i < lines->file_count; i++) {
        for (size_t k = 0; k < lines->files[i].count; k++) {
            struct launch_line launch;
            if (read_launch(&lines->files[i], k, &line, &launch))
                take(user, &launch);
            launch_line_fini(&launch);
        }
    }
    text_fini(&line);
}

void launches_fini(struct launch_lines *lines)
{
    for (size_t i = 0; i < lines->kernel_count; i++) {
        launch_line_fini(&lines->kernels[i].longest);
        mem_free(lines->kernels[i].places);
    }
    for (size_t i = 0; i < lines->file_count; i++) {
        struct launch_file *file = &lines->files[i];
        if (file->bytes)
            munmap(file->content, file->bytes);
        mem_free(file->wheres.at);
        mem_free(file->lines);
    }
    mem_free(lines->kernels);
    mem_free(lines->files);
    place_list_fini(&lines->places);
}
