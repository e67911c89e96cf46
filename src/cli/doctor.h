/* What Heddle can use on this host: a row of doctor_tools.def each, and what was found of it. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "base/text.h"

enum tool_kind { TOOL_PROGRAM, TOOL_LIBRARY, TOOL_PATTERN, TOOL_DATA, TOOL_PART, TOOL_OPTIONAL };

struct tool_row {
    enum tool_kind kind;
    const char *name, *where, *says, *feature, *package;
};

extern const struct tool_row doctor_tools[]; /* ends with a NULL name */

struct tool_found {
    bool is_there;
    struct text path, version; /* empty: there is none */
    struct text lacks;         /* what an optional part needs of the host, and does not find; or empty */
    struct text broken;        /* why a part of this build cannot be used; empty: it can */
};

/* Programs are started with --version, libraries loaded, in a process of their own that has a few seconds. */
void doctor_look(const struct tool_row *row, struct tool_found *found);
void doctor_found_fini(struct tool_found *found);

#endif
