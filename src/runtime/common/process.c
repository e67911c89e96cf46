/* The driver of the process: its beginning and its end. */
#include "runtime/common/common.h"
#include "base/mem.h"

#include <unistd.h>

static struct driver *driver;

static void out_of_memory(size_t bytes)
{
    fprintf(stderr, "heddle: out of memory: no room for %zu bytes more\n", bytes);
    _exit(1);
}

struct driver *common_start(const char *default_system)
{
    struct err err;
    mem_on_exhaustion(out_of_memory);
    driver_set_default_system(default_system);
    common_enter("start"); /* threads that the driver starts are none of the program's */
    driver = driver_get(&err);
    if (!driver)
        fprintf(stderr, "heddle: %s\n", err.text);
    common_leave(0);
    return driver;
}

struct driver *common_driver(void)
{
    return driver;
}

int common_is_started(void)
{
    return driver != NULL;
}

bool common_is_forked(void)
{
    return driver && driver_is_forked(driver);
}

/* What a program launched is counted, whether it waits for it or not, or the statistics would differ from run
 * to run. */
__attribute__((destructor)) static void end(void)
{
    if (!driver || common_is_forked())
        return;
    common_enter("exit");
    for (unsigned i = 0; i < driver_device_count(driver); i++)
        device_synchronize(driver_device(driver, i));
    driver_at_exit();
    common_leave(0);
}
