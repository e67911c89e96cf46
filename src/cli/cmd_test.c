/* heddle test: hands over to tools/test, which builds the sanitized variants and runs CTest. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run(int count, char **words)
{
    struct err err;
    const char *home = getenv("HEDDLE_HOME");
    char script[4096];
    snprintf(script, sizeof script, "%s/tools/test", home ? home : ".");
    char **arguments = words - 1; /* the word "test" stands there, and serves as the script's name */
    (void)count;
    arguments[0] = script;
    execv(script, arguments);
    err_set(&err, "test: cannot run %s: %s; call ./heddle test in the source tree", script, strerror(errno));
    return complain(EXIT_FAILED, &err);
}

const struct cmd cmd_test = {
    .name = "test",
    .arguments = "[--quick] [NAME|CTest options]",
    .help = "build and run all tests",
    .more =
        "Runs everything CTest has: unit tests under the address and undefined-behaviour sanitizers, those "
        "with\n"
        "threads under the thread sanitizer, short runs of the fuzzers, and the command line's. With NAME, "
        "the tests\n"
        "with that in their name. --quick: one build and no slow tests, for the daily round; it lists what "
        "it leaves out.",
    .run = run,
};
