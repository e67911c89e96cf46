/* What the kernels' time went into: a line for each, a table, and the places where warps waited. 100 columns.
 */
#include "report/launches/launches.h"
#include "base/apart.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/demangle.h"
#include "driver/result.h"
#include "gpu/metrics.h"
#include "report/cell.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_SHOWN = 20, /* kernels; those that took the longest */
    NAME_WIDTH = 22, /* of the table's first column */
    LONGEST_NAME = 90,
};

/* All timed launches of one kernel, with its names. */
struct group {
    struct text name;          /* for people */
    struct text title, column; /* that tells it from the others: before its line, and in the table */
    const struct launch_kernel *of;
};

struct groups {
    struct group *at;
    size_t count, capacity;
};

/* ---- gathering ---- */

static uint64_t duration(const struct gpu_kernel_stats *stats)
{
    return stats->end_ps - stats->start_ps;
}

static void gather(struct groups *groups, const struct launch_kernel *kernel)
{
    mem_grow(groups->at, groups->count, groups->capacity);
    struct group *group = &groups->at[groups->count++];
    *group = (struct group){.of = kernel};
    demangle(kernel->longest.kernel, &group->name);
}

static int by_time(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    uint64_t x = duration(&a->of->sum), y = duration(&b->of->sum);
    return x != y ? (x < y) - (x > y) : strcmp(a->name.at, b->name.at);
}

static uint64_t waited(const struct op_profile *counts)
{
    uint64_t sum = 0;
    for (int i = 0; i < STALL_COUNT; i++)
        sum += i == STALL_selected ? 0 : counts->stalls[i];
    return sum;
}

static int by_wait(const void *left, const void *right)
{
    const struct metric_place *a = left, *b = right;
    uint64_t x = waited(&a->counts), y = waited(&b->counts);
    return x != y ? (x < y) - (x > y) : place_compare_code(a->at, b->at);
}

static void groups_fini(struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        text_fini(&groups->at[i].name);
        text_fini(&groups->at[i].title);
        text_fini(&groups->at[i].column);
    }
    mem_free(groups->at);
}

/* ---- numbers ---- */

static void add_whole(struct text *text, uint64_t number)
{
    char cell[CELL];
    text_add(text, "%s", cell_whole(cell, number));
}

static void add_time(struct text *text, uint64_t ps)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double time = (double)ps / 1e3;
    int unit = 0;
    for (; time >= 999.5 && unit < 3; unit++)
        time /= 1000;
    text_add(text, "%.3g %s", time, units[unit]);
}

static void add_scaled(struct text *text, uint64_t number)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    double count = (double)number;
    int unit = 0;
    for (; count >= 9999.5 && unit < 4; unit++)
        count /= 1000;
    text_add(text, unit ? "%.4g%s" : "%.0f%s", count, units[unit]);
}

/* ---- words ---- */

/* Breaks a line between words where it is too long; what follows is indented. */
static void add_wrapped(struct text *text, const char *line)
{
    enum { WIDTH = 100, INDENT = 4 };
    size_t room = WIDTH;
    while (strlen(line) > room) {
        size_t at = room;
        while (at && line[at] != ' ')
            at--;
        if (!at)
            break;
        text_add(text, "%.*s\n%*s", (int)at, line, INDENT, "");
        line += at + 1;
        room = WIDTH - INDENT;
    }
    text_add(text, "%s\n", line);
}

static void add_line(const struct group *group, const struct system *system, struct text *to)
{
    struct text line = {0}, *text = &line;
    text_add(text, "%s", group->title.at);
    if (group->of->launches > 1)
        text_add(text, ", %llu launches", (unsigned long long)group->of->launches);
    text_add(text, ": ");
    add_whole(text, group->of->sum.cycles);
    text_add(text, " cycles (");
    add_time(text, duration(&group->of->sum));
    text_add(text, ")%s", group->of->interrupted ? ", interrupted before its end" : "");
    if (group->of->failed && group->of->launches > 1)
        text_add(text, ", %llu of them", (unsigned long long)group->of->failed);
    if (group->of->failed)
        text_add(text, "%s failed (%s)", group->of->launches > 1 ? "" : ",",
                 result_text((int)group->of->error));
    text_add(text, ": ");
    launches_kernel_why(group->of, system, text);
    add_wrapped(to, line.at);
    text_fini(&line);
}

