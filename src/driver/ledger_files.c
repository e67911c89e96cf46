/* The files of a ledger: see ledger_format.h. */
#include "driver/ledger.h"
#include "driver/driver.h"
#include "base/bits.h"
#include "base/log.h"
#include "base/mem.h"
#include "gpu/metrics.h"
#include "system/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    MOST_PLACES = 100, /* of a launch: those where warps waited longest */
    MOST_DEVICES = 64,
};

/* A sum, by what tells it from others. */
struct sum_entry {
    const char *kernel; /* as ledger_name gave it; NULL: a free place */
    uint64_t module;    /* digest of its name: kernels of several modules may have one name */
    uint32_t profile_count;
    bool is_timed;
    struct ledger_sum *sum; /* NULL: it found no room */
};

struct ledger_folder {
    char *path;
    uint64_t first, end;          /* launches that are written one by one */
    struct launch_losses *losses; /* NULL: the folder is not one of `heddle run` */
    bool told;                    /* that something found no room */
    int launches, sums, series;   /* files; -1 before the first launch, copy or sample */
    uint64_t launch_bytes, sum_bytes, series_bytes;
    bool series_failed;
    struct launch_process *process;
    struct sum_entry *table; /* by the digest of its key, or the next free place behind it */
    size_t table_size, table_used;
    struct names places; /* in code, that have an entry */
    struct text entries; /* of the launch that is written */
    uint64_t copy_ends[COPIED_KINDS][MOST_DEVICES];
    uint64_t running; /* launches */
    double busy_since;
};

/* ---- opening ---- */

static void map_losses(struct ledger_folder *folder)
{
    struct text path = {0};
    text_add(&path, "%s/" LEDGER_LOSSES, folder->path);
    int file = open(path.at, O_RDWR | O_CLOEXEC);
    void *at = file < 0 ? MAP_FAILED
                        : mmap(NULL, sizeof *folder->losses, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    folder->losses = at == MAP_FAILED ? NULL : at;
    text_fini(&path);
}

struct ledger_folder *ledger_folder_new(const char *path, uint64_t first, uint64_t end)
{
    struct ledger_folder *folder = mem_alloc(1, sizeof *folder);
    *folder = (struct ledger_folder){
        .path = mem_text(path), .first = first, .end = end, .launches = -1, .sums = -1, .series = -1};
    map_losses(folder);
    return folder;
}

void ledger_folder_free(struct ledger_folder *folder)
{
    if (!folder)
        return;
    for (size_t i = 0; i < folder->table_size; i++) {
        if (folder->table[i].sum)
            munmap(folder->table[i].sum, folder->table[i].sum->bytes);
    }
    if (folder->process)
        munmap(folder->process, folder->process->bytes);
    if (folder->losses)
        munmap(folder->losses, sizeof *folder->losses);
    if (folder->series >= 0)
        close(folder->series);
    if (folder->launches >= 0)
        close(folder->launches);
    if (folder->sums >= 0)
        close(folder->sums);
    mem_free(folder->table);
    names_fini(&folder->places);
    text_fini(&folder->entries);
    mem_free(folder->path);
    mem_free(folder);
}

/* What `heddle run` says at the end; a program under another parent hears it now. */
static void lose(struct ledger_folder *folder, bool is_sum)
{
    int why = errno;
    if (folder->losses) {
        atomic_fetch_add(is_sum ? &folder->losses->sums : &folder->losses->entries, 1);
        folder->losses->error = why;
    } else if (!folder->told) {
        log_warn("statistics of launches are not complete: cannot write to %s: %s", folder->path,
                 strerror(why));
        folder->told = true;
    }
}

/* A file of this process with this ending, new: the process may be another program with the same number. */
static int open_file(const struct ledger_folder *folder, const char *ending)
{
    int file = -1;
    for (unsigned i = 0; file < 0 && (!i || errno == EEXIST); i++) {
        struct text path = {0};
        text_add(&path, "%s/%d.%u.%s", folder->path, (int)getpid(), i, ending);
        file = open(path.at, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        text_fini(&path);
    }
    return file;
}

/* Whether a file may have this many bytes (ulimit -f): to try it would be a signal for the program. */
static bool may_have(uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur)
        return true;
    errno = EFBIG;
    return false;
}

/* ---- sums ---- */

/* Zeroed bytes at the end of the file, in memory; NULL when there is no room. They are taken now: later there
 * might be none, and a write to them would end the program. */
static void *take_room(struct ledger_folder *folder, uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    if (folder->sums < 0)
        folder->sums = open_file(folder, "sums");
    if (folder->sums < 0 || !may_have(folder->sum_bytes + whole))
        return NULL;
    int failure;
    do
        failure = posix_fallocate(folder->sums, (off_t)folder->sum_bytes, (off_t)whole);
    while (failure == EINTR);
    if (failure) {
        if (ftruncate(folder->sums, (off_t)folder->sum_bytes) == 0) /* what a part of it took is free again */
            errno = failure;
        return NULL;
    }
    void *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, folder->sums, (off_t)folder->sum_bytes);
    if (at == MAP_FAILED)
        return NULL;
    folder->sum_bytes += whole;
    *(uint64_t *)at = whole;
    return at;
}

