/* CPU cores in time: one behaviour each, in exact cycles. Below the L2 there is memory of 100 cycles, of a
 * core of 1 GHz without an L3. */
#include "check.h"
#include "base/bits.h"
#include "cpu/core.h"
#include "cpu/shared.h"

enum { PC = 0x1000, BYTES = 4 };

struct machine {
    struct config config;
    struct cpu_spec spec;
    struct cpu_shared shared;
    struct cpu_memory *memories[4];
    struct cpu_core cores[4];
    uint64_t pc;
};

static void start(struct machine *machine, const char *model, const char *const *settings)
{
    static const char *const plain[] = {
        "cpu.clock=1GHz",
        "cpu.width=2",
        "cpu.window=32",
        "cpu.depth=10",
        "cpu.l1d.latency=4",
        "cpu.l2.latency=14",
        "cpu.l3.on=no",
        "cpu.memory.latency=100ns",
        "cpu.memory.bandwidth=100TB/s",
        "cpu.prefetch.on=no",
        "cpu.tlb.walk=0",
        "cpu.tlb.page=1GiB",
        "cpu.l1i.latency=1",
        "cpu.units.load_units=2",
        "cpu.units.alu_units=2",
    };
    struct text set = {0};
    struct err err;
    *machine = (struct machine){.pc = PC};
    cpu_config_init(&machine->config);
    text_add(&set, "cpu.model=%s", model);
    assert_true(config_set(&machine->config, set.at, &err));
    for (size_t i = 0; i < COUNT_OF(plain); i++)
        assert_true(config_set(&machine->config, plain[i], &err));
    for (; settings && *settings; settings++)
        assert_true(config_set(&machine->config, *settings, &err));
    assert_true(cpu_spec_fill(&machine->spec, &machine->config, &err));
    cpu_shared_init(&machine->shared, &machine->spec, machine->memories);
    for (uint32_t i = 0; i < machine->spec.core.cores; i++) {
        cpu_core_init(&machine->cores[i], &machine->spec, i, &machine->shared.base);
        machine->memories[i] = &machine->cores[i].memory;
    }
    text_fini(&set);
}

static void end(struct machine *machine)
{
    for (uint32_t i = 0; i < machine->spec.core.cores; i++)
        cpu_core_fini(&machine->cores[i]);
    cpu_shared_fini(&machine->shared);
    config_fini(&machine->config);
}

struct what {
    enum cpu_class class;
    uint8_t to, from; /* registers; 0: none */
    uint64_t load, store;
    enum cpu_jump jump;
    bool taken, atomic;
    uint64_t target;
};

/* An instruction behind the last, on a core. */
static void does_on(struct machine *machine, uint32_t core, struct what what)
{
    struct cpu_insn insn = {.pc = machine->pc,
                            .length = BYTES,
                            .class = (uint8_t)what.class,
                            .jump = (uint8_t)what.jump,
                            .atomic = what.atomic,
                            .destinations = {what.to ? what.to : CPU_NO_REG, CPU_NO_REG},
                            .sources = {CPU_NO_REG, CPU_NO_REG, CPU_NO_REG, CPU_NO_REG},
                            .bases = {CPU_NO_REG, CPU_NO_REG}};
    struct cpu_access access = {what.load ? what.load : what.store, 8, what.load ? CPU_LOAD : CPU_STORE};
    struct cpu_step step = {.insn = &insn,
                            .accesses = &access,
                            .access_count = what.load || what.store,
                            .taken = what.taken,
                            .target = what.target};
    if (what.from && what.load)
        insn.bases[0] = what.from;
    else if (what.from)
        insn.sources[0] = what.from;
    machine->cores[core].model->step(&machine->cores[core], &step);
    if (what.target)
        machine->pc = what.target;
}

#define DOES(machine, ...) does_on(machine, 0, (struct what){.class = __VA_ARGS__})

static uint64_t cycles(const struct machine *machine)
{
    return machine->cores[0].model->now(&machine->cores[0]);
}

/* The first instruction comes from memory: all that follows is counted from there. */
static uint64_t warm_up(struct machine *machine)
{
    DOES(machine, CPU_alu);
    DOES(machine, CPU_alu);
    return cycles(machine);
}

