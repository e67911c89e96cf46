#include "system/copies.h"
#include "system/fabric.h"
#include "system/managed.h"
#include "system/over_ranks.h"
#include "system/pages.h"
#include "base/archive.h"
#include "base/mem.h"

_Static_assert(TASK_HOST_BYTES_MOST < HOST_WINDOW_MOST, "what may be copied fits a window");

/* ---- how long ---- */

struct course_plan {
    uint64_t latency_ps, bytes_per_s;
    uint64_t start_ps; /* before the first byte is read */
    bool is_paced;     /* what it goes over is faster */
};

/* Over the fabric, a line at a time. */
static struct course_plan plan_way(const struct local_machine *machine, uint32_t from, uint32_t to)
{
    const struct net_graph *graph = network_graph(machine->fabric);
    const struct net_routes *routes = network_routes(machine->fabric);
    uint32_t gpu = from < machine_homes(machine) ? from : to;
    uint32_t line_bytes = memsys_line_bytes(machine_home_mem(machine, gpu));
    return (struct course_plan){.latency_ps = net_way_latency(routes, graph, from, to),
                                .bytes_per_s = net_way_bandwidth(routes, graph, from, to, line_bytes)};
}

static const struct noc_spec *noc_of(const struct local_machine *machine, uint32_t device)
{
    return &system_of_device(machine->system, device)->noc;
}

/* The home whose engine does a copy: that which the bytes come from, or, of a fill, go to. */
static uint32_t engine_home(const struct task *task)
{
    return physical_home(physical_unpack(task->device_place));
}

static struct course_plan plan_to_peer(const struct local_machine *machine, const struct task *task)
{
    uint32_t from = engine_home(task), to = task->gpu;
    struct course_plan plan = plan_way(machine, from, to);
    plan.latency_ps += plan_way(machine, to, from).latency_ps; /* the word that all is there */
    plan.start_ps = noc_of(machine, from)->copy_start;
    return plan;
}

static struct course_plan plan_with_host(const struct local_machine *machine, uint32_t device, bool to_host)
{
    const struct noc_spec *noc = noc_of(machine, device);
    if (!hostmem_is_in_fabric(machine->host))
        return (struct course_plan){.latency_ps = noc->host_latency, .bytes_per_s = noc->host_bandwidth};
    uint32_t host = (uint32_t)net_find(network_graph(machine->fabric), FABRIC_HOST);
    return plan_way(machine, to_host ? device : host, to_host ? host : device);
}

/* By way of the host's memory: as fast as the slower of both links, and as the driver is. */
static struct course_plan plan_staged(const struct local_machine *machine, const struct task *task)
{
    uint32_t from = engine_home(task);
    const struct noc_spec *noc = noc_of(machine, from);
    struct course_plan out = plan_with_host(machine, from, true);
    struct course_plan in = plan_with_host(machine, task->gpu, false);
    uint64_t links = min_u64(out.bytes_per_s, in.bytes_per_s);
    return (struct course_plan){.latency_ps = out.latency_ps + in.latency_ps,
                                .bytes_per_s = min_u64(links, noc->staged_bandwidth),
                                .start_ps = noc->staged_start};
}

/* Each byte is read and written. A fill needs no engine: a kernel of the driver's does it. */
static struct course_plan plan_on_device(const struct local_machine *machine, const struct task *task)
{
    const struct system *gpu = system_of_device(machine->system, task->gpu);
    return (struct course_plan){.latency_ps = gpu->noc.host_latency,
                                .bytes_per_s = gpu->dram.bandwidth / 2,
                                .start_ps = task->is_fill ? 0 : gpu->noc.copy_start};
}

/* Both sides are the host's memory, as GPUs have none of their own. */
static bool is_in_host(const struct task *task)
{
    return engine_home(task) == HOME_HOST;
}

static const struct transfer_spec *transfers_of(const struct local_machine *machine, const struct task *task)
{
    return &system_of_device(machine->system, task->gpu)->copies;
}

static uint64_t task_bytes(const struct task *task)
{
    return task->width * task->height * task->depth;
}

