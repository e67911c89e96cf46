/* Replacement policies of plugins (include/heddle_plugin.h): numbers from REPLACE_OWN on, in the order in
 * which they were added. A policy's state is its row, as of the others. */
#ifndef CACHE_REPLACE_OWN_H
#define CACHE_REPLACE_OWN_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct replace_own {
    const char *name, *help;
    void (*used)(uint8_t *row, uint32_t ways, uint32_t way);
    void (*came)(uint8_t *row, uint32_t ways, uint32_t way);
    uint32_t (*choose)(uint8_t *row, uint32_t ways, uint64_t from, uint64_t seed);
};

enum { REPLACE_OWN_MOST = 16 };

#define REPLACE_FAMILY "replacement" /* of words (base/lexicon.h) */

extern struct replace_own replace_owns[REPLACE_OWN_MOST];

/* Before descriptions are read. */
bool replace_own_add(const struct replace_own *own, struct err *err);

/* The number of a policy by its name, of ours or of a plugin. False: there is none. And the name of a number.
 */
bool replace_find(const char *name, uint32_t *policy);
const char *replace_name(uint32_t policy); /* NULL behind the last */

/* ... which is one of `from`, or the process ends. */
uint32_t replace_own_choose(uint32_t policy, uint64_t *row, uint32_t ways, uint64_t from, uint64_t seed);

#endif
