/* Profiles as text, for the lines that a process leaves of its launches, and back: a line for each place in
 * code, which gets a number, and a list of numbers for what was counted there. */
#ifndef GPU_PLACE_LINE_H
#define GPU_PLACE_LINE_H

#include "base/names.h"
#include "core/counters.h"
#include "exec/place.h"

/* Members of a JSON object, each with a comma before it. */
void place_line_add(struct text *line, const struct code_place *place);

/* Places that lines have named, each once: the same place is the same pointer. */
struct place_list {
    struct names keys;  /* what lines say of a place */
    struct names words; /* texts of places */
    struct code_place **at;
    size_t capacity;
};

/* The place of a line, which lasts as long as the list; NULL: the line has none. */
const struct code_place *place_list_read(struct place_list *list, const char *line);
void place_list_fini(struct place_list *list);

/* "[place,counts,stalls...]" */
void profile_line_add(struct text *line, size_t place, const struct op_profile *counts);

/* Gives what is behind it, or NULL where no such list begins. */
const char *profile_line_read(const char *at, uint64_t *place, struct op_profile *counts);

#endif
