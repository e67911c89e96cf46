/* What the programs of this folder share: options, threads that start together, numbers by chance. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    uint32_t threads, size, rounds;
};

static void usage(const char *program, const struct options *unless_told)
{
    fprintf(stderr, "usage: %s [--threads N] [--size N] [--rounds N]   (%u, %u, %u unless told)\n", program,
            unless_told->threads, unless_told->size, unless_told->rounds);
    exit(2);
}

static uint32_t number(const char *text, uint32_t most)
{
    char *end;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    return text && *text >= '0' && *text <= '9' && !*end && value <= most ? (uint32_t)value : 0;
}

static struct options options(int count, char **words, struct options unless_told)
{
    struct options all = unless_told;
    for (int i = 1; i < count; i += 2) {
        uint32_t *into = !strcmp(words[i], "--threads")  ? &all.threads
                         : !strcmp(words[i], "--size")   ? &all.size
                         : !strcmp(words[i], "--rounds") ? &all.rounds
                                                         : NULL;
        uint32_t value = number(i + 1 < count ? words[i + 1] : NULL, into == &all.threads ? 256 : 1 << 24);
        if (!into || !value)
            usage(words[0], &unless_told);
        *into = value;
    }
    return all;
}

static void *memory(size_t count, size_t bytes_each)
{
    void *at = calloc(count, bytes_each);
    if (!at) {
        fputs("there is not enough memory\n", stderr);
        exit(1);
    }
    return at;
}

/* Each place and round has its own: which thread asks does not matter. */
static inline uint64_t chance(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* The first of `all` pieces that are of this thread; those of the next one follow. */
static inline uint32_t first_of(uint32_t all, uint32_t thread, uint32_t threads)
{
    return (uint32_t)((uint64_t)all * thread / threads);
}

static pthread_barrier_t together;

/* Calls work(number of the thread) in each, and waits for all. The one who asked has none of it. */
static void run_threads(uint32_t count, void *(*work)(void *number))
{
    pthread_t *threads = memory(count, sizeof *threads);
    pthread_barrier_init(&together, NULL, count);
    for (uintptr_t i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i)) {
            fputs("cannot start a thread\n", stderr);
            exit(1);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

#endif
