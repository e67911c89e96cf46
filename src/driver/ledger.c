#include "driver/ledger.h"
#include "driver/driver.h"
#include "base/bits.h"
#include "base/log.h"
#include "base/mem.h"
#include "gpu/metrics_line.h"
#include "gpu/place_line.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void ledger_init(struct ledger *ledger, const char *folder)
{
    pthread_mutex_init(&ledger->lock, NULL);
    ledger->folder = mem_text(folder ? folder : "");
    ledger->writing = *ledger->folder;
    ledger->file = -1;
}

static void drop_timing(const struct launch_record *record)
{
    if (record->timing)
        kernel_stats_fini(record->timing);
    mem_free(record->timing);
}

void ledger_fini(struct ledger *ledger)
{
    if (ledger->file >= 0)
        close(ledger->file);
    pthread_mutex_destroy(&ledger->lock);
    names_fini(&ledger->kernels);
    names_fini(&ledger->places);
    for (size_t i = 0; i < ledger->count; i++)
        drop_timing(&ledger->records[i]);
    mem_free(ledger->records);
    mem_free(ledger->folder);
    text_fini(&ledger->line);
}

const char *ledger_name(struct ledger *ledger, const char *kernel)
{
    pthread_mutex_lock(&ledger->lock);
    size_t number = names_add(&ledger->kernels, kernel); /* may move `at` */
    const char *name = ledger->kernels.at[number];
    pthread_mutex_unlock(&ledger->lock);
    return name;
}

/* At the first launch or timed copy, not before: a program that does nothing leaves no file. */
static bool open_file(struct ledger *ledger)
{
    struct text path = {0};
    text_add(&path, "%s/%d.launches", ledger->folder, (int)getpid());
    ledger->file = open(path.at, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (ledger->file < 0) {
        log_warn("no statistics of launches: cannot write %s: %s", path.at, strerror(errno));
        ledger->writing = false;
    }
    text_fini(&path);
    return ledger->file >= 0;
}

/* Names of kernels are identifiers: nothing in them needs escaping. */
static void format(struct text *line, const struct launch_record *record)
{
    line->length = 0;
    text_add(line, "{\"launch\":%llu,\"kernel\":\"%s\",\"device\":%u,\"stream\":%llu",
             (unsigned long long)record->launch, record->kernel, record->device,
             (unsigned long long)record->stream);
    text_add(line, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", record->grid[0], record->grid[1],
             record->grid[2], record->block[0], record->block[1], record->block[2]);
    text_add(line, ",\"registers\":%u,\"shared_bytes\":%llu,\"dynamic_shared_bytes\":%llu", record->registers,
             (unsigned long long)record->shared_bytes, (unsigned long long)record->dynamic_shared_bytes);
    text_add(line, ",\"blocks_per_sm\":%u,\"result\":%d,\"wall_seconds\":%.9f", record->blocks_per_sm,
             record->result, record->wall_seconds);
#define C(name) text_add(line, ",\"" #name "\":%llu", (unsigned long long)record->name);
    LAUNCH_COUNTS(C)
#undef C
    if (record->interrupted)
        text_add(line, ",\"interrupted\":1");
}

/* ---- profiles ---- */

enum { MOST_PLACES = 100 }; /* of a launch: those where warps waited longest */

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

/* The number of this place; a new one gets a line of its own, before that of the launch. */
static size_t place_of(struct ledger *ledger, struct kernel *kernel, uint32_t op, struct text *places)
{
    struct code_place place;
    struct text fields = {0};
    size_t known = ledger->places.count;
    kernel_place(kernel, op, &place);
    place_line_add(&fields, &place);
    size_t number = names_add(&ledger->places, fields.at);
    if (number == known)
        text_add(places, "{\"place\":%zu%s}\n", number, fields.at);
    text_fini(&fields);
    return number;
}

static void add_profile(struct ledger *ledger, const struct launch_record *record, struct text *line,
                        struct text *places)
{
    const struct kernel_stats *stats = record->timing;
    const struct op_profile **sorted = mem_alloc(stats->profile_count, sizeof *sorted);
    for (uint32_t i = 0; i < stats->profile_count; i++)
        sorted[i] = &stats->profile[i];
    if (stats->profile_count)
        qsort(sorted, stats->profile_count, sizeof *sorted, by_wait);
    text_add(line, ",\"profile\":[");
    for (size_t i = 0; i < min_u64(stats->profile_count, MOST_PLACES) && waited(sorted[i]); i++) {
        uint32_t op = (uint32_t)(sorted[i] - stats->profile);
        text_add(line, "%s", i ? "," : "");
        profile_line_add(line, place_of(ledger, record->timed_kernel, op, places), sorted[i]);
    }
    text_add(line, "]");
    mem_free(sorted);
}

/* One write for a launch, so that the file holds whole lines whatever ends the process. */
static void write_lines(struct ledger *ledger, const struct launch_record *record)
{
    struct text *line = &ledger->line, places = {0};
    format(line, record);
    if (record->timing)
        metrics_line_add(line, record->timing);
    if (record->timing && record->timing->profile)
        add_profile(ledger, record, line, &places);
    text_add(line, "}\n");
    text_add_bytes(&places, line->at, line->length);
    if (write(ledger->file, places.at, places.length) < 0)
        log_warn("cannot write the statistics of a launch: %s", strerror(errno));
    text_fini(&places);
}

void ledger_add_copy(struct ledger *ledger, const struct copy_record *copy)
{
    struct text line = {0};
    if (!ledger->writing)
        return;
    text_add(&line, "{\"copy\":\"%s\",\"device\":%u,\"bytes\":%llu,\"start_ps\":%llu,\"end_ps\":%llu}\n",
             copy->what, copy->device, (unsigned long long)copy->bytes, (unsigned long long)copy->start_ps,
             (unsigned long long)copy->end_ps);
    pthread_mutex_lock(&ledger->lock);
    if ((ledger->file >= 0 || open_file(ledger)) && write(ledger->file, line.at, line.length) < 0)
        log_warn("cannot write the statistics of a copy: %s", strerror(errno));
    pthread_mutex_unlock(&ledger->lock);
    text_fini(&line);
}

/* By number: streams may end their launches in another order, but seldom far from it. */
static void insert(struct ledger *ledger, const struct launch_record *record)
{
    mem_grow(ledger->records, ledger->count, ledger->capacity);
    size_t place = ledger->count++;
    for (; place && ledger->records[place - 1].launch > record->launch; place--)
        ledger->records[place] = ledger->records[place - 1];
    ledger->records[place] = *record;
}

void ledger_add(struct ledger *ledger, const struct launch_record *record, bool keep)
{
    if (!keep && !ledger->writing) {
        drop_timing(record);
        return;
    }
    pthread_mutex_lock(&ledger->lock);
    if (keep)
        insert(ledger, record);
    if (ledger->writing && (ledger->file >= 0 || open_file(ledger)))
        write_lines(ledger, record);
    if (!keep)
        drop_timing(record);
    pthread_mutex_unlock(&ledger->lock);
}
