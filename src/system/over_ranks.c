#include "system/over_ranks.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "mem/iommu.h"
#include "ranks/ranks.h"
#include "system/copies.h"
#include "system/fabric.h"
#include "system/loads.h"
#include "system/managed_apart.h"
#include "system/spread.h"
#include "system/traffic.h"

#include <stdio.h>
#include <string.h>

bool machine_is_spread(const struct local_machine *machine)
{
    return ranks_count(machine->options.ranks) > 1;
}

bool machine_leads(const struct local_machine *machine)
{
    return !ranks_number(machine->options.ranks);
}

bool machine_plan(struct local_machine *machine, struct err *err)
{
    const struct net_graph *graph = machine->fabric ? network_graph(machine->fabric) : NULL;
    const struct machine_options *options = &machine->options;
    uint32_t count = ranks_count(options->ranks);
    struct loads load;
    spread_fini(&machine->spread);
    if (!machine_is_spread(machine))
        return true;
    if (options->placed_by &&
        !spread_loads_read(&load, options->placed_by, options->placement, machine->system, graph, err))
        return false;
    uint32_t *hosts = mem_alloc(count, sizeof *hosts);
    for (uint32_t i = 0; i < count; i++)
        hosts[i] = ranks_first_of_host(options->ranks, i);
    bool good = spread_make(&machine->spread, machine->system, graph, hosts, count,
                            options->placed_by ? &load : NULL, err);
    mem_free(hosts);
    if (options->placed_by)
        spread_loads_fini(&load);
    return good;
}

/* ---- load ---- */

void machine_keep_load(struct local_machine *machine)
{
    struct spent *spent = &machine->spent;
    uint32_t count = engine_island_count(machine->engine);
    if (!machine->options.measures)
        return;
    if (!spent->ns)
        spent->ns = mem_alloc(spent->count = count, sizeof *spent->ns);
    for (uint32_t i = 0; i < count; i++)
        spent->ns[i] += engine_island_ns(machine->engine, i);
}

static bool write_file(const char *path, const struct text *file, struct err *err)
{
    struct file_writer writer;
    if (!file_open(&writer, path, err))
        return false;
    fwrite(file->at, 1, file->length, writer.stream);
    return file_close(&writer, err);
}

bool machine_gather_load(struct local_machine *machine, const char *path, struct err *err)
{
    struct spent *spent = &machine->spent;
    struct text file = {0};
    machine_keep_load(machine);
    uint32_t links = machine->fabric ? network_graph(machine->fabric)->link_count : 0;
    struct net_traffic *traffic = links ? traffic_now(machine) : NULL;
    ranks_add(machine->options.ranks, spent->ns, spent->count);
    spread_loads_begin_file(&file);
    for (uint32_t i = 0; i < spent->count; i++)
        spread_loads_add_island(&file, engine_island_name(machine->engine, i), spent->ns[i]);
    for (uint32_t i = 0; i < links; i++)
        spread_loads_add_link(&file, network_graph(machine->fabric)->links[i].name,
                              traffic[2 * i].bytes + traffic[2 * i + 1].bytes);
    bool good = !machine_leads(machine) || write_file(path, &file, err);
    mem_free(traffic);
    text_fini(&file);
    return good;
}

/* ---- after a run ---- */

static void archive_component(struct archive *archive, const struct component *component, size_t bytes)
{
    archive_bytes(archive, component_state(component), bytes);
}

/* What the rank `of` knows best: it writes that, and the others read it. */
static void archive_known(struct local_machine *machine, uint32_t of, struct archive *archive)
{
    bool copies = copies_run(machine);
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        if (gpu_leading_rank(machine->gpus[i].gpu) == of)
            gpu_archive_shared(machine->gpus[i].gpu, archive);
    for (uint32_t home = 0; home < machine_homes(machine) && copies; home++) {
        struct component *engine = dma_component(memsys_dma(machine_home_mem(machine, home)));
        if (component_rank(engine) == of)
            archive_component(archive, engine, component_state_bytes(engine));
    }
    struct component *host = hostmem_component(machine->host);
    if (copies && component_rank(host) == of)
        archive_component(archive, host, component_state_bytes(host));
    if (hostmem_iommu(machine->host) && component_rank(host) == of)
        iommu_archive(hostmem_iommu(machine->host), archive);
}

static void write_known(struct local_machine *machine, struct archive *archive)
{
    struct archive known = archive_writer();
    archive_known(machine, ranks_number(machine->options.ranks), &known);
    archive_text(archive, &known.text);
    text_fini(&known.text);
}

