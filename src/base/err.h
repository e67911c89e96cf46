/* Errors of two kinds. The user's mistakes travel as a struct err, the last argument of a function that
 * returns false; the caller who owns the struct decides what to do, and only the cli prints it.
 * Our own mistakes end the process on the spot, through BUG() and REQUIRE(). */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

struct err {
    char text[4096]; /* one line, without a newline at its end; a stall report may add further lines */
};

/* Fills `err` and returns false, so that a caller can write `return err_set(err, ...)`. */
bool err_set(struct err *err, const char *format, ...) __attribute__((format(__printf__, 2, 3)));

/* Adds to the end of the text. */
void err_add(struct err *err, const char *format, ...) __attribute__((format(__printf__, 2, 3)));

_Noreturn void bug_at(const char *file, int line, const char *format, ...)
    __attribute__((format(__printf__, 3, 4), cold));

/* A plugin did what it must not: the process ends, as nothing that comes after would be of use. */
_Noreturn void err_of_plugin(const char *format, ...) __attribute__((format(__printf__, 1, 2), cold));

#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (__builtin_expect(!(condition), 0))                                                               \
            BUG("not so: %s", #condition);                                                                   \
    } while (0)

#endif
