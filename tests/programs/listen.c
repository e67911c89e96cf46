/* Prints what happens in a machine where two GPUs run a kernel each: listen FILE.ptx [alter|leave|twice]. */
#include <heddle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4096, BLOCK = 256, GPUS = 2 };

static float x[N], y[N];
static int alters;

static void check(int failed)
{
    if (failed) {
        fprintf(stderr, "listen: %s\n", heddle_error());
        exit(1);
    }
}

static void see(void *user, struct heddle_event *event)
{
    unsigned sum = 0;
    for (uint32_t i = 0; event->data && i < event->data_bytes; i++)
        sum = sum * 31 + event->data[i];
    ++*(unsigned long *)user;
    printf("%u %u %llu %llx %u %u %s %s %llx %llu %u %x\n", event->kind, event->phase,
           (unsigned long long)event->time_ps, (unsigned long long)event->id, event->gpu, event->place,
           event->stop, event->what, (unsigned long long)event->address, (unsigned long long)event->bytes,
           event->data_bytes, sum);
    if (alters && event->data && !strcmp(event->stop, "dram"))
        event->data[0] ^= 1;
}

int main(int count, char **words)
{
    static const char *const settings[] = {"system.gpus=2", NULL};
    uint32_t n = N, grid[3] = {N / BLOCK, 1, 1}, block[3] = {BLOCK, 1, 1};
    float a = 2;
    unsigned long events = 0;
    const char *how = count > 2 ? words[2] : "";
    alters = !strcmp(how, "alter");
    struct heddle *gpu = heddle_open_timed("h200-x8", settings, 2);
    check(!gpu);
    if (!strcmp(how, "twice"))
        check(!heddle_open_timed("h200-x8", settings, 2));
    check(heddle_listen(gpu, (1u << (HEDDLE_FAULT + 1)) - 1, see, &events));
    struct heddle_module *module = heddle_load(gpu, words[1]);
    check(!module);
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    uint64_t at[GPUS][2];
    for (unsigned g = 0; g < GPUS; g++) {
        at[g][0] = heddle_alloc(gpu, g, sizeof x);
        at[g][1] = heddle_alloc(gpu, g, sizeof x);
        check(heddle_upload(gpu, at[g][0], x, sizeof x) || heddle_fill(gpu, at[g][1], 0, sizeof x));
    }

    for (unsigned g = 0; g < GPUS; g++)
        check(
            heddle_launch(gpu, g, module, "saxpy", grid, block, 0, (void *[]){&n, &a, &at[g][0], &at[g][1]}));
    check(heddle_wait(gpu));
    check(heddle_listen(gpu, 0, NULL, NULL));
    for (unsigned g = 0; g < GPUS; g++) {
        check(heddle_download(gpu, y, at[g][1], sizeof x));
        for (int i = 0; i < N; i++)
            if (y[i] != 2 * x[i])
                return printf("wrong\n"), 1;
    }
    printf("%lu events, %llu ps\n", events, (unsigned long long)heddle_time_ps(gpu));
    if (strcmp(how, "leave"))
        heddle_close(gpu);
    return 0;
}