static uint64_t causes(const struct machine *machine)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < CAUSE_COUNT; i++)
        sum += (&machine->cores[0].causes.base)[i];
    return sum;
}

/* ---- both models ---- */

static const char *const models[] = {"inorder", "interval"};

static void width_bounds_independent_instructions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct machine machine;
        start(&machine, models[i], NULL);
        uint64_t before = warm_up(&machine);
        for (int k = 0; k < 20; k++)
            DOES(&machine, CPU_alu);
        assert_int_equal(cycles(&machine) - before, 10);
        end(&machine);
    }
}

static void chain_takes_its_latency(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct machine machine;
        start(&machine, models[i], NULL);
        warm_up(&machine);
        DOES(&machine, CPU_mul, .to = 1, .from = 1);
        uint64_t before = cycles(&machine);
        for (int k = 0; k < 10; k++)
            DOES(&machine, CPU_mul, .to = 1, .from = 1);
        assert_int_equal(cycles(&machine) - before, 30);
        end(&machine);
    }
}

static void loads_take_the_latency_of_their_level(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct machine machine;
        start(&machine, models[i], NULL);
        warm_up(&machine);
        DOES(&machine, CPU_move, .to = 1, .from = 1, .load = 0x40000);
        DOES(&machine, CPU_move, .to = 1, .from = 1, .load = 0x40008);
        DOES(&machine, CPU_alu, .to = 2, .from = 1);
        uint64_t before = cycles(&machine);
        for (int k = 0; k < 10; k++) /* of the L1, each waits for the one before */
            DOES(&machine, CPU_move, .to = 1, .from = 1, .load = 0x40010);
        DOES(&machine, CPU_alu, .to = 2, .from = 1);
        uint64_t after = cycles(&machine);
        assert_in_range(after - before, 40, 41);
        DOES(&machine, CPU_move, .to = 1, .from = 1, .load = 0x80000); /* of memory */
        DOES(&machine, CPU_alu, .to = 2, .from = 1);
        assert_in_range(cycles(&machine) - after, 14 + 100, 14 + 100 + 2);
        end(&machine);
    }
}

static void cycles_have_causes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct machine machine;
        start(&machine, models[i], NULL);
        for (uint64_t k = 0; k < 1000; k++) {
            DOES(&machine, CPU_move, .to = 1, .from = 1, .load = 0x40000 + k * 4096);
            DOES(&machine, CPU_mul, .to = 2, .from = 1);
            DOES(&machine, CPU_alu, .store = 0x80000 + k * 64);
            DOES(&machine, CPU_branch, .jump = CPU_CONDITIONAL, .taken = k % 3 == 0,
                 .target = k % 3 ? 0 : PC + 16 * k);
        }
        assert_in_range(cycles(&machine) - causes(&machine), 0, 1); /* the last cycle may be under way */
        end(&machine);
    }
}

static void mispredicted_branch_costs_the_depth(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct machine machine;
        start(&machine, models[i], NULL);
        warm_up(&machine);
        for (int k = 0; k < 30; k++) /* learned: not taken */
            DOES(&machine, CPU_branch, .jump = CPU_CONDITIONAL);
        DOES(&machine, CPU_alu);
        uint64_t before = cycles(&machine), mispredicts = machine.cores[0].mispredicts;
        DOES(&machine, CPU_branch, .jump = CPU_CONDITIONAL, .taken = true, .target = PC + 8);
        DOES(&machine, CPU_alu);
        assert_int_equal(machine.cores[0].mispredicts, mispredicts + 1);
        assert_in_range(cycles(&machine) - before, 10, 13);
        end(&machine);
    }
}

/* ---- what sets them apart ---- */

static uint64_t independent_misses(const char *model, const char *const *settings, uint64_t count)
{
    struct machine machine;
    start(&machine, model, settings);
    uint64_t before = warm_up(&machine);
    for (uint64_t k = 0; k < count; k++)
        DOES(&machine, CPU_move, .to = (uint8_t)(1 + k), .load = 0x40000 + k * 4096);
    DOES(&machine, CPU_serial);
    uint64_t taken = cycles(&machine) - before;
    end(&machine);
    return taken;
}

