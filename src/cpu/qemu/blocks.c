/* What is called as the program runs: for each block of instructions, and for each access to memory. */
#include "cpu/qemu/plugin.h"

#include <pthread.h>
#include <string.h>

enum { KINDS = 64 };

/* What QEMU said of an access, and its bits of a word: QEMU's functions cost more than a look into a table.
 */
static _Atomic uint64_t kinds[KINDS];

static uint64_t ask_kind(plugin_meminfo info, _Atomic uint64_t *kind)
{
    uint64_t shift = qemu_plugin_mem_size_shift(info), bits = qemu_plugin_mem_is_store(info) ? 2 : 1;
    if (info >> 16 == PLUGIN_READS_AND_WRITES) /* atomics; no function of QEMU's tells */
        bits = 3;
    uint64_t word = bits << (CPURUN_KIND_SHIFT - 32) | (shift & 7) << (CPURUN_SIZE_SHIFT - 32);
    atomic_store_explicit(kind, (uint64_t)info << 32 | word, memory_order_relaxed);
    return word << 32;
}

static inline uint64_t kind_of(plugin_meminfo info)
{
    _Atomic uint64_t *kind = &kinds[(info >> 4 ^ info >> 13) % KINDS];
    uint64_t known = atomic_load_explicit(kind, memory_order_relaxed);
    return __builtin_expect(known >> 32 == info, 1) ? known << 32 : ask_kind(info, kind);
}

static void on_access(unsigned cpu, plugin_meminfo info, uint64_t address, void *user)
{
    tap_word(tap_threads[cpu], kind_of(info) | (uint64_t)(uintptr_t)user | (address & CPURUN_ADDRESS));
}

static __attribute__((noinline)) void on_quantum(struct tap_thread *thread, int64_t count)
{
    bool takes_turns = !tap_is_alone() || atomic_load(&tap_shared->together);
    if (!thread->asking && thread->lane && !thread->muted && takes_turns) {
        thread->grants = atomic_load(&thread->lane->grants);
        thread->asking = true;
        tap_word(thread, tap_op(CPURUN_YIELD, 0));
        tap_show(thread);
    }
    if (!thread->asking) { /* it is alone */
        thread->left = (int64_t)tap_shared->quantum;
    } else if (!tap_wait(thread, true)) {
        thread->debt += count;
        thread->left = 0;
        return;
    }
    thread->left -= count;
}

/* `user` is the block's number, and its instructions above that. */
static void on_block(unsigned cpu, void *user)
{
    struct tap_thread *thread = tap_threads[cpu];
    uint64_t block = (uint64_t)(uintptr_t)user;
    int64_t count = (int64_t)(block >> 32);
    thread->left -= count;
    if (__builtin_expect(thread->left < 0, 0))
        on_quantum(thread, count);
    tap_word(thread, block & UINT32_MAX);
}

/* ---- translation ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Noreturn void too_much(void)
{
    atomic_store(&tap_shared->too_much_code, 1);
    _exit(1);
}

/* Puts the block's code where heddle finds it; gives its number. */
static uint32_t add_block(struct qemu_plugin_tb *block, size_t count)
{
    struct cpurun_block head = {.pc = qemu_plugin_tb_vaddr(block), .count = (uint32_t)count};
    for (size_t i = 0; i < count; i++)
        head.bytes += (uint32_t)qemu_plugin_insn_size(qemu_plugin_tb_get_insn(block, i));
    pthread_mutex_lock(&lock);
    uint64_t at = atomic_load(&tap_shared->code_bytes), bytes = sizeof head + count + head.bytes;
    uint32_t number = atomic_load(&tap_shared->block_count);
    if (number == CPURUN_BLOCKS || at + bytes + 8 > CPURUN_CODE)
        too_much();
    memcpy(tap_shared->code + at, &head, sizeof head);
    uint8_t *lengths = tap_shared->code + at + sizeof head, *code = lengths + count;
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        size_t length = qemu_plugin_insn_size(insn);
        lengths[i] = (uint8_t)length;
        memcpy(code, qemu_plugin_insn_data(insn), length);
        code += length;
    }
    tap_shared->blocks[number] = (uint32_t)(at / 8);
    atomic_store(&tap_shared->code_bytes, (at + bytes + 7) / 8 * 8);
    atomic_store(&tap_shared->block_count, number + 1);
    pthread_mutex_unlock(&lock);
    return number;
}

void tap_translate(plugin_id id, struct qemu_plugin_tb *block)
{
    size_t count = qemu_plugin_tb_n_insns(block);
    (void)id;
    uint64_t number = add_block(block, count);
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, PLUGIN_NO_REGISTERS,
                                         (void *)(uintptr_t)(number | (uint64_t)count << 32));
    for (size_t i = 0; i < count; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_access, PLUGIN_NO_REGISTERS,
                                         PLUGIN_READS_AND_WRITES,
                                         (void *)(uintptr_t)((uint64_t)(i & 511) << CPURUN_PLACE_SHIFT));
}
