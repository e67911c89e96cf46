/* What the unit tests share: cmocka, and checks of error texts that show the whole text when they fail. */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The text a user would see has this in it. */
static inline void check_says(const struct err *err, const char *part)
{
    if (!strstr(err->text, part))
        fail_msg("the error says\n  %s\nand not\n  %s", err->text, part);
}

/* A folder of its own for a test that writes files. */
struct folder {
    char path[64], file[128];
};

static inline void folder_make(struct folder *folder)
{
    snprintf(folder->path, sizeof folder->path, "/tmp/heddle-unit-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
}

/* The path of a file in it; overwritten by the next call. */
static inline const char *folder_file(struct folder *folder, const char *name)
{
    snprintf(folder->file, sizeof folder->file, "%s/%s", folder->path, name);
    return folder->file;
}

static inline const char *folder_write(struct folder *folder, const char *name, const char *content)
{
    FILE *stream = fopen(folder_file(folder, name), "wb");
    assert_non_null(stream);
    fputs(content, stream);
    assert_int_equal(fclose(stream), 0);
    return folder->file;
}

/* Removes the files named, up to NULL, and the folder: fails when something else was left in it. */
static inline void folder_remove(struct folder *folder, const char *const *names)
{
    for (; *names; names++)
        assert_int_equal(unlink(folder_file(folder, *names)), 0);
    assert_int_equal(rmdir(folder->path), 0);
}

#define LIST(...)                                                                                            \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }

#endif