static struct launch_process *process_of(struct ledger_folder *folder)
{
    if (!folder->process) {
        folder->process = take_room(folder, sizeof *folder->process);
        if (folder->process)
            folder->process->layout = LEDGER_LAYOUT;
    }
    return folder->process;
}

static struct ledger_sum *new_sum(struct ledger_folder *folder, const struct launch_record *record,
                                  uint32_t profile_count)
{
    struct text texts = {0};
    text_add(&texts, "%s", record->kernel);
    uint64_t name_bytes = texts.length + 1;
    text_add_bytes(&texts, "", 1);
    for (uint32_t i = 0; i < profile_count; i++) {
        struct code_place place;
        kernel_place(record->timed_kernel, i, &place);
        ledger_place_text_add(&texts, &place);
        text_add_bytes(&texts, "", 1);
    }
    struct ledger_sum *sum =
        process_of(folder)
            ? take_room(folder, sizeof *sum + 2 * profile_count * sizeof(struct op_profile) + texts.length)
            : NULL;
    if (sum) {
        sum->profile_count = profile_count;
        sum->name_bytes = name_bytes;
        sum->is_timed = record->timing != NULL;
        memcpy(ledger_sum_name(sum), texts.at, texts.length);
    }
    text_fini(&texts);
    return sum;
}

static size_t place_of_key(const struct ledger_folder *folder, const struct sum_entry *key)
{
    uint64_t digest = ((uint64_t)(uintptr_t)key->kernel + key->module + key->profile_count + key->is_timed) *
                      UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(digest >> 20) & (folder->table_size - 1);
    while (folder->table[i].kernel &&
           (folder->table[i].kernel != key->kernel || folder->table[i].module != key->module ||
            folder->table[i].profile_count != key->profile_count ||
            folder->table[i].is_timed != key->is_timed))
        i = (i + 1) & (folder->table_size - 1);
    return i;
}

static void grow_table(struct ledger_folder *folder)
{
    struct sum_entry *old = folder->table;
    size_t old_size = folder->table_size;
    folder->table_size = old_size ? 2 * old_size : 64;
    folder->table = mem_alloc(folder->table_size, sizeof *folder->table);
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].kernel)
            folder->table[place_of_key(folder, &old[i])] = old[i];
    }
    mem_free(old);
}

/* The sum that this launch belongs to; NULL where it found no room. */
static struct ledger_sum *find_sum(struct ledger_folder *folder, const struct launch_record *record)
{
    struct sum_entry key = {.kernel = record->kernel, .is_timed = record->timing};
    if (record->timing && record->timing->profile && record->timing->profile_count) {
        struct code_place place;
        kernel_place(record->timed_kernel, 0, &place);
        key.module = place.module ? digest_bytes(0, place.module, strlen(place.module)) : 0;
        key.profile_count = record->timing->profile_count;
    }
    if (folder->table_used * 2 >= folder->table_size)
        grow_table(folder);
    struct sum_entry *entry = &folder->table[place_of_key(folder, &key)];
    if (!entry->kernel) {
        *entry = key;
        folder->table_used++;
    }
    if (!entry->sum)
        entry->sum = new_sum(folder, record, key.profile_count);
    return entry->sum;
}

static struct launch_numbers numbers_of(const struct launch_record *record)
{
    struct launch_numbers numbers = {
#define N(name) .name = (uint64_t)record->name,
        LAUNCH_NUMBERS(N)
#undef N
    };
    for (int i = 0; i < 3; i++) {
        numbers.grid[i] = record->grid[i];
        numbers.block[i] = record->block[i];
    }
    return numbers;
}

static struct gpu_kernel_stats without_profile(const struct gpu_kernel_stats *stats)
{
    struct gpu_kernel_stats own = *stats;
    own.profile = NULL;
    own.profile_count = 0;
    return own;
}

static void add_timing(struct ledger_sum *sum, const struct gpu_kernel_stats *timing)
{
    uint64_t *to = (uint64_t *)ledger_sum_profile(sum);
    const uint64_t *from = (const uint64_t *)timing->profile;
    for (size_t i = 0; i < sum->profile_count * sizeof(struct op_profile) / sizeof *to; i++)
        to[i] += from[i];
    metrics_sum(&sum->timing, timing);
}

