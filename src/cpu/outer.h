/* What lies below the private caches of a core: requests of one line each. Whoever implements it keeps the
 * caches of all cores coherent, and calls the cores back (cpu_memory_probe) before it answers. */
#ifndef CPU_OUTER_H
#define CPU_OUTER_H

#include <stdbool.h>
#include <stdint.h>

enum outer_kind {
    OUTER_READ_SHARED,    /* a copy to read */
    OUTER_READ_EXCLUSIVE, /* the only copy, to write; the core may have a copy already */
    OUTER_WRITE_BACK,     /* the core's copy has left, which it had changed; nothing is waited for */
    OUTER_DROP,           /* ... which was as others have it */
};

/* Where the line came from, for statistics. */
enum outer_from { OUTER_FROM_CACHE, OUTER_FROM_MEMORY, OUTER_FROM_CORE };

struct outer_reply {
    uint64_t done_ps;
    bool exclusive; /* nobody else has a copy: it may be written without another request */
    enum outer_from from;
};

struct outer {
    struct outer_reply (*request)(struct outer *outer, uint32_t core, uint64_t line, enum outer_kind kind,
                                  uint64_t time_ps);
};

#endif
