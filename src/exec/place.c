#include "exec/place.h"
#include "base/demangle.h"

#include <string.h>

void place_tell(const struct code_place *place, struct text *text)
{
    if (!place->ptx_line) {
        text_add(text, "the end of %s", demangled(place->kernel));
        return;
    }
    if (place->file)
        text_add(text, "%s:%u, ", place->file, place->line);
    text_add(text, "PTX line %u of %s (%s)", place->ptx_line, place->module, place->instruction);
}

void place_tell_short(const struct code_place *place, struct text *text)
{
    if (!place->ptx_line) {
        text_add(text, "the end of %s", demangled(place->kernel));
        return;
    }
    const char *folder = place->file ? strrchr(place->file, '/') : NULL;
    if (place->file)
        text_add(text, "%s:%u", folder ? folder + 1 : place->file, place->line);
    else
        text_add(text, "PTX line %u", place->ptx_line);
    text_add(text, " (%s)", place->instruction);
}
