/* Builds a GPU's memory from the specs. */
#include "base/mem.h"
#include "mem/memsys_parts.h"
#include "mem/peer_cache.h"
#include "paging/policy.h"

static const struct dram_model *const dram_models[] = {&dram_banks, &dram_simple, &dram_fixed};

static uint64_t cycles_ps(uint64_t clock, double cycles)
{
    return (uint64_t)(cycles * 1e12 / (double)clock + 0.5);
}

static bool has_l3(const struct memsys_config *config)
{
    return config->l3 && config->l3->bytes;
}

/* Of a slice's part of the L3. */
static uint64_t l3_sets(const struct memsys_config *config)
{
    return config->l3->bytes / config->l2->slices / config->l2->line / config->l3->ways;
}

bool memsys_check(const struct memsys_config *config, struct err *err)
{
    const struct l2_spec *l2 = config->l2;
    const struct dram_spec *dram = config->dram;
    if (l2->slices % l2->partitions || l2->slices / l2->partitions < l2->islands)
        return err_set(err,
                       "l2.slices: %llu L2 slices cannot be spread over %llu partitions and %llu islands",
                       (unsigned long long)l2->slices, (unsigned long long)l2->partitions,
                       (unsigned long long)l2->islands);
    if (l2->slices / l2->islands + l2->partitions > SLICES_HERE_MOST)
        return err_set(err, "l2.islands: at most %d L2 slices on an island", SLICES_HERE_MOST);
    uint64_t lines = l2->bytes / l2->slices / l2->line;
    if (lines < l2->ways || lines > 1 << 20)
        return err_set(err, "l2.bytes: a slice of %llu lines: expected %llu (a set) to %d",
                       (unsigned long long)lines, (unsigned long long)l2->ways, 1 << 20);
    if (l2->line & (l2->line - 1))
        return err_set(err, "l2.line: expected 64 or 128 bytes");
    if (l2->fill_sectors * MEM_SECTOR > l2->line)
        return err_set(err, "l2.fill_sectors: %llu sectors of %d bytes are more than a line of %llu bytes",
                       (unsigned long long)l2->fill_sectors, MEM_SECTOR, (unsigned long long)l2->line);
    if (l2->fill_sectors == 3)
        return err_set(err, "l2.fill_sectors: expected 1, 2 or 4");
    if (has_l3(config) && (!l3_sets(config) || l3_sets(config) > 1 << 20))
        return err_set(err, "l3.bytes: a slice's part has %llu sets of lines: expected 1 to %d",
                       (unsigned long long)l3_sets(config), 1 << 20);
    for (const char *side = config->noc->gpc_partitions; *side; side++)
        if (*side < '0' || *side > '1')
            return err_set(err, "noc.gpc_partitions: a GPC's partition is 0 or 1, not '%.1s'", side);
    if (dram->channels_per_slice & (dram->channels_per_slice - 1))
        return err_set(err, "dram.channels_per_slice: expected a power of two");
    if (dram->writes_high > dram->writes || dram->writes_low >= dram->writes_high)
        return err_set(err, "dram.writes: writes_low < writes_high <= writes must hold");
    return true;
}

/* Of GPUs' own memory. */
static bool moves_own(const struct memsys_config *config)
{
    return config->has_peers && config->paging && config->paging->policy != PAGE_POLICY_NONE;
}

static bool moves_pages(const struct memsys_config *config)
{
    return moves_own(config) || (config->paging && config->paging->managed);
}

/* Lines of peers come as fast as from all slices together. */
static void keep_peers(struct memsys *mem, const struct l2_spec *l2)
{
    if (!mem->gateway || !l2->peers)
        return;
    mem->keeps_peers = true;
    gateway_keep_in(mem->gateway, peer_cache_new(&(struct peer_cache_spec){
                                      .bytes = l2->peers,
                                      .ways = (uint32_t)l2->ways,
                                      .line_bytes = (uint32_t)l2->line,
                                      .clients = mem->shape.clients,
                                      .hit_ps = mem->shape.hit_ps,
                                      .sector_fs = mem->shape.sector_ps * 1000 / mem->shape.map.slices}));
}

