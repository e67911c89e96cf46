/* Launches in simulated time, on a small GPU of Heddle's timing model. */
#ifndef ORACLE_TIMED_H
#define ORACLE_TIMED_H

#include "exec/exec.h"

struct timed;

struct timed *timed_new(unsigned threads, struct err *err);

/* One that runs each kernel three times: straight on, with a checkpoint written somewhere in the middle, and
 * from that checkpoint on. All must give and count the same. */
struct timed *timed_new_cut(struct err *err);
void timed_free(struct timed *timed);

/* Memory that kernels may use, aligned as a GPU's is; all of it is free again after timed_reset. */
void *timed_alloc(struct timed *timed, size_t bytes);
void timed_reset(struct timed *timed);

/* The digest is of all that was counted: the same for any number of threads. */
bool timed_run(struct timed *timed, const struct launch *launch, struct launch_result *result,
               uint64_t *digest, struct err *err);

#endif