static bool is_with_host(const struct task *task)
{
    return !task->is_fill && (task->direction == COPY_TO_DEVICE || task->direction == COPY_TO_HOST);
}

/* So many bytes up to the end of a page. Pages of one row lie as they do in the memory that it goes to. */
static uint64_t page_rest(const struct task *task, uint64_t page, uint64_t first)
{
    return task->height == 1 && task->depth == 1 ? page - (task->to.at + first) % page : page;
}

/* Between a program's memory and a GPU: what the driver and its engine need comes to the link's time. */
static struct course_plan plan_transfer(const struct local_machine *machine, const struct task *task)
{
    const struct transfer_spec *spec = transfers_of(machine, task);
    const struct transfer transfer = {.bytes = task_bytes(task),
                                      .to_host = task->direction == COPY_TO_HOST,
                                      .pageable = task->to.is_pageable || task->from.is_pageable};
    struct course_plan plan = plan_with_host(machine, task->gpu, transfer.to_host);
    if (task->is_plain)
        return plan;
    struct transfer_pace pace = transfer_pace(spec, &transfer, plan.bytes_per_s);
    plan.is_paced = pace.bytes_per_s < plan.bytes_per_s;
    plan.bytes_per_s = pace.bytes_per_s;
    bool is_first = !task->paged || task->paged <= page_rest(task, spec->page, 0);
    plan.start_ps = is_first ? pace.start_ps : spec->page_time;
    return plan;
}

static struct course_plan plan_in_host(const struct local_machine *machine, const struct task *task)
{
    struct course_plan plan =
        is_with_host(task) ? plan_transfer(machine, task) : plan_with_host(machine, task->gpu, false);
    plan.bytes_per_s = min_u64(plan.bytes_per_s, noc_of(machine, task->gpu)->staged_bandwidth);
    return plan;
}

static struct course_plan plan_of(const struct local_machine *machine, const struct task *task)
{
    if (is_in_host(task))
        return plan_in_host(machine, task);
    switch (task->direction) {
    case COPY_ON_DEVICE:
        return plan_on_device(machine, task);
    case COPY_PEER:
        return plan_to_peer(machine, task);
    case COPY_STAGED:
        return plan_staged(machine, task);
    default:
        return plan_transfer(machine, task);
    }
}

/* ---- parts: where it goes ---- */

/* What one home does of a copy, by its own engine and its own link. */
struct share {
    struct copy_part *parts;
    size_t count, capacity;
    uint64_t bytes;
};

/* A copy, as it is cut into parts. */
struct plan {
    const struct local_machine *machine;
    const struct task *task;
    uint64_t window;      /* the physical address of the host's side */
    struct share *shares; /* by home */
};

/* A side of a copy, as physical addresses. */
struct copy_place {
    uint64_t packed; /* of its first byte */
    uint64_t bytes;  /* from there on that lie side by side */
};

/* Beyond all memory of a GPU: there is nothing. A program may take away what it still copies. */
#define NOWHERE (UINT64_C(1) << 46)

static struct copy_place place_of(const struct local_machine *machine, uint64_t at)
{
    struct homes_piece piece = homes_find(&machine->memory, at);
    return piece.bytes
               ? (struct copy_place){piece.to.packed,
                                     min_u64(piece.bytes, machine_find_page(machine, piece.to.packed).bytes)}
               : (struct copy_place){physical_at(0, NOWHERE).packed, UINT64_MAX};
}

/* Where the bytes of a side are. */
static struct copy_place side_place(const struct plan *plan, const struct task_side *side, uint64_t offset)
{
    if (side->is_host)
        return (struct copy_place){plan->window + offset, UINT64_MAX};
    return place_of(plan->machine, side->at + offset);
}

/* The home that does a part. Of a unified GPU it is the member which has the bytes. */
static uint32_t part_home(const struct plan *plan, const struct copy_part *part)
{
    const struct task *task = plan->task;
    bool is_write = task->is_fill || task->direction == COPY_TO_DEVICE;
    uint32_t first = machine_first_home(plan->machine, task->gpu);
    if (plan->machine->members == 1)
        return task->direction == COPY_TO_DEVICE ? first : engine_home(task);
    uint32_t home = machine_find_page(plan->machine, is_write ? part->to : part->from).home;
    return home - first < plan->machine->members ? home : first;
}

