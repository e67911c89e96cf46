/* What both fuzzers demand of a configuration that was accepted: its dump is a description that is accepted
 * too, and dumps to the same bytes. Checkpoints keep the configuration as such a dump. */
#ifndef TESTS_FUZZ_REREAD_H
#define TESTS_FUZZ_REREAD_H

#include "base/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void demand(bool good, const char *what, const char *detail)
{
    if (good)
        return;
    fprintf(stderr, "%s\n%s\n", what, detail);
    abort();
}

static inline void demand_same_after_reread(const struct config *config)
{
    struct config again;
    struct text first = {0}, second = {0};
    struct err err;
    config_dump(config, &first);
    config_init(&again, config->groups);
    bool accepted = config_read_text(&again, "dump", first.at, first.length, &err);
    demand(accepted, "the dump of an accepted configuration was refused:", accepted ? "" : err.text);
    config_dump(&again, &second);
    demand(first.length == second.length && !memcmp(first.at, second.at, first.length),
           "the dump of the dump is another:", second.at);
    text_fini(&first);
    text_fini(&second);
    config_fini(&again);
}

#endif
