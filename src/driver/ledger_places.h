/* Converts places in code to text and back, for the files of a ledger: fields separated by tabs. */
#ifndef DRIVER_LEDGER_PLACES_H
#define DRIVER_LEDGER_PLACES_H

#include "base/names.h"
#include "exec/place.h"

void ledger_place_text_add(struct text *text, const struct code_place *place);

/* Places that texts have named, each once: the same place is the same pointer. */
struct ledger_place_list {
    struct names keys;  /* texts of places */
    struct names words; /* that places refer to */
    struct code_place **at;
    size_t capacity;
};

/* The place of a text, which lasts as long as the list; NULL: the text is none. */
const struct code_place *ledger_place_list_read(struct ledger_place_list *list, const char *text);
void ledger_place_list_fini(struct ledger_place_list *list);

#endif
