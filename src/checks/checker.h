/* Checks launches while they run, one at a time, by an observer (exec/observer.h). Launches run without time,
 * on one thread of the host, so that all findings are the same in every run. */
#ifndef CHECKS_CHECKER_H
#define CHECKS_CHECKER_H

#include "checks/findings.h"
#include "exec/observer.h"

struct checker;
struct checker *checker_new(uint32_t checks); /* a bit for each */
void checker_free(struct checker *checker);
struct findings *checker_findings(struct checker *checker);

/* A launch that is about to run, by its number, and some of the checks; its kernel has been prepared for
 * models that keep time. And it ran, to its end or to a fault. */
struct observer *checker_begin(struct checker *checker, const struct launch *launch, uint64_t number,
                               uint32_t checks);
void checker_end(struct checker *checker, struct observer *observer);

/* Which bytes of global memory were written: all others are those of new memory. */
void checker_new_memory(struct checker *checker, uint64_t at, uint64_t bytes);
void checker_old_memory(struct checker *checker, uint64_t at, uint64_t bytes); /* it ends */
void checker_written(struct checker *checker, uint64_t at, uint64_t bytes);
void checker_copied(struct checker *checker, uint64_t to, uint64_t from, uint64_t bytes);
/* How many bytes from an address on were written; all: `bytes`. */
uint64_t checker_written_from(struct checker *checker, uint64_t at, uint64_t bytes);

#endif
