#include "cpu/spec.h"
#include "base/bits.h"

PARAM_GROUP(cpu_core_params, "cpu", "CPU cores", cpu_core_spec, CPU_CORE_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(cpu_l1i_params, "cpu.l1i", "a core's cache of instructions", cpu_cache_spec, CPU_CACHE_PARAMS,
            SHOWS_IN_TIME);
PARAM_GROUP(cpu_l1d_params, "cpu.l1d", "a core's first cache of data", cpu_cache_spec, CPU_CACHE_PARAMS,
            SHOWS_IN_TIME);
PARAM_GROUP(cpu_l2_params, "cpu.l2", "a core's second cache", cpu_cache_spec, CPU_L2_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(cpu_tlb_params, "cpu.tlb", "a core's TLBs", cpu_tlb_spec, CPU_TLB_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(cpu_branch_params, "cpu.branch", "a core's branch predictor", cpu_branch_spec, CPU_BRANCH_PARAMS,
            SHOWS_IN_TIME);
PARAM_GROUP(cpu_prefetch_params, "cpu.prefetch", "a core's prefetcher", cpu_prefetch_spec,
            CPU_PREFETCH_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(cpu_l3_params, "cpu.l3", "the cache that cores share", cpu_l3_spec, CPU_L3_PARAMS, SHOWS_IN_TIME);
PARAM_GROUP(cpu_memory_params, "cpu.memory", "the memory behind the caches of CPUs", cpu_memory_spec,
            CPU_MEMORY_PARAMS, SHOWS_IN_TIME);

PARAM_GROUP(cpu_coherence_params, "cpu.coherence",
            "coherence of the CPUs' caches, with each other and with GPUs", cpu_coherence_spec,
            CPU_COHERENCE_PARAMS, SHOWS_IN_TIME);

/* The rows of units fill an array of equal structs, by class. */
#define CPU_UNIT_FIELD(P, S, name, units, latency, gap, help)                                                \
    uint64_t name##_units, name##_latency, name##_gap;
struct cpu_units_spec {
#define X(name, units, latency, gap, help) CPU_UNIT_FIELD(P, S, name, units, latency, gap, help)
    CPU_CLASSES(X)
#undef X
};
_Static_assert(sizeof(struct cpu_units_spec) == sizeof((struct cpu_spec *)0)->units, "they are the same");

static const struct param_row cpu_units_rows[] = {
#define X(name, units, latency, gap, help)                                                                   \
    CPU_UNIT_ROWS(PARAM_ROW, cpu_units_spec, name, units, latency, gap, help)
    CPU_CLASSES(X)
#undef X
};
static const struct param_group cpu_units_params = {
    "cpu.units",   "a core's units", cpu_units_rows, COUNT_OF(cpu_units_rows), sizeof(struct cpu_units_spec),
    SHOWS_IN_TIME,
};

const struct param_group *const cpu_groups[] = {
    &cpu_core_params, &cpu_l1i_params,    &cpu_l1d_params,       &cpu_l2_params,
    &cpu_tlb_params,  &cpu_branch_params, &cpu_prefetch_params,  &cpu_units_params,
    &cpu_l3_params,   &cpu_memory_params, &cpu_coherence_params, NULL,
};

void cpu_config_init(struct config *config)
{
    config_init(config, cpu_groups);
}

static bool check_cache(const char *path, const char *key, uint64_t bytes, uint64_t ways,
                        const struct config *config, struct err *err)
{
    const char *where = config_where(config, path);
    uint64_t sets = bytes / (ways * CPU_LINE);
    if (!sets || bytes % (ways * CPU_LINE))
        return err_set(err, "%s: %s.%s: expected a multiple of ways x %d bytes", where ? where : path, path,
                       key, CPU_LINE);
    return (sets <= 1 << 20 && sets * ways <= 1 << 26) ||
           err_set(err, "%s: %s.%s: expected at most 1048576 sets", where ? where : path, path, key);
}

bool cpu_spec_fill(struct cpu_spec *spec, const struct config *config, struct err *err)
{
    config_fill(config, &cpu_core_params, "cpu", &spec->core);
    config_fill(config, &cpu_l1i_params, "cpu.l1i", &spec->l1i);
    config_fill(config, &cpu_l1d_params, "cpu.l1d", &spec->l1d);
    config_fill(config, &cpu_l2_params, "cpu.l2", &spec->l2);
    config_fill(config, &cpu_tlb_params, "cpu.tlb", &spec->tlb);
    config_fill(config, &cpu_branch_params, "cpu.branch", &spec->branch);
    config_fill(config, &cpu_prefetch_params, "cpu.prefetch", &spec->prefetch);
    config_fill(config, &cpu_units_params, "cpu.units", spec->units);
    config_fill(config, &cpu_l3_params, "cpu.l3", &spec->l3);
    config_fill(config, &cpu_memory_params, "cpu.memory", &spec->memory);
    config_fill(config, &cpu_coherence_params, "cpu.coherence", &spec->coherence);
    const struct cpu_tlb_spec *tlb = &spec->tlb;
    if (tlb->page & (tlb->page - 1))
        return err_set(err, "cpu.tlb.page: expected a power of two");
    if (tlb->second % tlb->second_ways)
        return err_set(err, "cpu.tlb.second: expected a multiple of second_ways");
    return check_cache("cpu.l1i", "bytes", spec->l1i.bytes, spec->l1i.ways, config, err) &&
           check_cache("cpu.l1d", "bytes", spec->l1d.bytes, spec->l1d.ways, config, err) &&
           check_cache("cpu.l2", "bytes", spec->l2.bytes, spec->l2.ways, config, err) &&
           check_cache("cpu.l3", "bytes", spec->l3.bytes, spec->l3.ways, config, err) &&
           check_cache("cpu.coherence", "gpu_bytes", spec->coherence.gpu_bytes, spec->coherence.gpu_ways,
                       config, err);
}
