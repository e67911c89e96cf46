/* The backend on a GPU: rounds of accesses are transferred while those before are simulated. */
#include "base/bits.h"
#include "base/mem.h"
#include "cachesim/cuda/rounds.h"

extern const char cachesim_kernels_ptx[];
__asm__(".pushsection .rodata\ncachesim_kernels_ptx:\n.incbin \"" CACHESIM_CUDA_FOLDER
        "/kernels.ptx\"\n.byte 0\n.popsection\n");

static void cuda_close(struct caches *caches)
{
    if (!caches)
        return;
    struct card *device = caches->device;
    if (device) {
        card_sync(device);
        struct room *rooms[] = {&caches->merged[0], &caches->merged[1],   &caches->l1_told,
                                &caches->l2_told,   &caches->slice_lists, &caches->unsorted,
                                &caches->sorted,    &caches->slice_words};
        for (size_t i = 0; i < COUNT_OF(rooms); i++)
            card_free(device, rooms[i]->address);
        for (unsigned i = 0; i < SLOTS; i++) {
            card_free(device, caches->slots[i].round.items.address);
            card_free(device, caches->slots[i].asks.address);
            card_free(device, caches->slots[i].slice_counts.address);
            card_free_host(device, caches->slots[i].staged.memory);
        }
        for (size_t i = 0; i < caches->kept_count; i++)
            card_free(device, caches->kept[i].items.address);
        card_free(device, caches->l1);
        card_free(device, caches->l2);
        card_free(device, caches->l1_counts);
        card_free(device, caches->l2_counts);
        card_free(device, caches->l1_tallies);
        card_free(device, caches->l2_tallies);
    }
    card_close(device);
    workers_free(caches->workers);
    mem_free(caches->accessed);
    mem_free(caches->from);
    mem_free(caches->to);
    mem_free(caches->kept);
    mem_free(caches);
}

static void make_slots(struct caches *caches)
{
    struct card *device = caches->device;
    caches->l1_stream = card_stream(device);
    caches->l2_stream = caches->host.no_overlap ? caches->l1_stream : card_stream(device);
    caches->transfers = caches->host.no_overlap ? caches->l1_stream : card_stream(device);
    for (unsigned i = 0; i < SLOTS; i++) {
        struct round_slot *slot = &caches->slots[i];
        device_handle *events[] = {&slot->transfer_from, &slot->transfer_to, &slot->l1_from,
                                   &slot->l1_to,         &slot->l2_from,     &slot->l2_to};
        for (size_t k = 0; k < COUNT_OF(events); k++)
            *events[k] = card_event(device);
    }
}

/* What caches take, whatever comes; rounds come on top. */
static bool check_memory(const struct caches *caches, struct err *err)
{
    uint64_t bytes = caches->plan.spec.tiles * (caches->plan.l1_bytes + caches->plan.l2_bytes);
    uint64_t there = card_memory(caches->device);
    if (bytes > there / 10 * 9)
        return err_set(err, "%s has %llu MiB of memory free; the caches' state needs %llu MiB",
                       card_name(caches->device), (unsigned long long)there >> 20,
                       (unsigned long long)bytes >> 20);
    return true;
}

