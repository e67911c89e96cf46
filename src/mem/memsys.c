#include "mem/memsys.h"
#include "base/mem.h"
#include "mem/iommu.h"
#include "mem/memsys_parts.h"
#include "mem/uvm.h"
#include "net/network.h"
#include "ranks/ranks.h"

struct memsys *memsys_new(struct engine *engine, const char *path, const struct memsys_config *config,
                          struct err *err)
{
    struct memsys *mem = mem_alloc(1, sizeof *mem);
    mem->engine = engine;
    mem->path = mem_text(path);
    if (memsys_init(mem, config, err))
        return mem;
    memsys_free(mem);
    return NULL;
}

void memsys_free(struct memsys *mem)
{
    if (!mem)
        return;
    memsys_fini(mem);
    mem_free(mem->path);
    mem_free(mem);
}

bool memsys_attach(struct memsys *mem, uint32_t number, struct port *requests, struct port *replies,
                   struct err *err)
{
    REQUIRE(number == mem->attached && number < mem->clients);
    mem->attached++;
    return link_plug_one_way(mem->requests, requests, PORT_SENDS, err) &&
           link_plug_one_way(mem->replies, replies, PORT_RECEIVES, err);
}

bool memsys_attach_translations(struct memsys *mem, struct port *translations, struct err *err)
{
    if (!mem->translations)
        return true;
    if (mem->attached == 1 && !link_plug(mem->translations, component_port(mem->walks, 0), err))
        return false;
    return link_plug(mem->translations, translations, err);
}

bool memsys_attach_fabric(struct memsys *mem, struct network *fabric, struct err *err)
{
    return network_attach(fabric, mem->shape.home, gateway_island(mem->gateway),
                          gateway_port(mem->gateway, GATEWAY_FABRIC), err);
}

/* The gateway, the DMA engine and the pager are the last of the clients. */
static bool plug_own_clients(struct memsys *mem, struct err *err)
{
    if (mem->gateway &&
        (!link_plug_one_way(mem->requests, gateway_port(mem->gateway, GATEWAY_ASKS), PORT_SENDS, err) ||
         !link_plug_one_way(mem->replies, gateway_port(mem->gateway, GATEWAY_ANSWERS), PORT_RECEIVES, err)))
        return false;
    if (!link_plug_one_way(mem->requests, dma_port(mem->dma, DMA_REQUESTS), PORT_SENDS, err) ||
        !link_plug_one_way(mem->replies, dma_port(mem->dma, DMA_REPLIES), PORT_RECEIVES, err))
        return false;
    return !mem->pager ||
           (link_plug_one_way(mem->requests, pager_port(mem->pager, PAGER_REQUESTS), PORT_SENDS, err) &&
            link_plug_one_way(mem->replies, pager_port(mem->pager, PAGER_REPLIES), PORT_RECEIVES, err));
}

/* And behind the slices it is who takes requests for peers. */
static bool plug_serving_gateway(struct memsys *mem, struct err *err)
{
    return !mem->gateway ||
           (link_plug_one_way(mem->requests, gateway_port(mem->gateway, GATEWAY_REQUESTS), PORT_RECEIVES,
                              err) &&
            link_plug_one_way(mem->replies, gateway_port(mem->gateway, GATEWAY_REPLIES), PORT_SENDS, err));
}

/* To the host, and to all who have entries of pages. */
static bool plug_pager(struct memsys *mem, struct err *err)
{
    if (!mem->pager)
        return true;
    return link_plug(mem->host_link, pager_port(mem->pager, PAGER_HOST), err) &&
           (!mem->translations ||
            link_plug(mem->translations, pager_port(mem->pager, PAGER_TRANSLATIONS), err));
}

