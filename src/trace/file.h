/* Reads a trace of ours, any block of it at any time, by any number of threads at once.
 *
 *   struct trace_file *file = trace_file_open(path, err);
 *   for (uint64_t i = 0; i < trace_file_blocks(file); i++)
 *       trace_block_read(file, i, into, err);       // room for TRACE_BLOCK_ACCESSES
 *   trace_file_close(file);
 */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "base/err.h"
#include "trace/format.h"

struct trace_file;

/* "-" is standard input, which must be a file. Whether it is whole is known then; whether a block is sound,
 * when it is read. */
struct trace_file *trace_file_open(const char *path, struct err *err);
void trace_file_close(struct trace_file *file);

uint64_t trace_file_accesses(const struct trace_file *file);
uint64_t trace_file_blocks(const struct trace_file *file);
uint64_t trace_file_bytes(const struct trace_file *file);
uint64_t trace_file_last_instruction(const struct trace_file *file);

/* What the index says of a block. All but the last have TRACE_BLOCK_ACCESSES. */
const struct trace_index_row *trace_file_block(const struct trace_file *file, uint64_t number);

/* Its accesses, as many as the index says; false: err names the file and the block. */
bool trace_block_read(struct trace_file *file, uint64_t number, struct trace_access *into, struct err *err);

#endif
