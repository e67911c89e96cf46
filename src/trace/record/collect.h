/* heddle's side of a recording: takes what the plugin hands over, and writes a trace of each thread. */
#ifndef RECORD_COLLECT_H
#define RECORD_COLLECT_H

#include "base/err.h"
#include "record/shared.h"

/* The memory that both sides share, and its descriptor, which the program's process is started with. */
struct record_shared *record_shared_new(int *file, struct err *err);
void record_shared_free(struct record_shared *shared, int file);

/* A thread of which there is a trace. */
struct record_thread {
    uint32_t number;
    uint64_t accesses, writes, instructions;
};

struct collect;

struct collect_ops {
    void (*failed)(void *user);                   /* nothing more can be written: end the program */
    void (*progress)(void *user, uint64_t count); /* now and then: accesses so far */
};

/* Starts threads that take what comes, into FOLDER/NUMBER.htrace. */
struct collect *collect_new(struct record_shared *shared, const char *folder, const struct collect_ops *ops,
                            void *user);

/* Once the program has ended: takes the rest. False: a trace could not be written, and err says why. */
bool collect_finish(struct collect *collect, struct err *err);

/* By their numbers. */
const struct record_thread *collect_threads(const struct collect *collect, size_t *count);
void collect_free(struct collect *collect);

#endif
