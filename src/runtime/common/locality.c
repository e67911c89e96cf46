/* include/heddle_locality.h, for the driver of the process. */
#include "runtime/common/common.h"
#include "driver/locality.h"

static struct driver *(*get_driver)(void);

/* At the beginning of each call: what an older one said is gone. */
static enum result usable(void)
{
    bool good = get_driver() && !common_is_forked();
    err_set(driver_detail_err(), "%s", good ? "" : "the library was not initialized in this process");
    return good ? RESULT_SUCCESS : RESULT_NOT_INITIALIZED;
}

static struct device *device_at(unsigned device)
{
    struct device *on = usable() ? NULL : driver_device(get_driver(), device);
    if (!on && !*driver_detail())
        err_set(driver_detail_err(), "there is no device %u", device);
    return on;
}

static unsigned members(unsigned device)
{
    const struct device *on = device_at(device);
    return on ? locality_members(on) : 0;
}

static int member_facts(unsigned device, unsigned member, struct heddle_member *facts)
{
    struct device *on = device_at(device);
    struct locality_member found;
    enum result result = on ? locality_member(on, member, &found) : RESULT_INVALID_DEVICE;
    if (!result)
        *facts = (struct heddle_member){found.sm_count, found.first_sm, found.memory, found.placed};
    return (int)result;
}

static int place_memory(const void *buffer, size_t offset, size_t bytes, unsigned member)
{
    enum result result = usable();
    return (int)(result ? result
                        : locality_place_memory(get_driver(), (uintptr_t)buffer + offset, bytes, member));
}

static int place_blocks(const struct heddle_blocks *ranges, size_t count)
{
    enum result result = usable();
    return (int)(result ? result : locality_place_ranges(ranges, count));
}

struct heddle_locality common_locality(struct driver *(*driver)(void))
{
    get_driver = driver;
    return (struct heddle_locality){.version = 1,
                                    .in_use = common_is_started,
                                    .members = members,
                                    .member = member_facts,
                                    .place_memory = place_memory,
                                    .place_blocks = place_blocks,
                                    .error = driver_detail};
}