static void add_to_sum(struct ledger_sum *sum, const struct launch_record *record)
{
    bool failed = record->result && record->result != RESULT_DEINITIALIZED; /* the end of its process */
    struct launch_numbers numbers = numbers_of(record);
    if (!sum->launches ||
        ledger_is_longer((struct launch_span){&numbers, record->timing},
                         (struct launch_span){&sum->longest, sum->is_timed ? &sum->longest_timing : NULL})) {
        sum->longest = numbers;
        if (record->timing)
            sum->longest_timing = without_profile(record->timing);
        if (sum->profile_count)
            memcpy(ledger_sum_longest_profile(sum), record->timing->profile,
                   sum->profile_count * sizeof(struct op_profile));
    }
    if (failed && (!sum->failed || record->launch < sum->error_launch)) {
        sum->error = (uint64_t)record->result;
        sum->error_launch = record->launch;
    }
    sum->failed += failed;
    sum->interrupted += record->interrupted;
#define C(name) sum->name += record->name;
    LAUNCH_COUNTS(C)
#undef C
    if (record->timing)
        add_timing(sum, record->timing);
    sum->launches++;
}

/* ---- launches, one by one ---- */

static uint64_t waited(const struct op_profile *profile)
{
    uint64_t sum = 0;
    for (int i = 0; i < STALL_COUNT; i++)
        sum += profile->stalls[i];
    return sum;
}

static int by_wait(const void *left, const void *right)
{
    const struct op_profile *const *a = left, *const *b = right;
    uint64_t x = waited(*a), y = waited(*b);
    return x != y ? (x < y) - (x > y) : (*a > *b) - (*a < *b);
}

/* Ends an entry that began at `start` of the bytes. */
static void end_entry(struct text *bytes, size_t start)
{
    static const char zeros[8];
    text_add_bytes(bytes, zeros, (8 - bytes->length % 8) % 8);
    ((struct ledger_entry *)(bytes->at + start))->bytes = bytes->length - start;
}

/* The number of this place; a new one gets an entry of its own. */
static size_t place_of(struct ledger_folder *folder, struct kernel *kernel, uint32_t op)
{
    struct code_place place;
    struct text fields = {0};
    size_t known = folder->places.count, start = folder->entries.length;
    kernel_place(kernel, op, &place);
    ledger_place_text_add(&fields, &place);
    size_t number = names_add(&folder->places, fields.at);
    if (number == known) {
        struct ledger_entry entry = {.kind = LEDGER_PLACE, .place = (uint32_t)number};
        text_add_bytes(&folder->entries, (const char *)&entry, sizeof entry);
        text_add_bytes(&folder->entries, fields.at, fields.length + 1);
        end_entry(&folder->entries, start);
    }
    text_fini(&fields);
    return number;
}

/* Where warps waited longest, with entries for those places that are new. */
static struct ledger_counted *count_places(struct ledger_folder *folder, const struct launch_record *record,
                                           size_t *count)
{
    const struct gpu_kernel_stats *stats = record->timing;
    size_t all = stats && stats->profile ? stats->profile_count : 0;
    const struct op_profile **sorted = mem_alloc(all, sizeof *sorted);
    for (size_t i = 0; i < all; i++)
        sorted[i] = &stats->profile[i];
    if (all)
        qsort(sorted, all, sizeof *sorted, by_wait);
    struct ledger_counted *counted = mem_alloc(min_u64(all, MOST_PLACES), sizeof *counted);
    for (*count = 0; *count < min_u64(all, MOST_PLACES) && waited(sorted[*count]); ++*count) {
        uint32_t op = (uint32_t)(sorted[*count] - stats->profile);
        counted[*count] =
            (struct ledger_counted){place_of(folder, record->timed_kernel, op), *sorted[*count]};
    }
    mem_free(sorted);
    return counted;
}

/* All of the entries, or nothing: one that was cut would be taken for part of the next. */
static bool append(struct ledger_folder *folder)
{
    const struct text *entries = &folder->entries;
    if (folder->launches < 0)
        folder->launches = open_file(folder, "launches");
    if (folder->launches < 0 || !may_have(folder->launch_bytes + entries->length))
        return false;
    ssize_t wrote = pwrite(folder->launches, entries->at, entries->length, (off_t)folder->launch_bytes);
    if (wrote == (ssize_t)entries->length) {
        folder->launch_bytes += entries->length;
        return true;
    }
    int why = wrote < 0 ? errno : ENOSPC;
    if (ftruncate(folder->launches, (off_t)folder->launch_bytes) == 0)
        errno = why;
    return false;
}

