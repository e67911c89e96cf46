/* CPU and GPU at the same time. */
#include "hetero.h"
#include "shapes.h"

#include <stdatomic.h>
#include <string.h>

/* ---- flag: questions and answers by flags in mapped memory ---- */

enum { FLAG_APART = 64 }; /* words: no two of them in a cache line */

/* Whether the flag has come to this round in time. */
static bool await(struct hetero *run, _Atomic unsigned *flag, unsigned round)
{
    uint64_t until = hetero_now_ns() + run->patience_ns;
    for (;;) {
        for (int i = 0; i < 1000; i++) {
            if (atomic_load_explicit(flag, memory_order_acquire) >= round)
                return true;
        }
        if (hetero_now_ns() > until)
            return false;
    }
}

static void flag(struct hetero *run)
{
    unsigned rounds = (unsigned)run->size, round, total = 0;
    struct buffer flags = hetero_mapped(4 * FLAG_APART * sizeof(unsigned));
    unsigned *words = flags.host;
    _Atomic unsigned *asked = (_Atomic unsigned *)words, *answered = asked + FLAG_APART;
    volatile unsigned *question = words + 2 * FLAG_APART, *sum = words + 3 * FLAG_APART;
    CUdeviceptr at[4];
    for (unsigned i = 0; i < 4; i++)
        at[i] = flags.gpu + i * FLAG_APART * sizeof(unsigned);
    CUfunction kernel = hetero_kernel("hetero_answer");

    hetero_begin(run);
    LAUNCH(run, kernel, 1, 1, 1, 1, &rounds, &at[0], &at[1], &at[2], &at[3]);
    uint64_t begin = hetero_now_ns();
    for (round = 1; round <= rounds; round++) {
        *question = round * 3;
        total += round * 3;
        atomic_store_explicit(asked, round, memory_order_release);
        if (!await(run, answered, round))
            break;
        run->wrong |= *sum != total;
    }
    uint64_t end = hetero_now_ns();
    atomic_store(asked, UINT32_MAX); /* nothing holds up the kernel any more */
    hetero_wait(run);
    hetero_end(run);

    run->wrong |= round <= rounds;
    if (round <= rounds)
        hetero_figure(run, round, "no_answer_in_round");
    else
        hetero_figure(run, (double)(end - begin) / rounds, "ns_per_round");
}

/* ---- atomics: both count ---- */

static void atomics(struct hetero *run)
{
    enum { THREADS = 64, COUNTERS = 4 };
    unsigned rounds = (unsigned)run->size, counters = COUNTERS;
    struct buffer counts = hetero_mapped(COUNTERS * COUNTER_APART * sizeof(unsigned));
    _Atomic unsigned *count = counts.host;
    unsigned expected[COUNTERS] = {0}, got[COUNTERS];
    CUfunction kernel = hetero_kernel("hetero_count");

    hetero_begin(run);
    LAUNCH(run, kernel, 2, 1, THREADS / 2, 1, &rounds, &counters, &counts.gpu);
    for (unsigned i = 0; i < rounds * THREADS; i++)
        atomic_fetch_add(&count[i % COUNTERS * COUNTER_APART], 1);
    hetero_wait(run);
    hetero_end(run);

    for (unsigned thread = 0; thread < THREADS; thread++) {
        for (unsigned round = 0; round < rounds; round++)
            expected[(thread + round) % COUNTERS]++;
    }
    for (unsigned i = 0; i < rounds * THREADS; i++)
        expected[i % COUNTERS]++;
    for (unsigned i = 0; i < COUNTERS; i++)
        got[i] = atomic_load(&count[i * COUNTER_APART]);
    hetero_expect(run, got, expected, sizeof got);
}

/* ---- beside: each its own work ---- */

static void beside(struct hetero *run)
{
    enum { ROUNDS = 64, SHARE = 256, BLOCK = 256 }; /* the CPU has a 256th of the work */
    unsigned n = pieces(run->size, SHARE) * SHARE, own = n / SHARE, rounds = ROUNDS;
    struct buffer gpus = hetero_buffer(run, n * sizeof(unsigned));
    unsigned *cpus = hetero_array(own, sizeof *cpus), *expected = hetero_array(n, sizeof *expected);
    CUfunction kernel = hetero_kernel("hetero_mix");
    for (unsigned i = 0; i < n; i++)
        ((unsigned *)gpus.host)[i] = i;
    for (unsigned i = 0; i < own; i++)
        cpus[i] = i * 2;

    hetero_begin(run);
    hetero_upload(run, &gpus);
    LAUNCH(run, kernel, pieces(n, BLOCK), 1, BLOCK, 1, &n, &rounds, &gpus.gpu);
    for (unsigned i = 0; i < own; i++)
        cpus[i] = mixed(cpus[i], rounds);
    hetero_wait(run);
    hetero_download(run, &gpus);
    hetero_end(run);

    for (unsigned i = 0; i < n; i++)
        expected[i] = mixed(i, rounds);
    hetero_expect(run, gpus.host, expected, gpus.bytes);
    for (unsigned i = 0; i < own; i++)
        expected[i] = mixed(i * 2, rounds);
    hetero_expect(run, cpus, expected, own * sizeof *cpus);
}

const struct hetero_program hetero_together[] = {
    {"flag", "the CPU asks and a running kernel answers, by flags", "rounds", 16, 1, 1 << 20, flag},
    {"atomics", "CPU and GPU add to the same counters", "additions of a thread", 16, 1, 1 << 20, atomics},
    {"beside", "a kernel runs while the CPU works", "words of the GPU", 65536, 256, 1 << 26, beside},
    {.name = NULL},
};