/* Slices are plugged in behind the clients, in the order of their numbers; memsys_target relies on it. */
bool memsys_ready(struct memsys *mem, struct err *err)
{
    REQUIRE(mem->attached == mem->clients);
    if (!plug_own_clients(mem, err))
        return false;
    uint32_t per_side = mem->shape.per_side;
    for (uint32_t slice = 0; slice < mem->shape.map.slices; slice++) {
        uint32_t island = mem->island_of[slice % per_side];
        const struct partition_spec *spec = &mem->specs[island];
        uint32_t here = slice / per_side * spec->pairs + slice % per_side - spec->first_pair;
        struct component *component = mem->components[island];
        if (!link_plug_one_way(mem->requests, component_port(component, here), PORT_RECEIVES, err) ||
            !link_plug_one_way(mem->replies, component_port(component, spec->here + here), PORT_SENDS, err))
            return false;
    }
    if (!plug_serving_gateway(mem, err) || !link_plug(mem->host_link, mem->host, err))
        return false;
    for (uint32_t i = 0; i < mem->islands; i++) {
        if (!link_plug(mem->host_link, component_port(mem->components[i], 2 * mem->specs[i].here), err))
            return false;
    }
    struct port *walks = translator_host_port(mem);
    return link_plug_one_way(mem->host_link, dma_port(mem->dma, DMA_HOST), PORT_SENDS, err) &&
           plug_pager(mem, err) && (!walks || link_plug(mem->host_link, walks, err));
}

uint32_t memsys_target(const struct memsys *mem, uint32_t client, uint64_t line)
{
    const struct memsys_shape *shape = &mem->shape;
    uint32_t home = physical_home(physical_unpack(line));
    if (UNLIKELY(home != shape->home && home != HOME_HOST) && !pages_move(shape, line))
        return memsys_gateway_target(mem);
    uint32_t slice = map_place(&shape->map, local_line_number(shape, line)).slice;
    if (shape->copies) {
        uint32_t in_side = slice < shape->per_side ? slice : slice - shape->per_side;
        slice = memsys_side(shape, client) * shape->per_side + in_side;
    }
    return shape->clients + slice;
}

uint32_t memsys_copy_target(const struct memsys *mem, uint64_t line)
{
    const struct memsys_shape *shape = &mem->shape;
    bool is_own = physical_home(physical_unpack(line)) == shape->home || pages_move(shape, line);
    return shape->clients +
           (is_own ? map_place(&shape->map, local_offset(shape, line) >> shape->line_shift).slice
                   : shape->map.slices);
}

/* Behind the host itself, as memsys_ready plugs them in. */
uint32_t memsys_push_target(const struct memsys *mem, uint64_t line)
{
    const struct map *map = &mem->shape.map;
    uint32_t slice = map_place(map, local_offset(&mem->shape, line) >> mem->shape.line_shift).slice;
    return 1 + mem->island_of[slice % map->per_side];
}

struct memsys_pushes memsys_pushes_here(const struct memsys *mem)
{
    struct memsys_pushes here = {.lines = mem->gateway ? gateway_pushed(mem->gateway) : 0};
    for (uint32_t i = 0; i < mem->islands; i++) {
        const struct partition *partition = component_state(mem->components[i]);
        bool is_parked = mem->specs[i].pages && mem->specs[i].pages->pushes_parked;
        here.until = max_u64(here.until, is_parked ? UINT64_MAX : partition->pushed_until);
    }
    return here;
}

void memsys_know_pushes(struct memsys *mem, const struct memsys_pushes *all)
{
    mem->pushes = *all;
}

static struct memsys_pushes pushes(const struct memsys *mem)
{
    return ranks_count(engine_ranks(mem->engine)) > 1 ? mem->pushes : memsys_pushes_here(mem);
}

uint64_t memsys_pushed(const struct memsys *mem)
{
    return pushes(mem).lines;
}

uint64_t memsys_pushed_until(const struct memsys *mem)
{
    return pushes(mem).until;
}

struct dma *memsys_dma(const struct memsys *mem)
{
    return mem->dma;
}

uint32_t memsys_dma_client(const struct memsys *mem)
{
    return mem->clients + (mem->gateway != NULL);
}

uint32_t memsys_pager_client(const struct memsys *mem)
{
    return mem->shape.pager;
}

/* Behind the host, the islands and the DMA engine, as memsys_ready plugs them in. */
uint32_t memsys_pager_plug(const struct memsys *mem)
{
    return mem->islands + 2;
}

