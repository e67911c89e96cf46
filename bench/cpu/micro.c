/* Microbenchmarks of a CPU: each prints what one step of it costs, in nanoseconds, by the program's own
 * clock. Run natively it measures the host; under `heddle run --cpu NAME` the model. Docs: docs/cpu.md.
 *
 *   micro [NAME]...        all of them unless named
 *   micro --scale N        N times as many steps (1 unless told): natively 20 or more give steadier figures
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t scale = 1;
static volatile uint64_t sink;

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); /* natively, other programs on this core do not count */
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static uint64_t seed = 88172645463325252;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* ---- chains of operations: the latency of one ---- */

#define CHAIN(name, setup, step, result)                                                                     \
    static double name(uint64_t unused)                                                                      \
    {                                                                                                        \
        (void)unused;                                                                                        \
        uint64_t steps = 20000 * scale;                                                                      \
        setup;                                                                                               \
        double begin = now_ns();                                                                             \
        for (uint64_t i = 0; i < steps; i += 8) {                                                            \
            step step step step step step step step                                                          \
        }                                                                                                    \
        double end = now_ns();                                                                               \
        sink = (uint64_t)(result);                                                                           \
        return (end - begin) / (double)steps;                                                                \
    }

CHAIN(add_chain, uint64_t x = seed, __asm__ volatile("add $3, %0" : "+r"(x));, x)
CHAIN(mul_chain, uint64_t x = seed, __asm__ volatile("imul %0, %0" : "+r"(x));, x)
CHAIN(div_chain, uint64_t x = seed | 1; uint64_t y = 1, __asm__ volatile("xor %%edx, %%edx\n\tdiv %1"
                                                                         : "+a"(x)
                                                                         : "r"(y)
                                                                         : "rdx");
      , x)
CHAIN(fadd_chain, double x = 1.0; double y = 1e-9, __asm__ volatile("addsd %1, %0" : "+x"(x) : "x"(y));, x)
CHAIN(fmul_chain, double x = 1.0; double y = 1.0000001, __asm__ volatile("mulsd %1, %0"
                                                                         : "+x"(x)
                                                                         : "x"(y));
      , x)
CHAIN(fdiv_chain, double x = 1.0; double y = 1.0000001, __asm__ volatile("divsd %1, %0"
                                                                         : "+x"(x)
                                                                         : "x"(y));
      , x)