static bool make_state(struct caches *caches, struct err *err)
{
    struct card *device = caches->device;
    const struct caches_plan *plan = &caches->plan;
    if (!check_memory(caches, err))
        return false;
#define X(name, dynamic)                                                                                     \
    caches->kernels.name = card_function(device, #name, dynamic ? card_block_shared(device) : 0);
    KERNELS(X)
#undef X
    uint64_t tiles = plan->spec.tiles;
    caches->l1 = card_alloc(device, tiles * plan->l1_bytes);
    caches->l2 = card_alloc(device, tiles * plan->l2_bytes);
    caches->l1_counts = card_alloc(device, tiles * sizeof(struct coherent_counters));
    caches->l2_counts = card_alloc(device, tiles * sizeof(struct coherent_counters));
    if (plan->spec.snoop > TALLIED_MOST) {
        caches->l1_tallies = card_alloc(device, tiles * TALLY_BYTES);
        caches->l2_tallies = card_alloc(device, tiles * TALLY_BYTES);
    }
    make_slots(caches);
    levels_plan(caches);
    if (caches->l1_level.work.shared.bytes > card_block_shared(device))
        return err_set(
            err, "%s is too small: a block of its threads has %u bytes of shared memory, and %u are needed",
            card_name(device), card_block_shared(device), caches->l1_level.work.shared.bytes);
    card_sync(device);
    return card_good(device, err);
}

static struct caches *cuda_make(const struct caches_spec *spec, const struct caches_host *host,
                                struct err *err)
{
    if (!caches_check(spec, err))
        return NULL;
    if (spec->policy >= REPLACE_OWN) {
        err_set(err, "%s is a plugin's policy, which the CPU runs", replace_name(spec->policy));
        return NULL;
    }
    struct card *device = card_open(cachesim_kernels_ptx, err);
    if (!device)
        return NULL;
    struct caches *caches = mem_alloc(1, sizeof *caches);
    caches->device = device;
    caches->host = *host;
    caches_plan(&caches->plan, spec);
    caches->workers = workers_new(host->threads);
    caches->accessed = mem_alloc_lines(spec->tiles, sizeof *caches->accessed);
    caches->from = mem_alloc(spec->tiles, sizeof *caches->from);
    caches->to = mem_alloc(spec->tiles, sizeof *caches->to);
    if (make_state(caches, err))
        return caches;
    cuda_close(caches);
    return NULL;
}

/* ---- rounds ---- */

/* The accesses of the next round, from those of the batch that are left; false when none is. Exact:
 * instruction counts must fit into 32 bits. */
static bool take_round(struct caches *caches, const struct caches_batch *batch, uint64_t *first_when)
{
    uint32_t tiles = caches->plan.spec.tiles;
    bool exact = !caches->plan.spec.quantum, more = false;
    *first_when = UINT64_MAX;
    for (uint32_t i = 0; i < tiles; i++) {
        caches->from[i] = caches->to[i];
        if (caches->from[i] < batch->count[i]) {
            more = true;
            *first_when = min_u64(*first_when, trace_instruction(batch->at[i][caches->from[i]]));
        }
    }
    for (uint32_t i = 0; more && i < tiles; i++) {
        size_t to = batch->count[i];
        if (!exact) {
            to = min_u64(to, caches->from[i] + caches->plan.spec.quantum);
        } else if (wants_whens(caches) && caches->from[i] < to &&
                   trace_instruction(batch->at[i][to - 1]) - *first_when > UINT32_MAX) {
            size_t low = caches->from[i];
            while (low < to) {
                size_t half = low + (to - low) / 2;
                if (trace_instruction(batch->at[i][half]) - *first_when > UINT32_MAX)
                    to = half;
                else
                    low = half + 1;
            }
        }
        caches->to[i] = to;
    }
    return more;
}

static void wait_for_slot(struct caches *caches, struct round_slot *slot)
{
    if (!slot->is_used)
        return;
    card_sync_event(caches->device, slot->l2_to);
    caches->times.transfer_s += card_seconds(caches->device, slot->transfer_from, slot->transfer_to);
    caches->times.l1_s += card_seconds(caches->device, slot->l1_from, slot->l1_to);
    caches->times.l2_s += card_seconds(caches->device, slot->l2_from, slot->l2_to);
    slot->is_used = false;
}

static bool stage_round(struct caches *caches, struct round_slot *slot, const struct caches_batch *batch,
                        uint64_t first_when, struct round *round, struct err *err)
{
    uint64_t words_at = round_words_at(caches);
    struct stage stage = {.plan = &caches->plan,
                          .batch = batch,
                          .from = caches->from,
                          .to = caches->to,
                          .first_when = first_when,
                          .has_whens = wants_whens(caches),
                          .counts = caches->accessed};
    uint32_t tiles = caches->plan.spec.tiles, *starts = mem_alloc(tiles + 1, sizeof *starts);
    stage.starts = starts;
    bool fits = stage_count(&stage, caches->workers);
    round->count = starts[tiles];
    uint64_t bytes = words_at + (uint64_t)round->count * (stage.has_whens ? 12 : 8);
    if (fits && bytes > slot->staged.bytes) {
        card_free_host(caches->device, slot->staged.memory);
        slot->staged.bytes = bytes + bytes / 4;
        slot->staged.memory = card_alloc_host(caches->device, slot->staged.bytes);
    }
    fits = fits && room_for(caches->device, &round->items, bytes) && slot->staged.memory;
    if (fits) {
        memcpy(slot->staged.memory, starts, (tiles + 1) * sizeof *starts);
        stage.words = (uint64_t *)(void *)(slot->staged.memory + words_at);
        stage.whens = (uint32_t *)(void *)(stage.words + round->count);
        stage_fill(&stage, caches->workers);
        card_record(caches->device, slot->transfer_from, caches->transfers);
        card_to(caches->device, round->items.address, slot->staged.memory, bytes, caches->transfers);
        card_record(caches->device, slot->transfer_to, caches->transfers);
    }
    mem_free(starts);
    if (!card_good(caches->device, err))
        return false;
    return fits || err_set(err, "too many accesses in a batch: a smaller --batch is needed");
}

static bool run_round(struct caches *caches, const struct caches_batch *batch, uint64_t first_when,
                      struct err *err)
{
    struct round_slot *slot = &caches->slots[caches->rounds++ % SLOTS];
    wait_for_slot(caches, slot);
    if (!caches->host.resident) {
        if (!stage_round(caches, slot, batch, first_when, &slot->round, err))
            return false;
        card_wait_event(caches->device, caches->l1_stream, slot->transfer_to);
        round_launch(caches, slot, &slot->round);
        slot->is_used = true;
        if (caches->host.no_overlap)
            wait_for_slot(caches, slot);
        return card_good(caches->device, err);
    }
    mem_grow(caches->kept, caches->kept_count, caches->kept_capacity);
    struct round *round = &caches->kept[caches->kept_count++];
    *round = (struct round){0};
    if (!stage_round(caches, slot, batch, first_when, round, err))
        return false;
    card_sync_event(caches->device, slot->transfer_to);
    caches->times.transfer_s += card_seconds(caches->device, slot->transfer_from, slot->transfer_to);
    return card_good(caches->device, err);
}

static bool cuda_run(struct caches *caches, const struct caches_batch *batch, struct err *err)
{
    uint64_t first_when;
    memset(caches->to, 0, caches->plan.spec.tiles * sizeof *caches->to);
    while (take_round(caches, batch, &first_when)) {
        if (!run_round(caches, batch, first_when, err))
            return false;
    }
    return true;
}

/* Resident: all that was transferred is simulated now. */
static void run_kept(struct caches *caches)
{
    double transfer_s = caches->times.transfer_s;
    for (size_t i = 0; i < caches->kept_count; i++) {
        struct round_slot *slot = &caches->slots[i % SLOTS];
        wait_for_slot(caches, slot);
        card_record(caches->device, slot->transfer_from, caches->l1_stream);
        card_record(caches->device, slot->transfer_to, caches->l1_stream);
        round_launch(caches, slot, &caches->kept[i]);
        slot->is_used = true;
    }
    for (unsigned i = 0; i < SLOTS; i++)
        wait_for_slot(caches, &caches->slots[i]);
    caches->times.transfer_s = transfer_s;
    for (size_t i = 0; i < caches->kept_count; i++)
        card_free(caches->device, caches->kept[i].items.address);
    caches->kept_count = 0;
}

static bool cuda_count(struct caches *caches, struct caches_result *result, struct err *err)
{
    uint32_t tiles = caches->plan.spec.tiles;
    run_kept(caches);
    for (unsigned i = 0; i < SLOTS; i++)
        wait_for_slot(caches, &caches->slots[i]);
    struct coherent_counters *l1 = mem_alloc(tiles, sizeof *l1), *l2 = mem_alloc(tiles, sizeof *l2);
    card_from(caches->device, l1, caches->l1_counts, tiles * sizeof *l1);
    card_from(caches->device, l2, caches->l2_counts, tiles * sizeof *l2);
    result->l1 = result->l2 = (struct coherent_counters){0};
    for (uint32_t i = 0; i < tiles; i++) {
        counters_add(&l1[i], &caches->accessed[i]);
        counters_add(&result->l1, &l1[i]);
        counters_add(&result->l2, &l2[i]);
        if (result->l1_of)
            result->l1_of[i] = l1[i];
        if (result->l2_of)
            result->l2_of[i] = l2[i];
    }
    mem_free(l1);
    mem_free(l2);
    result->accesses = result->l1.reads + result->l1.writes;
    result->transfer_s = caches->times.transfer_s;
    result->l1_s = caches->times.l1_s;
    result->l2_s = caches->times.l2_s;
    return card_good(caches->device, err);
}

static const char *cuda_device(const struct caches *caches)
{
    return card_name(caches->device);
}

const struct caches_backend caches_cuda = {
    "cuda", "an NVIDIA GPU", cuda_make, cuda_close, cuda_run, cuda_count, cuda_device,
};
