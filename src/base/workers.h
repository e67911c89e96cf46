/* Threads that share out pieces of work. Which thread does which piece is no part of any result. */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stdint.h>

struct workers;

struct workers *workers_new(unsigned threads); /* the caller's included */
void workers_free(struct workers *workers);
unsigned workers_count(const struct workers *workers);

/* Calls work(user, piece, worker) for each piece from 0 to pieces - 1; returns when all are done. */
typedef void work_fn(void *user, uint32_t piece, unsigned worker);
void workers_run(struct workers *workers, uint32_t pieces, work_fn *work, void *user);

#endif
