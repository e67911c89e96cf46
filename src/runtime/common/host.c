/* Programs on simulated CPU cores (heddle run --cpu). A function of ours runs in the program, but what it
 * does itself takes no time of the core: the call takes as long as the system's description says, and what it
 * waits for as long as the machine says. Before it, the machine is let on to the core's time; behind it, the
 * core waits for the machine's. */
#include "runtime/common/common.h"
#include "cpu/runs/magic.h"
#include "driver/picture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread unsigned depth; /* functions may call each other */

static bool is_simulated(void)
{
    static _Atomic int known; /* 0: not asked yet */
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (!is) {
        is = getenv(CPURUN_VARIABLE) ? 1 : -1;
        atomic_store(&known, is);
    }
    return is > 0;
}

static void begin_call(void)
{
    uint64_t now_ps = 0;
    syscall(CPURUN_MAGIC, CPURUN_ASK_TIME, &now_ps);
    syscall(CPURUN_MAGIC, CPURUN_MUTE, 0);
    struct driver *driver = common_driver();
    if (driver)
        driver_host_reached(driver, now_ps);
}

static void end_call(void)
{
    struct driver *driver = common_driver();
    uint64_t now_ps = driver ? driver_host_leaves(driver) : 0;
    syscall(CPURUN_MAGIC, CPURUN_UNMUTE, 0);
    if (now_ps)
        syscall(CPURUN_MAGIC, CPURUN_SET_TIME, now_ps);
}

void common_enter(const char *name)
{
    picture_call_begins(name);
    if (is_simulated() && !depth++)
        begin_call();
}

int common_leave(int result)
{
    if (is_simulated() && !--depth)
        end_call();
    picture_call_ends();
    return result;
}

void common_pause(void)
{
    if (is_simulated() && depth)
        end_call();
}

void common_resume(void)
{
    if (is_simulated() && depth)
        begin_call();
}
