/* For those who add cases. */
#ifndef ORACLE_CASE_LIST_H
#define ORACLE_CASE_LIST_H

#include "cases.h"

/* A case without operands and body as yet; valid until the next one is added. */
struct oracle_case *case_add(struct oracle_cases *cases, const char *name, unsigned groups);
void case_source(struct oracle_case *c, enum value value);
void case_result(struct oracle_case *c, enum value value);

void add_matrices(struct oracle_cases *cases);
void add_video(struct oracle_cases *cases);
void add_vector_atomics(struct oracle_cases *cases);

#endif
