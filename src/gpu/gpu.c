/* One GPU: construction, start and end of kernels. */
#include "gpu/combine.h"
#include "gpu/dispatch.h"
#include "base/archive.h"
#include "exec/atomics.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORKSPACE = MEM_LINE_MOST
}; /* bytes that grid-wide barriers of cooperative launches use: a line, as they
      are not to share one with anything */

/* Where the workspaces are in the GPU's memory: beyond all that there is for programs. */
#define WORK_FROM     (UINT64_C(1) << 43)
#define CODE_DISTANCE (UINT64_C(1) << 24)

/* Where kernels see the workspaces, if nothing else is there: registers may hold their addresses when a
 * checkpoint is written, so they should be the same in each run. */
#define WORKSPACES_HINT UINT64_C(0x4e0000000000)

struct gpu {
    struct engine *engine;
    struct gpu_config config;
    struct dispatcher dispatcher;
    uint32_t members;
    struct memsys **mems; /* by member */
    struct sm **sms;
    uint32_t sm_count; /* of all members */
    struct sm_launch launches[SM_KERNELS];
    struct gpu_launch asked[SM_KERNELS];
    struct memsys_counters before[SM_KERNELS];
    struct cluster_links *cluster_links; /* by member; NULL: it has none */
    char *workspaces;                    /* of grid-wide barriers: for each slot */
    gpu_print_fn *print;                 /* who is told what kernels print; NULL: it goes to their files */
    void *print_user;
    uint64_t serial;
};

struct sm_links {
    struct link *orders, *reports;    /* to and from the dispatcher */
    struct link *siblings;            /* between those that share caches, or NULL */
    struct link *cluster, *multicast; /* between all, for clusters of blocks; or NULL */
};

/* Nobody uses these while no kernel has clusters; so they do not shorten windows then. */
struct cluster_links {
    struct link *messages, *multicast;
};

/* Through the dispatcher an SM can reach another in two latencies. So what takes as long from one to another
 * does not shorten windows (docs/engine.md). */
static uint64_t siblings_ps(const struct gpu *gpu)
{
    bool has_some = gpu->config.sm->fetch_group > 1 && gpu->config.gpu->sm_count > 1;
    return has_some ? 2 * gpu->dispatcher.latency_ps : 0;
}

static bool has_clusters(const struct gpu *gpu)
{
    return gpu->config.gpu->cluster_blocks > 1 && gpu->config.gpu->sm_count > 1;
}

static uint32_t sms_of_member(const struct gpu *gpu)
{
    return (uint32_t)gpu->config.gpu->sm_count;
}

static struct memsys_ranks ranks_of(const struct gpu *gpu, uint32_t member)
{
    return gpu->config.ranks ? gpu->config.ranks[member] : (struct memsys_ranks){0};
}

uint32_t gpu_sm_rank(const struct gpu *gpu, uint32_t sm)
{
    uint32_t sms = sms_of_member(gpu);
    struct memsys_ranks ranks = ranks_of(gpu, sm / sms);
    return memsys_rank_of(&ranks, ranks.sms, sm % sms, sms);
}

static bool add_sm(struct gpu *gpu, uint32_t i, const char *path, const struct sm_links *links,
                   struct err *err)
{
    const struct gpu_spec *spec = gpu->config.gpu;
    uint32_t member = i / sms_of_member(gpu), number = i % sms_of_member(gpu);
    struct memsys *mem = gpu->mems[member];
    struct text name = {0};
    text_add(&name, "%s.sm[%u]", path, number);
    struct sm_config config = {.spec = gpu->config.sm,
                               .tlb = gpu->config.tlb,
                               .clock_hz = spec->clock,
                               .subcores = (uint32_t)spec->subcores_per_sm,
                               .warps_per_subcore = (uint32_t)(spec->warps_per_sm / spec->subcores_per_sm),
                               .blocks = (uint32_t)spec->blocks_per_sm,
                               .launches = gpu->launches,
                               .space = gpu->config.space,
                               .home = gpu->config.number + member,
                               .first_sm = member * sms_of_member(gpu),
                               .is_member = gpu->members > 1,
                               .mem = mem,
                               .probe = gpu->config.probe ? gpu->config.probe : &probe_of_nobody,
                               .sms_per_tpc = (uint32_t)gpu->config.dispatch->sms_per_tpc,
                               .has_clusters = has_clusters(gpu),
                               .launch_ps = gpu->dispatcher.device_launch_ps,
                               .siblings_ps = siblings_ps(gpu)};
    engine_rank(gpu->engine, gpu_sm_rank(gpu, i));
    struct island *island = engine_island(gpu->engine, name.at);
    config.is_elsewhere = !island_is_here(island);
    island_own(gpu->engine, island);
    struct sm *sm = gpu->sms[i] = sm_new(&config, number);
    island_own(gpu->engine, NULL);
    struct component *component = sm_component(sm, gpu->engine, island, name.at);
    text_fini(&name);
    return memsys_attach(mem, number, component_port(component, 0), component_port(component, 1), err) &&
           memsys_attach_translations(mem, component_port(component, 4), err) &&
           link_plug_one_way(links->orders, component_port(component, 2), PORT_RECEIVES, err) &&
           link_plug_one_way(links->reports, component_port(component, 3), PORT_SENDS, err) &&
           (!links->siblings || link_plug(links->siblings, component_port(component, 5), err)) &&
           (!links->cluster || link_plug(links->cluster, component_port(component, 6), err)) &&
           (!links->multicast || link_plug(links->multicast, component_port(component, 7), err));
}