static void find_shape(struct memsys_shape *shape, const struct memsys_config *config)
{
    const struct l2_spec *l2 = config->l2;
    *shape = (struct memsys_shape){
        .home = config->home,
        .probe = config->probe ? config->probe : &probe_of_nobody,
        .map = map_make((uint32_t)l2->slices, (uint32_t)l2->partitions),
        .sides = (uint32_t)l2->partitions,
        .per_side = (uint32_t)(l2->slices / l2->partitions),
        .clients =
            config->clients + config->has_peers + 1 + moves_pages(config), /* the DMA engine, the pager */
        .clients_of_sms = config->clients_of_sms,
        .gateway = config->has_peers ? config->clients : NO_CLIENT,
        .pager = moves_pages(config) ? config->clients + config->has_peers + 1 : NO_CLIENT,
        .moves_own = moves_own(config),
        .copies = l2->copies && l2->partitions > 1,
        .hit_ps = cycles_ps(l2->clock, (double)l2->hit_cycles),
        .line_shift = (uint32_t)__builtin_ctzll(l2->line),
        .fill_sectors = (uint32_t)l2->fill_sectors,
        .request_ps = cycles_ps(l2->clock, l2->request_cycles),
        .sector_ps = cycles_ps(l2->clock, MEM_SECTOR / l2->bytes_per_cycle),
        .sector_write_ps = cycles_ps(l2->clock, MEM_SECTOR / l2->write_bytes_per_cycle),
        .sector_partial_ps = cycles_ps(l2->clock, l2->partial_write_cycles),
        .atomic_ps = cycles_ps(l2->clock, (double)l2->atomic_cycles),
        .atomic_sector_ps = cycles_ps(l2->clock, l2->atomic_sector_cycles),
        .atomic_lane_ps = cycles_ps(l2->clock, l2->atomic_lane_cycles),
        .atomic_same_ps = cycles_ps(l2->clock, l2->atomic_same_cycles),
        .atomic_float_ps = cycles_ps(l2->clock, l2->atomic_float_cycles),
        .cross_ps = cycles_ps(l2->clock, (double)l2->cross_cycles),
        .cross_byte_fs = cycles_ps(l2->clock, 1000 / l2->cross_bytes_per_cycle),
        .atomic = config->atomic,
        .atomic_wide = config->atomic_wide,
        .dram = dram_models[config->dram->model],
        .times = dram_times_of(&dram_timings[config->dram->timing]),
        .channels_per_slice = (uint32_t)config->dram->channels_per_slice,
    };
}

/* ---- where clients are ---- */

uint32_t memsys_side(const struct memsys_shape *shape, uint32_t client)
{
    return shape->side_of[client];
}

/* The two SMs of a TPC are in one GPC, and a GPC is on one side. Where nothing is said of them, TPCs are on
 * the sides in turn. */
static void find_gpcs(struct memsys_shape *shape, const struct memsys_config *config)
{
    const struct noc_spec *noc = config->noc;
    size_t sides = strlen(noc->gpc_partitions);
    shape->gpc_of = mem_alloc(shape->clients, 1);
    shape->side_of = mem_alloc(shape->clients, 1);
    for (uint32_t client = 0; client < shape->clients; client++) {
        bool in_one = client < shape->clients_of_sms && config->gpcs && config->gpc_of[client] < config->gpcs;
        uint32_t gpc = in_one ? config->gpc_of[client] : NO_GPC;
        uint32_t side = gpc < sides ? (uint32_t)(noc->gpc_partitions[gpc] - '0') : client / 2;
        shape->gpc_of[client] = (uint8_t)gpc;
        shape->side_of[client] = (uint8_t)(side % shape->sides);
    }
    shape->overhead_bytes = (uint32_t)noc->overhead_bytes;
    if (!config->gpcs || !(noc->gpc_bytes_per_cycle > 0))
        return;
    uint32_t slices = shape->copies ? shape->per_side : shape->map.slices;
    shape->gpc_byte_fs = cycles_ps(config->sm_clock, 1000 * slices / noc->gpc_bytes_per_cycle);
    shape->gpc_burst_ps = cycles_ps(config->sm_clock, (double)noc->gpc_burst_cycles);
}

