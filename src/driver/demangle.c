#include "driver/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One part, "5saxpy", is added; gives what follows it, or NULL. */
static const char *add_part(const char *at, const char *before, struct text *text)
{
    char *name;
    unsigned long length = strtoul(at, &name, 10);
    if (!isdigit((unsigned char)*at) || length > strlen(name))
        return NULL;
    if (length >= 12 && !strncmp(name, "_GLOBAL__N__", 12)) /* a namespace without a name */
        return name + length;
    text_add(text, "%s%.*s", text->length ? before : "", (int)length, name);
    return name + length;
}

void demangle(const char *name, struct text *text)
{
    struct text parts = {0};
    const char *at = name;
    if (!strncmp(name, "_ZN", 3)) {
        for (at += 3; at && isdigit((unsigned char)*at);)
            at = add_part(at, "::", &parts);
    } else if (!strncmp(name, "_Z", 2)) {
        at += 2;
        at += *at == 'L'; /* static */
        at = add_part(at, "", &parts);
    }
    text_add(text, "%s", at && parts.length ? parts.at : name);
    text_fini(&parts);
}