static struct link *add_link(struct gpu *gpu, const char *path, const char *what,
                             const struct link_spec *spec)
{
    struct text name = {0};
    text_add(&name, "%s.%s", path, what);
    struct link *link = engine_link(gpu->engine, name.at, spec);
    text_fini(&name);
    return link;
}

static void add_member_path(const struct gpu *gpu, const char *path, uint32_t member, struct text *text)
{
    text_add(text, "%s", path);
    if (gpu->members > 1)
        text_add(text, ".member[%u]", member);
}

static bool add_memory(struct gpu *gpu, uint32_t member, const char *path, struct err *err)
{
    uint32_t sms = sms_of_member(gpu);
    uint8_t *gpc_of = mem_alloc(sms, 1);
    struct memsys_config mem = {.home = gpu->config.number + member,
                                .host = gpu->config.host,
                                .has_peers = gpu->config.has_peers,
                                .host_node = gpu->config.host_node,
                                .l2 = gpu->config.l2,
                                .l3 = gpu->config.l3,
                                .dram = gpu->config.dram,
                                .noc = gpu->config.noc,
                                .tlb = gpu->config.tlb,
                                .paging = gpu->config.paging,
                                .sm_clock = gpu->config.gpu->clock,
                                .clients = sms,
                                .clients_of_sms = sms,
                                .gpcs = dispatch_gpcs(gpu->config.dispatch, sms, gpc_of),
                                .gpc_of = gpc_of,
                                .ranks = ranks_of(gpu, member),
                                .probe = gpu->config.probe,
                                .atomic = atomic_perform,
                                .atomic_wide = atomic_perform_wide};
    gpu->mems[member] = memsys_new(gpu->engine, path, &mem, err);
    mem_free(gpc_of);
    return gpu->mems[member];
}

static bool add_dispatcher(struct gpu *gpu, const char *path, struct link *orders, struct link *reports,
                           struct err *err)
{
    struct dispatcher *d = &gpu->dispatcher;
    struct text name = {0};
    text_add(&name, "%s.dispatcher", path);
    engine_rank(gpu->engine, ranks_of(gpu, 0).first);
    d->component = engine_component(gpu->engine, engine_island(gpu->engine, name.at), name.at,
                                    &dispatcher_ops, d, 8, "orders,reports");
    text_fini(&name);
    d->orders = component_port(d->component, 0);
    d->reports = component_port(d->component, 1);
    return link_plug_one_way(orders, d->orders, PORT_SENDS, err) &&
           link_plug_one_way(reports, d->reports, PORT_RECEIVES, err);
}

static void add_cluster_links(struct gpu *gpu, uint32_t member, const char *path, struct sm_links *links)
{
    const struct sm_spec *sm = gpu->config.sm;
    const double hz = (double)gpu->config.gpu->clock;
    struct link_spec spec = {.latency_ps = clock_time(&gpu->dispatcher.clock, sm->cluster_cycles),
                             .bytes_per_s = (uint64_t)(sm->cluster_bytes_per_cycle * hz)};
    links->cluster = add_link(gpu, path, "cluster", &spec);
    spec.bytes_per_s = (uint64_t)(sm->multicast_bytes_per_cycle * hz);
    spec.limits = LINK_IN;
    links->multicast = add_link(gpu, path, "multicast", &spec);
    gpu->cluster_links[member] = (struct cluster_links){links->cluster, links->multicast};
}

/* Before kernels run: whether some of them has clusters. */
static void rest_cluster_links(struct gpu *gpu)
{
    bool is_used = false;
    for (uint32_t i = 0; i < SM_KERNELS; i++)
        is_used |= gpu->launches[i].launch && launch_has_clusters(gpu->launches[i].launch);
    for (uint32_t i = 0; i < gpu->members && has_clusters(gpu); i++) {
        link_rest(gpu->cluster_links[i].messages, !is_used);
        link_rest(gpu->cluster_links[i].multicast, !is_used);
    }
}

static bool add_member_sms(struct gpu *gpu, uint32_t member, const char *path, struct sm_links links,
                           struct err *err)
{
    bool good = true;
    if (siblings_ps(gpu))
        links.siblings = add_link(gpu, path, "siblings", &(struct link_spec){.latency_ps = siblings_ps(gpu)});
    if (has_clusters(gpu))
        add_cluster_links(gpu, member, path, &links);
    for (uint32_t i = 0; i < sms_of_member(gpu) && good; i++)
        good = add_sm(gpu, member * sms_of_member(gpu) + i, path, &links, err);
    return good && memsys_ready(gpu->mems[member], err);
}