static double value(const struct metric_source *source, const char *name)
{
    return metric_value(source, metric_find(source, name));
}

/* A cell to the right of what is there. */
static void add_cell(struct text *row, int width, struct text *cell)
{
    text_add(row, " %*s", width, cell->at);
    cell->length = 0;
}

static void add_row(const struct group *group, const struct system *system, struct text *text)
{
    struct launch_facts facts;
    struct metric_source source = launches_kernel_source(group->of, system, &facts);
    struct text cell = {0};
    text_add(text, "%-*s", NAME_WIDTH, group->column.at);
    add_whole(&cell, group->of->launches);
    add_cell(text, 8, &cell);
    add_whole(&cell, group->of->sum.cycles);
    add_cell(text, 12, &cell);
    add_time(&cell, duration(&group->of->sum));
    add_cell(text, 8, &cell);
    add_scaled(&cell, group->of->sum.sm.instructions);
    add_cell(text, 8, &cell);
    text_add(text, " %5.2f %5.0f%% %5.0f%% %5.0f%%", value(&source, "sm__inst_executed.avg.per_cycle_active"),
             value(&source, "sm__warps_active.avg.pct_of_peak_sustained_active"),
             value(&source, "l1tex__t_sector_hit_rate.pct"), value(&source, "lts__t_sector_hit_rate.pct"));
    add_whole(&cell, (uint64_t)(value(&source, "dram__bytes.sum.per_second") / 1e9));
    add_cell(text, 9, &cell);
    text_add(text, "\n");
    text_fini(&cell);
}

static void add_bytes(struct text *text, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 999.5 && unit < 4; unit++)
        size /= 1000;
    text_add(text, "%.3g %s", size, units[unit]);
}

/* "copies: 2 to the device (8.39 MB, 154 us), 1 to the host (4.19 MB, 76.8 us)" */
static void add_copies(const struct launches *lines, struct text *to)
{
    static const char *const words[] = {
#define K(name, words) words,
        COPY_KINDS(K)
#undef K
    };
    struct text line = {0};
    for (int i = 0; i < COPIED_KINDS; i++) {
        const struct copy_sum *sum = &lines->copies[i];
        if (!sum->count)
            continue;
        text_add(&line, "%s", line.length ? ", " : "copies: ");
        add_whole(&line, sum->count);
        text_add(&line, " %s (", words[i]);
        add_bytes(&line, sum->bytes);
        text_add(&line, ", ");
        add_time(&line, sum->busy_ps);
        text_add(&line, ")");
    }
    if (line.length)
        add_wrapped(to, line.at);
    text_fini(&line);
}

/* "fabric: 33.5 MB; the busiest link is gpu0-switch, for 74.2 us" */
static void add_links(const struct launches *lines, struct text *to)
{
    uint64_t bytes = 0, busiest = 0, busy_ps = 0;
    for (size_t i = 0; i < lines->link_count; i++) {
        const struct link_sum *link = &lines->links[i];
        uint64_t busy = max_u64(link->busy_ps[0], link->busy_ps[1]);
        bytes += link->bytes[0] + link->bytes[1];
        busiest = busy > busy_ps ? i : busiest;
        busy_ps = max_u64(busy, busy_ps);
    }
    if (!bytes)
        return;
    struct text line = {0};
    text_add(&line, "fabric: ");
    add_bytes(&line, bytes);
    text_add(&line, " over all links; the busiest is %s, for ", lines->links[busiest].name);
    add_time(&line, busy_ps);
    add_wrapped(to, line.at);
    text_fini(&line);
}

