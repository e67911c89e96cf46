/* A listener: how long memory requests of SMs take, as a histogram by powers of two.
 *
 *   heddle bench vecadd --mode timing --plugin ./latency.so,latency.csv */
#include <heddle_plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_MOST = 1 << 20, BUCKETS = 40 };

struct latency {
    FILE *file;
    uint64_t ids[OPEN_MOST], began_ps[OPEN_MOST]; /* requests under way, by a hash of their id */
    uint64_t count[BUCKETS];
};

static void *begin(const char *path)
{
    struct latency *latency = calloc(1, sizeof *latency);
    if (!latency || !(latency->file = *path ? fopen(path, "w") : stderr)) {
        fprintf(stderr, "latency: cannot write %s\n", path);
        exit(1);
    }
    return latency;
}

/* Where the id is, or where it would be. */
static size_t place_of(const struct latency *latency, uint64_t id)
{
    size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 44);
    while (latency->ids[at] && latency->ids[at] != id + 1)
        at = (at + 1) % OPEN_MOST;
    return at;
}

static void event(void *user, struct heddle_event *event)
{
    struct latency *latency = user;
    if (event->id == UINT64_MAX || event->phase == HEDDLE_PASSES)
        return;
    size_t at = place_of(latency, event->id);
    if (event->phase == HEDDLE_BEGINS) {
        latency->ids[at] = event->id + 1;
        latency->began_ps[at] = event->time_ps;
    } else if (latency->ids[at]) {
        uint64_t ns = (event->time_ps - latency->began_ps[at]) / 1000;
        int bucket = 0;
        while (ns >>= 1)
            bucket++;
        latency->count[bucket]++;
        latency->began_ps[at] = event->time_ps; /* the place stays the id's: ids are used again */
    }
}

static void end(void *user)
{
    struct latency *latency = user;
    fprintf(latency->file, "from_ns,requests\n");
    for (int i = 0; i < BUCKETS; i++)
        if (latency->count[i])
            fprintf(latency->file, "%llu,%llu\n", i ? 1ull << i : 0ull, (unsigned long long)latency->count[i]);
    if (latency->file != stderr)
        fclose(latency->file);
    free(latency);
}

static const struct heddle_listener listeners[] = {
    {"latency", "a histogram of how long memory requests take", 1 << HEDDLE_REQUEST, begin, event, end}, {0}};

HEDDLE_PLUGIN = {HEDDLE_PLUGIN_VERSION, "latency", NULL, NULL, listeners};