static bool build(struct gpu *gpu, const char *path, struct err *err)
{
    struct text *paths = mem_alloc(gpu->members, sizeof *paths);
    bool good = true;
    dispatcher_init(&gpu->dispatcher, gpu->config.dispatch, gpu->config.gpu, gpu->members);
    gpu->dispatcher.begun = gpu->launches;
    for (uint32_t i = 0; i < gpu->members && good; i++) {
        add_member_path(gpu, path, i, &paths[i]);
        good = add_memory(gpu, i, paths[i].at, err);
    }
    struct link_spec wires = {.latency_ps = gpu->dispatcher.latency_ps};
    struct sm_links links = {.orders = add_link(gpu, path, "orders", &wires),
                             .reports = add_link(gpu, path, "reports", &wires)};
    good = good && add_dispatcher(gpu, path, links.orders, links.reports, err);
    for (uint32_t i = 0; i < gpu->members && good; i++)
        good = add_member_sms(gpu, i, paths[i].at, links, err);
    for (uint32_t i = 0; i < gpu->members; i++)
        text_fini(&paths[i]);
    mem_free(paths);
    return good;
}

/* One figure of a GPU cannot be more than another. */
struct bound {
    const char *less, *more;
    uint64_t least, most;
};

static bool check_bounds(const struct gpu_spec *gpu, struct err *err)
{
#define BOUND(a, b)                                                                                          \
    {                                                                                                        \
        "gpu." #a, "gpu." #b, gpu->a, gpu->b                                                                 \
    }
    const struct bound bounds[] = {
        BOUND(shared_per_block, shared_per_sm), BOUND(shared_per_block_optin, shared_per_sm),
        BOUND(registers_per_block, registers_per_sm), BOUND(register_unit, registers_per_sm)};
#undef BOUND
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        if (bounds[i].least > bounds[i].most)
            return err_set(err, "%s (%llu) cannot be more than %s (%llu)", bounds[i].less,
                           (unsigned long long)bounds[i].least, bounds[i].more,
                           (unsigned long long)bounds[i].most);
    }
    return gpu->threads_per_block <= gpu->warps_per_sm * gpu->warp_lanes ||
           err_set(err, "gpu.threads_per_block (%llu) cannot be more than %llu warps (gpu.warps_per_sm) hold",
                   (unsigned long long)gpu->threads_per_block, (unsigned long long)gpu->warps_per_sm);
}

static bool check_pages(const struct gpu_config *config, struct err *err)
{
    const struct {
        const char *name;
        uint64_t bytes;
    } pages[] = {{"gpu.page", config->gpu->page},
                 {"tlb.page", config->tlb->page},
                 {"tlb.l2_page", config->tlb->l2_page}};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (pages[i].bytes & (pages[i].bytes - 1))
            return err_set(err, "%s: a page is a power of two, and %llu bytes are not", pages[i].name,
                           (unsigned long long)pages[i].bytes);
    if (config->tlb->l2_page < config->tlb->page)
        return err_set(err, "tlb.page (%llu) cannot be more than tlb.l2_page (%llu)",
                       (unsigned long long)config->tlb->page, (unsigned long long)config->tlb->l2_page);
    return config->gpu->page <= config->gpu->memory ||
           err_set(err, "gpu.page (%llu) cannot be more than gpu.memory (%llu)",
                   (unsigned long long)config->gpu->page, (unsigned long long)config->gpu->memory);
}

/* L1 holds shared memory, too; or it lies apart, and there is nothing to cut. */
static bool check_l1(const struct gpu_config *config, struct err *err)
{
    const struct sm_spec *sm = config->sm;
    if (sm->l1_line & (sm->l1_line - 1) || sm->l1_line > config->l2->line)
        return err_set(err, "sm.l1_line: expected 64 or 128 bytes, and no more than l2.line (%llu)",
                       (unsigned long long)config->l2->line);
    if (sm->l1_fill_sectors == 3 || sm->l1_fill_sectors * MEM_SECTOR > sm->l1_line)
        return err_set(err, "sm.l1_fill_sectors: expected 1, 2 or 4, and no more than a line of L1");
    const struct gpu_spec *gpu = config->gpu;
    unsigned long long l1 = config->sm->l1, shared = gpu->shared_per_sm;
    if (!config->sm->l1_apart)
        return l1 >= shared ||
               err_set(err,
                       "sm.l1 (%llu bytes) holds gpu.shared_per_sm (%llu), too, and cannot be less "
                       "without sm.l1_apart",
                       l1, shared);
    const char *text = gpu->shared_carveouts;
    for (char *end; *text; text = end) {
        unsigned long long kib = strtoull(text, &end, 10);
        if (end != text && kib << 10 != shared)
            return err_set(err,
                           "gpu.shared_carveouts cannot have %llu KiB with sm.l1_apart: shared memory is "
                           "always gpu.shared_per_sm (%llu bytes)",
                           kib, shared);
        if (end == text)
            break;
    }
    return true;
}

