/* What ranks say to each other before they begin. */
#include "base/host.h"
#include "base/mem.h"
#include "deal/deal.h"
#include "ranks/ranks.h"

#include <string.h>
#include <unistd.h>

/* Of rank `who`: the first thing that is wrong is told. */
static bool look_at(const struct ranks *ranks, uint32_t who, const struct text *all, struct err *err)
{
    uint64_t digests[2];
    const char *why = all[who].at + sizeof *digests;
    memcpy(&digests[0], all[0].at, sizeof *digests);
    memcpy(&digests[1], all[who].at, sizeof *digests);
    if (*why && !who)
        return err_set(err, "%s", why);
    if (*why)
        return err_set(err, "rank %u on %s: %.3000s", who, ranks_host(ranks, who), why);
    return digests[0] == digests[1] ||
           err_set(err,
                   "rank %u on %s would do something else than rank 0 on %s: its files or its heddle are "
                   "others",
                   who, ranks_host(ranks, who), ranks_host(ranks, 0));
}

bool deal_agree(struct ranks *ranks, bool good, const struct err *mine, uint64_t digest, struct err *err)
{
    uint32_t count = ranks_count(ranks);
    if (count == 1) {
        if (!good)
            *err = *mine;
        return good;
    }
    struct text say = {0}, *all = mem_alloc(count, sizeof *all);
    text_add_bytes(&say, (const char *)&digest, sizeof digest);
    text_add(&say, "%s", good ? "" : mine->text);
    bool agreed = ranks_gather(ranks, &say, all, true, err);
    if (agreed) {
        for (uint32_t i = 0; i < count && agreed; i++)
            agreed = look_at(ranks, i, all, err);
        if (ranks_number(ranks))
            err->text[0] = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        text_fini(&all[i]);
    mem_free(all);
    text_fini(&say);
    return agreed;
}

unsigned deal_cores(const struct ranks *ranks)
{
    uint32_t here = 0;
    for (uint32_t i = 0; i < ranks_count(ranks) && ranks; i++)
        here += !strcmp(ranks_host(ranks, i), ranks_host(ranks, ranks_number(ranks)));
    if (here <= 1)
        return host_cores();
    /* a launcher may have bound this rank to cores of its own */
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned share = all > here ? (unsigned)all / here : 1;
    return share < host_cores() ? share : host_cores();
}
