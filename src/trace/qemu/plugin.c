/* Records accesses of a program that QEMU runs: `heddle trace record` loads it as
 *
 *   qemu-x86_64 -plugin libheddle_record.so,memory=DESCRIPTOR PROGRAM
 *
 * with the memory that both share (record/shared.h) open as that descriptor. */
#include "qemu/plugin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int qemu_plugin_version = PLUGIN_VERSION;
struct record_shared *shared;

int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int count, char **words)
{
    if (info->system_emulation || count != 1 || strncmp(words[0], "memory=", 7))
        return 1;
    int file = atoi(words[0] + 7);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file); /* the program has only descriptors of its own */
    if (shared == MAP_FAILED)
        return 1;
    threads_init(info->target_name);
    phases_begin(id);
    return 0;
}
