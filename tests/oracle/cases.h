/* What the vectors try: instructions, each with the kinds of its operands, as a piece of PTX. */
#ifndef ORACLE_CASES_H
#define ORACLE_CASES_H

#include "base/text.h"
#include "values.h"

#include <stdbool.h>

enum { CASE_SOURCES = 24, CASE_RESULTS = 8, CASE_LANES = 32, CASE_SLOT = 8 };

/* A group is a warp: its lanes' operands, and what comes out. In memory a group's operands follow each other,
 * each as 32 slots of 8 bytes; so do its results. */
struct oracle_case {
    char *name; /* the opcode, mostly */
    char *body; /* reads registers %s0, %s1..., writes %d0, %d1...; %lane is the lane, %own its first slot of
                   results */
    unsigned groups;
    unsigned source_count, result_count;
    enum value sources[CASE_SOURCES], results[CASE_RESULTS];
    bool in_memory; /* the body loads and stores, from %in and to %out */
    bool tame;      /* most groups are without infinities and NaN, which a matrix has soon too many of */
};

struct oracle_cases {
    struct oracle_case *at;
    size_t count, capacity;
};

/* All of them, always in the same order. */
void cases_init(struct oracle_cases *cases);
void cases_fini(struct oracle_cases *cases);

size_t case_source_bytes(const struct oracle_case *c); /* of a group */
size_t case_result_bytes(const struct oracle_case *c);

/* The operands of all groups, from a stream that the case's name seeds. */
void case_fill(const struct oracle_case *c, uint64_t *slots);

/* The head of a module; a kernel of it for the case. */
void case_write_head(struct text *text);
void case_write_kernel(const struct oracle_case *c, const char *kernel, struct text *text);

#endif
