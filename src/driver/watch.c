#include "driver/watch.h"
#include "base/demangle.h"
#include "system/machine.h"

#include <stdio.h>

void driver_watch_init(struct driver_watch *watch, bool wanted)
{
    *watch = (struct driver_watch){0};
    progress_init(&watch->line, watch->what, "warp instructions");
    watch->line.terminal &= wanted;
}

static void name_kernel(struct driver_watch *watch, const struct launch *launch)
{
    struct text name = {0};
    demangle(kernel_facts(launch->kernel)->name, &name);
    snprintf(watch->kernel, sizeof watch->kernel, "%s", name.at);
    text_fini(&name);
}

void driver_watch_fini(struct driver_watch *watch)
{
    progress_fini(&watch->line);
}

void driver_watch_task(struct driver_watch *watch, const struct launch *launch)
{
    if (!launch || !watch->line.terminal)
        return;
    driver_watch_fini(watch);
    progress_init(&watch->line, watch->what, "warp instructions"); /* the time left is this kernel's */
    name_kernel(watch, launch);
}

void driver_watch_begun(struct driver_watch *watch, const struct launch *launch, uint64_t begun,
                        uint64_t instructions)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (!watch->kernel[0]) {
        progress_init(&watch->line, watch->what, "warp instructions");
        name_kernel(watch, launch);
    }
    snprintf(watch->what, sizeof watch->what, "%s: %llu of %llu blocks", watch->kernel,
             (unsigned long long)begun, (unsigned long long)blocks);
    progress_update(&watch->line, begun < blocks ? (double)begun / (double)blocks : -1, instructions);
}

void driver_watch_show(void *user, const struct machine_progress *progress)
{
    struct driver_watch *watch = user;
    double share = progress->blocks_done ? (double)progress->blocks_done / (double)progress->blocks : -1;
    snprintf(watch->what, sizeof watch->what, "%s: %llu of %llu blocks, %llu cycles", watch->kernel,
             (unsigned long long)progress->blocks_done, (unsigned long long)progress->blocks,
             (unsigned long long)progress->cycles);
    progress_update(&watch->line, share, progress->instructions);
}