static void misses_overlap_in_the_window(void **state)
{
    static const char *const small[] = {"cpu.window=4", NULL};
    static const char *const few[] = {"cpu.l1d.misses=2", NULL};
    (void)state;
    uint64_t one = independent_misses("interval", NULL, 1), eight = independent_misses("interval", NULL, 8);
    assert_in_range(eight, one, one + 4);
    assert_in_range(independent_misses("interval", small, 8), 2 * 114, 2 * 114 + 40); /* four at a time */
    assert_in_range(independent_misses("interval", few, 8), 4 * 114, 4 * 114 + 40);   /* two */
}

static void blocking_core_waits_for_each_access(void **state)
{
    static const char *const blocking[] = {"cpu.blocking=yes", NULL};
    (void)state;
    assert_in_range(independent_misses("inorder", blocking, 8), 8 * 114, 8 * 114 + 40);
    assert_in_range(independent_misses("inorder", NULL, 8), 114, 114 + 40); /* else where a result is used */
}

static void interval_forwards_stores_to_loads(void **state)
{
    static const char *const forward[] = {"cpu.forward=3", NULL};
    struct machine machine;
    (void)state;
    start(&machine, "interval", forward);
    warm_up(&machine);
    DOES(&machine, CPU_move, .from = 1, .store = 0x40000);
    DOES(&machine, CPU_move, .to = 1, .load = 0x40000);
    uint64_t before = cycles(&machine);
    for (int k = 0; k < 10; k++) {
        DOES(&machine, CPU_alu, .to = 1, .from = 1);
        DOES(&machine, CPU_move, .from = 1, .store = 0x40000);
        DOES(&machine, CPU_move, .to = 1, .load = 0x40000);
    }
    assert_in_range(cycles(&machine) - before, 10 * (1 + 3) - 1, 10 * (1 + 3) + 1);
    end(&machine);
}

static void strides_are_prefetched(void **state)
{
    static const char *const on[] = {"cpu.prefetch.on=yes", NULL};
    struct machine machine;
    (void)state;
    for (int with = 0; with < 2; with++) {
        start(&machine, "interval", with ? on : NULL);
        for (uint64_t k = 0; k < 1000; k++)
            DOES(&machine, CPU_move, .to = 1, .from = 1, .load = 0x40000 + k * 64); /* in a chain */
        assert_in_range(cycles(&machine), with ? 1000 * 10 : 1000 * 114, with ? 1000 * 40 : 1000 * 116);
        end(&machine);
    }
}

/* ---- several cores ---- */

static void written_lines_move_between_cores(void **state)
{
    static const char *const two[] = {"cpu.cores=2", NULL};
    struct machine machine;
    (void)state;
    start(&machine, "inorder", two);
    does_on(&machine, 0, (struct what){.class = CPU_move, .store = 0x40000});
    does_on(&machine, 1, (struct what){.class = CPU_move, .to = 1, .load = 0x40000});
    assert_int_equal(machine.shared.transfers, 1);
    assert_int_equal(machine.shared.invalidations, 0);
    does_on(&machine, 0, (struct what){.class = CPU_move, .store = 0x40008}); /* a copy is elsewhere */
    assert_int_equal(machine.cores[0].memory.upgrades, 1);
    assert_int_equal(machine.shared.invalidations, 1);
    does_on(&machine, 1, (struct what){.class = CPU_move, .to = 1, .load = 0x40000});
    assert_int_equal(machine.shared.transfers, 2);
    end(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(width_bounds_independent_instructions),
        cmocka_unit_test(chain_takes_its_latency),
        cmocka_unit_test(loads_take_the_latency_of_their_level),
        cmocka_unit_test(cycles_have_causes),
        cmocka_unit_test(mispredicted_branch_costs_the_depth),
        cmocka_unit_test(misses_overlap_in_the_window),
        cmocka_unit_test(blocking_core_waits_for_each_access),
        cmocka_unit_test(interval_forwards_stores_to_loads),
        cmocka_unit_test(strides_are_prefetched),
        cmocka_unit_test(written_lines_move_between_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