bool gpu_check(const struct gpu_config *config, struct err *err)
{
    const struct gpu_spec *gpu = config->gpu;
    if (gpu->warp_lanes != 32 && gpu->warp_lanes != 64)
        return err_set(err, "gpu.warp_lanes is 32 or 64, not %llu", (unsigned long long)gpu->warp_lanes);
    struct memsys_config mem = {.l2 = config->l2, .l3 = config->l3, .dram = config->dram, .noc = config->noc};
    if (gpu->warps_per_sm % gpu->subcores_per_sm)
        return err_set(err, "gpu.warps_per_sm (%llu) must be a multiple of gpu.subcores_per_sm (%llu)",
                       (unsigned long long)gpu->warps_per_sm, (unsigned long long)gpu->subcores_per_sm);
    if (gpu->subcores_per_sm > SM_SUBCORES || gpu->warps_per_sm / gpu->subcores_per_sm > SUBCORE_WARPS)
        return err_set(err, "timing knows up to %d sub-cores of an SM, with up to %d warps each", SM_SUBCORES,
                       SUBCORE_WARPS);
    uint64_t end_ps = config->dispatch->end_cycles * (PS_PER_SECOND / gpu->clock);
    if (config->noc->host_latency > end_ps)
        return err_set(err, "noc.host_latency cannot be longer than dispatch.end_cycles");
    return dispatch_check(config->dispatch, err) && check_bounds(gpu, err) && check_pages(config, err) &&
           check_l1(config, err) && memsys_check(&mem, err);
}

static char *workspace_of(const struct gpu *gpu, uint32_t slot)
{
    return gpu->workspaces + (size_t)slot * WORKSPACE;
}

struct gpu *gpu_new(struct engine *engine, const char *path, const struct gpu_config *config, struct err *err)
{
    if (!gpu_check(config, err))
        return NULL;
    struct gpu *gpu = mem_alloc(1, sizeof *gpu);
    gpu->engine = engine;
    gpu->config = *config;
    gpu->members = config->members ? config->members : 1;
    gpu->mems = mem_alloc(gpu->members, sizeof(struct memsys *));
    gpu->sm_count = gpu->members * sms_of_member(gpu);
    gpu->sms = mem_alloc(gpu->sm_count, sizeof *gpu->sms);
    gpu->cluster_links = mem_alloc(gpu->members, sizeof *gpu->cluster_links);
    gpu->workspaces = mem_map(WORKSPACES_HINT, SM_KERNELS * WORKSPACE);
    if (build(gpu, path, err)) {
        for (uint32_t i = 0; i < gpu->members; i++)
            gpu_set_memory(gpu, i, NULL, 0);
        rest_cluster_links(gpu);
        return gpu;
    }
    gpu_free(gpu);
    return NULL;
}

void gpu_free(struct gpu *gpu)
{
    if (!gpu)
        return;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        if (gpu->sms[i])
            sm_free(gpu->sms[i]);
    for (uint32_t i = 0; i < gpu->members; i++)
        memsys_free(gpu->mems[i]);
    dispatcher_fini(&gpu->dispatcher);
    mem_free(gpu->mems);
    mem_free(gpu->cluster_links);
    mem_free(gpu->sms);
    mem_unmap(gpu->workspaces, SM_KERNELS * WORKSPACE);
    mem_free(gpu);
}

/* Memory */

void gpu_set_memory(struct gpu *gpu, uint32_t member, const struct home_range *ranges, uint32_t count)
{
    struct home_range *all = mem_alloc(count + 1, sizeof *all);
    if (count)
        memcpy(all, ranges, count * sizeof *all);
    if (!member)
        all[count++] = (struct home_range){WORK_FROM, SM_KERNELS * WORKSPACE, gpu->workspaces, 0, 0};
    memsys_set_ranges(gpu->mems[member], all, count);
    mem_free(all);
    for (uint32_t i = 0; i < sms_of_member(gpu); i++)
        sm_forget_places(gpu->sms[member * sms_of_member(gpu) + i]);
}

struct memsys *gpu_mem(const struct gpu *gpu, uint32_t member)
{
    return gpu->mems[member];
}

/* Those of a unified GPU are its first member's. */
struct space_block gpu_workspaces(const struct gpu *gpu)
{
    return (struct space_block){.at = (uintptr_t)gpu->workspaces,
                                .bytes = SM_KERNELS * WORKSPACE,
                                .to = physical_at(gpu->config.number, WORK_FROM)};
}

void gpu_drop_memory(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->members; i++)
        memsys_sync(gpu->mems[i], 0, UINT64_MAX, true);
}