/* Pages of a unified GPU's memory are rows that are far apart: one part. */
static bool is_next_row(const struct copy_part *part, const struct copy_part *row)
{
    return row->rows == 1 && row->bytes == part->bytes &&
           (part->rows == 1 || (row->to == part->to + part->rows * part->to_pitch &&
                                row->from == part->from + part->rows * part->from_pitch));
}

static void add_part(struct plan *plan, const struct copy_part *part)
{
    struct share *share = &plan->shares[part_home(plan, part)];
    struct copy_part *last = share->count ? &share->parts[share->count - 1] : NULL;
    share->bytes += part->bytes * part->rows;
    if (plan->machine->members > 1 && last && is_next_row(last, part)) {
        if (last->rows == 1) {
            last->to_pitch = part->to - last->to;
            last->from_pitch = part->from - last->from;
        }
        last->rows++;
        return;
    }
    mem_grow(share->parts, share->count, share->capacity);
    share->parts[share->count++] = *part;
}

/* Bytes of a row, which may be in several pieces of memory. */
static void add_row(struct plan *plan, uint64_t to, uint64_t from, uint64_t first, uint64_t end)
{
    const struct task *task = plan->task;
    for (uint64_t at = first, bytes; at < end; at += bytes) {
        struct copy_place here = side_place(plan, &task->to, to + at);
        struct copy_place there = here;
        if (!task->is_fill)
            there = side_place(plan, &task->from, from + at);
        bytes = min_u64(min_u64(here.bytes, there.bytes), end - at);
        add_part(plan,
                 &(struct copy_part){.to = here.packed, .from = there.packed, .bytes = bytes, .rows = 1});
    }
}

/* The bytes from the first to behind the last of a plane. */
static uint64_t plane_extent(const struct task *task, const struct task_side *side)
{
    return (task->height - 1) * side->pitch + task->width;
}

/* A plane of rows: one part, where it is in one piece of memory. */
static void add_plane(struct plan *plan, uint64_t z)
{
    const struct task *task = plan->task;
    const struct task_side *to = &task->to, *from = task->is_fill ? &task->to : &task->from;
    struct copy_place here = side_place(plan, to, z * to->slice);
    struct copy_place there = side_place(plan, from, z * from->slice);
    if (here.bytes >= plane_extent(task, to) && there.bytes >= plane_extent(task, from)) {
        struct copy_part plane = {.to = here.packed,
                                  .from = there.packed,
                                  .bytes = task->width,
                                  .rows = task->height,
                                  .to_pitch = to->pitch,
                                  .from_pitch = from->pitch};
        if (plane.to_pitch == task->width && plane.from_pitch == task->width) {
            plane.bytes *= plane.rows;
            plane.rows = 1;
        }
        add_part(plan, &plane);
        return;
    }
    for (uint64_t y = 0; y < task->height; y++)
        add_row(plan, z * to->slice + y * to->pitch, z * from->slice + y * from->pitch, 0, task->width);
}

/* ---- pages ---- */

static bool goes_by_pages(const struct local_machine *machine, const struct task *task)
{
    return is_with_host(task) && !task->is_plain && transfers_of(machine, task)->page;
}

/* The bytes of a copy, row by row, from the first to behind the last. */
static void add_bytes(struct plan *plan, uint64_t first, uint64_t end)
{
    const struct task *task = plan->task;
    const struct task_side *to = &task->to, *from = &task->from;
    for (uint64_t at = first, next; at < end; at = next) {
        uint64_t row = at / task->width, y = row % task->height, z = row / task->height;
        next = min_u64((row + 1) * task->width, end);
        add_row(plan, z * to->slice + y * to->pitch, z * from->slice + y * from->pitch,
                at - row * task->width, next - row * task->width);
    }
}

static void add_page(struct plan *plan, struct task *task)
{
    uint64_t first = task->paged, rest = page_rest(task, transfers_of(plan->machine, task)->page, first);
    task->paged = min_u64(first + rest, task_bytes(task));
    add_bytes(plan, first, task->paged);
}