static void add_launch(struct ledger_folder *folder, const struct launch_record *record)
{
    static const uint64_t layout = LEDGER_LAYOUT;
    struct text *bytes = &folder->entries;
    bytes->length = 0;
    if (!folder->launch_bytes)
        text_add_bytes(bytes, (const char *)&layout, sizeof layout);
    struct ledger_launch launch = {.entry.kind = LEDGER_LAUNCH,
                                   .numbers = numbers_of(record),
                                   .is_timed = record->timing != NULL,
                                   .interrupted = record->interrupted,
                                   .name_bytes = strlen(record->kernel) + 1};
    struct ledger_counted *counted = count_places(folder, record, &launch.place_count);
    size_t start = bytes->length;
    text_add_bytes(bytes, (const char *)&launch, sizeof launch);
    if (record->timing) {
        struct gpu_kernel_stats timing = without_profile(record->timing);
        text_add_bytes(bytes, (const char *)&timing, sizeof timing);
    }
    text_add_bytes(bytes, (const char *)counted, launch.place_count * sizeof *counted);
    text_add_bytes(bytes, record->kernel, launch.name_bytes);
    end_entry(bytes, start);
    if (!append(folder))
        lose(folder, false);
    mem_free(counted);
}

/* ---- what happens ---- */

void ledger_folder_begin(struct ledger_folder *folder, double now_s)
{
    if (!folder->running++)
        folder->busy_since = now_s;
}

void ledger_folder_add(struct ledger_folder *folder, const struct launch_record *record, double now_s)
{
    struct ledger_sum *sum = find_sum(folder, record);
    if (sum)
        add_to_sum(sum, record);
    else
        lose(folder, true);
    if (folder->process) {
        folder->process->busy_ns +=
            now_s > folder->busy_since ? (uint64_t)((now_s - folder->busy_since) * 1e9) : 0;
        if (record->timing)
            folder->process->end_ps = max_u64(folder->process->end_ps, record->timing->end_ps);
    }
    if (now_s > folder->busy_since) /* launches of several streams come here in any order */
        folder->busy_since = now_s;
    folder->running--;
    if (record->launch >= folder->first && record->launch < folder->end)
        add_launch(folder, record);
}

void ledger_folder_add_copy(struct ledger_folder *folder, const struct copy_record *copy)
{
    struct launch_process *process = process_of(folder);
    uint64_t *last = &folder->copy_ends[copy->kind][copy->device % MOST_DEVICES];
    if (!process) {
        lose(folder, true);
        return;
    }
    struct copy_sum *sum = &process->copies[copy->kind];
    sum->count++;
    sum->bytes += copy->bytes;
    sum->busy_ps += copy->end_ps - max_u64(copy->start_ps, *last);
    *last = copy->end_ps;
    process->end_ps = max_u64(process->end_ps, copy->end_ps);
}

void ledger_folder_set_links(struct ledger_folder *folder, const struct machine_link *links, size_t count)
{
    struct launch_process *process = process_of(folder);
    for (size_t i = 0; process && i < count && i < LEDGER_LINKS; i++) {
        struct link_sum *sum = &process->links[i];
        snprintf(sum->name, sizeof sum->name, "%s", links[i].name);
        sum->bytes_per_s = links[i].bytes_per_s;
        memcpy(sum->messages, links[i].messages, sizeof sum->messages);
        memcpy(sum->bytes, links[i].bytes, sizeof sum->bytes);
        memcpy(sum->busy_ps, links[i].busy_ps, sizeof sum->busy_ps);
        process->link_count = max_u64(process->link_count, i + 1);
    }
}

/* ---- samples ---- */

static bool write_series(struct ledger_folder *folder, const void *bytes, size_t count)
{
    ssize_t wrote = may_have(folder->series_bytes + count)
                        ? pwrite(folder->series, bytes, count, (off_t)folder->series_bytes)
                        : -1;
    folder->series_bytes += count;
    return wrote == (ssize_t)count;
}

/* Written at once, so that they are there however the program ends. */
void ledger_folder_add_sample(struct ledger_folder *folder, const struct series_head *head,
                              const void *sample)
{
    static const uint64_t layout = LEDGER_SERIES_LAYOUT;
    bool is_first = folder->series < 0, good = !folder->series_failed;
    if (!good)
        return;
    if (is_first)
        folder->series = open_file(folder, "series");
    good = folder->series >= 0 && (!is_first || write_series(folder, &layout, sizeof layout)) &&
           write_series(folder, head, sizeof *head) && write_series(folder, sample, head->bytes);
    if (!good)
        log_warn("samples over time are not complete: cannot write to %s: %s", folder->path, strerror(errno));
    folder->series_failed = !good;
}