/* What members keep of each other's and of other GPUs' memory may be old. */
static void forget_peers(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->members; i++)
        memsys_forget_peers(gpu->mems[i]);
}

void gpu_forget_data(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sm_forget_data(gpu->sms[i], engine_time(gpu->engine));
    forget_peers(gpu);
}

bool gpu_attach_fabric(struct gpu *gpu, struct network *fabric, struct err *err)
{
    for (uint32_t i = 0; i < gpu->members; i++)
        if (!memsys_attach_fabric(gpu->mems[i], fabric, err))
            return false;
    return true;
}

/* Kernels */

/* Shared memory of an SM, as the driver sets it: room for the blocks that fit, and, up to a limit, for as
 * many again (four times as many of those that use none), as measured (docs/model.md). */
static uint32_t carveout(const struct gpu *gpu, const struct gpu_launch *asked, uint64_t threads)
{
    const struct gpu_spec *spec = gpu->config.gpu;
    uint64_t used = asked->launch->kernel->dynamic_shared_at + asked->launch->shared_bytes;
    uint64_t block =
        (used + spec->shared_reserved + spec->shared_unit - 1) / spec->shared_unit * spec->shared_unit;
    if (asked->shared_carveout_bytes)
        return (uint32_t)gpu_spec_carveout(spec, max_u64(asked->shared_carveout_bytes, block));
    if (!used) {
        uint64_t fit = spec->warps_per_sm / ((threads + spec->warp_lanes - 1) / spec->warp_lanes);
        return (uint32_t)gpu_spec_carveout(spec, block * min_u64(4 * fit, spec->blocks_per_sm));
    }
    uint64_t need = block * asked->blocks_per_sm;
    uint64_t wish = block * min_u64(2 * asked->blocks_per_sm, spec->blocks_per_sm);
    if (threads < spec->threads_per_block)
        need = max_u64(need, min_u64(wish, spec->shared_ahead));
    return (uint32_t)gpu_spec_carveout(spec, need);
}

/* Over all members. */
static void count_memory(const struct gpu *gpu, struct memsys_counters *sum)
{
    *sum = (struct memsys_counters){0};
    for (uint32_t i = 0; i < gpu->members; i++) {
        struct memsys_counters one;
        uint64_t *to = (uint64_t *)sum;
        const uint64_t *from = (const uint64_t *)&one;
        memsys_count(gpu->mems[i], &one);
        for (size_t k = 0; k < sizeof *sum / sizeof *to; k++)
            to[k] += from[k];
    }
}

/* Small launches take turns on SMs. Where most launches are left out, each would find caches without its
 * code. */
static void share_code(struct gpu *gpu)
{
    const uint64_t *before = NULL; /* what was shared last: SMs of a large grid fetch the same */
    size_t before_count = 0;
    for (uint32_t from = 0; from < gpu->sm_count; from++) {
        size_t count;
        const uint64_t *lines = sm_new_code(gpu->sms[from], &count);
        bool is_same = count == before_count && count && !memcmp(lines, before, count * sizeof *lines);
        if (!count || is_same)
            continue;
        for (uint32_t to = 0; to < gpu->sm_count; to++)
            if (to != from)
                sm_add_code(gpu->sms[to], lines, count);
        before = lines;
        before_count = count;
    }
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sm_clear_new_code(gpu->sms[i]);
}

/* Of an SM that a block takes. */
static uint32_t share_of(const struct gpu_launch *asked)
{
    uint64_t most = max_u64(asked->blocks_per_sm, 1);
    if (launch_has_clusters(asked->launch))
        most = min_u64(most, CLUSTER_BLOCKS_PER_SM);
    return SHARES / (uint32_t)most;
}

