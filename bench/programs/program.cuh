/* What the programs share. Each has a region that is done once to warm up and then --times times; the best of these
 * is printed, by parts, in microseconds of the host's clock:
 *   PROGRAM,PART,MICROSECONDS     PART: cpu, copies, kernels, overlap (copies and kernels in streams), total
 * A launch counts with the wait for it. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t error = (call);                                                                          \
        if (error != cudaSuccess) {                                                                          \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));        \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

enum part { CPU, COPIES, KERNELS, OVERLAP, TOTAL, PARTS };

struct run {
    double us[PARTS];
    double since;
};

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* What was done since the last call of it was of this part. */
static void run_was(struct run *run, enum part part)
{
    double now = now_us();
    run->us[part] += now - run->since;
    run->since = now;
}

/* A launch, or several, and the wait for them. */
static void run_kernels(struct run *run)
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    run_was(run, KERNELS);
}

static void run_copy(struct run *run, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    CHECK(cudaMemcpy(to, from, bytes, kind));
    run_was(run, COPIES);
}

/* Numbers that look random, the same everywhere. */
static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* `region` gives whether its results were right. */
static int program_main(int count, char **words, const char *name, bool (*region)(struct run *run))
{
    static const char *const names[PARTS] = {"cpu", "copies", "kernels", "overlap", "total"};
    int times = count == 3 && !strcmp(words[1], "--times") ? atoi(words[2]) : count == 1 ? 5 : 0;
    if (times < 1) {
        fprintf(stderr, "usage: %s [--times N]\n", name);
        return 2;
    }
    struct run best = {{0}, 0};
    for (int i = -1; i < times; i++) {
        struct run run = {{0}, 0};
        double start = run.since = now_us();
        bool good = region(&run);
        run.us[TOTAL] = now_us() - start;
        if (!good) {
            fprintf(stderr, "%s: a wrong result\n", name);
            return 1;
        }
        if (i >= 0 && (!best.us[TOTAL] || run.us[TOTAL] < best.us[TOTAL]))
            best = run;
    }
    for (int i = 0; i < PARTS; i++)
        printf("%s,%s,%.3f\n", name, names[i], best.us[i]);
    return 0;
}
