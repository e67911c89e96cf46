/* The launches of processes, from the files they left. */
#include "report/launches/launches.h"
#include "base/file.h"
#include "base/mem.h"

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

/* Places in code, by the numbers that a process gave them. */
struct wheres {
    const struct code_place **at;
    size_t count, capacity;
};

struct launch_file {
    char *content;
    size_t bytes;
    struct wheres wheres;
    const struct ledger_launch **launches; /* in their order */
    size_t count, capacity;
};

/* ---- files ---- */

static int by_number(const void *left, const void *right)
{
    const struct ledger_launch *const *a = left, *const *b = right;
    uint64_t x = (*a)->numbers.launch, y = (*b)->numbers.launch;
    return (x > y) - (x < y);
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

static void keep_place(struct wheres *wheres, uint32_t number, const struct code_place *place)
{
    while (wheres->count <= number) { /* an entry that found no room leaves a gap */
        mem_grow(wheres->at, wheres->count, wheres->capacity);
        wheres->at[wheres->count++] = NULL;
    }
    wheres->at[number] = place;
}

/* Whether all that it says to be behind it is there. */
static bool is_whole(const struct ledger_launch *launch)
{
    uint64_t room = launch->entry.bytes;
    if (room < sizeof *launch || launch->place_count > room / sizeof(struct ledger_counted) ||
        !launch->name_bytes || launch->name_bytes > room)
        return false;
    return sizeof *launch + (launch->is_timed ? sizeof(struct gpu_kernel_stats) : 0) +
                   launch->place_count * sizeof(struct ledger_counted) + launch->name_bytes <=
               room &&
           !ledger_kernel(launch)[launch->name_bytes - 1];
}

static void take_entry(const struct ledger_entry *entry, struct launches *all, struct launch_file *file)
{
    const char *text = (const char *)(entry + 1);
    if (entry->kind == LEDGER_LAUNCH && is_whole((const struct ledger_launch *)entry)) {
        mem_grow(file->launches, file->count, file->capacity);
        file->launches[file->count++] = (const struct ledger_launch *)entry;
    } else if (entry->kind == LEDGER_PLACE && entry->place < MOST_PLACES &&
               memchr(text, 0, entry->bytes - sizeof *entry)) {
        keep_place(&file->wheres, entry->place, ledger_place_list_read(&all->places, text));
    }
}

/* Which launches a process left, and the places that they name. */
static bool read_file(const char *path, struct launches *all, struct launch_file *file, struct err *err)
{
    if (!map_file(path, file, err))
        return false;
    if (file->bytes < sizeof(uint64_t) || *(const uint64_t *)file->content != LEDGER_LAYOUT)
        return !file->bytes || err_set(err, "%s: the program's Heddle libraries are of another build", path);
    for (size_t at = sizeof(uint64_t); at + sizeof(struct ledger_entry) <= file->bytes;) {
        const struct ledger_entry *entry = (const struct ledger_entry *)(file->content + at);
        if (entry->bytes < sizeof *entry || entry->bytes % sizeof(uint64_t) ||
            entry->bytes > file->bytes - at)
            break;
        take_entry(entry, all, file);
        at += entry->bytes;
    }
    if (file->count)
        qsort(file->launches, file->count, sizeof *file->launches, by_number);
    return true;
}

static struct launch_one read_launch(const struct launch_file *file, size_t index)
{
    const struct ledger_launch *launch = file->launches[index];
    const struct ledger_counted *counted = ledger_places(launch);
    struct launch_one one = {.kernel = ledger_kernel(launch),
                             .numbers = launch->numbers,
                             .timed = launch->is_timed,
                             .interrupted = launch->interrupted};
    if (launch->is_timed)
        one.timing = *ledger_timing(launch);
    one.places = mem_alloc(launch->place_count, sizeof *one.places);
    for (size_t i = 0; i < launch->place_count; i++) {
        const struct code_place *place =
            counted[i].place < file->wheres.count ? file->wheres.at[counted[i].place] : NULL;
        if (place)
            one.places[one.place_count++] = (struct metric_place){.at = place, .counts = counted[i].counts};
    }
    return one;
}

/* ---- processes, by what they launched ---- */

static int compare_launches(const struct ledger_launch *a, const struct ledger_launch *b)
{
    const struct launch_numbers *x = &a->numbers, *y = &b->numbers;
    int order = strcmp(ledger_kernel(a), ledger_kernel(b));
    for (int i = 0; !order && i < 3; i++) {
        order = (x->grid[i] > y->grid[i]) - (x->grid[i] < y->grid[i]);
        order = order ? order : (x->block[i] > y->block[i]) - (x->block[i] < y->block[i]);
    }
#define N(name) order = order ? order : (x->name > y->name) - (x->name < y->name);
    LAUNCH_NUMBERS(N)
#undef N
    return order;
}

static int by_content(const void *left, const void *right)
{
    const struct launch_file *a = left, *b = right;
    int order = 0;
    for (size_t i = 0; !order && i < a->count && i < b->count; i++)
        order = compare_launches(a->launches[i], b->launches[i]);
    return order ? order : (a->count > b->count) - (a->count < b->count);
}

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), less = strlen(ending);
    return length > less && !strcmp(name + length - less, ending);
}

