/* One program by several names: the first process of the guest (init), and `heddle-roi begin|end`, which
 * marks a region of interest. */
#include "guest/inside.h"
#include "heddle_roi.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void inside_say(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    dprintf(STDERR_FILENO, "heddle: guest: ");
    vdprintf(STDERR_FILENO, format, rest);
    dprintf(STDERR_FILENO, "\n");
    va_end(rest);
}

static int mark(const char *what)
{
    if (what && !strcmp(what, "begin"))
        HEDDLE_ROI_BEGIN();
    else if (what && !strcmp(what, "end"))
        HEDDLE_ROI_END();
    else
        return dprintf(STDERR_FILENO, "heddle-roi: expected begin or end\n"), 2;
    return 0;
}

int main(int count, char **words)
{
    const char *name = strrchr(words[0], '/');
    name = name ? name + 1 : words[0];
    if (!strcmp(name, "heddle-roi"))
        return mark(count == 2 ? words[1] : NULL);
    return getpid() == 1 ? inside_init() : 2;
}
