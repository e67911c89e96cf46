/* Feeds the CPU models with what a program executes: `heddle run --cpu` loads it as
 *
 *   qemu-x86_64 -plugin libheddle_cpu.so,memory=DESCRIPTOR PROGRAM
 *
 * with the memory that both share (cpu/runs/shared.h) open as that descriptor. */
#include "cpu/qemu/plugin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int qemu_plugin_version = PLUGIN_VERSION;
struct cpurun_shared *tap_shared;

int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int count, char **words)
{
    if (info->system_emulation || count != 1 || strncmp(words[0], "memory=", 7))
        return 1;
    int file = atoi(words[0] + 7);
    tap_shared = mmap(NULL, sizeof *tap_shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file); /* the program has only descriptors of its own */
    if (tap_shared == MAP_FAILED)
        return 1;
    strncpy(tap_shared->target, info->target_name, sizeof tap_shared->target - 1);
    tap_watch_threads(id);
    tap_watch_calls(id, info->target_name);
    tap_replace_time();
    qemu_plugin_register_vcpu_tb_trans_cb(id, tap_translate);
    atomic_store(&tap_shared->began, 1);
    return 0;
}
