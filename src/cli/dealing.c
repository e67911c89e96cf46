#include "cli/dealing.h"
#include "base/bits.h"
#include "base/file.h"
#include "ranks/ranks.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

bool dealing_join(struct ranks **ranks, struct err *err)
{
    *ranks = NULL;
    if (ranks_job().count <= 1)
        return true;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* a launcher that is killed ends nobody: we end with it */
    *ranks = ranks_start(err);
    return *ranks;
}

int dealing_complain(const struct ranks *ranks, int status, const struct err *err)
{
    if (!ranks_number(ranks))
        return complain(status, err);
    return err->text[0] ? complain(status, err) : EXIT_GOOD;
}

int dealing_leave(struct ranks *ranks, int status)
{
    enum { PATIENCE_S = 10 };
    if (!ranks)
        return status;
    fflush(stdout);
    if (interrupted && !ranks_number(ranks))
        return status; /* others may be gone; when this one is, the launcher ends all */
    if (status != EXIT_GOOD || interrupted)
        alarm(PATIENCE_S); /* not for ever, for a rank that is lost */
    ranks_end(ranks);
    alarm(0);
    return status;
}

bool dealing_refused(const char *what, int *status)
{
    struct ranks_job job = ranks_job();
    struct err err;
    if (job.count <= 1)
        return false;
    err_set(&err, "%s does not run over several ranks: start it without mpirun", what);
    *status = job.number ? EXIT_GOOD : complain(EXIT_USAGE, &err);
    return true;
}

uint64_t dealing_build(void)
{
    static const size_t most = (size_t)1 << 30;
    static uint64_t digest;
    struct text content = {0};
    struct err unused;
    if (!digest) {
        file_read("/proc/self/exe", most, &content, &unused);
        digest = digest_bytes(0, content.at, content.length);
    }
    text_fini(&content);
    return digest;
}
