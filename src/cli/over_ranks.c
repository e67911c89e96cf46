#include "cli/over_ranks.h"
#include "base/host.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ranks *joined;

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
    ranks_end(joined);
    joined = NULL;
    return status;
}

/* Most errors are known to all ranks, and the leading one ends them all when it has told them. */
void over_ranks_tell(struct text *line)
{
    enum { LEAD_SECONDS = 2 };
    uint32_t number = ranks_job().number;
    char host[64] = "";
    if (ranks_job().count == 1 || !number)
        return;
    sleep(LEAD_SECONDS);
    if (interrupted) /* so it has */
        _exit(EXIT_FAILED);
    gethostname(host, sizeof host - 1);
    text_add(line, "rank %u on %s: ", number, host);
}

/* The words of this command, without the option that brought us here. */
static char **own_words(size_t *count)
{
    FILE *file = fopen("/proc/self/cmdline", "r");
    char **words = NULL, *word = NULL;
    size_t capacity = 0, room = 0;
    *count = 0;
    while (file && getdelim(&word, &room, 0, file) > 0) {
        bool is_ours = !strcmp(word, "--ranks"), with_value = !strncmp(word, "--ranks=", 8);
        if (is_ours)
            (void)!getdelim(&word, &room, 0, file);
        if (is_ours || with_value)
            continue;
        mem_grow(words, *count, capacity);
        words[(*count)++] = mem_text(word);
    }
    free(word);
    if (file)
        fclose(file);
    return words;
}

static bool read_count(const char *text, unsigned long *count, struct err *err)
{
    char *end;
    *count = strtoul(text, &end, 10);
    return (*text && !*end && *text != '-' && *count >= 1 && *count <= RANKS_MOST) ||
           err_set(err, "--ranks: expected a number from 1 to %d, not '%.40s'", RANKS_MOST, text);
}

bool over_ranks_start(const char *ranks, struct err *err)
{
    unsigned long count;
    size_t own_count, total = 0;
    char number[16];
    if (!read_count(ranks, &count, err))
        return false;
    if (ranks_job().count > 1)
        return ranks_job().count == count ||
               err_set(err, "--ranks %lu, but %u ranks were started", count, ranks_job().count);
    if (count == 1)
        return true;
    char **own = own_words(&own_count);
    const char **words = mem_alloc(own_count + 16, sizeof *words);
    snprintf(number, sizeof number, "%lu", count);
    words[total++] = "mpirun";
    words[total++] = "-q"; /* what went wrong is told by us */
    words[total++] = "--oversubscribe";
    words[total++] = "--bind-to"; /* each rank may have several threads */
    words[total++] = "none";
    if (!geteuid())
        words[total++] = "--allow-run-as-root";
    words[total++] = "-n";
    words[total++] = number;
    words[total++] = "/proc/self/exe"; /* replaced below: of mpirun it would be another */
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = 0;
        words[total - 1] = self;
    }
    for (size_t i = 1; i < own_count; i++)
        words[total++] = own[i];
    words[total] = NULL;
    fflush(NULL);
    execvp(words[0], (char **)(uintptr_t)words);
    return err_set(err, "--ranks: cannot start mpirun: %s%s", strerror(errno),
                   errno == ENOENT ? " (install openmpi-bin)" : "");
}
