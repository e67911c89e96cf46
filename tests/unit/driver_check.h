/* What the tests of the driver share: a driver of one's own, and its reports. */
#ifndef TESTS_UNIT_DRIVER_CHECK_H
#define TESTS_UNIT_DRIVER_CHECK_H

#include "check.h"
#include "driver/driver.h"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        int check_result = (call);                                                                           \
        if (check_result)                                                                                    \
            fail_msg("%s: %d, %s", #call, check_result, driver_detail());                                    \
    } while (0)

struct under_test {
    struct driver *driver;
    struct device *device;
    struct stream *first; /* the default one */
    struct text reports;
    unsigned report_count;
};

static inline void note_report(void *user, const char *text)
{
    struct under_test *t = user;
    text_add(&t->reports, "%s\n", text);
    t->report_count++;
}

static inline void start_with(struct under_test *t, struct driver_options options)
{
    struct err err;
    *t = (struct under_test){0};
    options.report = note_report;
    options.user = t;
    options.threads = options.threads ? options.threads : 2;
    t->driver = driver_new(&options, &err);
    if (!t->driver)
        fail_msg("%s", err.text);
    t->device = driver_device(t->driver, 0);
    t->first = device_default_stream(t->device);
}

static inline void start(struct under_test *t)
{
    start_with(t, (struct driver_options){0});
}

static inline void stop(struct under_test *t)
{
    driver_free(t->driver);
    text_fini(&t->reports);
}

static inline uint64_t address_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

#endif