uint32_t gpu_begin(struct gpu *gpu, const struct gpu_launch *asked, uint64_t time)
{
    struct dispatcher *d = &gpu->dispatcher;
    const struct launch *launch = asked->launch;
    uint32_t slot = 0;
    while (slot < SM_KERNELS && d->kernels[slot].used)
        slot++;
    if (slot == SM_KERNELS)
        return slot;
    gpu->asked[slot] = *asked;
    forget_peers(gpu);
    char *workspace = launch->cooperative ? workspace_of(gpu, slot) : NULL;
    if (workspace) {
        memsys_sync(gpu->mems[0], WORK_FROM + (uint64_t)slot * WORKSPACE, WORKSPACE, true);
        memset(workspace, 0, WORKSPACE);
        image_add(launch->image, (struct range){(uintptr_t)workspace, WORKSPACE,
                                                "the workspace of grid-wide barriers", false});
    }
    if (asked->cold_caches) {
        for (uint32_t i = 0; i < gpu->members; i++)
            memsys_flush(gpu->mems[i], true);
        for (uint32_t i = 0; i < gpu->sm_count; i++)
            sm_forget(gpu->sms[i], engine_time(gpu->engine));
    }
    if (asked->share_code)
        share_code(gpu);
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    uint32_t lanes = launch->kernel->isa->lanes;
    gpu->launches[slot] = (struct sm_launch){.launch = launch,
                                             .serial = ++gpu->serial,
                                             .workspace = (uintptr_t)workspace,
                                             .code_at = launch->kernel->number * CODE_DISTANCE,
                                             .shared_bytes = carveout(gpu, asked, threads),
                                             .profile = asked->profile};
    bool limited = asked->sm_count && asked->sm_count <= gpu->sm_count &&
                   asked->first_sm <= gpu->sm_count - asked->sm_count;
    d->kernels[slot] =
        (struct dispatch_kernel){.used = true,
                                 .blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
                                 .cluster = launch_cluster_size(launch),
                                 .share = share_of(asked),
                                 .warps = (threads + lanes - 1) / lanes,
                                 .first_sm = limited ? asked->first_sm : 0,
                                 .sm_count = limited ? asked->sm_count : gpu->sm_count,
                                 .order = ++d->launches,
                                 .start_ps = time,
                                 .end_ps = TIME_NEVER};
    d->kernels[slot].serial = gpu->serial;
    struct dispatch_message message = {gpu->serial, slot};
    uint64_t released = dispatch_depend(d, slot, asked);
    gpu->launches[slot].depends = d->kernels[slot].after || d->kernels[slot].after_ps;
    if (released != TIME_NEVER)
        engine_post(gpu->engine, d->component, max_u64(released, time), DISPATCH_RELEASE, &message,
                    sizeof message);
    dispatch_place(d, slot, launch);
    rest_cluster_links(gpu);
    count_memory(gpu, &gpu->before[slot]);
    engine_post(gpu->engine, d->component, time + clock_time(&d->clock, d->spec->launch_cycles),
                DISPATCH_LAUNCH, &message, sizeof message);
    return slot;
}

static void add_counters(struct sm_counters *sum, const struct sm_counters *part)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)part;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

static void add_profile(struct gpu_kernel_stats *stats, const struct sm_kernel *kernel, uint32_t count)
{
    if (!kernel->profile)
        return;
    if (!stats->profile) {
        stats->profile = mem_alloc(count, sizeof *stats->profile);
        stats->profile_count = count;
    }
    for (uint32_t i = 0; i < count; i++) {
        op_profile_sum(&stats->profile[i], &kernel->profile[i]);
        stats->profile[i].stalls[STALL_selected] = stats->profile[i].issued;
    }
}

static void memsys_since(struct memsys_counters *now, const struct memsys_counters *before)
{
    uint64_t *to = (uint64_t *)now;
    const uint64_t *from = (const uint64_t *)before;
    for (size_t i = 0; i < sizeof *now / sizeof *to; i++)
        to[i] -= from[i];
}

void gpu_where(const struct gpu *gpu, uint32_t slot, struct text *text)
{
    struct text where = {0};
    uint32_t sm = 0;
    while (sm < gpu->sm_count && !sm_where(gpu->sms[sm], slot, &where))
        sm++;
    bool some = combine_text(engine_ranks(gpu->engine), sm < gpu->sm_count ? sm : UINT32_MAX, &where);
    text_add(text, "%s", some ? where.at : "no block is on an SM");
    text_fini(&where);
}

void gpu_look(struct gpu *gpu, uint32_t slot, struct launch_result *result, struct gpu_kernel_stats *stats)
{
    const struct gpu_spec *spec = gpu->config.gpu;
    const struct dispatch_kernel *kernel = &gpu->dispatcher.kernels[slot];
    const struct isa_code *code = gpu->launches[slot].launch->kernel->code;
    uint64_t end = kernel->end_ps == TIME_NEVER ? engine_time(gpu->engine) : kernel->end_ps;
    *result = (struct launch_result){0};
    *stats = (struct gpu_kernel_stats){.start_ps = kernel->start_ps,
                                       .end_ps = end,
                                       .clock_hz = spec->clock,
                                       .sm_count = gpu->sm_count,
                                       .warps_per_sm = (uint32_t)spec->warps_per_sm,
                                       .warp_lanes = (uint32_t)spec->warp_lanes,
                                       .schedulers_per_sm = (uint32_t)spec->subcores_per_sm,
                                       .idlest_sm_cycles = UINT64_MAX};
    uint32_t fault_sm = 0;
    stats->cycles = clock_cycle(&gpu->dispatcher.clock, end - kernel->start_ps);
    memcpy(stats->marks, kernel->marks, sizeof stats->marks);
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        struct sm_kernel *part = sm_kernel(gpu->sms[i], slot);
        if (!part->team)
            continue;
        sm_count_kernel(gpu->sms[i], slot);
        const struct launch_result *counts = &part->team->worker->result;
#define C(name) result->name += counts->name;
        LAUNCH_COUNTS(C)
#undef C
        add_counters(&stats->sm, &part->counters);
        add_profile(stats, part, code->count);
        stats->sms_used++;
        stats->busiest_sm_cycles = max_u64(stats->busiest_sm_cycles, part->counters.cycles_active);
        stats->idlest_sm_cycles = min_u64(stats->idlest_sm_cycles, part->counters.cycles_active);
        stats->busiest_sm_instructions = max_u64(stats->busiest_sm_instructions, part->counters.instructions);
        if (part->team->fault.kind && !result->fault.kind) {
            result->fault = part->team->fault;
            fault_sm = i;
        }
    }
    count_memory(gpu, &stats->mem);
    memsys_since(&stats->mem, &gpu->before[slot]);
    combine_counts(engine_ranks(gpu->engine), result, stats, fault_sm);
    if (!stats->sms_used) /* it was stopped before its first block began */
        stats->idlest_sm_cycles = 0;
}