/* "pages: 120 wanted, 118 received (483 kB), 96 dropped" */
static void add_pages(const struct launches *lines, const struct system *system, struct text *to)
{
    uint64_t wanted = 0, received = 0, bytes = 0, dropped = 0;
    struct text line = {0};
    if (!system_moves_pages(system))
        return;
    for (size_t i = 0; i < lines->kernel_count; i++) {
        const struct gpu_kernel_stats *sum = &lines->kernels[i].sum;
        wanted += sum->mem.pages_wanted;
        received += sum->mem.pages_received;
        bytes += sum->mem.page_bytes;
        dropped += sum->mem.pages_dropped;
    }
    text_add(&line, "pages: ");
    add_whole(&line, wanted);
    text_add(&line, " wanted by kernels, ");
    add_whole(&line, received);
    text_add(&line, " received (");
    add_bytes(&line, bytes);
    text_add(&line, "), ");
    add_whole(&line, dropped);
    text_add(&line, " dropped for others");
    add_wrapped(to, line.at);
    text_fini(&line);
}

/* "managed memory: 812 faults in 14 batches, 13.6 MB came to GPUs, 2 MB left them; 1 block had to" */
static void add_managed(const struct launches *lines, struct text *to)
{
    uint64_t faults = 0, batches = 0, in = 0, out = 0, evictions = 0;
    struct text line = {0};
    for (size_t i = 0; i < lines->kernel_count; i++) {
        const struct memsys_counters *sum = &lines->kernels[i].sum.mem;
        faults += sum->managed_faults;
        batches += sum->managed_batches;
        in += sum->managed_bytes_in;
        out += sum->managed_bytes_out;
        evictions += sum->managed_evictions;
    }
    if (!faults && !in && !out)
        return;
    text_add(&line, "managed memory: ");
    add_whole(&line, faults);
    text_add(&line, " fault%s of kernels in ", faults == 1 ? "" : "s");
    add_whole(&line, batches);
    text_add(&line, " batch%s, ", batches == 1 ? "" : "es");
    add_bytes(&line, in);
    text_add(&line, " came to GPUs, ");
    add_bytes(&line, out);
    text_add(&line, " left them");
    if (evictions) {
        text_add(&line, "; ");
        add_whole(&line, evictions);
        text_add(&line, " block%s had to, for room", evictions == 1 ? "" : "s");
    }
    add_wrapped(to, line.at);
    text_fini(&line);
}

/* "saxpy.cu:5 (ld.global.f32), PTX line 29"; where an unrolled loop has it several times, "... and 3 more" */
static void add_where(struct text *text, const struct metric_place *place)
{
    place_tell_short(place->at, text);
    if (place->at->file && place->at->ptx_line)
        text_add(text, ", PTX line %u", place->at->ptx_line);
    else if (place->at->file && place->at->code_at)
        text_add(text, ", byte 0x%x", place->at->code_at);
    if (place->copies)
        text_add(text, " and %u more", place->copies);
}

static void add_places(const struct group *group, uint64_t most, struct text *text)
{
    uint64_t all = 0;
    size_t count = group->of->place_count;
    struct metric_place *places = mem_alloc(count, sizeof *places);
    memcpy(places, group->of->places, count * sizeof *places);
    count = bottleneck_merge_places(places, count);
    qsort(places, count, sizeof *places, by_wait);
    for (int i = 0; i < STALL_COUNT; i++)
        all += i == STALL_selected ? 0 : group->of->sum.sm.stalls[i];
    text_add(text, "\n%s: where warps wait, of all their waiting, and for what\n", group->title.at);
    for (size_t i = 0; i < min_u64(most, count) && all; i++) {
        const struct metric_place *place = &places[i];
        uint64_t own = waited(&place->counts);
        enum stall stall = STALL_not_selected;
        for (int k = 0; k < STALL_COUNT; k++) {
            if (k != STALL_selected && place->counts.stalls[k] > place->counts.stalls[stall])
                stall = (enum stall)k;
        }
        if (!own)
            break;
        text_add(text, "  %5.1f%%  ", 100 * (double)own / (double)all);
        add_where(text, place);
        text_add(text, ": %s %.0f%%\n", stall_name(stall),
                 100 * (double)place->counts.stalls[stall] / (double)own);
    }
    mem_free(places);
}