uint32_t memsys_gateway_target(const struct memsys *mem)
{
    return mem->shape.clients + mem->shape.map.slices;
}

uint32_t memsys_tlbs(const struct memsys *mem)
{
    return mem->translations ? mem->shape.clients_of_sms + 1 : 0;
}

uint32_t memsys_islands(const struct memsys *mem)
{
    return mem->islands;
}

uint32_t memsys_island_target(const struct memsys *mem, uint32_t island)
{
    return mem->shape.clients + mem->specs[island].global[0];
}

const struct probe *memsys_probe(const struct memsys *mem)
{
    return mem->shape.probe;
}

uint32_t memsys_home(const struct memsys *mem)
{
    return mem->shape.home;
}

uint32_t memsys_line_bytes(const struct memsys *mem)
{
    return UINT32_C(1) << mem->shape.line_shift;
}

uint32_t memsys_overhead_bytes(const struct memsys *mem)
{
    return mem->shape.overhead_bytes;
}

void memsys_set_ranges(struct memsys *mem, const struct home_range *ranges, uint32_t count)
{
    home_set(&mem->shape.memory, ranges, count);
}

void memsys_set_managed(struct memsys *mem, const struct home_range *ranges, uint32_t count)
{
    home_set(&mem->shape.managed, ranges, count);
}

/* Whether an island is on this rank; others do the same for theirs. */
static bool is_here(const struct memsys *mem, uint32_t island)
{
    return component_is_here(mem->components[island]);
}

/* One line, wherever it is. */
static void sync_line(struct memsys *mem, uint64_t number, bool forget)
{
    const struct memsys_shape *shape = &mem->shape;
    struct map_place place = map_place(&shape->map, number);
    uint32_t in_side = place.slice % shape->per_side;
    const struct partition_spec *spec = &mem->specs[mem->island_of[in_side]];
    if (!is_here(mem, mem->island_of[in_side]))
        return;
    for (uint32_t i = in_side - spec->first_pair; i < spec->here; i += spec->pairs) {
        bool is_copy = spec->global[i] != place.slice;
        slice_sync_line(spec, i, place.index << 1 | is_copy, forget);
    }
}

void memsys_sync(struct memsys *mem, uint64_t at, uint64_t bytes, bool forget)
{
    if (!bytes)
        return;
    uint32_t shift = mem->shape.line_shift;
    uint64_t first = at >> shift, last = (at + min_u64(bytes - 1, UINT64_MAX - at)) >> shift;
    uint64_t all = 0;
    for (uint32_t i = 0; i < mem->islands; i++)
        all += is_here(mem, i) ? (uint64_t)mem->specs[i].here * cache_slots(&mem->specs[i].caches[0]) : 0;
    if (last - first < all / 8) { /* it is less work to look for them */
        for (uint64_t line = first; line <= last; line++)
            sync_line(mem, line, forget);
        return;
    }
    for (uint32_t i = 0; i < mem->islands; i++) {
        for (uint32_t slice = 0; slice < mem->specs[i].here && is_here(mem, i); slice++)
            slice_sync(&mem->specs[i], slice, first << shift, last << shift, forget);
    }
}

const char *memsys_host(const struct memsys *mem, uint64_t offset)
{
    return home_host(&mem->shape.memory, offset);
}

void memsys_read_line(struct memsys *mem, uint64_t line, unsigned char *bytes)
{
    uint64_t offset = local_offset(&mem->shape, line), number = offset >> mem->shape.line_shift;
    uint32_t slice = map_place(&mem->shape.map, number).slice;
    sync_line(mem, number, false);
    held_read_line(&mem->specs[mem->island_of[slice % mem->shape.per_side]], offset, bytes);
}

void memsys_write_line(struct memsys *mem, uint64_t line, const unsigned char *bytes)
{
    uint64_t offset = physical_offset(physical_unpack(line));
    for (uint32_t at = 0; at < memsys_line_bytes(mem); at += MEM_SECTOR)
        home_write(&mem->shape.memory, offset + at, bytes + at, UINT32_MAX);
}

