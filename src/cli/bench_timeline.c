#include "cli/bench_timeline.h"
#include "base/host.h"
#include "base/unit.h"
#include "cli/cli.h"
#include "tracks/tracks.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { TRACKS = 132, NAMES = 8 };

struct timeline_bench {
    uint64_t slices;
    const char *path;
};

static const struct option_row options[] = {
    {"--slices", "N", "how many slices are written (1000000 unless told)"},
    {"--timeline", "FILE", "where to (/dev/null unless told; FILE.json: as Chrome's trace events)"},
    {NULL, NULL, NULL},
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct timeline_bench *bench = user;
    struct err why;
    if (!row)
        return err_set(err, "bench timeline: unexpected word '%.120s'", value);
    if (!strcmp(row->name, "--timeline"))
        bench->path = value;
    else if (!strcmp(row->name, "--slices"))
        return unit_parse(UNIT_count, value, &bench->slices, &why) || err_set(err, "--slices: %s", why.text);
    return true;
}

/* As blocks on SMs are: by turns on all tracks, with two values each. */
static void draw(const struct timeline_bench *bench, struct tracks *tracks)
{
    static const char *const names[NAMES] = {"gemm",  "softmax", "layer_norm", "attention",
                                             "saxpy", "reduce",  "scan",       "transpose"};
    uint32_t list[TRACKS], gpu = tracks_add(tracks, 0, "GPU 0", TRACK_PROCESS, NULL);
    for (int i = 0; i < TRACKS; i++) {
        char name[20];
        snprintf(name, sizeof name, "SM %d", i);
        list[i] = tracks_add(tracks, gpu, name, TRACK_SLICES, NULL);
    }
    for (uint64_t i = 0; i < bench->slices; i++) {
        const struct track_value values[] = {{.name = "block", .number = i},
                                             {.name = "cycles", .number = 1000 + i % 777}};
        uint64_t begin = i / TRACKS * 1000000 + i % TRACKS * 570;
        tracks_slice(tracks, list[i % TRACKS],
                     &(struct track_slice){.begin_ps = begin,
                                           .end_ps = begin + 900000,
                                           .name = names[i / 1000 % NAMES],
                                           .category = "BLOCK",
                                           .values = values,
                                           .value_count = 2});
    }
}

int cmd_bench_timeline(int count, char **words)
{
    struct timeline_bench bench = {.slices = 1000000, .path = "/dev/null"};
    struct err err;
    struct stat facts;
    if (!options_parse(options, count - 1, words + 1, &bench, took, &err))
        return complain(EXIT_USAGE, &err);
    double begin = host_seconds();
    struct tracks *tracks = tracks_new(bench.path, &(struct tracks_window){0}, &err);
    if (!tracks)
        return complain(EXIT_USAGE, &err);
    draw(&bench, tracks);
    if (!tracks_free(tracks, &err))
        return complain(EXIT_FAILED, &err);
    double seconds = host_seconds() - begin;
    printf("%llu slices in %.3f s: %.2f million slices/s", (unsigned long long)bench.slices, seconds,
           (double)bench.slices / seconds / 1e6);
    if (!stat(bench.path, &facts) && S_ISREG(facts.st_mode) && bench.slices)
        printf(", %.1f bytes each", (double)facts.st_size / (double)bench.slices);
    puts("");
    return EXIT_GOOD;
}