/* Of this rank itself there is nothing to learn. */
static void read_known(struct local_machine *machine, uint32_t of, struct archive *archive)
{
    struct text text = {0};
    archive_text(archive, &text);
    struct archive known = archive_reader(text.at, text.length);
    if (of != ranks_number(machine->options.ranks))
        archive_known(machine, of, &known);
    text_fini(&text);
}

/* Each rank adds what came to its own islands. */
static void write_pushes(const struct local_machine *machine, struct archive *archive)
{
    for (uint32_t home = 0; home < machine_homes(machine); home++) {
        struct memsys_pushes here = memsys_pushes_here(machine_home_mem(machine, home));
        ARCHIVE_VALUE(archive, here);
    }
}

static void read_pushes(const struct local_machine *machine, struct archive *archive,
                        struct memsys_pushes *sums)
{
    for (uint32_t home = 0; home < machine_homes(machine); home++) {
        struct memsys_pushes one;
        ARCHIVE_VALUE(archive, one);
        sums[home].lines += one.lines;
        sums[home].until = max_u64(sums[home].until, one.until);
    }
}

void machine_share(struct local_machine *machine)
{
    struct ranks *ranks = machine->options.ranks;
    uint32_t count = ranks_count(ranks);
    struct archive mine = archive_writer();
    struct err unused; /* the next run fails where a rank was lost */
    if (!machine_is_spread(machine))
        return;
    struct text *all = mem_alloc(count, sizeof *all);
    struct memsys_pushes *sums = mem_alloc(machine_homes(machine), sizeof *sums);
    write_known(machine, &mine);
    if (copies_run(machine))
        write_pushes(machine, &mine);
    bool good = ranks_share(ranks, &mine.text, all, &unused);
    for (uint32_t i = 0; i < count && good; i++) {
        struct archive from = archive_reader(all[i].at, all[i].length);
        read_known(machine, i, &from);
        if (copies_run(machine))
            read_pushes(machine, &from, sums);
    }
    for (uint32_t home = 0; home < machine_homes(machine) && good; home++)
        memsys_know_pushes(machine_home_mem(machine, home), &sums[home]);
    for (uint32_t i = 0; i < count; i++)
        text_fini(&all[i]);
    mem_free(all);
    mem_free(sums);
    text_fini(&mine.text);
    machine_apart_fetch(machine);
}

/* ---- heaps of kernels ---- */

/* What is shared of a part. */
typedef void archive_part_fn(struct heap *heap, uint32_t part, struct archive *archive);

/* The parts of a heap that are of one rank. */
static void archive_parts(const struct gpu_slot *gpu, uint32_t rank, archive_part_fn *call,
                          struct archive *archive)
{
    for (uint32_t i = 0; i < heap_parts(gpu->heap) && archive->good; i++)
        if (gpu_sm_rank(gpu->gpu, i) == rank)
            call(gpu->heap, i, archive);
}

static void archive_all_parts(struct local_machine *machine, uint32_t rank, struct archive *archive)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        if (machine->gpus[i].heap)
            archive_parts(&machine->gpus[i], rank, heap_archive_part, archive);
}

void machine_settle_heap(struct local_machine *machine, struct gpu_slot *gpu)
{
    struct ranks *ranks = machine->options.ranks;
    uint32_t count = ranks_count(ranks), self = ranks_number(ranks);
    struct archive mine = archive_writer();
    struct err unused; /* the next run fails where a rank was lost */
    if (machine_is_spread(machine)) {
        struct text *all = mem_alloc(count, sizeof *all);
        archive_parts(gpu, self, heap_archive_given, &mine);
        bool good = ranks_share(ranks, &mine.text, all, &unused);
        for (uint32_t i = 0; i < count; i++) {
            struct archive from = archive_reader(all[i].at, all[i].length);
            if (good && i != self)
                archive_parts(gpu, i, heap_archive_given, &from);
            text_fini(&all[i]);
        }
        mem_free(all);
    }
    heap_settle(gpu->heap); /* of a part that is elsewhere, nothing was taken here */
    text_fini(&mine.text);
}

