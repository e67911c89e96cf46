/* The live view of a build without libmicrohttpd. */
#include "live/live.h"

bool live_is_possible(struct err *err)
{
    return err_set(err,
                   "this Heddle was built without the live view: apt install libmicrohttpd-dev, and build "
                   "it again");
}

struct live *live_new(unsigned port, const struct live_ops *ops, void *user, struct err *err)
{
    (void)port, (void)ops, (void)user;
    live_is_possible(err);
    return NULL;
}

const char *live_url(const struct live *live)
{
    (void)live;
    return "";
}

void live_free(struct live *live)
{
    (void)live;
}
