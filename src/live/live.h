/* A page on the loopback address that shows a run, and gives it orders: the server, and what is allowed to
 * ask. Who runs the machine answers (struct live_ops); nothing here knows what is shown.
 *
 * The server is libmicrohttpd, which is loaded when it is first used. Its URL has a random token in it; what
 * comes without it, or from another page, is refused. */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include "base/err.h"
#include "base/text.h"
#include "live/request.h"

struct live;

/* Called by the server's thread, one call at a time. Answers are JSON, and so are errors: false, and err, for
 * an order that cannot be followed, or a name that there is not. */
struct live_ops {
    bool (*state)(void *user, struct text *json, struct err *err);
    bool (*component)(void *user, const char *name, struct text *json, struct err *err);
    bool (*parameters)(void *user, struct text *json, struct err *err);
    bool (*order)(void *user, const struct live_order *order, struct err *err);
};

/* port 0: any that is free. NULL: it is in use, or there is no libmicrohttpd. */
struct live *live_new(unsigned port, const struct live_ops *ops, void *user, struct err *err);
const char *live_url(const struct live *live);
void live_free(struct live *live);

/* Whether this build can; else why not. */
bool live_is_possible(struct err *err);

#endif
