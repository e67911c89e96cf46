#include "driver/region.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <string.h>

enum kind { WHOLE, PROFILER, RANGE };
enum { PATTERN_BYTES = 1024 };

static enum kind kind;
static char pattern[PATTERN_BYTES];
static _Atomic bool profiling, met;
static _Atomic int depth_all;   /* ranges of the process that are open */
static _Thread_local int depth; /* of this thread */

bool region_init(const char *text, struct err *err)
{
    kind = WHOLE;
    if (!text)
        return true;
    bool is_range = !strncmp(text, "nvtx:", 5) && text[5] && strlen(text + 5) < sizeof pattern;
    if (!is_range && strcmp(text, "profiler") != 0)
        return err_set(err, "expected profiler or nvtx:NAME, not '%.80s'", text);
    kind = is_range ? RANGE : PROFILER;
    if (is_range)
        memcpy(pattern, text + 5, strlen(text + 5) + 1);
    return true;
}

bool region_is_open(void)
{
    bool open = kind == WHOLE || (kind == PROFILER ? profiling : depth || depth_all);
    met |= open;
    return open;
}

void region_profile(bool on)
{
    profiling = on;
}

bool region_is_range(const char *name)
{
    return kind == RANGE && name && !fnmatch(pattern, name, 0);
}

void region_enter(void)
{
    depth++;
}

void region_leave(void)
{
    depth--;
}

void region_enter_all(void)
{
    depth_all++;
}

void region_leave_all(void)
{
    depth_all--;
}

bool region_was_missed(void)
{
    return kind != WHOLE && !met;
}