void gpu_look_at_activity(struct gpu *gpu, struct gpu_activity *activity)
{
    *activity = (struct gpu_activity){0};
    for (uint32_t slot = 0; slot < SM_KERNELS; slot++) {
        for (uint32_t i = 0; gpu->dispatcher.kernels[slot].used && i < gpu->sm_count; i++) {
            struct sm_kernel *part = sm_kernel(gpu->sms[i], slot);
            if (!part->team)
                continue;
            sm_count_kernel(gpu->sms[i], slot);
            add_counters(&activity->sm, &part->counters);
            activity->blocks += part->blocks_now;
            activity->warps += part->warps_now;
        }
    }
    count_memory(gpu, &activity->mem);
}

struct printing {
    const struct gpu *gpu;
    const struct launch *launch;
};

static void print_piece(void *user, const char *text, size_t bytes)
{
    const struct printing *printing = user;
    if (printing->gpu->print)
        printing->gpu->print(printing->gpu->print_user, printing->launch, text, bytes);
    else if (printing->launch->print)
        fwrite(text, 1, bytes, printing->launch->print);
}

/* What kernels printed, in the order of time, then of SMs. */
static void print_all(struct gpu *gpu, uint32_t slot)
{
    struct text pieces = {0};
    size_t *at = mem_alloc(gpu->sm_count, sizeof *at);
    for (;;) {
        struct sm_kernel *best = NULL;
        uint32_t sm = 0;
        for (uint32_t i = 0; i < gpu->sm_count; i++) {
            struct sm_kernel *kernel = sm_kernel(gpu->sms[i], slot);
            if (at[i] < kernel->printed_count &&
                (!best || kernel->printed[at[i]].cycle < best->printed[at[sm]].cycle)) {
                best = kernel;
                sm = i;
            }
        }
        if (!best)
            break;
        size_t from = at[sm] ? best->printed[at[sm] - 1].end : 0, to = best->printed[at[sm]].end;
        combine_add_piece(
            &pieces,
            &(struct print_piece){.cycle = best->printed[at[sm]].cycle, .bytes = to - from, .sm = sm},
            best->text.at + from);
        at[sm]++;
    }
    combine_prints(engine_ranks(gpu->engine), &pieces, print_piece,
                   &(struct printing){gpu, gpu->launches[slot].launch});
    text_fini(&pieces);
    mem_free(at);
}

static void free_slot(struct gpu *gpu, uint32_t slot)
{
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sm_end_kernel(gpu->sms[i], slot);
    if (gpu->launches[slot].workspace)
        image_remove(gpu->launches[slot].launch->image, gpu->launches[slot].workspace);
    gpu->launches[slot].workspace = 0;
    gpu->launches[slot].launch = NULL;
    gpu->dispatcher.kernels[slot].used = false;
    dispatch_forget(&gpu->dispatcher, slot);
}

enum gpu_ended gpu_take_ended(struct gpu *gpu, uint64_t now, uint32_t *slot, struct launch_result *result,
                              struct gpu_kernel_stats *stats)
{
    struct dispatcher *d = &gpu->dispatcher;
    for (uint32_t i = 0; i < SM_KERNELS; i++) {
        struct dispatch_kernel *kernel = &d->kernels[i];
        if (!kernel->used || kernel->end_ps > now)
            continue;
        *slot = i;
        gpu_look(gpu, i, result, stats);
        print_all(gpu, i);
        bool failed = kernel->failed;
        free_slot(gpu, i);
        return failed ? GPU_FAILED : GPU_ENDED;
    }
    return GPU_NONE;
}

uint64_t gpu_next_end(const struct gpu *gpu)
{
    uint64_t next = TIME_NEVER;
    for (uint32_t i = 0; i < SM_KERNELS; i++)
        if (gpu->dispatcher.kernels[i].used)
            next = min_u64(next, gpu->dispatcher.kernels[i].end_ps);
    return next;
}

void gpu_abandon(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sm_stop(gpu->sms[i]);
    for (uint32_t i = 0; i < SM_KERNELS; i++)
        if (gpu->dispatcher.kernels[i].used) {
            print_all(gpu, i);
            free_slot(gpu, i);
        }
}