/* ---- beginning ---- */

static bool is_copy(const struct task *task)
{
    return !task->launch && task->state == TASK_RUNNING;
}

static bool is_under_way(const struct task *task)
{
    return is_copy(task) && task->end_ps != TIME_NEVER;
}

/* Sets the window on the side that is the host's, to lie in lines as the other side does; its physical
 * address, or 0. */
static uint64_t open_window(struct local_machine *machine, const struct task *task)
{
    const struct task_side *host = task->to.is_host ? &task->to : &task->from;
    if (!host->is_host)
        return 0;
    return hostmem_window(machine->host, machine_first_home(machine, task->gpu), task->to.is_host,
                          (char *)(uintptr_t)host->at, task->device_place)
        .packed;
}

static struct dma *engine_of(const struct local_machine *machine, uint32_t home)
{
    return memsys_dma(machine_home_mem(machine, home));
}

static uint32_t channel_of(const struct task *task)
{
    switch (task->direction) {
    case COPY_TO_HOST:
    case COPY_STAGED:
        return DMA_TO_HOST;
    case COPY_ON_DEVICE:
        return DMA_ON_DEVICE;
    default:
        return DMA_TO_PEER + task->gpu;
    }
}

/* Tells a home's engine of its share of so many bytes. Gives when that is done if nothing else is there. */
static uint64_t begin_share(struct local_machine *machine, const struct task *task, uint32_t home,
                            const struct share *share, uint64_t of_bytes)
{
    struct course_plan plan = plan_of(machine, task);
    if (plan.is_paced) /* one CPU stages for all */
        plan.bytes_per_s =
            max_u64((uint64_t)((unsigned __int128)plan.bytes_per_s * share->bytes / of_bytes), 1);
    struct copy_order order = {.parts = share->parts,
                               .count = share->count,
                               .bytes_per_s = plan.bytes_per_s * (1 + task->is_fill),
                               .is_paced = plan.is_paced,
                               .away_ps = task->direction == COPY_PEER ? plan.latency_ps : 0,
                               .is_fill = task->is_fill,
                               .word = task->fill_word};
    uint64_t bytes = task->is_fill ? (share->bytes + 1) / 2 : share->bytes; /* that is only written */
    if (task->direction == COPY_TO_DEVICE) {
        hostmem_push(machine->host, home, &order, machine->now + plan.start_ps);
    } else {
        if (channel_of(task) == DMA_TO_HOST)
            hostmem_receive(machine->host, home);
        dma_begin(engine_of(machine, home), channel_of(task), &order, machine->now + plan.start_ps);
    }
    return machine->now + plan.start_ps + plan.latency_ps +
           (uint64_t)((unsigned __int128)bytes * PS_PER_SECOND / plan.bytes_per_s);
}

static void move_rows(const struct local_machine *machine, const struct task *task);

/* What others see of such a copy is all there from its beginning on; it takes as long as the host's link. */
static void begin_in_host(struct local_machine *machine, struct task *task)
{
    struct course_plan plan = plan_of(machine, task);
    if (hostmem_is_here(machine->host))
        move_rows(machine, task);
    task->end_ps = machine->now + plan.start_ps + plan.latency_ps +
                   (uint64_t)((unsigned __int128)task_bytes(task) * PS_PER_SECOND / plan.bytes_per_s);
}

/* All of a copy, or its next page. */
static void begin_bytes(struct local_machine *machine, struct task *task)
{
    uint32_t homes = machine_homes(machine);
    struct plan plan = {.machine = machine,
                        .task = task,
                        .window = open_window(machine, task),
                        .shares = mem_alloc(homes, sizeof *plan.shares)};
    if (goes_by_pages(machine, task))
        add_page(&plan, task);
    for (uint64_t z = 0; z < task->depth && !task->paged; z++)
        add_plane(&plan, z);
    uint64_t bytes = 0;
    for (uint32_t home = 0; home < homes; home++)
        bytes += plan.shares[home].bytes;
    task->end_ps = machine->now;
    for (uint32_t home = 0; home < homes; home++) {
        const struct share *share = &plan.shares[home];
        if (share->count)
            task->end_ps = max_u64(task->end_ps, begin_share(machine, task, home, share, bytes));
        mem_free(share->parts);
    }
    mem_free(plan.shares);
}

