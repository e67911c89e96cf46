/* Internals of texture.c and texel.c: texels of every format, and the numbers that filtering computes from
 * them. */
#ifndef EXEC_TEXEL_H
#define EXEC_TEXEL_H

#include "exec/texture.h"

unsigned texel_bytes(const struct texture *texture);

/* Results are floats; else they are integers, as they are in memory. */
bool texel_gives_floats(const struct texture *texture);

/* The four channels as they are: integers in 32 bits, floats as f32. Those that the format lacks are 0. */
void texel_read(const struct texture *texture, const unsigned char *at, uint32_t raw[4]);
void texel_border(const struct texture *texture, uint32_t raw[4]); /* the border's colour as such a texel */

/* The result of a channel when nothing is filtered. */
uint32_t texel_result(const struct texture *texture, unsigned channel, uint32_t raw);

/* Filtering: the number that is weighed, and the result that a sum of such becomes. */
double texel_number(const struct texture *texture, unsigned channel, uint32_t raw);
uint32_t texel_filtered(const struct texture *texture, unsigned channel, double sum);

#endif
