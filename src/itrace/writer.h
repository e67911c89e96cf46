/* Writes the file of blocks of a trace. Blocks of a launch may end in any order, on any threads; the file has
 * them in the order of their numbers. */
#ifndef ITRACE_WRITER_H
#define ITRACE_WRITER_H

#include "itrace/chunk.h"
#include "itrace/itrace.h"

struct itrace_writer;
struct itrace_launch_writer;

/* A folder that does not exist yet, or is empty. limit: bytes of the file of blocks; 0: none. */
struct itrace_writer *itrace_writer_new(const char *folder, uint64_t limit, struct err *err);

/* No more fits, or the disk is full: what is recorded now is of no use. */
bool itrace_writer_is_full(const struct itrace_writer *writer);

struct itrace_launch_writer *itrace_launch_writer_new(struct itrace_writer *writer);
/* Copies the block's bytes, or takes them; the block is empty then, and can be used again. */
void itrace_launch_writer_add(struct itrace_launch_writer *launch, uint64_t number,
                              struct chunk_block *block);
/* The last block was added, or (good is false) the launch failed; its chunks go to `to`. False: it is not
 * recorded. */
bool itrace_launch_writer_end(struct itrace_launch_writer *launch, bool good, struct itrace_launch *to);

/* All is written, and the index: the trace is whole. Ends the writer in any case. */
bool itrace_writer_finish(struct itrace_writer *writer, struct itrace *trace, struct err *err);

/* Ends it, and leaves no trace; launch writers have ended. */
void itrace_writer_abandon(struct itrace_writer *writer);

#endif
