/* Counts what a guest executes, and sees its marks (include/heddle_roi.h). `heddle boot` loads it as
 *
 *   qemu-system-x86_64 -plugin libheddle_boot.so,memory=DESCRIPTOR,bell=DESCRIPTOR
 *
 * with the memory that both share (boot/shared.h) and an eventfd open as these descriptors. The bell is rung
 * when the guest has booted. */
#include "boot/shared.h"
#include "heddle_roi.h"
#include "qemu/api.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

int qemu_plugin_version = PLUGIN_VERSION;
static struct boot_shared *shared;
static int bell;

static uint64_t total(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < BOOT_CPUS_MOST; i++)
        sum += atomic_load_explicit(&shared->cpus[i].instructions, memory_order_relaxed);
    return sum;
}

/* ---- marks ---- */

static void enter_region(uint64_t now)
{
    struct boot_region *region = &shared->region;
    if (region->entered != region->left)
        return; /* it is inside already */
    region->from_instructions = now;
    for (int i = 0; i < BOOT_GPU_WORDS; i++)
        region->from_gpu[i] = shared->gpu[i];
    region->entered++;
}

static void leave_region(uint64_t now)
{
    struct boot_region *region = &shared->region;
    if (region->entered == region->left)
        return;
    region->instructions += now - region->from_instructions;
    for (int i = 0; i < BOOT_GPU_WORDS; i++)
        region->gpu[i] += shared->gpu[i] - region->from_gpu[i];
    region->left++;
}

/* `user` has the mark's number, and how many instructions of its block have been counted but come later. */
static void on_mark(unsigned cpu, void *user)
{
    uint64_t both = (uintptr_t)user, now = total() - (both >> 16);
    (void)cpu;
    switch (both & 0xffff) {
    case HEDDLE_MARK_READY:
        atomic_store(&shared->booted, now);
        if (eventfd_write(bell, 1))
            _exit(1);
        break;
    case HEDDLE_MARK_BEGIN:
        enter_region(now);
        break;
    case HEDDLE_MARK_END:
        leave_region(now);
        break;
    default:;
    }
}

/* The number of a mark, or -1. */
static int mark_of(const struct qemu_plugin_insn *instruction)
{
    static const unsigned char head[3] = {0x0f, 0x1f, 0x80};
    uint32_t number;
    if (qemu_plugin_insn_size(instruction) != sizeof head + sizeof number)
        return -1;
    const unsigned char *bytes = qemu_plugin_insn_data(instruction);
    memcpy(&number, bytes + sizeof head, sizeof number);
    return !memcmp(bytes, head, sizeof head) && number >> 16 == 0x4845 ? (int)(number & 0xffff) : -1;
}

/* ---- callbacks ---- */

static void on_block(unsigned cpu, void *user)
{
    _Atomic uint64_t *count = &shared->cpus[cpu % BOOT_CPUS_MOST].instructions;
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + (uintptr_t)user,
                          memory_order_relaxed);
}

static void on_translate(plugin_id id, struct qemu_plugin_tb *block)
{
    size_t count = qemu_plugin_tb_n_insns(block);
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, PLUGIN_NO_REGISTERS, (void *)(uintptr_t)count);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        int mark = mark_of(instruction);
        if (mark >= 0)
            qemu_plugin_register_vcpu_insn_exec_cb(
                instruction, on_mark, PLUGIN_NO_REGISTERS,
                (void *)(uintptr_t)((uint64_t)(count - i) << 16 | (unsigned)mark));
    }
}

int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int count, char **words)
{
    if (!info->system_emulation || count != 2 || strncmp(words[0], "memory=", 7) ||
        strncmp(words[1], "bell=", 5))
        return 1;
    int file = atoi(words[0] + 7);
    bell = atoi(words[1] + 5);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    return 0;
}
