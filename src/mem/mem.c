/* Makes a GPU's memory of what the specs say. */
#include "base/mem.h"
#include "mem/dram.h"

struct mem {
    struct engine *engine;
    char *path;
    struct shape shape;
    struct dram_spec dram;
    struct link *requests, *replies;
    uint32_t attached;
    uint32_t islands;
    struct partition_spec *specs;
    struct component **components;
};

static const struct dram_model *const dram_models[] = {&dram_banks, &dram_simple, &dram_fixed};

static uint64_t cycles_ps(const struct mem_config *config, double cycles)
{
    return (uint64_t)(cycles * 1e12 / (double)config->sm_clock + 0.5);
}

static bool check(const struct mem_config *config, const char *path, struct err *err)
{
    const struct l2_spec *l2 = config->l2;
    if (l2->slices % (l2->islands * l2->partitions))
        return err_set(err,
                       "%s: %llu L2 slices cannot be spread evenly over %llu islands and %llu partitions",
                       path, (unsigned long long)l2->slices, (unsigned long long)l2->islands,
                       (unsigned long long)l2->partitions);
    if (l2->slices / l2->islands > SLICES_HERE_MOST)
        return err_set(err, "%s: at most %d L2 slices on an island", path, SLICES_HERE_MOST);
    if (l2->bytes / l2->slices / MEM_LINE < l2->ways)
        return err_set(err, "%s: a slice of %llu bytes has no set of %llu lines", path,
                       (unsigned long long)(l2->bytes / l2->slices), (unsigned long long)l2->ways);
    if (config->dram->writes_high > config->dram->writes ||
        config->dram->writes_low >= config->dram->writes_high)
        return err_set(err, "%s: of DRAM writes, low < high <= all must hold", path);
    return true;
}

static void find_shape(struct shape *shape, const struct mem_config *config)
{
    const struct l2_spec *l2 = config->l2;
    *shape = (struct shape){
        .map = map_make((uint32_t)l2->slices),
        .sides = (uint32_t)l2->partitions,
        .per_side = (uint32_t)(l2->slices / l2->partitions),
        .pairs = (uint32_t)(l2->slices / l2->partitions / l2->islands),
        .here = (uint32_t)(l2->slices / l2->islands),
        .clients = config->clients,
        .clients_of_sms = config->clients_of_sms,
        .copies = l2->copies && l2->partitions > 1,
        .hit_ps = cycles_ps(config, (double)l2->hit_cycles),
        .sector_ps = cycles_ps(config, MEM_SECTOR / l2->bytes_per_cycle),
        .atomic_ps = cycles_ps(config, (double)l2->atomic_cycles),
        .atomic_sector_ps = cycles_ps(config, l2->atomic_sector_cycles),
        .atomic_lane_ps = cycles_ps(config, l2->atomic_lane_cycles),
        .cross_ps = cycles_ps(config, (double)l2->cross_cycles),
        .cross_byte_fs = cycles_ps(config, 1000 / l2->cross_bytes_per_cycle),
        .atomic = config->atomic,
        .dram = dram_models[config->dram->model],
        .times = dram_times_of(&dram_timings[config->dram->timing]),
        .channels_per_slice = (uint32_t)config->dram->channels_per_slice,
    };
}

/* ---- where clients are ---- */

static uint32_t side_of_client(const struct shape *shape, uint32_t client)
{
    if (client < shape->clients_of_sms)
        return (uint32_t)((uint64_t)client * shape->sides / shape->clients_of_sms);
    return client % shape->sides;
}

/* How much longer than the shortest way it is from a slice to a client. SMs and slices of a side lie along a
 * ring: each SM has near and far slices, as many of each distance as any other SM. */
static uint64_t distance(const struct shape *shape, const struct mem_config *config, uint32_t client,
                         uint32_t slice)
{
    uint32_t side = side_of_client(shape, client);
    double slice_at = (slice % shape->per_side + 0.5) / shape->per_side, client_at = 0;
    if (client < shape->clients_of_sms)
        client_at = (client + 0.5) * shape->sides / shape->clients_of_sms - side;
    double apart = slice_at > client_at ? slice_at - client_at : client_at - slice_at;
    apart = apart > 0.5 ? 1 - apart : apart; /* of half the ring */
    bool is_far = slice / shape->per_side != side;
    return cycles_ps(config, 2 * apart * (double)config->noc->spread_cycles) +
           (is_far && !shape->copies ? 2 * shape->cross_ps : 0);
}

