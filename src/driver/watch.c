#include "driver/watch.h"
#include "base/demangle.h"
#include "system/machine.h"

#include <stdio.h>

void watch_init(struct watch *watch, bool wanted)
{
    *watch = (struct watch){0};
    progress_init(&watch->line, watch->what, "warp instructions");
    watch->line.terminal &= wanted;
}

void watch_fini(struct watch *watch)
{
    progress_fini(&watch->line);
}

void watch_task(struct watch *watch, const struct launch *launch)
{
    if (!launch || !watch->line.terminal)
        return;
    watch_fini(watch);
    progress_init(&watch->line, watch->what, "warp instructions"); /* the time left is this kernel's */
    struct text name = {0};
    demangle(kernel_facts(launch->kernel)->name, &name);
    snprintf(watch->kernel, sizeof watch->kernel, "%s", name.at);
    text_fini(&name);
}

void watch_show(void *user, const struct machine_progress *progress)
{
    struct watch *watch = user;
    double share = progress->blocks_done ? (double)progress->blocks_done / (double)progress->blocks : -1;
    snprintf(watch->what, sizeof watch->what, "%s: %llu of %llu blocks, %llu cycles", watch->kernel,
             (unsigned long long)progress->blocks_done, (unsigned long long)progress->blocks,
             (unsigned long long)progress->cycles);
    progress_update(&watch->line, share, progress->instructions);
}