static bool read_one(const char *path, struct launches *lines, struct err *err)
{
    if (ends_in(path, ".sums"))
        return launches_read_sums(path, lines, err);
    if (ends_in(path, ".series"))
        return launches_read_series(path, lines, err);
    if (!ends_in(path, ".launches"))
        return true;
    mem_grow(lines->files, lines->file_count, lines->file_capacity);
    return read_file(path, lines, &lines->files[lines->file_count++], err);
}

/* It is there from the beginning: if not, somebody removed what processes left. */
static bool read_losses(const char *folder, struct launches *lines, struct err *err)
{
    struct text path = {0}, content = {0};
    struct err why;
    text_add(&path, "%s/" LEDGER_LOSSES, folder);
    bool good = file_read(path.at, sizeof(struct launch_losses), &content, &why) &&
                content.length == sizeof(struct launch_losses);
    if (good) {
        const struct launch_losses *losses = (const struct launch_losses *)content.at;
        lines->lost_entries += losses->entries;
        lines->lost_sums += losses->sums;
        lines->loss = losses->error;
    }
    text_fini(&path);
    text_fini(&content);
    return good || err_set(err, "the statistics are lost: somebody removed %.200s during the run", folder);
}

bool launches_read(const char *folder, struct launches *lines, struct err *err)
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

bool launches_are_whole(const struct launches *lines, const char *folder, struct err *err)
{
    uint64_t lost = lines->lost_sums ? lines->lost_sums : lines->lost_entries;
    return !lost ||
           err_set(err, "the statistics lack %llu launch%s: cannot write to %.200s: %s (%s)",
                   (unsigned long long)lost, lost == 1 ? "" : "es", folder, strerror(lines->loss),
                   lines->loss == EFBIG ? "ulimit -f sets this limit" : "TMPDIR can name another folder");
}

uint64_t launches_kept(const struct launches *lines)
{
    uint64_t count = 0;
    for (size_t i = 0; i < lines->file_count; i++)
        count += lines->files[i].count;
    return count;
}

void launches_each(const struct launches *lines, void (*take)(void *user, const struct launch_one *line),
                   void *user)
{
    for (size_t i = 0; i < lines->file_count; i++) {
        for (size_t k = 0; k < lines->files[i].count; k++) {
            struct launch_one launch = read_launch(&lines->files[i], k);
            take(user, &launch);
            mem_free(launch.places);
        }
    }
}

void launches_fini(struct launches *lines)
{
    for (size_t i = 0; i < lines->kernel_count; i++) {
        mem_free(lines->kernels[i].name);
        mem_free(lines->kernels[i].longest.places);
        mem_free(lines->kernels[i].places);
    }
    for (size_t i = 0; i < lines->file_count; i++) {
        struct launch_file *file = &lines->files[i];
        if (file->bytes)
            munmap(file->content, file->bytes);
        mem_free(file->wheres.at);
        mem_free(file->launches);
    }
    mem_free(lines->kernels);
    mem_free(lines->links);
    launches_series_fini(&lines->series);
    mem_free(lines->files);
    ledger_place_list_fini(&lines->places);
}
