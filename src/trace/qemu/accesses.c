/* What is called as the program runs: for each block of instructions, and for each access to memory. */
#include "qemu/plugin.h"

/* ---- what an access is ---- */

enum { KINDS = 64, READS_TOO = 1u << 31 };

/* What QEMU said of an access, and what we make of it: bytes and whether it writes, as a trace has it. There
 * are few kinds, and QEMU's functions cost more than a look into a table. */
static _Atomic uint64_t kinds[KINDS];

static uint32_t ask_kind(plugin_meminfo info, _Atomic uint64_t *kind)
{
    uint32_t bytes = 1u << qemu_plugin_mem_size_shift(info), bits = bytes << 1;
    if (qemu_plugin_mem_is_store(info))
        bits |= 1;
    if (info >> 16 == PLUGIN_READS_AND_WRITES) /* atomics; no function of QEMU's tells */
        bits |= READS_TOO;
    atomic_store_explicit(kind, (uint64_t)info << 32 | bits, memory_order_relaxed);
    return bits;
}

static inline uint32_t kind_of(plugin_meminfo info)
{
    _Atomic uint64_t *kind = &kinds[(info >> 4 ^ info >> 13) % KINDS];
    uint64_t known = atomic_load_explicit(kind, memory_order_relaxed);
    return known >> 32 == info ? (uint32_t)known : ask_kind(info, kind);
}

/* ---- buffers ---- */

static void post(const struct record_lane *lane)
{
    _Atomic uint32_t *posted = &shared->posted[(uint32_t)(lane - shared->lanes) % shared->collectors];
    atomic_fetch_add(posted, 1);
    record_wake(posted);
}

/* Hands the first `count` accesses of a lane's buffer to heddle. */
static void hand_over(struct record_lane *lane, uint32_t count)
{
    uint32_t at = atomic_load(&lane->at);
    atomic_store(&lane->full[at], count);
    atomic_store(&lane->at, at ^ 1);
    post(lane);
}

void accesses_end(struct record_lane *lane)
{
    uint32_t count = atomic_exchange(&lane->count, 0);
    if (count)
        hand_over(lane, record_merge(lane->into, lane->merged, count));
    atomic_store(&lane->state, LANE_ENDED);
    post(lane);
}

static void next_buffer(struct record_lane *lane)
{
    uint32_t at = atomic_load(&lane->at), count;
    while ((count = atomic_load(&lane->full[at])))
        record_sleep(&lane->full[at], count);
    lane->into = shared->buffers[lane - shared->lanes][at];
    lane->merged = 0;
}

static uint32_t wanted(const struct record_lane *lane)
{
    return lane->left < RECORD_BUFFER ? (uint32_t)lane->left : RECORD_BUFFER;
}

/* The buffer is full, or there is none yet. The count is 0 while its accesses are moved: a program that is
 * killed here loses these, and no others. */
static __attribute__((noinline)) void make_room(struct record_lane *lane)
{
    uint32_t count = atomic_load(&lane->count);
    if (!lane->left) { /* not recorded, or no more */
        if (lane->clock >= lane->check)
            phases_over();
        return;
    }
    if (!lane->into)
        next_buffer(lane);
    atomic_store(&lane->count, 0);
    count = record_merge(lane->into, lane->merged, count);
    lane->merged = count;
    if (count == lane->left) {
        lane->left = 0;
        hand_over(lane, count);
        count = 0;
    } else if (count > RECORD_BUFFER - RECORD_BUFFER / 8) {
        struct trace_access last = lane->into[--count]; /* which the next one may belong to */
        lane->left -= count;
        hand_over(lane, count);
        next_buffer(lane);
        lane->into[0] = last;
        lane->merged = count = 1;
    }
    atomic_store(&lane->count, count);
    lane->room = wanted(lane);
    if (!lane->left)
        threads_finished(lane);
}

/* ---- callbacks ---- */

static inline void record(struct record_lane *lane, uint64_t address, uint64_t rest)
{
    uint32_t count = atomic_load_explicit(&lane->count, memory_order_relaxed);
    if (__builtin_expect(count == lane->room, 0)) {
        make_room(lane);
        count = atomic_load_explicit(&lane->count, memory_order_relaxed);
        if (count == lane->room)
            return;
    }
    lane->into[count] = (struct trace_access){address, rest};
    atomic_store_explicit(&lane->count, count + 1, memory_order_release);
}

/* `user` is how many instructions of the block come behind this one, as a negative number: the lane's clock
 * has the whole block. */
static void on_access(unsigned cpu, plugin_meminfo info, uint64_t address, void *user)
{
    struct record_lane *lane = vcpu_lanes[cpu];
    uint64_t clock = lane->clock + (uint64_t)(uintptr_t)user;
    uint32_t kind = kind_of(info);
    if (__builtin_expect(kind & READS_TOO, 0)) {
        kind &= ~READS_TOO;
        record(lane, address, clock | (kind & ~1u));
    }
    record(lane, address, clock | kind);
}

static void on_block(unsigned cpu, void *user)
{
    vcpu_lanes[cpu]->clock += (uint64_t)(uintptr_t)user;
}

static void on_skipped_block(unsigned cpu, void *user)
{
    enum { LOOK_EVERY = 1 << 16 }; /* instructions */
    struct record_lane *lane = vcpu_lanes[cpu];
    uint64_t skip = shared->options.skip;
    lane->clock += (uint64_t)(uintptr_t)user;
    if (__builtin_expect(lane->clock < lane->check, 1))
        return;
    uint64_t more = (lane->clock - lane->counted) >> RECORD_CLOCK_SHIFT;
    uint64_t skipped = atomic_fetch_add(&shared->skipped, more) + more;
    uint64_t next = skip - skipped < LOOK_EVERY ? skip - skipped : LOOK_EVERY;
    lane->counted = lane->clock;
    lane->check = lane->clock + (next << RECORD_CLOCK_SHIFT);
    if (skipped >= skip)
        phases_skipped_enough();
}

/* ---- translation ---- */

static void *instructions(int64_t count)
{
    return (void *)(uintptr_t)((uint64_t)count << RECORD_CLOCK_SHIFT);
}

void accesses_translate_skip(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_skipped_block, PLUGIN_NO_REGISTERS,
                                         instructions((int64_t)qemu_plugin_tb_n_insns(block)));
}

static void on_nothing(unsigned cpu, plugin_meminfo info, uint64_t address, void *user)
{
    (void)cpu, (void)info, (void)address, (void)user;
}

/* QEMU 7 does not forget what an instruction's helpers were to call when that ended its block, and finds it
 * freed if later ones have nothing to call: they get something that is never called. */
void accesses_translate_after(plugin_id id, struct qemu_plugin_tb *block)
{
    size_t count = qemu_plugin_tb_n_insns(block);
    (void)id;
    for (size_t i = 0; i < count; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_nothing, PLUGIN_NO_REGISTERS,
                                         PLUGIN_NEITHER, NULL);
}

void accesses_translate(plugin_id id, struct qemu_plugin_tb *block)
{
    int64_t count = (int64_t)qemu_plugin_tb_n_insns(block);
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, PLUGIN_NO_REGISTERS, instructions(count));
    for (int64_t i = 0; i < count; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, (size_t)i), on_access,
                                         PLUGIN_NO_REGISTERS, PLUGIN_READS_AND_WRITES,
                                         instructions(i - count));
}