uint32_t mem_target(const struct mem *mem, uint32_t client, uint64_t line)
{
    const struct shape *shape = &mem->shape;
    uint32_t slice = map_place(&shape->map, line / MEM_LINE).slice;
    if (shape->copies) {
        uint32_t in_side = slice < shape->per_side ? slice : slice - shape->per_side;
        slice = side_of_client(shape, client) * shape->per_side + in_side;
    }
    return shape->clients + slice;
}

/* ---- making ---- */

static void make_store(struct store *store, const struct mem_config *config, uint64_t seed)
{
    const struct l2_spec *l2 = config->l2;
    uint32_t sets = (uint32_t)(l2->bytes / l2->slices / MEM_LINE / l2->ways),
             slots = sets * (uint32_t)l2->ways;
    store->tags = tags_new(&(struct tags_spec){
        .sets = sets, .ways = (uint32_t)l2->ways, .policy = l2->policy, .hashed = true, .seed = seed});
    store->data = mem_alloc_lines(slots, MEM_LINE);
    store->masks = mem_alloc(slots * MEM_SECTORS, sizeof *store->masks);
    store->copied = mem_alloc(slots, sizeof *store->copied);
}

static void make_dram(struct mem *mem, struct partition_spec *spec, uint32_t misses)
{
    const struct shape *shape = &mem->shape;
    uint64_t channels = shape->map.slices * shape->channels_per_slice,
             here = shape->here * shape->channels_per_slice;
    struct dram *dram = spec->dram = mem_alloc(1, sizeof *dram);
    dram->sector_fs =
        (uint64_t)((double)MEM_SECTOR * 1e15 * (double)channels / (double)mem->dram.bandwidth + 0.5);
    dram->latency_ps = mem->dram.latency;
    uint32_t reads = misses * MEM_SECTORS; /* at worst each sector of each line that is waited for */
    dram->channel_bytes = (shape->dram->bytes(&mem->dram, reads) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    dram->channels = mem_alloc_lines(here, dram->channel_bytes);
    for (uint64_t i = 0; i < here; i++)
        shape->dram->init(shape, dram->channels + i * dram->channel_bytes, reads);
}

static void make_partition(struct mem *mem, const struct mem_config *config, uint32_t number)
{
    const struct shape *shape = &mem->shape;
    struct partition_spec *spec = &mem->specs[number];
    *spec = (struct partition_spec){.shape = shape, .number = number};
    uint32_t works = shape->here * (uint32_t)config->l2->requests;
    spec->works_kept = shape->copies ? shape->here * MEM_SECTORS * (uint32_t)config->l2->misses / 2 : 0;
    spec->work_count = works + spec->works_kept;
    spec->works = mem_alloc(spec->work_count, sizeof *spec->works);
    for (uint32_t i = 0; i < shape->here; i++) {
        uint32_t side = i / shape->pairs;
        spec->global[i] = side * shape->per_side + number * shape->pairs + i % shape->pairs;
        make_store(&spec->stores[i], config, spec->global[i]);
        spec->stores[i].misses = mshr_new(
            &(struct mshr_spec){.entries = (uint32_t)config->l2->misses, .waiters = spec->work_count});
    }
    spec->distance_ps = mem_alloc((size_t)shape->clients * shape->here, sizeof *spec->distance_ps);
    for (uint32_t client = 0; client < shape->clients; client++) {
        for (uint32_t i = 0; i < shape->here; i++)
            spec->distance_ps[client * shape->here + i] =
                (uint32_t)distance(shape, config, client, spec->global[i]);
    }
    make_dram(mem, spec, (uint32_t)config->l2->misses);
    char name[256];
    snprintf(name, sizeof name, "%s.memory[%u]", mem->path, number);
    struct text ports = {0};
    for (uint32_t i = 0; i < shape->here; i++)
        text_add(&ports, "requests%u,", i);
    for (uint32_t i = 0; i < shape->here; i++)
        text_add(&ports, "replies%u%s", i, i + 1 < shape->here ? "," : "");
    mem->components[number] = engine_component(mem->engine, engine_island(mem->engine, name), name,
                                               &partition_ops, spec, sizeof(struct partition), ports.at);
    text_fini(&ports);
}

static void make_links(struct mem *mem, const struct mem_config *config)
{
    const struct noc_spec *noc = config->noc;
    struct link_spec spec = {.latency_ps = cycles_ps(config, (double)noc->latency_cycles),
                             .bytes_per_s = (uint64_t)(noc->bytes_per_cycle * (double)config->sm_clock + 0.5),
                             .overhead_bytes = (uint32_t)noc->overhead_bytes,
                             .credits = (uint32_t)noc->credits};
    char name[256];
    snprintf(name, sizeof name, "%s.requests", mem->path);
    mem->requests = engine_link(mem->engine, name, &spec);
    snprintf(name, sizeof name, "%s.replies", mem->path);
    spec.credits = 0;
    mem->replies = engine_link(mem->engine, name, &spec);
}

struct mem *mem_new(struct engine *engine, const char *path, const struct mem_config *config, struct err *err)
{
    if (!check(config, path, err))
        return NULL;
    struct mem *mem = mem_alloc(1, sizeof *mem);
    *mem = (struct mem){.engine = engine, .path = mem_text(path), .dram = *config->dram};
    find_shape(&mem->shape, config);
    mem->shape.dram_spec = &mem->dram;
    mem->islands = (uint32_t)config->l2->islands;
    mem->specs = mem_alloc(mem->islands, sizeof *mem->specs);
    mem->components = mem_alloc(mem->islands, sizeof(struct component *));
    make_links(mem, config);
    for (uint32_t i = 0; i < mem->islands; i++)
        make_partition(mem, config, i);
    return mem;
}

void mem_delete(struct mem *mem)
{
    for (uint32_t i = 0; mem && i < mem->islands; i++) {
        struct partition_spec *spec = &mem->specs[i];
        for (uint32_t s = 0; s < mem->shape.here; s++) {
            tags_free(spec->stores[s].tags);
            mem_free(spec->stores[s].data);
            mem_free(spec->stores[s].masks);
            mem_free(spec->stores[s].copied);
            mshr_free(spec->stores[s].misses);
        }
        mem_free(spec->works);
        mem_free(spec->distance_ps);
        mem_free(spec->dram->channels);
        mem_free(spec->dram);
    }
    if (mem) {
        mem_free(mem->specs);
        mem_free(mem->components);
        mem_free(mem->shape.regions);
        mem_free(mem->path);
    }
    mem_free(mem);
}

bool mem_attach(struct mem *mem, uint32_t number, struct port *requests, struct port *replies,
                struct err *err)
{
    REQUIRE(number == mem->attached && number < mem->shape.clients);
    mem->attached++;
    return link_plug(mem->requests, requests, err) && link_plug(mem->replies, replies, err);
}

bool mem_ready(struct mem *mem, struct err *err)
{
    REQUIRE(mem->attached == mem->shape.clients);
    const struct shape *shape = &mem->shape;
    for (uint32_t slice = 0; slice < shape->map.slices; slice++) { /* in the order of their numbers */
        uint32_t side = slice / shape->per_side, in_side = slice % shape->per_side;
        struct component *component = mem->components[in_side / shape->pairs];
        uint32_t local = side * shape->pairs + in_side % shape->pairs;
        if (!link_plug(mem->requests, component_port(component, local), err) ||
            !link_plug(mem->replies, component_port(component, shape->here + local), err))
            return false;
    }
    return true;
}

/* ---- between runs ---- */

void mem_set_regions(struct mem *mem, const struct mem_region *regions, uint32_t count)
{
    struct shape *shape = &mem->shape;
    shape->regions = mem_resize(shape->regions, shape->region_count, count, sizeof *regions);
    shape->region_count = count;
    if (count)
        memcpy(shape->regions, regions, count * sizeof *regions);
}

void mem_flush(struct mem *mem, bool forget)
{
    for (uint32_t i = 0; i < mem->islands; i++) {
        for (uint32_t slice = 0; slice < mem->shape.here; slice++)
            slice_flush(&mem->specs[i], slice, forget);
    }
}

void mem_count(const struct mem *mem, struct mem_counters *counters)
{
    *counters = (struct mem_counters){0};
    for (uint32_t i = 0; i < mem->islands; i++)
        stat_add(partition_ops.stats, component_state(mem->components[i]), (uint64_t *)counters);
}
