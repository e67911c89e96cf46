/* Points of a stream are gathered around few centres (k-median, as an online algorithm does it). They come in
 * chunks. Each round tries a point as a further centre: all threads sum up what their own points would gain
 * by it, and lose with each of the others, which may close for it; the first one decides. Centres and sums
 * are read by all, and written now and then.
 *
 * Numbers are whole, so that sums do not depend on who adds first. */
#include "threads.h"

enum { DIMENSIONS = 32, CENTRES = 64, CLUMPS = 24, CHUNK_ROUNDS = 32 };

struct point {
    int32_t at[DIMENSIONS];
};

/* What is known of a point: the centre it belongs to, and how far that is. */
struct member {
    uint32_t centre;
    int32_t distance;
};

/* What a thread's points would gain by the candidate, and lose if a centre were closed for it. */
struct sums {
    int64_t gain, losses[CENTRES];
};

static struct options all;
static struct point *points; /* of the chunk */
static struct member *members;
static struct sums *sums;       /* of each thread: side by side, as programs have it */
static int64_t losses[CENTRES]; /* of all */

/* Written by the first thread alone. */
static struct centre {
    struct point at;
    uint32_t is_open, closes;
} centres[CENTRES];
static uint32_t candidate, opened; /* a point; where it was opened, or CENTRES */
static int64_t price;              /* of a centre */

static int32_t distance(const struct point *a, const struct point *b)
{
    int32_t sum = 0;
    for (uint32_t d = 0; d < DIMENSIONS; d++) {
        int32_t apart = a->at[d] - b->at[d];
        sum += apart < 0 ? -apart : apart;
    }
    return sum;
}

/* The next chunk, as from a file: each thread reads some of all parts. */
static void read_chunk(uint32_t chunk, uint32_t thread)
{
    for (uint32_t i = thread; i < all.size; i += all.threads) {
        uint64_t any = chance((uint64_t)chunk << 32 | i, 1), clump = any % CLUMPS;
        for (uint32_t d = 0; d < DIMENSIONS; d++, any = any * 0x9e3779b97f4a7c15 + 1)
            points[i].at[d] = (int32_t)(((clump + 1) * (d + 7) * 2053 & 4095) + (any >> 55));
    }
}

/* Looks for the nearest centre of all. */
static void assign(uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        struct member nearest = {0, INT32_MAX};
        for (uint32_t c = 0; c < CENTRES; c++) {
            int32_t far = centres[c].is_open ? distance(&points[i], &centres[c].at) : INT32_MAX;
            if (far < nearest.distance)
                nearest = (struct member){c, far};
        }
        members[i] = nearest;
    }
}

static void weigh(struct sums *own, uint32_t first, uint32_t end)
{
    memset(own, 0, sizeof *own);
    for (uint32_t i = first; i < end; i++) {
        int32_t more = distance(&points[i], &points[candidate]) - members[i].distance;
        if (more < 0)
            own->gain -= more;
        else
            own->losses[members[i].centre] += more;
    }
}

/* Each thread adds up what all lose with some of the centres. */
static void add_up(uint32_t thread)
{
    for (uint32_t c = thread; c < CENTRES; c += all.threads) {
        int64_t sum = 0;
        for (uint32_t i = 0; i < all.threads; i++)
            sum += sums[i].losses[c];
        losses[c] = sum;
    }
}

static void decide(uint32_t round)
{
    int64_t worth = -price;
    uint32_t place = CENTRES;
    for (uint32_t i = 0; i < all.threads; i++)
        worth += sums[i].gain;
    for (uint32_t c = 0; c < CENTRES; c++) {
        centres[c].closes = centres[c].is_open && losses[c] < price;
        worth += centres[c].closes ? price - losses[c] : 0;
        place = centres[c].is_open ? place : c;
    }
    opened = worth > 0 ? place : CENTRES;
    if (opened < CENTRES) {
        for (uint32_t c = 0; c < CENTRES; c++)
            centres[c].is_open &= !centres[c].closes;
        centres[opened] = (struct centre){.at = points[candidate], .is_open = 1};
    }
    candidate = (uint32_t)(chance(round, 3) % all.size);
}

/* To the new centre goes who is nearer to it, and whose own was closed. */
static void join_new(uint32_t first, uint32_t end)
{
    for (uint32_t i = first; opened < CENTRES && i < end; i++) {
        int32_t far = distance(&points[i], &centres[opened].at);
        if (far < members[i].distance || !centres[members[i].centre].is_open)
            members[i] = (struct member){opened, far};
    }
}

static void *work(void *number_of_thread)
{
    uint32_t thread = (uint32_t)(uintptr_t)number_of_thread;
    uint32_t first = first_of(all.size, thread, all.threads);
    uint32_t end = first_of(all.size, thread + 1, all.threads);
    for (uint32_t round = 0; round < all.rounds; round++) {
        if (round % CHUNK_ROUNDS == 0) {
            read_chunk(round / CHUNK_ROUNDS, thread);
            pthread_barrier_wait(&together);
            assign(first, end);
        }
        weigh(&sums[thread], first, end);
        pthread_barrier_wait(&together);
        add_up(thread);
        pthread_barrier_wait(&together);
        if (!thread)
            decide(round);
        pthread_barrier_wait(&together);
        join_new(first, end);
    }
    return NULL;
}

int main(int count, char **words)
{
    all = options(count, words, (struct options){.threads = 4, .size = 4096, .rounds = 1000});
    points = memory(all.size, sizeof *points);
    members = memory(all.size, sizeof *members);
    sums = memory(all.threads, sizeof *sums);
    price = (int64_t)all.size * 60;
    centres[0].is_open = 1;
    run_threads(all.threads, work);
    uint64_t checksum = 0;
    uint32_t open = 0;
    for (uint32_t c = 0; c < CENTRES; c++)
        open += centres[c].is_open;
    for (uint32_t i = 0; i < all.size; i++)
        checksum = chance(checksum, members[i].centre * UINT64_C(65536) + (uint64_t)members[i].distance);
    printf("%u centres, checksum %016llx\n", open, (unsigned long long)checksum);
    return 0;
}
