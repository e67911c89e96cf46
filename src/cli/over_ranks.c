#include "cli/over_ranks.h"
#include "base/host.h"
#include "driver/ledger_format.h"
#include "ranked/ranked.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct ranks *joined;
static bool leads; /* followers wait for what is to be done */

struct ranks *over_ranks(void)
{
    return joined;
}

bool over_ranks_join(struct ranks **ranks, struct err *err)
{
    if (!joined && ranks_job().count > 1 && !(joined = ranks_start(err)))
        return false;
    *ranks = joined;
    return true;
}

int over_ranks_leave(int status)
{
    if (!joined)
        return status;
    fflush(NULL);
    if (status != EXIT_GOOD)
        ranks_kill(joined, status);
    if (leads)
        ranked_dismiss(joined);
    ranks_end(joined);
    joined = NULL;
    return status;
}

/* Signals are for the leading rank, which writes what it knows and dismisses the others. If it does not,
 * soon, they end by themselves. */
static void end_soon(int number)
{
    enum { SECONDS = 10 };
    interrupted = number;
    alarm(SECONDS);
}

static int follow(struct err *err)
{
    signal(SIGINT, end_soon);
    signal(SIGTERM, end_soon);
    signal(SIGHUP, end_soon);
    return ranked_follow(joined, err) ? EXIT_GOOD : complain(EXIT_FAILED, err);
}

static bool check_timing(bool timing, struct err *err)
{
    return timing || ranks_job().count == 1 ||
           err_set(err, "ranks share simulated time: they need --mode timing");
}

bool over_ranks_simulate(bool timing, bool *follows, int *status, struct err *err)
{
    struct ranks *ranks = NULL;
    *follows = false;
    if (!check_timing(timing, err) || !over_ranks_join(&ranks, err))
        return false;
    if (!ranks)
        return true;
    leads = !ranks_number(ranks);
    *follows = !leads;
    *status = leads ? EXIT_GOOD : follow(err);
    return true;
}

bool over_ranks_run(bool timing, bool *follows, int *status, struct err *err)
{
    struct ranks *ranks;
    *follows = ranks_job().number;
    if (!check_timing(timing, err) || (*follows && !over_ranks_join(&ranks, err)))
        return false;
    if (*follows)
        *status = follow(err);
    return true;
}

void over_ranks_before(void)
{
    struct text path = {0};
    unsetenv("HEDDLE_RANKS");
    if (ranks_job().count == 1)
        return;
    ranks_add_transport(&path);
    setenv("HEDDLE_RANKS", "yes", 1);
    setenv("HEDDLE_TRANSPORT", path.at, 1);
    text_fini(&path);
}

bool over_ranks_after(const char *folder, struct err *err)
{
    struct ranks *ranks;
    struct text path = {0};
    text_add(&path, "%s/" LEDGER_RANKS, folder);
    bool has_joined = ranks_job().count == 1 || !access(path.at, R_OK);
    text_fini(&path);
    if (has_joined) /* the program, and it has dismissed the others */
        return true;
    leads = true;
    return over_ranks_join(&ranks, err);
}

/* Most errors are known to all ranks, and the leading one ends them all when it has told them. */
void over_ranks_tell(struct text *line)
{
    enum { LEAD_SECONDS = 2 };
    uint32_t number = ranks_job().number;
    char host[64] = "";
    if (ranks_job().count == 1 || !number)
        return;
    sleep(LEAD_SECONDS + number); /* of several the first tells, and ends the rest */
    if (interrupted)              /* so it has */
        _exit(EXIT_FAILED);
    gethostname(host, sizeof host - 1);
    text_add(line, "rank %u on %s: ", number, host);
}