/* How much longer than the shortest way it is from a slice to a client. SMs and slices of a side lie along a
 * ring: each SM has near and far slices, as many of each distance as any other SM. */
static uint64_t distance_ps(const struct memsys_shape *shape, const struct memsys_config *config,
                            uint32_t client, uint32_t slice)
{
    uint32_t side = memsys_side(shape, client);
    double slice_at = (slice % shape->per_side + 0.5) / shape->per_side;
    double client_at = client < shape->clients_of_sms ? (client + 0.5) / shape->clients_of_sms : 0;
    double apart = slice_at > client_at ? slice_at - client_at : client_at - slice_at;
    apart = apart > 0.5 ? 1 - apart : apart;
    bool is_far = slice / shape->per_side != side;
    return cycles_ps(config->sm_clock, 2 * apart * (double)config->noc->spread_cycles) +
           (is_far && !shape->copies ? 2 * shape->cross_ps : 0);
}

/* ---- partitions ---- */

uint32_t memsys_first_pair(const struct memsys *mem, uint32_t island)
{
    return (uint32_t)((uint64_t)mem->shape.per_side * island / mem->islands);
}

/* A slice's. */
static struct cache_spec cache_spec_of(const struct l2_spec *l2, uint32_t works)
{
    return (struct cache_spec){.line_bytes = (uint32_t)l2->line,
                               .sector_bytes = MEM_SECTOR,
                               .tags = {.sets = (uint32_t)(l2->bytes / l2->slices / l2->line / l2->ways),
                                        .ways = (uint32_t)l2->ways,
                                        .policy = l2->policy,
                                        .scattered = l2->scattered,
                                        .hashed = !l2->scattered},
                               .misses = {.entries = (uint32_t)l2->misses, .waiters = works},
                               .has_data = true,
                               .has_masks = true};
}

static void make_l3(struct partition_spec *spec, const struct memsys_config *config)
{
    struct cache_spec cache = {
        .line_bytes = (uint32_t)config->l2->line,
        .sector_bytes = MEM_SECTOR,
        .tags = {.sets = (uint32_t)l3_sets(config), .ways = (uint32_t)config->l3->ways, .hashed = true}};
    spec->l3 = mem_alloc(spec->here, sizeof *spec->l3);
    for (uint32_t i = 0; i < spec->here; i++)
        cache_init(&spec->l3[i], &cache);
}