void memsys_forget_pages(struct memsys *mem, uint64_t at, uint64_t bytes)
{
    memsys_sync(mem, local_offset(&mem->shape, at), bytes, true);
    for (uint32_t i = 0; i < mem->islands; i++)
        if (is_here(mem, i))
            rights_forget(&mem->specs[i].pages->rights, at, bytes);
}

uint32_t memsys_held_rank(const struct memsys *mem, uint64_t line)
{
    return memsys_line_rank(mem, local_offset(&mem->shape, line));
}

enum page_right memsys_page_right(const struct memsys *mem, uint64_t at)
{
    enum page_right most = PAGE_NONE;
    for (uint32_t i = 0; i < mem->islands; i++) {
        if (!is_here(mem, i))
            continue;
        enum page_right here = rights_of(&mem->specs[i].pages->rights, at);
        most = here > most ? here : most;
    }
    return most;
}

void memsys_sync_managed(struct memsys *mem)
{
    for (uint32_t i = 0; i < mem->islands; i++)
        for (uint32_t slice = 0; slice < mem->specs[i].here; slice++)
            slice_sync_managed(&mem->specs[i], slice);
}

void memsys_map_page(struct memsys *mem, uint64_t at, uint32_t shift)
{
    for (uint32_t i = 0; i < mem->islands; i++)
        rights_set(&mem->specs[i].pages->rights, at, shift, PAGE_FAR);
}

/* A line and its copy go together, so that home knows of all copies; not while one of them is on its way. */
static void refresh_line(struct memsys *mem, uint64_t number)
{
    const struct memsys_shape *shape = &mem->shape;
    struct map_place place = map_place(&shape->map, number);
    uint32_t in_side = place.slice % shape->per_side;
    const struct partition_spec *spec = &mem->specs[mem->island_of[in_side]];
    for (uint32_t i = in_side - spec->first_pair; i < spec->here; i += spec->pairs)
        if (slice_waits_for(spec, i, place.index << 1 | (spec->global[i] != place.slice)))
            return;
    sync_line(mem, number, true);
}

/* Whether bytes differ where the mask has no bit. */
static bool differ(const unsigned char *one, const unsigned char *other, uint32_t mask)
{
    for (uint32_t left = mask ? ~mask : 0; left; left &= left - 1)
        if (one[__builtin_ctz(left)] != other[__builtin_ctz(left)])
            return true;
    return !mask && memcmp(one, other, MEM_SECTOR);
}

/* Whether memory has changed: what the GPU itself wrote, and did not write back yet, says nothing of it. */
static bool is_stale(const struct partition_spec *spec, uint32_t slice, uint32_t slot, uint64_t offset)
{
    const struct cache *cache = &spec->caches[slice];
    for (uint32_t left = *cache_valid(cache, slot); left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(left), at = number * MEM_SECTOR;
        unsigned char sector[MEM_SECTOR];
        held_read(spec, offset + at, sector);
        if (differ(sector, cache_data(cache, slot) + at, cache_written(cache, slot, number)))
            return true;
    }
    return false;
}

static void refresh_slot(void *user, const struct partition_spec *spec, uint32_t slice, uint32_t slot,
                         uint64_t offset)
{
    struct memsys *mem = user;
    if (is_stale(spec, slice, slot, offset))
        refresh_line(mem, offset >> mem->shape.line_shift);
}

void memsys_refresh_managed(struct memsys *mem)
{
    for (uint32_t i = 0; i < mem->islands; i++)
        for (uint32_t slice = 0; slice < mem->specs[i].here; slice++)
            slice_each_managed(&mem->specs[i], slice, refresh_slot, mem);
}

bool memsys_wrote_managed(const struct memsys *mem, uint64_t at)
{
    for (uint32_t i = 0; i < mem->islands; i++)
        if (index_find(&mem->specs[i].pages->written,
                       physical_offset(physical_unpack(at)) >> MANAGED_PAGE_SHIFT) != INDEX_NONE)
            return true;
    return false;
}

void memsys_forget_writes(struct memsys *mem)
{
    for (uint32_t i = 0; i < mem->islands; i++)
        index_fini(&mem->specs[i].pages->written);
}