static void begin(struct local_machine *machine, struct task *task)
{
    machine_managed_turn(machine);
    task->paged = 0;
    if (task->is_prefetch)
        machine_managed_begin_prefetch(machine, task);
    else if (is_in_host(task))
        begin_in_host(machine, task);
    else
        begin_bytes(machine, task);
}

/* Whether both are done by one channel of one device's engines. Copies from the host have the host's. */
static bool share_channel(const struct local_machine *machine, const struct task *a, const struct task *b)
{
    if (a->is_prefetch || b->is_prefetch)
        return a->gpu == b->gpu && a->is_prefetch && b->is_prefetch;
    if (a->direction == COPY_TO_DEVICE || b->direction == COPY_TO_DEVICE)
        return a->direction == b->direction && a->gpu == b->gpu;
    return channel_of(a) == channel_of(b) &&
           engine_home(a) / machine->members == engine_home(b) / machine->members;
}

static bool is_free(const struct local_machine *machine, const struct task *task)
{
    for (const struct task *before = machine->waiting; before != task; before = before->next)
        if (is_copy(before) && share_channel(machine, before, task))
            return false;
    return true;
}

static uint64_t device_place(const struct local_machine *machine, const struct task *task)
{
    bool from_device = !task->is_fill && !task->from.is_host;
    return place_of(machine, from_device ? task->from.at : task->to.at).packed;
}

void copies_begin(struct local_machine *machine)
{
    for (struct task *task = machine->waiting; task; task = task->next) {
        if (!is_copy(task) || is_under_way(task))
            continue;
        task->device_place = task->is_prefetch ? 0 : device_place(machine, task);
        if (is_free(machine, task))
            begin(machine, task);
    }
}

static bool some_run(const struct local_machine *machine, uint64_t least_bytes)
{
    for (const struct task *task = machine->waiting; task; task = task->next)
        if (is_under_way(task) && task_bytes(task) >= least_bytes)
            return true;
    return false;
}

bool copies_run(const struct local_machine *machine)
{
    return some_run(machine, 0);
}

bool copies_are_long(const struct local_machine *machine)
{
    return some_run(machine, 4 << 20);
}

/* ---- ending ---- */

static bool is_share_there(const struct local_machine *machine, const struct task *task, uint32_t home)
{
    if (task->direction == COPY_TO_DEVICE)
        return hostmem_has_pushed(machine->host, home, machine->now);
    const struct dma *engine = engine_of(machine, home);
    if (!dma_is_done(engine, channel_of(task)))
        return false;
    bool is_received = hostmem_received(machine->host, home) == dma_pieces(engine, DMA_TO_HOST);
    switch (task->direction) {
    case COPY_TO_HOST:
        return is_received;
    case COPY_STAGED:
        return is_received && hostmem_has_passed(machine->host, home, machine->now);
    default:
        return true;
    }
}

/* Members of a unified GPU that have no share are done with their last one. */
static bool is_all_there(const struct local_machine *machine, const struct task *task)
{
    uint32_t first = machine_first_home(machine, task->gpu);
    if (is_in_host(task))
        return true;
    if (machine->members == 1)
        return is_share_there(machine, task, task->direction == COPY_TO_DEVICE ? first : engine_home(task));
    for (uint32_t home = first; home < first + machine->members; home++)
        if (!is_share_there(machine, task, home))
            return false;
    return true;
}

bool copies_take_end(struct local_machine *machine, struct task *task)
{
    if (task->is_prefetch) {
        if (!machine_managed_has_prefetched(machine, task))
            return false;
        task->end_ps = machine->now;
        task->state = TASK_DONE;
        machine_managed_settle(machine);
        return true;
    }
    if (!is_all_there(machine, task)) {
        task->end_ps = machine->now + COPY_LATE_PS;
        return false;
    }
    if (task->paged && task->paged < task_bytes(task)) {
        begin_bytes(machine, task);
        return false;
    }
    task->state = TASK_DONE;
    if (task->to.is_host)
        machine_managed_changed(machine, task);
    for (uint32_t i = 0; i < machine->gpu_count && !task->to.is_host; i++)
        gpu_forget_data(machine->gpus[i].gpu); /* L1s may have what it was before */
    return true;
}