void gpu_progress(const struct gpu *gpu, struct gpu_progress *progress)
{
    *progress = (struct gpu_progress){.since_ps = TIME_NEVER};
    for (uint32_t i = 0; i < SM_KERNELS; i++) {
        const struct dispatch_kernel *kernel = &gpu->dispatcher.kernels[i];
        if (!kernel->used)
            continue;
        progress->blocks += kernel->blocks;
        progress->blocks_done += kernel->ended;
        progress->since_ps = min_u64(progress->since_ps, kernel->start_ps);
        for (uint32_t s = 0; s < gpu->sm_count; s++)
            progress->instructions += sm_kernel(gpu->sms[s], i)->counters.instructions;
    }
}

/* ---- for people ---- */

bool gpu_look_at_sm(const struct gpu *gpu, uint32_t number, struct sm_view *view)
{
    if (number >= gpu->sm_count)
        return false;
    sm_look(gpu->sms[number], view);
    return true;
}

bool gpu_look_at_kernel(const struct gpu *gpu, uint32_t slot, struct gpu_kernel_view *view)
{
    const struct dispatch_kernel *kernel = &gpu->dispatcher.kernels[slot];
    if (!kernel->used)
        return false;
    *view = (struct gpu_kernel_view){.blocks = kernel->blocks,
                                     .begun = kernel->next,
                                     .ended = kernel->ended,
                                     .start_ps = kernel->start_ps,
                                     .has_started = kernel->started};
    for (uint32_t s = 0; s < gpu->sm_count; s++)
        view->instructions += sm_kernel(gpu->sms[s], slot)->counters.instructions;
    return true;
}

struct sm *gpu_sm_of(const struct gpu *gpu, const struct component *component)
{
    if (component_type(component) != &sm_ops)
        return NULL;
    for (uint32_t s = 0; s < gpu->sm_count; s++)
        if (component_spec(component) == gpu->sms[s])
            return gpu->sms[s];
    return NULL;
}

void gpu_unlock(struct gpu *gpu, uint64_t time)
{
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sm_post_unlock(gpu->sms[i], gpu->engine, time);
}

/* ---- checkpoints ---- */

static void archive_slot(struct gpu *gpu, uint32_t slot, const struct launch *launch, struct archive *archive)
{
    struct sm_launch begun = gpu->launches[slot];
    struct gpu_launch asked = gpu->asked[slot];
    if (!archive_number(archive, launch != NULL, 1) || !archive_check(archive, launch))
        return;
    begun.launch = asked.launch = NULL;
    ARCHIVE_VALUE(archive, begun);
    ARCHIVE_VALUE(archive, asked);
    struct memsys_counters before = gpu->before[slot];
    if (!archive->reading)
        ranks_add(engine_ranks(gpu->engine), (uint64_t *)&before, sizeof before / sizeof(uint64_t));
    ARCHIVE_VALUE(archive, before);
    if (archive->reading)
        gpu->before[slot] = ranks_number(engine_ranks(gpu->engine)) ? (struct memsys_counters){0} : before;
    begun.launch = asked.launch = launch;
    char *workspace = launch->cooperative ? workspace_of(gpu, slot) : NULL;
    archive_require(archive, begun.workspace == (uintptr_t)workspace,
                    "the workspace of grid-wide barriers is at another address than in this run");
    if (archive->reading && archive->good && workspace)
        image_add(launch->image,
                  (struct range){begun.workspace, WORKSPACE, "the workspace of grid-wide barriers", false});
    if (archive->reading && !archive->good)
        begun.workspace = 0;
    gpu->launches[slot] = begun;
    gpu->asked[slot] = asked;
    rest_cluster_links(gpu);
    gpu->dispatcher.kernels[slot].used = true; /* where the dispatcher is, it is read as a whole later */
    if (archive->reading)
        dispatch_place(&gpu->dispatcher, slot, launch);
}

void gpu_archive(struct gpu *gpu, const struct launch *const launches[SM_KERNELS], struct archive *archive)
{
    archive_expect(archive, sizeof gpu->launches);
    ARCHIVE_VALUE(archive, gpu->serial);
    for (uint32_t i = 0; i < SM_KERNELS && archive->good; i++)
        archive_slot(gpu, i, launches[i], archive);
    archive_sparse(archive, gpu->workspaces, SM_KERNELS * WORKSPACE);
}

void gpu_on_print(struct gpu *gpu, gpu_print_fn *print, void *user)
{
    gpu->print = print;
    gpu->print_user = user;
}

/* ---- over ranks ---- */

/* How kernels stand, as the dispatcher knows it. */
void gpu_archive_shared(struct gpu *gpu, struct archive *archive)
{
    for (uint32_t i = 0; i < SM_KERNELS; i++)
        if (gpu->dispatcher.kernels[i].used)
            ARCHIVE_VALUE(archive, gpu->dispatcher.kernels[i]);
}

uint32_t gpu_leading_rank(const struct gpu *gpu)
{
    return component_rank(gpu->dispatcher.component);
}
