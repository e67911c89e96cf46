/* What the programs of this folder share: each checks what it does and ends with "NAME: ok". They run on a
 * real GPU, too, where they say the same. */
#ifndef TESTS_PROGRAMS_CHECK_H
#define TESTS_PROGRAMS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static int check_failures;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                   \
            check_failures++;                                                                                \
        }                                                                                                    \
    } while (0)

/* A call gives this code, and no other. */
#define GIVES(code, call)                                                                                    \
    do {                                                                                                     \
        int check_got = (int)(call);                                                                         \
        if (check_got != (int)(code)) {                                                                      \
            printf("%s:%d: %s gives %d, not %d\n", __FILE__, __LINE__, #call, check_got, (int)(code));       \
            check_failures++;                                                                                \
        }                                                                                                    \
    } while (0)

#define GOOD(call) GIVES(0, call)

static inline int check_end(const char *name)
{
    if (!check_failures)
        printf("%s: ok\n", name);
    return check_failures != 0;
}

#endif
