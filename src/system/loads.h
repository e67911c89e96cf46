/* What each island of a machine cost in a run, and what passed over the links of its fabric: measured by one
 * run, so that the next one can place islands on ranks by it (spread.h). A text file:
 *
 *   heddle load 1
 *   island gpu[0].sm[3] 5261000       (nanoseconds of the host)
 *   link gpu0-switch 1048576          (bytes, both ways)
 */
#ifndef SYSTEM_LOADS_H
#define SYSTEM_LOADS_H

#include "base/text.h"
#include "system/system.h"

struct net_graph;

enum { LOADS_BYTES_MOST = 64 << 20 }; /* of a file */

struct home_load {
    uint64_t *sms, *memory; /* by SM and by memory island */
    uint64_t sm_count, memory_count;
    uint64_t rest; /* dispatcher, gateway, copies, ... */
};

struct loads {
    uint32_t home_count, node_count, link_count;
    struct home_load *homes;
    uint64_t host;
    uint64_t *nodes, *links; /* of the fabric */
};

/* Of such a file's bytes; `name` is for errors, such as that it is of another system. The graph may be NULL.
 */
bool spread_loads_read(struct loads *load, const struct text *bytes, const char *name,
                       const struct system *system, const struct net_graph *graph, struct err *err);
bool spread_loads_read_file(struct loads *load, const char *path, const struct system *system,
                            const struct net_graph *graph, struct err *err);
void spread_loads_fini(struct loads *load);

uint64_t spread_loads_of_home(const struct home_load *home);

/* A file, line by line. */
void spread_loads_begin_file(struct text *file);
void spread_loads_add_island(struct text *file, const char *name, uint64_t ns);
void spread_loads_add_link(struct text *file, const char *name, uint64_t bytes);

#endif
