/* What came of a program on simulated cores. */
#include "cli/run_cpu.h"
#include "base/bits.h"
#include "report/json.h"

#include <inttypes.h>

static double part(uint64_t count, uint64_t of)
{
    return of ? (double)count / (double)of : 0;
}

static uint64_t busy_cycles(const struct run_cpu *cpu, uint32_t number)
{
    return cpurun_core_cycles(cpu->cores, number) - cpurun_core(cpu->cores, number)->causes.idle;
}

/* The sums over all cores. */
static void add_up(const struct run_cpu *cpu, uint64_t *core_sums, uint64_t *cause_sums,
                   uint64_t *memory_sums)
{
    for (uint32_t i = 0; i < cpurun_core_count(cpu->cores); i++) {
        const struct cpu_core *core = cpurun_core(cpu->cores, i);
        stat_add(&cpu_core_stats, core, core_sums);
        stat_add(&cpu_cause_stats, &core->causes, cause_sums);
        stat_add(&cpu_memory_stats, &core->memory, memory_sums);
    }
}

static uint64_t sum_of(const struct stat_table *table, const uint64_t *sums, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!strcmp(table->rows[i].name, name))
            return sums[i];
    }
    BUG("no statistic %s", name);
}

/* Lines that were read from memory, past all caches. */
static uint64_t memory_reads(const struct run_cpu *cpu)
{
    return cpu->is_coherent ? follow_counts(cpu->coherent.follow)->memory_reads
                            : cpurun_memory(cpu->cores)->l3_misses;
}

void cmd_cpu_tell(const struct run_cpu *cpu, double wall_s, double cpu_s, struct text *text)
{
    uint64_t core[32] = {0}, cause[CAUSE_COUNT] = {0}, memory[32] = {0}, busy = 0, all = 0;
    add_up(cpu, core, cause, memory);
    for (uint32_t i = 0; i < cpurun_core_count(cpu->cores); i++)
        busy += busy_cycles(cpu, i);
    for (uint32_t i = 0; i < CAUSE_idle; i++)
        all += cause[i];
    uint64_t instructions = sum_of(&cpu_core_stats, core, "instructions");
    uint64_t accesses =
        sum_of(&cpu_memory_stats, memory, "loads") + sum_of(&cpu_memory_stats, memory, "stores");
    text_add(text,
             "heddle: %.3f ms on %u core%s (%s), %u thread%s, %" PRIu64 " instructions, %" PRIu64
             " busy cycles, IPC %.2f\n",
             (double)cpurun_time(cpu->cores) * 1e-9, cpurun_core_count(cpu->cores),
             cpurun_core_count(cpu->cores) == 1 ? "" : "s", cpu->name, cpurun_threads(cpu->cores),
             cpurun_threads(cpu->cores) == 1 ? "" : "s", instructions, busy, part(instructions, busy));
    text_add(text, "heddle: cycles by cause:");
    for (size_t i = 0; i < CAUSE_idle; i++) {
        if (cause[i] * 200 >= all)
            text_add(text, " %s %.1f%%", cpu_cause_stats.rows[i].name, 100 * part(cause[i], all));
    }
    text_add(
        text,
        "\nheddle: misses: L1D %.2f%% of %" PRIu64 " accesses, L2 %" PRIu64 " lines, L3 %" PRIu64
        "; branches mispredicted %.2f%% of %" PRIu64 "\n",
        100 * part(sum_of(&cpu_memory_stats, memory, "l1d_misses"), accesses), accesses,
        sum_of(&cpu_memory_stats, memory, "l2_misses"), memory_reads(cpu),
        100 * part(sum_of(&cpu_core_stats, core, "mispredicts"), sum_of(&cpu_core_stats, core, "branches")),
        sum_of(&cpu_core_stats, core, "branches"));
    text_add(text, "heddle: simulated in %.2f s (%.2f s of QEMU), %.1f million instructions/s", wall_s, cpu_s,
             (double)instructions / wall_s * 1e-6);
    if (cpu->shared->children)
        text_add(text, "; %u process%s that it made %s not simulated", cpu->shared->children,
                 cpu->shared->children == 1 ? "" : "es", cpu->shared->children == 1 ? "was" : "were");
    text_add(text, "\n");
}

void cmd_cpu_write(const struct run_cpu *cpu, struct json_writer *json)
{
    const struct cpurun *cores = cpu->cores;
    json_open_object(json, "cpu");
    json_put_text(json, "description", cpu->name);
    json_put_count(json, "time_ps", cpurun_time(cores));
    json_put_count(json, "threads", cpurun_threads(cores));
    json_put_count(json, "thread_switches", cpurun_switches(cores));
    json_open_list(json, "cores");
    for (uint32_t i = 0; i < cpurun_core_count(cores); i++) {
        const struct cpu_core *core = cpurun_core(cores, i);
        json_open_object(json, NULL);
        json_put_count(json, "cycles", cpurun_core_cycles(cores, i));
        json_put_stats(json, &cpu_core_stats, core);
        json_open_object(json, "cycles_by_cause");
        json_put_stats(json, &cpu_cause_stats, &core->causes);
        json_close(json);
        json_put_stats(json, &cpu_memory_stats, &core->memory);
        json_close(json);
    }
    json_close(json);
    json_open_object(json, "memory");
    if (cpu->is_coherent)
        json_put_stats(json, &follow_stats, follow_counts(cpu->coherent.follow));
    else
        json_put_stats(json, &cpu_shared_stats, cpurun_memory(cores));
    json_close(json);
    json_put_config(json, &cpu->config);
    json_close(json);
}
