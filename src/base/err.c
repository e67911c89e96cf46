#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool err_set(struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return false;
}

void err_add(struct err *err, const char *format, ...)
{
    size_t used = strlen(err->text);
    va_list args;
    va_start(args, format);
    vsnprintf(err->text + used, sizeof err->text - used, format, args);
    va_end(args);
}

_Noreturn void bug_at(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "heddle: bug at %s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputs("\nThis is a mistake in Heddle, not in your input: please report it with the command you ran.\n",
          stderr);
    va_end(args);
    abort();
}

_Noreturn void err_of_plugin(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("heddle: plugin: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    _exit(EXIT_FAILURE);
}
