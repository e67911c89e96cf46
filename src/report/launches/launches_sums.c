/* Sums of launches by kernel, from the files that processes left. */
#include "report/launches/launches.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/metrics.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = INT32_MAX };

static struct launch_kernel *find_kernel(struct launches *lines, const char *name, bool timed)
{
    for (size_t i = 0; i < lines->kernel_count; i++) {
        struct launch_kernel *kernel = &lines->kernels[i];
        if (kernel->longest.timed == timed && !strcmp(kernel->longest.kernel, name))
            return kernel;
    }
    mem_grow(lines->kernels, lines->kernel_count, lines->kernel_capacity);
    struct launch_kernel *made = &lines->kernels[lines->kernel_count++];
    made->name = mem_text(name);
    made->longest = (struct launch_one){.kernel = made->name, .timed = timed};
    return made;
}

static bool is_used(const struct op_profile *counts)
{
    static const struct op_profile none;
    return memcmp(counts, &none, sizeof none) != 0;
}

static void take_longest(struct launches *lines, struct launch_kernel *kernel, const struct ledger_sum *sum)
{
    struct launch_one *longest = &kernel->longest;
    longest->numbers = sum->longest;
    longest->timing = sum->longest_timing;
    longest->place_count = 0;
    const char *text = ledger_sum_places(sum);
    for (uint64_t i = 0; i < sum->profile_count; i++, text += strlen(text) + 1) {
        const struct op_profile *counts = &ledger_sum_longest_profile(sum)[i];
        const struct code_place *place =
            is_used(counts) ? ledger_place_list_read(&lines->places, text) : NULL;
        if (!place)
            continue;
        mem_grow(longest->places, longest->place_count, longest->place_capacity);
        longest->places[longest->place_count++] = (struct metric_place){.at = place, .counts = *counts};
    }
}

static void add_place(struct launch_kernel *kernel, const struct code_place *at,
                      const struct op_profile *counts)
{
    size_t i = 0;
    while (i < kernel->place_count && kernel->places[i].at != at) /* one pointer for one place */
        i++;
    if (i == kernel->place_count) {
        mem_grow(kernel->places, kernel->place_count, kernel->place_capacity);
        kernel->places[kernel->place_count++] = (struct metric_place){.at = at, .counts = *counts};
        return;
    }
    op_profile_sum(&kernel->places[i].counts, counts);
}

static void add_places(struct launches *lines, struct launch_kernel *kernel, const struct ledger_sum *sum)
{
    const char *text = ledger_sum_places(sum);
    for (uint64_t i = 0; i < sum->profile_count; i++, text += strlen(text) + 1) {
        const struct op_profile *counts = &ledger_sum_profile(sum)[i];
        const struct code_place *place =
            is_used(counts) ? ledger_place_list_read(&lines->places, text) : NULL;
        if (place)
            add_place(kernel, place, counts);
    }
}

static bool is_longer(const struct launch_kernel *kernel, const struct ledger_sum *sum)
{
    const struct launch_one *longest = &kernel->longest;
    return !kernel->launches ||
           ledger_is_longer(
               (struct launch_span){&sum->longest, sum->is_timed ? &sum->longest_timing : NULL},
               (struct launch_span){&longest->numbers, longest->timed ? &longest->timing : NULL});
}

static void add_sum(struct launches *lines, const struct ledger_sum *sum)
{
    if (!sum->launches)
        return;
    struct launch_kernel *kernel = find_kernel(lines, ledger_sum_name(sum), sum->is_timed);
    if (is_longer(kernel, sum))
        take_longest(lines, kernel, sum);
    if (sum->failed && (!kernel->failed || sum->error < kernel->error))
        kernel->error = sum->error;
    lines->count += sum->launches;
    kernel->sums++;
    kernel->launches += sum->launches;
    kernel->failed += sum->failed;
    kernel->interrupted += sum->interrupted;
#define C(name) kernel->name += sum->name;
    LAUNCH_COUNTS(C)
#undef C
    if (sum->is_timed) {
        metrics_sum(&kernel->sum, &sum->timing);
        add_places(lines, kernel, sum);
    }
}