void memsys_take_news(struct memsys *mem, memsys_news_fn *call, void *user)
{
    for (uint32_t i = 0; i < mem->islands; i++) {
        struct news *news = &mem->specs[i].pages->news;
        for (size_t k = 0; k < news->blocks.count; k++)
            call(user, mem->shape.home, news->blocks.keys[k] << APART_SHIFT, &news->masks[k]);
        news_fini(news);
    }
}

void memsys_each_written(const struct memsys *mem, memsys_written_fn *call, void *user)
{
    for (uint32_t i = 0; i < mem->islands; i++) {
        const struct index *written = &mem->specs[i].pages->written;
        for (size_t k = 0; k < written->count; k++)
            call(user, written->keys[k] << MANAGED_PAGE_SHIFT);
    }
}

const struct apart *memsys_apart(const struct memsys *mem)
{
    return mem->shape.apart;
}

void memsys_flush(struct memsys *mem, bool forget)
{
    memsys_sync(mem, 0, UINT64_MAX, forget);
    for (uint32_t i = 0; forget && i < mem->islands; i++)
        for (uint32_t slice = 0; mem->specs[i].l3 && slice < mem->specs[i].here && is_here(mem, i); slice++)
            cache_forget(&mem->specs[i].l3[slice], NULL);
}

bool memsys_keeps_peers(const struct memsys *mem)
{
    return mem->keeps_peers;
}

void memsys_forget_peers(struct memsys *mem)
{
    if (mem->gateway && port_is_here(gateway_port(mem->gateway, GATEWAY_ASKS)))
        gateway_forget_kept(mem->gateway);
}

bool memsys_look_at_slice(const struct memsys *mem, uint32_t number, struct slice_view *view)
{
    uint32_t side = number % mem->shape.per_side, island = mem->island_of[side];
    if (number >= mem->shape.per_side * mem->shape.sides)
        return false;
    const struct partition_spec *spec = &mem->specs[island];
    const struct partition *state = component_state(mem->components[island]);
    *view = (struct slice_view){.island = component_name(mem->components[island])};
    for (uint32_t i = 0; i < spec->here && is_here(mem, island); i++)
        if (spec->global[i] == number) {
            view->busy = state->slices[i].free_at > engine_time(mem->engine);
            view->blocked = state->slices[i].blocked;
        }
    if (is_here(mem, island)) {
        view->waiting = spec->work_count - state->works_free;
        view->sectors =
            state->count.l2_sectors_read + state->count.l2_sectors_written + state->count.l2_sectors_atomic;
    }
    return true;
}

void memsys_count(const struct memsys *mem, struct memsys_counters *counters)
{
    *counters = (struct memsys_counters){0};
    for (uint32_t i = 0; i < mem->islands; i++)
        stat_add(partition_ops.stats, component_state(mem->components[i]), (uint64_t *)counters);
    if (mem->walks)
        counters->tlb_walks = *(const uint64_t *)component_state(mem->walks);
    if (mem->gateway)
        counters->peer_bytes = gateway_peer_bytes(mem->gateway);
    if (mem->keeps_peers)
        counters->peer_sectors_kept = gateway_sectors_kept(mem->gateway);
    if (mem->pager)
        pager_count(mem->pager, counters);
    const struct iommu *iommu = hostmem_is_here(mem->hostmem) ? hostmem_iommu(mem->hostmem) : NULL;
    if (iommu && iommu_uvm(iommu))
        uvm_add_counts(iommu_uvm(iommu), mem->shape.home, counters);
}

/* ---- over ranks ---- */

uint32_t memsys_line_rank(const struct memsys *mem, uint64_t offset)
{
    uint32_t slice = map_place(&mem->shape.map, offset >> mem->shape.line_shift).slice;
    return component_rank(mem->components[mem->island_of[slice % mem->shape.per_side]]);
}

uint32_t memsys_rank(const struct memsys *mem)
{
    uint32_t rank = component_rank(mem->components[0]);
    for (uint32_t i = 1; i < mem->islands; i++)
        if (component_rank(mem->components[i]) != rank)
            return MEMSYS_SOME_RANKS;
    return rank;
}
