/* What checks found: equal findings are counted, and each is shown once. */
#ifndef CHECKS_FINDINGS_H
#define CHECKS_FINDINGS_H

#include "base/text.h"

#include <stdint.h>

/* name, help */
#define CHECKS(C)                                                                                            \
    C(memory, "accesses out of bounds, freed memory, leaks")                                                 \
    C(race, "accesses of several threads with nothing that orders them")                                     \
    C(init, "reads of memory that nobody wrote")                                                             \
    C(sync, "misuse of barriers and of operations of a warp")

enum check {
#define C(name, help) CHECK_##name,
    CHECKS(C)
#undef C
        CHECK_COUNT
};

extern const char *const checks_names[CHECK_COUNT];

/* "race,init" or "all": a bit for each check; false: err says what is wrong. */
struct err;
bool checks_parse(const char *text, uint32_t *checks, struct err *err);

struct finding {
    enum check check;
    const char *what;   /* "read after write in shared memory" */
    const char *kernel; /* as it is shown; NULL: it is of none */
    const char *first;  /* where, in the code; of a race: the earlier access */
    const char *second; /* the later one; or NULL */
    const char *detail; /* of the first one like it: threads, addresses */
    uint64_t launch;
    uint64_t count;
};

struct findings {
    struct finding *list; /* its texts are kept */
    size_t count, capacity;
    uint64_t shown, most; /* findings in full, and how many of these there may be */
    void (*show)(void *user, const char *text);
    void *user;
};

void findings_fini(struct findings *findings);

/* One more, or one that is known; a new one is shown. */
void findings_add(struct findings *findings, const struct finding *finding);
/* The same of one that the program is told of in another way: it is not shown. */
void findings_note(struct findings *findings, const struct finding *finding);

/* "--check race: 2 hazards in 1 kernel", for each of these checks: lines, without an end. */
void findings_summarize(const struct findings *findings, uint32_t checks, struct text *text);

/* A line for each, for another process, and back from there; names are cut out of the line. */
void findings_write(const struct findings *findings, struct text *text);
bool finding_read(char *line, struct finding *finding);

#endif