static void make_dram(struct memsys *mem, struct partition_spec *spec, uint32_t misses, bool is_here)
{
    const struct memsys_shape *shape = &mem->shape;
    uint32_t all = shape->map.slices * shape->channels_per_slice,
             here = spec->here * shape->channels_per_slice;
    uint32_t reads = misses * MEM_SECTORS_MOST; /* at worst each sector of each line that is waited for */
    struct dram *dram = spec->dram = mem_alloc(1, sizeof *dram);
    dram->sector_fs = (uint64_t)(MEM_SECTOR * 1e15 * all / (double)mem->dram.bandwidth + 0.5);
    dram->latency_ps = mem->dram.latency;
    dram->channel_bytes = (shape->dram->bytes(&mem->dram, reads) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    dram->channels = mem_alloc_pages(here, dram->channel_bytes);
    for (uint32_t i = 0; i < here && is_here; i++)
        shape->dram->init(shape, dram->channels + i * dram->channel_bytes, reads);
}

static struct component *make_component(struct memsys *mem, const struct partition_spec *spec,
                                        struct island *island, const char *name)
{
    struct text ports = {0};
    for (uint32_t i = 0; i < spec->here; i++)
        text_add(&ports, "requests%u,", i);
    for (uint32_t i = 0; i < spec->here; i++)
        text_add(&ports, "replies%u,", i);
    text_add(&ports, "host");
    struct component *component =
        engine_component(mem->engine, island, name, &partition_ops, spec, sizeof(struct partition), ports.at);
    text_fini(&ports);
    return component;
}

static void make_partition(struct memsys *mem, const struct memsys_config *config, uint32_t number)
{
    const struct memsys_shape *shape = &mem->shape;
    const struct l2_spec *l2 = config->l2;
    struct partition_spec *spec = &mem->specs[number];
    char name[256];
    snprintf(name, sizeof name, "%s.memory[%u]", mem->path, number);
    engine_rank(mem->engine, memsys_rank_of(&config->ranks, config->ranks.memory, number, mem->islands));
    struct island *island = engine_island(mem->engine, name);
    island_own(mem->engine, island);
    spec->shape = shape;
    spec->first_pair = memsys_first_pair(mem, number);
    spec->pairs = memsys_first_pair(mem, number + 1) - spec->first_pair;
    spec->here = spec->pairs * shape->sides;
    spec->works_kept = shape->copies ? spec->here * MEM_SECTORS_MOST * (uint32_t)l2->misses / 2 : 0;
    spec->work_count = spec->here * (uint32_t)l2->requests + spec->works_kept;
    spec->works = mem_alloc(spec->work_count, sizeof *spec->works);
    spec->payloads = mem_alloc(spec->work_count, sizeof *spec->payloads);
    spec->distance_ps = mem_alloc((size_t)shape->clients * spec->here, sizeof *spec->distance_ps);
    spec->caches = mem_alloc(spec->here, sizeof *spec->caches);
    struct cache_spec cache_spec = cache_spec_of(l2, spec->work_count);
    bool is_here = island_is_here(island);
    for (uint32_t i = 0; i < spec->here; i++) {
        uint32_t slice = i / spec->pairs * shape->per_side + spec->first_pair + i % spec->pairs;
        spec->global[i] = slice;
        if (is_here)
            cache_init_in(&spec->caches[i], &cache_spec, &mem->blocks, slice);
        for (uint32_t client = 0; client < shape->clients; client++)
            spec->distance_ps[client * spec->here + i] = (uint32_t)distance_ps(shape, config, client, slice);
    }
    if (has_l3(config) && is_here)
        make_l3(spec, config);
    if (moves_pages(config)) {
        spec->pages = mem_alloc(1, sizeof *spec->pages);
        spec->pages->rights.home = shape->home;
        spec->pages->frames.line_bytes = (uint32_t)l2->line;
        spec->pages->managed_words = is_here ? (cache_slots(&spec->caches[0]) + 63) / 64 : 0;
        spec->pages->managed =
            mem_alloc((size_t)spec->here * spec->pages->managed_words, sizeof *spec->pages->managed);
    }
    make_dram(mem, spec, (uint32_t)l2->misses, is_here);
    island_own(mem->engine, NULL);
    mem->components[number] = make_component(mem, spec, island, name);
}

static void make_links(struct memsys *mem, const struct memsys_config *config)
{
    const struct noc_spec *noc = config->noc;
    struct link_spec spec = {.latency_ps = cycles_ps(config->sm_clock, (double)noc->latency_cycles),
                             .overhead_bytes = (uint32_t)noc->overhead_bytes,
                             .credits = (uint32_t)noc->credits};
    char name[256];
    snprintf(name, sizeof name, "%s.requests", mem->path);
    spec.bytes_per_s = (uint64_t)(noc->request_bytes_per_cycle * (double)config->sm_clock + 0.5);
    spec.limits = LINK_OUT; /* of SMs: slices see to what they take and give themselves */
    mem->requests = engine_link(mem->engine, name, &spec);
    snprintf(name, sizeof name, "%s.replies", mem->path);
    spec.bytes_per_s = (uint64_t)(noc->reply_bytes_per_cycle * (double)config->sm_clock + 0.5);
    spec.limits = LINK_IN;
    spec.credits = 0;
    mem->replies = engine_link(mem->engine, name, &spec);
    snprintf(name, sizeof name, "%s.host", mem->path);
    bool in_fabric = hostmem_is_in_fabric(config->host); /* which is then the narrow part of the way */
    uint64_t latency_ps = in_fabric ? spec.latency_ps : noc->host_latency;
    mem->host_link = engine_link(mem->engine, name,
                                 &(struct link_spec){.latency_ps = latency_ps,
                                                     .bytes_per_s = in_fabric ? 0 : noc->host_bandwidth,
                                                     .overhead_bytes = (uint32_t)noc->overhead_bytes});
}

bool memsys_init(struct memsys *mem, const struct memsys_config *config, struct err *err)
{
    if (!memsys_check(config, err))
        return false;
    mem->dram = *config->dram;
    find_shape(&mem->shape, config);
    find_gpcs(&mem->shape, config);
    if (has_l3(config)) {
        mem->shape.l3_latency_ps = config->l3->latency;
        mem->shape.l3_sector_fs =
            (uint64_t)(MEM_SECTOR * 1e15 * mem->shape.map.slices / (double)config->l3->bandwidth);
    }
    mem->shape.dram_spec = &mem->dram;
    engine_rank(mem->engine, config->ranks.first);
    make_links(mem, config);
    mem->clients = config->clients;
    mem->hostmem = config->host;
    mem->shape.apart = hostmem_apart(config->host);
    if (config->has_peers)
        mem->gateway = gateway_new(mem->engine, mem->path, mem, mem->clients, config->host_node);
    keep_peers(mem, config->l2);
    mem->host = hostmem_is_in_fabric(config->host) ? gateway_port(mem->gateway, GATEWAY_HOST)
                                                   : hostmem_port(config->host, config->home);
    if (config->tlb && tlb_takes_time(config->tlb))
        translator_make(mem, config->tlb, config->sm_clock);
    mem->dma = dma_new(mem->engine, mem->path, mem, hostmem_gpus(config->host));
    if (moves_pages(config))
        mem->pager = pager_new(mem->engine, mem->path, mem);
    hostmem_attach(config->host, config->home, mem, config->noc->host_latency);
    /* of all slices in a few blocks: large pages of the host make them much faster to reach */
    struct cache_spec cache_spec = cache_spec_of(config->l2, 0);
    mem->blocks = cache_blocks_new(&cache_spec, (uint32_t)config->l2->slices);
    mem->islands = (uint32_t)config->l2->islands;
    mem->island_of = mem_alloc(mem->shape.per_side, sizeof *mem->island_of);
    for (uint32_t slice = 0, island = 0; slice < mem->shape.per_side; slice++) {
        while (slice >= memsys_first_pair(mem, island + 1))
            island++;
        mem->island_of[slice] = island;
    }
    mem->specs = mem_alloc(mem->islands, sizeof *mem->specs);
    mem->components = mem_alloc(mem->islands, sizeof(struct component *));
    for (uint32_t i = 0; i < mem->islands; i++)
        make_partition(mem, config, i);
    return true;
}

static void free_pages(struct pages_here *pages)
{
    if (!pages)
        return;
    rights_fini(&pages->rights);
    frames_fini(&pages->frames);
    index_fini(&pages->written);
    news_fini(&pages->news);
    mem_free(pages->managed);
    mem_free(pages->parked);
    mem_free(pages->recalls);
    mem_free(pages);
}

void memsys_fini(struct memsys *mem)
{
    for (uint32_t i = 0; i < mem->islands; i++) {
        struct partition_spec *spec = &mem->specs[i];
        for (uint32_t s = 0; s < spec->here; s++)
            if (spec->caches[s].tags) /* those on other ranks were not made */
                cache_fini(&spec->caches[s]);
        for (uint32_t s = 0; spec->l3 && s < spec->here; s++)
            cache_fini(&spec->l3[s]);
        mem_free(spec->l3);
        free_pages(spec->pages);
        mem_free(spec->caches);
        mem_free(spec->works);
        mem_free(spec->payloads);
        mem_free(spec->distance_ps);
        mem_free_pages(spec->dram->channels);
        mem_free(spec->dram);
    }
    translator_free(mem->translator);
    cache_blocks_free(&mem->blocks);
    mem_free(mem->specs);
    mem_free(mem->components);
    mem_free(mem->island_of);
    gateway_free(mem->gateway);
    dma_free(mem->dma);
    pager_free(mem->pager);
    home_fini(&mem->shape.memory);
    home_fini(&mem->shape.managed);
    mem_free(mem->shape.gpc_of);
    mem_free(mem->shape.side_of);
}
