/* Reads a trace: its index, and its blocks by number, from any threads. */
#ifndef ITRACE_READER_H
#define ITRACE_READER_H

#include "itrace/chunk.h"
#include "itrace/itrace.h"

struct itrace_reader;

struct itrace_reader *itrace_reader_new(const char *folder, struct err *err);
void itrace_reader_free(struct itrace_reader *reader);
const struct itrace *itrace_reader_trace(const struct itrace_reader *reader);
const char *itrace_reader_folder(const struct itrace_reader *reader); /* from the root */

/* Bytes of the file of blocks. */
uint64_t itrace_reader_bytes(const struct itrace_reader *reader);

/* The warps of a block of a recorded launch. To be called for each of its warps, which gives it back when it
 * ends. A chunk is inflated when the first of its warps begins, and kept until all have ended, or while it is
 * one of the few that were used last. NULL with a reason. */
const struct chunk_warp *itrace_reader_take(struct itrace_reader *reader, size_t launch, uint64_t block,
                                            struct err *err);
void itrace_reader_give(struct itrace_reader *reader, size_t launch, uint64_t block);

/* The same, once for all warps of the block: threads lock a chunk less often. */
const struct chunk_warp *itrace_reader_take_block(struct itrace_reader *reader, size_t launch, uint64_t block,
                                                  struct err *err);
void itrace_reader_give_block(struct itrace_reader *reader, size_t launch, uint64_t block);

/* For a thread that has nothing else to do: inflates the chunk that will be the next one. False: there was
 * nothing to do. */
bool itrace_reader_ahead(struct itrace_reader *reader, size_t launch);

#endif
