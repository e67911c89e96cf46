/* GPUs of different descriptions in one system: sections [gpus.NAME]. For this room only. */
#ifndef SYSTEM_MIX_H
#define SYSTEM_MIX_H

#include "system/system.h"

#define MIX_PARAMS(P, S)                                                                                     \
    P(S, text, system, "", "", "the description of these GPUs, by name or path")                             \
    P(S, count, count, "1", "1..64", "how many of them")

struct mix_spec {
    MIX_PARAMS(PARAM_FIELD, mix_spec)
};

/* Reads the descriptions that sections name. GPUs are numbered in the order of the sections. */
bool mix_apply(struct system *system, struct err *err);
void mix_fini(struct system *system);

/* What all GPUs of a machine must have in common. */
bool mix_check(const struct system *system, struct err *err);

#endif
