#include "system/mix.h"
#include "base/mem.h"
#include "mem/tlb.h"

PARAM_GROUP(mix_params, "gpus.*", "GPUs of a system whose GPUs differ", mix_spec, MIX_PARAMS);

enum { GPUS_MOST = 64 };

void mix_fini(struct system *system)
{
    for (size_t i = 0; i < system->part_count; i++) {
        system_fini(system->parts[i].system);
        mem_free(system->parts[i].system);
    }
    mem_free(system->parts);
    system->parts = NULL;
    system->part_count = 0;
}

static bool add_part(struct system *system, const char *path, struct err *err)
{
    struct mix_spec spec;
    const char *where = config_where(&system->config, path);
    config_fill(&system->config, &mix_params, path, &spec);
    if (!*spec.system)
        return err_set(err, "%s: [%s] system: expected the name of a description", where, path);
    struct system *own = mem_alloc(1, sizeof *own);
    if (!system_load(own, spec.system, NULL, err)) {
        mem_free(own);
        err_add(err, " (%s: [%s])", where, path);
        return false;
    }
    system->parts =
        mem_resize(system->parts, system->part_count, system->part_count + 1, sizeof *system->parts);
    system->parts[system->part_count++] = (struct system_part){.system = own, .gpus = (uint32_t)spec.count};
    return own->part_count == 0 ||
           err_set(err, "%s: [%s] system: '%.80s' has sections [gpus.*] itself", where, path, spec.system);
}

bool mix_apply(struct system *system, struct err *err)
{
    uint64_t sum = 0;
    mix_fini(system);
    for (const char *path = NULL; (path = config_next(&system->config, &mix_params, path));) {
        if (!add_part(system, path, err))
            return false;
        sum += system->parts[system->part_count - 1].gpus;
    }
    if (sum > GPUS_MOST)
        return err_set(err, "[gpus.*]: %llu GPUs are more than %d", (unsigned long long)sum, GPUS_MOST);
    if (sum)
        system->spec.gpus = sum;
    return true;
}

const struct system *system_of_device(const struct system *system, uint32_t device)
{
    for (size_t i = 0; i < system->part_count; i++) {
        if (device < system->parts[i].gpus)
            return system->parts[i].system;
        device -= system->parts[i].gpus;
    }
    return system;
}

/* ---- the IOMMU ---- */

static uint64_t walk_ps(const struct system *system)
{
    return (uint64_t)((double)system->tlb.walk_cycles * 1e12 / (double)system->gpu.clock + 0.5);
}

/* Whether the file that mixes GPUs says itself what the IOMMU is. */
static bool sets(const struct system *system, const char *key)
{
    return *config_where_key(&system->config, "tlb", key);
}

/* The first description of GPUs that ask the IOMMU; NULL: none does. */
static const struct system *first_that_asks(const struct system *system)
{
    for (size_t i = 0; i < system->part_count; i++)
        if (system->parts[i].system->tlb.walks_at == TLB_WALKS_AT_HOST)
            return system->parts[i].system;
    return NULL;
}

struct system_walks system_walks(const struct system *system)
{
    const struct system *described = first_that_asks(system);
    const struct system *of_count = described && !sets(system, "walkers") ? described : system;
    const struct system *of_time = described && !sets(system, "walk_cycles") ? described : system;
    return (struct system_walks){.walkers = of_count->tlb.walkers, .ps = walk_ps(of_time)};
}

/* There is one IOMMU: whoever asks it must describe the same one, or the file itself says what it is. */
static bool check_walks(const struct system *system, const struct system *part, struct err *err)
{
    const struct system *first = first_that_asks(system);
    if (part->tlb.walks_at != TLB_WALKS_AT_HOST)
        return true;
    if (!sets(system, "walkers") && part->tlb.walkers != first->tlb.walkers)
        return err_set(
            err,
            "the IOMMU that walks for all GPUs (tlb.walks_at = host) has %llu walkers by %s, and %llu "
            "by %s: set tlb.walkers beside [gpus.*]",
            (unsigned long long)first->tlb.walkers, first->gpu.name, (unsigned long long)part->tlb.walkers,
            part->gpu.name);
    if (!sets(system, "walk_cycles") && walk_ps(part) != walk_ps(first))
        return err_set(
            err,
            "a walk of the IOMMU for all GPUs (tlb.walks_at = host) takes %llu ps by %s, and %llu ps by "
            "%s: set tlb.walk_cycles beside [gpus.*]",
            (unsigned long long)walk_ps(first), first->gpu.name, (unsigned long long)walk_ps(part),
            part->gpu.name);
    return true;
}

bool mix_check(const struct system *system, struct err *err)
{
    if (system->part_count && (system->spec.unified || system->spec.monolithic > 1))
        return err_set(err,
                       "GPUs of different descriptions ([gpus.*]) can be neither unified nor monolithic");
    for (size_t i = 0; i < system->part_count; i++) {
        const struct system *part = system->parts[i].system, *first = system->parts[0].system;
        if (!system_check(part, err) || !check_walks(system, part, err))
            return false;
        if (system_moves_pages(system) && part->l2.line != first->l2.line)
            return err_set(
                err,
                "pages move (paging.policy) between GPUs with lines of the same size only, and %s has %llu "
                "bytes (l2.line), %s %llu",
                first->gpu.name, (unsigned long long)first->l2.line, part->gpu.name,
                (unsigned long long)part->l2.line);
    }
    return true;
}
