/* What the engine's tests have in common. */
#ifndef TESTS_ENGINE_CHECK_H
#define TESTS_ENGINE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"

/* For models that the test made right: no error is expected. */
#define must(call)                                                                                           \
    do {                                                                                                     \
        struct err must_err = {.text = ""};                                                                  \
        struct err *err = &must_err;                                                                         \
        if (!(call))                                                                                         \
            fail_msg("%s: %s", #call, err->text);                                                            \
    } while (0)

#define assert_says(err, part)                                                                               \
    do {                                                                                                     \
        if (!strstr((err).text, part))                                                                       \
            fail_msg("'%s' is not in: %s", part, (err).text);                                                \
    } while (0)

static inline enum engine_outcome run_to(struct engine *engine, uint64_t until, unsigned threads,
                                         struct err *err)
{
    return engine_run(engine, &(struct engine_run){.until = until, .threads = threads}, err);
}

#endif
