/* The machines that `--hosts FILE` names: read, looked up, and asked whether they can run this heddle, before
 * anything is started on them. */
#ifndef CLI_RANK_HOSTS_H
#define CLI_RANK_HOSTS_H

#include "base/err.h"
#include "base/text.h"

#include <stdint.h>

struct rank_host {
    char *name;
    uint32_t slots; /* ranks that it is to have, before any has more */
    unsigned line;  /* of the file */
    bool is_here;   /* this machine */
};

struct rank_hosts {
    const char *path;
    struct rank_host *list;
    size_t count, capacity;
};

/* Lines of NAME, NAME slots=N or NAME:N; # begins a comment. */
bool rank_hosts_read(struct rank_hosts *hosts, const char *path, struct err *err);
void rank_hosts_fini(struct rank_hosts *hosts);

/* Each name is that of a machine; this one is among them, and comes first then, as it has rank 0. The others
 * run `self --version` by the launcher's shell (ssh, unless told), and give the same answer as it gives here.
 */
bool rank_hosts_check(struct rank_hosts *hosts, const char *self, const char *shell, struct err *err);

void rank_hosts_add(const struct rank_hosts *hosts, struct text *list); /* NAME:SLOTS,NAME:SLOTS */

#endif
