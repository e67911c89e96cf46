/* Catches what a test writes to stderr. */
#ifndef TESTS_UNIT_STDERR_H
#define TESTS_UNIT_STDERR_H

#include "check.h"

struct caught {
    int real, file;
    char text[4096];
};

static inline void catch_stderr(struct caught *caught)
{
    char path[] = "/tmp/heddle-unit-XXXXXX";
    fflush(stderr);
    caught->file = mkstemp(path);
    assert_true(caught->file >= 0);
    unlink(path);
    caught->real = dup(STDERR_FILENO);
    dup2(caught->file, STDERR_FILENO);
}

/* Gives stderr back; what was caught is in `text`. */
static inline void release_stderr(struct caught *caught)
{
    fflush(stderr);
    dup2(caught->real, STDERR_FILENO);
    close(caught->real);
    ssize_t got = pread(caught->file, caught->text, sizeof caught->text - 1, 0);
    close(caught->file);
    assert_true(got >= 0);
    caught->text[got] = 0;
}

#endif