/* Eight sums that do not depend on each other: how many in a cycle. */
static double add_width(uint64_t unused)
{
    (void)unused;
    uint64_t steps = 20000 * scale, a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    double begin = now_ns();
    for (uint64_t i = 0; i < steps; i += 16) {
        for (int k = 0; k < 2; k++)
            __asm__ volatile(
                "add $1, %0\n\tadd $1, %1\n\tadd $1, %2\n\tadd $1, %3\n\tadd $1, %4\n\tadd $1, %5\n\t"
                "add $1, %6\n\tadd $1, %7"
                : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    }
    double end = now_ns();
    sink = a + b + c + d + e + f + g + h;
    return (end - begin) / (double)steps;
}

/* A store, and a load of the same bytes, in a chain. */
static double forward_chain(uint64_t unused)
{
    (void)unused;
    uint64_t steps = 20000 * scale, place[8] = {1}, x = 1;
    double begin = now_ns();
    for (uint64_t i = 0; i < steps; i++)
        __asm__ volatile("mov %0, %1\n\tmov %1, %0\n\tadd $1, %0" : "+r"(x), "+m"(place[i & 7]));
    double end = now_ns();
    sink = x;
    return (end - begin) / (double)steps;
}

/* ---- memory ---- */

/* Loads that each depend on the one before, over so many bytes, in an order without strides. */
static double load_chain(uint64_t bytes)
{
    enum { LINE = 64 };
    uint64_t count = bytes / LINE, steps = 20000 * scale;
    if (steps < 2 * count)
        steps = 2 * count;
    char *memory = aligned_alloc(4096, bytes);
    uint32_t *order = malloc(count * sizeof *order);
    for (uint64_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = count - 1; i; i--) { /* one cycle through all of them */
        uint64_t j = next_random() % i;
        uint32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (uint64_t i = 0; i < count; i++)
        *(void **)(memory + (uint64_t)order[i] * LINE) = memory + (uint64_t)order[(i + 1) % count] * LINE;
    void **at = (void **)memory;
    for (uint64_t i = 0; i < count; i++)
        at = *at;
    double begin = now_ns();
    for (uint64_t i = 0; i < steps; i += 8) {
        at = *at, at = *at, at = *at, at = *at;
        at = *at, at = *at, at = *at, at = *at;
    }
    double end = now_ns();
    sink = (uint64_t)(uintptr_t)at;
    free(order);
    free(memory);
    return (end - begin) / (double)steps;
}

/* Reads, or copies, all of so many bytes, by words: nanoseconds for a line of 64. */
static double read_lines(uint64_t bytes)
{
    uint64_t rounds = 1 + 1000000 * scale / bytes, sum = 0;
    uint64_t *memory = aligned_alloc(4096, bytes);
    memset(memory, 1, bytes);
    double begin = now_ns();
    for (uint64_t r = 0; r < rounds; r++) {
        for (uint64_t i = 0; i < bytes / 8; i += 8) {
            sum += memory[i] + memory[i + 1] + memory[i + 2] + memory[i + 3] + memory[i + 4] + memory[i + 5] +
                   memory[i + 6] + memory[i + 7];
            __asm__ volatile("" : "+r"(sum));
        }
    }
    double end = now_ns();
    sink = sum;
    free(memory);
    return (end - begin) / (double)(rounds * bytes / 64);
}

static double copy_lines(uint64_t bytes)
{
    uint64_t rounds = 1 + 500000 * scale / bytes;
    uint64_t *from = aligned_alloc(4096, bytes), *to = aligned_alloc(4096, bytes);
    memset(from, 1, bytes);
    memset(to, 2, bytes);
    double begin = now_ns();
    for (uint64_t r = 0; r < rounds; r++) {
        for (uint64_t i = 0; i < bytes / 8; i += 2)
            __asm__ volatile("movups (%0), %%xmm0\n\tmovups %%xmm0, (%1)"
                             :
                             : "r"(from + i), "r"(to + i)
                             : "xmm0", "memory");
    }
    double end = now_ns();
    free(from);
    free(to);
    return (end - begin) / (double)(rounds * bytes / 64);
}

/* Independent loads at random places: misses that overlap. */
static double random_loads(uint64_t bytes)
{
    uint64_t steps = 20000 * scale, mask = bytes / 8 - 1, sum = 0, x = seed;
    uint64_t *memory = aligned_alloc(4096, bytes);
    memset(memory, 1, bytes);
    double begin = now_ns();
    for (uint64_t i = 0; i < steps; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        sum += memory[x >> 20 & mask];
    }
    double end = now_ns();
    sink = sum;
    free(memory);
    return (end - begin) / (double)steps;
}

/* ---- branches: taken if a bit is set, by a table of random bits that repeats after so many ---- */

static double branches(uint64_t period)
{
    uint64_t steps = 40000 * scale, x = 0;
    uint8_t *bits = malloc(period);
    for (uint64_t i = 0; i < period; i++)
        bits[i] = next_random() >> 40 & 1;
    double begin = 0;
    for (int round = 0; round < 2; round++) { /* the first one is to learn by */
        begin = now_ns();
        for (uint64_t i = 0, at = 0; i < steps; i++) {
            if (bits[at])
                __asm__ volatile("add $1, %0" : "+r"(x));
            at = at + 1 == period ? 0 : at + 1;
        }
    }
    double end = now_ns();
    sink = x;
    free(bits);
    return (end - begin) / (double)steps;
}

static __attribute__((noinline)) uint64_t called(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

static double calls(uint64_t unused)
{
    (void)unused;
    uint64_t steps = 20000 * scale, x = 0;
    double begin = now_ns();
    for (uint64_t i = 0; i < steps; i++)
        x = called(x);
    double end = now_ns();
    sink = x;
    return (end - begin) / (double)steps;
}

static const struct {
    const char *name, *what;
    double (*run)(uint64_t size);
    uint64_t size;
} rows[] = {
    {"add", "integer sum, in a chain", add_chain, 0},
    {"mul", "integer product, in a chain", mul_chain, 0},
    {"div", "integer quotient, in a chain", div_chain, 0},
    {"fadd", "floating-point sum, in a chain", fadd_chain, 0},
    {"fmul", "floating-point product, in a chain", fmul_chain, 0},
    {"fdiv", "floating-point quotient, in a chain", fdiv_chain, 0},
    {"add-width", "independent integer sums", add_width, 0},
    {"forward", "store, load of it and a sum, in a chain", forward_chain, 0},
    {"load-16K", "dependent loads over 16 KiB", load_chain, 16 << 10},
    {"load-256K", "over 256 KiB", load_chain, 256 << 10},
    {"load-4M", "over 4 MiB", load_chain, 4 << 20},
    {"load-16M", "over 16 MiB", load_chain, 16 << 20},
    {"load-128M", "over 128 MiB", load_chain, 128 << 20},
    {"read-16K", "a line read, of 16 KiB in order", read_lines, 16 << 10},
    {"read-256K", "of 256 KiB", read_lines, 256 << 10},
    {"read-4M", "of 4 MiB", read_lines, 4 << 20},
    {"read-64M", "of 64 MiB", read_lines, 64 << 20},
    {"copy-16K", "a line copied, of 16 KiB", copy_lines, 16 << 10},
    {"copy-256K", "of 256 KiB", copy_lines, 256 << 10},
    {"copy-32M", "of 32 MiB", copy_lines, 32 << 20},
    {"random-512K", "independent loads of 512 KiB", random_loads, 512 << 10},
    {"random-64M", "of 64 MiB", random_loads, 64 << 20},
    {"branch-8", "branches that repeat after 8", branches, 8},
    {"branch-1K", "after 1024", branches, 1024},
    {"branch-random", "that do not repeat", branches, 1 << 20},
    {"call", "a call and its return", calls, 0},
};

int main(int count, char **words)
{
    int first = 1;
    if (count > 2 && !strcmp(words[1], "--scale")) {
        scale = strtoull(words[2], NULL, 10);
        first = 3;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int wanted = first == count;
        for (int k = first; k < count; k++)
            wanted |= !strcmp(words[k], rows[i].name);
        if (!wanted)
            continue;
        double best = rows[i].run(rows[i].size);
        for (int again = 0; again < (scale > 1 ? 4 : 0); again++) {
            double next = rows[i].run(rows[i].size);
            best = next < best ? next : best;
        }
        printf("%-14s %10.3f ns  %s\n", rows[i].name, best, rows[i].what);
        fflush(stdout);
    }
}
