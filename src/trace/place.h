/* Where a set of traces goes: into a folder beside, until all of them are whole; then to PREFIX.0.htrace,
 * PREFIX.1.htrace and so on, and what an earlier set left under such names goes. */
#ifndef TRACE_PLACE_H
#define TRACE_PLACE_H

#include "base/err.h"
#include "base/text.h"

struct output_place;

struct output_place *output_new(const char *prefix, struct err *err);
const char *output_folder(const struct output_place *place); /* has to be filled with NUMBER.htrace */

/* Gives them their names; false: err says why not. */
bool output_commit(struct output_place *place, struct err *err);

void output_name(const struct output_place *place, unsigned number, struct text *path);
void output_free(struct output_place *place); /* with the folder and all in it */

#endif