/* ---- checkpoints ---- */

/* The host's side is where the program says. */
static char *row_at(const struct local_machine *machine, const struct task *task,
                    const struct task_side *side, uint64_t z, uint64_t y)
{
    uint64_t at = side->at + z * side->slice + y * side->pitch;
    return side->is_host ? (char *)(uintptr_t)at : homes_bytes(&machine->memory, at, task->width);
}

static void pass_rows(const struct task *task, struct archive *archive)
{
    char *row = archive->reading ? mem_alloc(task->width, 1) : NULL;
    for (uint64_t i = 0; i < task->depth * task->height && row && archive->good; i++)
        archive_sparse(archive, row, task->width);
    mem_free(row);
}

/* What the host's memory that a copy goes to holds. */
static void archive_rows(const struct local_machine *machine, const struct task *task,
                         struct archive *archive)
{
    archive_expect(archive, task_bytes(task));
    if (!machine_leads(machine)) { /* where the program's memory is not */
        pass_rows(task, archive);
        return;
    }
    for (uint64_t z = 0; z < task->depth; z++)
        for (uint64_t y = 0; y < task->height && archive->good; y++)
            archive_sparse(archive, row_at(machine, task, &task->to, z, y), task->width);
}

void copies_archive(struct local_machine *machine, struct task *task, struct archive *archive)
{
    if (task->is_prefetch)
        return;
    ARCHIVE_VALUE(archive, task->device_place);
    ARCHIVE_VALUE(archive, task->paged);
    archive_check(archive, task->paged <= task_bytes(task));
    archive_check(archive, engine_home(task) < machine_homes(machine) || is_in_host(task));
    if (task->to.is_host)
        archive_rows(machine, task, archive);
    if (archive->reading && archive->good)
        open_window(machine, task);
}

/* Where the bytes of a side are from there on, and how many lie side by side; NULL: nowhere. */
static char *piece_at(const struct local_machine *machine, const struct task_side *side, uint64_t at,
                      uint64_t *bytes)
{
    if (side->is_host)
        return (char *)(uintptr_t)at;
    uint64_t here = homes_find(&machine->memory, at).bytes;
    *bytes = here ? min_u64(*bytes, here) : *bytes;
    return here ? homes_bytes(&machine->memory, at, *bytes) : NULL;
}

static void fill_bytes(char *to, uint64_t at, uint64_t bytes, uint32_t word)
{
    for (uint64_t i = 0; i < bytes; i++)
        to[i] = (char)(word >> (at + i) % 4 * 8);
}

/* A row may be in several pieces of memory. */
static void move_row(const struct local_machine *machine, const struct task *task, uint64_t z, uint64_t y)
{
    uint64_t to_at = task->to.at + z * task->to.slice + y * task->to.pitch;
    uint64_t from_at = task->from.at + z * task->from.slice + y * task->from.pitch;
    for (uint64_t done = 0, bytes; done < task->width; done += bytes) {
        bytes = task->width - done;
        const char *from = task->is_fill ? NULL : piece_at(machine, &task->from, from_at + done, &bytes);
        char *to = piece_at(machine, &task->to, to_at + done, &bytes);
        if (to && task->is_fill)
            fill_bytes(to, to_at + done, bytes, task->fill_word);
        else if (to && from)
            memmove(to, from, bytes);
    }
}

static void move_rows(const struct local_machine *machine, const struct task *task)
{
    for (uint64_t z = 0; z < task->depth; z++)
        for (uint64_t y = 0; y < task->height; y++)
            move_row(machine, task, z, y);
}

void copies_archive_ended(const struct local_machine *machine, const struct task *task,
                          struct archive *archive)
{
    if (task->is_prefetch)
        return;
    if (task->to.is_host) {
        archive_rows(machine, task, archive);
        return;
    }
    if (archive->reading && machine_leads(machine))
        move_rows(machine, task);
}
