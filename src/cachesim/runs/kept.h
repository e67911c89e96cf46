/* Counts of a sweep's configurations in a file, as they come: what a run did that was killed is not done
 * again.
 *
 * The file begins with lines that say what the counts are of, and an empty one. A record of each
 * configuration follows, with a digest: what is cut short or damaged, and all behind it, is dropped. */
#ifndef CACHESIM_KEPT_H
#define CACHESIM_KEPT_H

#include "cachesim/runs/runs.h"

/* All that counts depend on beside the configuration: accesses, and the heddle that counts. */
bool caches_identity(const struct caches_request *r, struct text *identity, struct err *err);

/* The file of r->results. With r->resume, what is there is taken: those configurations are known then. */
struct kept;
struct kept *kept_open(const struct caches_request *r, const struct text *identity,
                       struct configurations *all, struct err *err);
bool kept_add(struct kept *kept, const struct configuration *one, struct err *err);
void kept_close(struct kept *kept); /* NULL is fine */

/* A configuration's counts as bytes, with what they are of. */
void configuration_pack(const struct configuration *one, struct text *text);
/* The name that the bytes begin with, or NULL: they are not what was packed. */
const char *configuration_packed_name(const char *bytes, size_t count);
bool configuration_unpack(struct configuration *one, const char *bytes, size_t count);
void configuration_name(const struct configuration *one, struct text *name);

#endif
