/* The words of protocols as text. For this room only. */
#ifndef PROTOCOL_WORDS_H
#define PROTOCOL_WORDS_H

#include "cache/protocol/protocol.h"

struct coh_word {
    const char *name; /* NULL ends a list */
    unsigned value;
};

extern const struct coh_word coh_verbs[], coh_targets[], coh_conditions[], coh_classes[], coh_roles[],
    coh_operations[], coh_send_flags[], coh_state_flags[];

const char *coh_word_name(const struct coh_word *words, unsigned value);

#endif
