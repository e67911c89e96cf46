/* Which launches, and which part of their blocks, tell how long a program takes: chosen, and what was
 * measured extrapolated with an estimate of its error. Pure: it knows neither traces nor machines.
 *
 *   struct sampling *s = sampling_new(launches, count, 0.05);
 *   while (sampling_plan(s, blocks))            how many blocks of each launch to simulate; 0: none
 *       ... sampling_take(s, i, &measured);     for each that was simulated
 *   sampling_total(s, &estimate);
 *
 * Launches of one kernel with blocks of the same size and about as many instructions are a stratum, or those
 * of all sizes, where there are many: then times between samples are interpolated. Some of each are
 * simulated. A launch of many blocks is simulated up to where the rate at which blocks end is steady.
 * Launches before a sample are simulated until one more of them does not make it faster. */
#ifndef SAMPLING_SAMPLING_H
#define SAMPLING_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampling_launch {
    uint32_t kernel, threads; /* of a block */
    uint64_t blocks, instructions;
    uint64_t resident; /* blocks that the GPU holds at a time */
    bool whole;        /* all its blocks must run: they wait for each other */
};

enum { SAMPLING_MARKS = 32 };

struct sampling_measured {
    uint64_t blocks; /* that were simulated */
    double ps;
    double marks[SAMPLING_MARKS]; /* ps until 1/32, 2/32, ... of these had ended */
    double cache_bytes;           /* size of the L2 */
    double cache_missed;          /* bytes that the L2 had to take in: read from memory, or written */
    double cache_traffic;         /* all bytes that it was asked for */
    double memory_read;           /* bytes that came from memory, which caches did not have */
    double memory_rate;           /* bytes that memory behind it can move in a ps */
};

struct sampling_estimate {
    uint64_t launches, simulated;                  /* simulated: launches that were measured */
    uint64_t instructions, simulated_instructions; /* about; with those that only warm caches */
    double ps, error;                              /* error: relative, about one standard deviation */
};

struct sampling;

/* target: the relative error of the whole that is asked for. The launches are the caller's. */
struct sampling *sampling_new(const struct sampling_launch *launches, size_t count, double target);
void sampling_free(struct sampling *sampling);

/* What is to be simulated next; false: nothing, as the error is small enough, or as it cannot be
 * (sampling_why). */
bool sampling_plan(struct sampling *sampling, uint64_t *blocks);
void sampling_take(struct sampling *sampling, size_t launch, const struct sampling_measured *measured);

/* Why no estimate can be given; or NULL. */
const char *sampling_why(const struct sampling *sampling);

void sampling_total(const struct sampling *sampling, struct sampling_estimate *estimate);
void sampling_kernel(const struct sampling *sampling, uint32_t kernel, struct sampling_estimate *estimate);

#endif