/* Processes of one run have fabrics of one description. */
static void add_links(struct launches *lines, const struct launch_process *process)
{
    size_t count = min_u64(process->link_count, LEDGER_LINKS);
    if (count > lines->link_count) {
        lines->links = mem_resize(lines->links, lines->link_count, count, sizeof *lines->links);
        lines->link_count = count;
    }
    for (size_t i = 0; i < count; i++) {
        struct link_sum *sum = &lines->links[i];
        const struct link_sum *more = &process->links[i];
        memcpy(sum->name, more->name, sizeof sum->name);
        sum->name[sizeof sum->name - 1] = 0;
        sum->bytes_per_s = more->bytes_per_s;
        for (int back = 0; back < 2; back++) {
            sum->messages[back] += more->messages[back];
            sum->bytes[back] += more->bytes[back];
            sum->busy_ps[back] += more->busy_ps[back];
        }
    }
}

static void add_process(struct launches *lines, const struct launch_process *process)
{
    add_links(lines, process);
    for (int i = 0; i < COPIED_KINDS; i++) {
        lines->copies[i].count += process->copies[i].count;
        lines->copies[i].bytes += process->copies[i].bytes;
        lines->copies[i].busy_ps += process->copies[i].busy_ps;
    }
    lines->busy_ns += process->busy_ns;
    lines->end_ps = max_u64(lines->end_ps, process->end_ps);
}

/* The process may have ended while it added a sum: then that one has no launch yet. */
bool launches_read_sums(const char *path, struct launches *lines, struct err *err)
{
    struct text content = {0};
    if (!file_read(path, LARGEST_FILE, &content, err)) {
        text_fini(&content);
        return false;
    }
    const struct launch_process *process = (const struct launch_process *)content.at;
    bool known = content.length > sizeof *process;
    if (known && process->layout && process->layout != LEDGER_LAYOUT) {
        text_fini(&content);
        return err_set(err, "%s: the program's Heddle libraries are of another build", path);
    }
    if (known)
        add_process(lines, process);
    uint64_t at = known ? process->bytes : content.length;
    while (at + sizeof(struct ledger_sum) <= content.length) {
        const struct ledger_sum *sum = (const struct ledger_sum *)(content.at + at);
        if (!sum->bytes || sum->bytes > content.length - at)
            break;
        add_sum(lines, sum);
        at += sum->bytes;
    }
    text_fini(&content);
    return true;
}

static int by_name(const void *left, const void *right)
{
    const struct launch_kernel *a = left, *b = right;
    int order = strcmp(a->longest.kernel, b->longest.kernel);
    return order ? order : (a->longest.timed > b->longest.timed) - (a->longest.timed < b->longest.timed);
}

static int by_code(const void *left, const void *right)
{
    const struct code_place *a = ((const struct metric_place *)left)->at,
                            *b = ((const struct metric_place *)right)->at;
    int order = strcmp(a->module, b->module);
    order = order ? order : strcmp(a->kernel, b->kernel);
    order = order ? order : place_compare_code(a, b);
    return order ? order : strcmp(a->instruction, b->instruction);
}

/* Files of processes are read in any order: what they have together is in one that does not depend on it. */
void launches_sort_sums(struct launches *lines)
{
    for (size_t i = 0; i < lines->kernel_count; i++) {
        struct launch_kernel *kernel = &lines->kernels[i];
        if (kernel->sums > 1 && kernel->place_count)
            qsort(kernel->places, kernel->place_count, sizeof *kernel->places, by_code);
    }
    if (lines->kernel_count)
        qsort(lines->kernels, lines->kernel_count, sizeof *lines->kernels, by_name);
}
