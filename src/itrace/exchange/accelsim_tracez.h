/* A kernel of Accel-Sim's in its packed form, .tracez, as the lines of a .traceg:
 *
 *   header, as text, up to a byte of zero
 *   u32 bytes of the dictionary, u32 unused; the dictionary of zstd
 *   for each warp: u32 instructions, u32 pieces; for each piece: u32 bytes, a frame of zstd with lines
 *   index: u32 blocks; for each: its place in the grid, in its cluster, warps; for each warp, where it is
 *   u64 where the index is */
#ifndef EXCHANGE_ACCELSIM_TRACEZ_H
#define EXCHANGE_ACCELSIM_TRACEZ_H

#include "base/err.h"

#include <stdint.h>

struct tracez;

bool tracez_is(const char *path); /* by its name */
struct tracez *tracez_open(const char *path, struct err *err);
void tracez_close(struct tracez *z); /* NULL: nothing */

/* As import_line: 0, IMPORT_BAD or IMPORT_END; line: its number. */
int tracez_line(struct tracez *z, const char **at, const char **end, uint64_t *line, struct err *err);

#endif