/* Names that are the same get numbers. */
static void number_same(struct text *names, size_t count, size_t room)
{
    for (size_t i = count; i-- > 0;) {
        struct text number = {0}, numbered = {0};
        size_t same = 1;
        for (size_t k = 0; k < i; k++)
            same += !strcmp(names[k].at, names[i].at);
        text_add(&number, "#%zu", same);
        if (same > 1) {
            name_shorten(names[i].at, room - number.length, &numbered);
            text_add(&numbered, "%s", number.at);
            text_fini(&names[i]);
            names[i] = numbered;
        }
        text_fini(&number);
    }
}

/* Names for lines and for the table, where what failed is marked. */
static void name_kernels(struct group *groups, size_t count)
{
    static const char mark[] = " (failed)";
    const char **names = mem_alloc(count, sizeof *names);
    struct text *texts = mem_alloc(count, sizeof *texts);
    size_t width = NAME_WIDTH;
    for (size_t i = 0; i < count; i++) {
        names[i] = groups[i].of->longest.kernel;
        if (groups[i].of->failed)
            width = NAME_WIDTH - strlen(mark);
    }
    names_apart(names, count, LONGEST_NAME, texts);
    for (size_t i = 0; i < count; i++) {
        groups[i].title = texts[i];
        texts[i] = (struct text){0};
    }
    names_apart(names, count, width, texts);
    number_same(texts, count, width);
    for (size_t i = 0; i < count; i++) {
        groups[i].column = texts[i];
        text_add(&groups[i].column, "%s", groups[i].of->failed ? mark : "");
    }
    mem_free(names);
    mem_free(texts);
}

static void add_all(struct groups *groups, const struct launch_run *run, struct text *text)
{
    size_t count = groups->count, shown = min_u64(count, MOST_SHOWN);
    qsort(groups->at, count, sizeof *groups->at, by_time);
    name_kernels(groups->at, shown);
    for (size_t i = 0; i < shown; i++)
        add_line(&groups->at[i], run->system, text);
    text_add(text,
             "\nkernel                 launches       cycles     time mach.ins   IPC occup. L1 hit L2 hit "
             "DRAM GB/s\n");
    for (size_t i = 0; i < shown; i++)
        add_row(&groups->at[i], run->system, text);
    if (shown < count)
        text_add(text, "and %zu kernels more, which took less time (--stats FILE has them)\n", count - shown);
    for (size_t i = 0; i < shown && run->hot_places; i++) {
        if (groups->at[i].of->place_count)
            add_places(&groups->at[i], run->hot_places, text);
    }
}

void launches_explain(const struct launches *lines, const struct launch_run *run, struct text *text)
{
    struct groups groups = {0};
    uint64_t untimed = 0;
    for (size_t i = 0; i < lines->kernel_count; i++) {
        if (lines->kernels[i].longest.timed)
            gather(&groups, &lines->kernels[i]);
        else
            untimed += lines->kernels[i].launches;
    }
    if (groups.count)
        add_all(&groups, run, text);
    add_copies(lines, text);
    add_links(lines, text);
    if (run->timing) {
        add_pages(lines, run->system, text);
        add_managed(lines, text);
    }
    if (run->timing && run->program && lines->end_ps) {
        text_add(text, "simulated time until the last of these ended: ");
        add_time(text, lines->end_ps);
        text_add(text, "\n");
    }
    if (run->timing && untimed)
        text_add(text, "%llu launch%s ran without time: events and totals leave %s out\n",
                 (unsigned long long)untimed, untimed == 1 ? "" : "es", untimed == 1 ? "it" : "them");
    groups_fini(&groups);
}
