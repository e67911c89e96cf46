#include "cache/protocol/words.h"

#define VERB_WORD(id, name)      {name, COH_DO_##id},
#define TARGET_WORD(id, name)    {name, COH_TO_##id},
#define CONDITION_WORD(id, name) {name, COH_IF_##id},
#define PLAIN_WORD(id, name)     {name, COH_##id},
#define FLAG_WORD(id, bit, name) {name, bit},

const struct coh_word coh_verbs[] = {COH_VERBS(VERB_WORD){NULL, 0}};
const struct coh_word coh_targets[] = {COH_TARGETS(TARGET_WORD){NULL, 0}};
const struct coh_word coh_conditions[] = {COH_CONDITIONS(CONDITION_WORD){NULL, 0}};
const struct coh_word coh_classes[] = {COH_CLASSES(PLAIN_WORD){NULL, 0}};
const struct coh_word coh_operations[] = {COH_OPS(PLAIN_WORD){NULL, 0}};
const struct coh_word coh_send_flags[] = {COH_SEND_FLAGS(FLAG_WORD){NULL, 0}};
const struct coh_word coh_state_flags[] = {COH_STATE_FLAGS(FLAG_WORD){NULL, 0}};
const struct coh_word coh_roles[] = {
    {"cache", COH_CACHE}, {"home", COH_HOME}, {"l1", COH_L1}, {"gpu-l2", COH_GPU_L2}, {NULL, 0}};

const char *coh_word_name(const struct coh_word *words, unsigned value)
{
    for (; words->name; words++)
        if (words->value == value)
            return words->name;
    return "?";
}