void machine_lead_heaps(struct local_machine *machine)
{
    struct ranks *ranks = machine->options.ranks;
    struct archive mine = archive_writer();
    struct err unused;
    if (!machine_is_spread(machine) || machine->leads_heaps)
        return;
    machine->leads_heaps = true;
    struct text *all = mem_alloc(ranks_count(ranks), sizeof *all);
    archive_all_parts(machine, ranks_number(ranks), &mine);
    bool good = ranks_gather(ranks, &mine.text, all, false, &unused);
    for (uint32_t i = 0; i < ranks_count(ranks); i++) {
        struct archive from = archive_reader(all[i].at, all[i].length);
        if (good && i && machine_leads(machine))
            archive_all_parts(machine, i, &from);
        text_fini(&all[i]);
    }
    mem_free(all);
    text_fini(&mine.text);
}

void machine_spread_heaps(struct local_machine *machine)
{
    struct ranks *ranks = machine->options.ranks;
    struct archive known = archive_writer();
    struct err unused;
    if (!machine->leads_heaps)
        return;
    machine->leads_heaps = false;
    for (uint32_t i = 0; i < ranks_count(ranks) && machine_leads(machine); i++)
        archive_all_parts(machine, i, &known);
    bool good = ranks_broadcast(ranks, 0, &known.text, &unused);
    struct archive from = archive_reader(known.text.at, known.text.length);
    for (uint32_t i = 0; i < ranks_count(ranks) && good && !machine_leads(machine); i++)
        archive_all_parts(machine, i, &from);
    text_fini(&known.text);
}

/* ---- pages that move ---- */

static uint32_t source_rank(const struct local_machine *machine, uint32_t holder, uint64_t line)
{
    return holder == PAGE_HOST ? component_rank(hostmem_component(machine->host))
                               : memsys_held_rank(machine_home_mem(machine, holder), line);
}

void machine_move_lines(struct local_machine *machine, struct page *page, uint32_t holder,
                        machine_read_line_fn *read, machine_write_line_fn *write, void *user)
{
    struct ranks *ranks = machine->options.ranks;
    uint32_t count = ranks_count(ranks), self = ranks_number(ranks);
    struct memsys *home = machine_home_mem(machine, directory_home(page->at));
    uint32_t line_bytes = memsys_line_bytes(home);
    uint64_t end = page->at + page_bytes(page);
    unsigned char bytes[MEM_LINE_MOST];
    struct text mine = {0}, *all = mem_alloc(count, sizeof *all);
    struct err unused; /* the next run fails where a rank was lost */
    for (uint64_t line = page->at; line < end; line += line_bytes)
        if (source_rank(machine, holder, line) == self) {
            read(user, holder, line, bytes);
            text_add_bytes(&mine, (const char *)bytes, line_bytes);
        }
    bool good = count == 1 || ranks_share(ranks, &mine, all, &unused);
    if (count == 1)
        text_add_bytes(&all[0], mine.at ? mine.at : "", mine.length);
    size_t *at = mem_alloc(count, sizeof *at);
    for (uint64_t line = page->at; line < end && good; line += line_bytes) {
        uint32_t from = source_rank(machine, holder, line);
        if (memsys_line_rank(home, physical_offset(physical_unpack(line))) == self) {
            memcpy(bytes, all[from].at + at[from], line_bytes);
            write(user, line, bytes);
        }
        at[from] += line_bytes;
    }
    for (uint32_t i = 0; i < count; i++)
        text_fini(&all[i]);
    mem_free(at);
    mem_free(all);
    text_fini(&mine);
}

/* ---- whose bytes ---- */

struct pieces {
    const struct local_machine *machine;
    machine_piece_fn *call;
    void *user;
};

/* Memory of several homes is in pages, which are far apart in each. */
static void add_home(void *user, struct physical_address from, uint64_t bytes)
{
    const struct pieces *pieces = user;
    enum { PAGE = 4096 };
    if (physical_home(from) >= machine_homes(pieces->machine))
        return;
    const struct memsys *mem = machine_home_mem(pieces->machine, physical_home(from));
    for (uint64_t at = physical_offset(from), end = at + bytes, next; at < end; at = next) {
        char *host = (char *)(uintptr_t)memsys_host(mem, at);
        const char *last = memsys_host(mem, end - 1);
        bool is_whole = host && last == host + (end - 1 - at);
        next = is_whole ? end : min_u64((at / PAGE + 1) * PAGE, end);
        if (host)
            pieces->call(pieces->user, &(struct machine_piece){mem, at, next - at, host});
    }
}

void machine_each_piece(struct machine *base, uint64_t at, uint64_t bytes, machine_piece_fn *call, void *user)
{
    struct pieces pieces = {machine_local(base), call, user};
    homes_each_home(&pieces.machine->memory, at, bytes, add_home, &pieces);
}
