/* A point that runs: a process of its own, so that what one leaves in memory, or breaks, is no other's
 * business. Its result is bytes, which may travel to another rank. */
#ifndef STUDY_CAMPAIGN_CAMPAIGN_JOB_H
#define STUDY_CAMPAIGN_CAMPAIGN_JOB_H

#include "study/campaign/campaign.h"

#include <sys/types.h>

struct campaign_job {
    const struct campaign_point *point;
    pid_t process;     /* -1: it could not be started, for this reason: */
    int why;           /* an errno */
    char *stats, *log; /* files */
    double asked_at;   /* to end; 0: it was not */
};

/* A file of this point in the folder of `how`: "json" or "log". The caller frees it. */
char *campaign_file(const struct campaign_how *how, const struct campaign_point *point, const char *ending);

void campaign_job_start(struct campaign_job *job, const struct campaign_how *how,
                        const struct campaign_point *point);

/* True: it has ended, and `result` is what came of it; nothing is in it if it was made to end. */
bool campaign_job_ended(struct campaign_job *job, const struct campaign_how *how, struct text *result);

/* Asks it to end, and after a while makes it. */
void campaign_job_stop(struct campaign_job *job, const struct campaign_how *how);

/* Its exit status, as of waitpid; its files are in the folder of `how` then. */
bool campaign_job_unpack(const struct campaign_how *how, const struct campaign_point *point,
                         const struct text *result, int *status, struct err *err);

#endif
