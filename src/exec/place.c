#include "exec/place.h"
#include "base/demangle.h"

#include <string.h>

static bool is_end(const struct code_place *place)
{
    return !place->ptx_line && !place->code_at;
}

static void tell_code(const struct code_place *place, struct text *text)
{
    if (place->ptx_line)
        text_add(text, "PTX line %u", place->ptx_line);
    else
        text_add(text, "byte 0x%x", place->code_at);
}

void place_tell(const struct code_place *place, struct text *text)
{
    if (is_end(place)) {
        text_add(text, "the end of %s", demangled(place->kernel));
        return;
    }
    if (place->file)
        text_add(text, "%s:%u, ", place->file, place->line);
    tell_code(place, text);
    text_add(text, " of %s (%s)", place->module, place->instruction);
}

void place_tell_short(const struct code_place *place, struct text *text)
{
    if (is_end(place)) {
        text_add(text, "the end of %s", demangled(place->kernel));
        return;
    }
    const char *folder = place->file ? strrchr(place->file, '/') : NULL;
    if (place->file)
        text_add(text, "%s:%u", folder ? folder + 1 : place->file, place->line);
    else
        tell_code(place, text);
    text_add(text, " (%s)", place->instruction);
}

int place_compare_code(const struct code_place *a, const struct code_place *b)
{
    int order = (a->ptx_line > b->ptx_line) - (a->ptx_line < b->ptx_line);
    return order ? order : (a->code_at > b->code_at) - (a->code_at < b->code_at);
}
