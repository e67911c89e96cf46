#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const level_names[] = {
#define L(name, help) #name,
    LOG_LEVELS(L)
#undef L
};

static enum log_level shown = LOG_warn;

void log_set_level(enum log_level level)
{
    shown = level;
}

bool log_level_parse(const char *name, enum log_level *level, struct err *err)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return err_set(err, "'%s' is no log level: expected error, warn, info or debug", name);
}

void log_line(enum log_level level, const char *format, ...)
{
    if (level > shown)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "heddle: %s: %s\n", level_names[level], text); /* one call: lines of threads do not mix */
}
