/* A netlist is put on a chip by simulated annealing: cells that are joined by wires change places where this
 * makes the wires shorter, or, at first, even if not. Pointers lead from cell to cell to place, without any
 * order; a swap writes what all threads read.
 *
 * Each round has pairs of its own, no cell in two of them. All are weighed, by all threads, before any is
 * swapped: what comes of it does not depend on the number of threads. */
#include "threads.h"

enum { WIRES = 5, PAIRS = 512 /* of a round */, FIRST_HEAT = 2000 };

struct place {
    int32_t x, y;
};

struct cell {
    struct place *place;
    struct cell *joined[WIRES];
};

static struct options all;
static uint32_t bits; /* of a cell's number */
static struct cell **cells;
static struct place *places;
static uint8_t swaps[PAIRS];

/* Cells lie in memory in another order than their numbers. */
static uint32_t shuffled(uint32_t i, uint64_t round)
{
    uint32_t mask = (UINT32_C(1) << bits) - 1, x = i;
    for (uint64_t turn = 0; turn < 3; turn++) { /* each step can be undone */
        uint64_t any = chance(round, turn);
        x = (x * ((uint32_t)any | 1) + (uint32_t)(any >> 32)) & mask;
        x ^= x >> (bits / 2);
    }
    return x;
}

static void make_netlist(void)
{
    uint32_t count = UINT32_C(1) << bits;
    struct cell *memory_of_cells = memory(count, sizeof *memory_of_cells);
    cells = memory(count, sizeof *cells);
    places = memory(count, sizeof *places);
    for (uint32_t i = 0; i < count; i++) {
        places[i] = (struct place){(int32_t)(i & ((1 << bits / 2) - 1)), (int32_t)(i >> bits / 2)};
        cells[i] = &memory_of_cells[shuffled(i, 1)];
        cells[i]->place = &places[shuffled(i, 2)];
    }
    for (uint32_t i = 0; i < count; i++) { /* to some near by number, and to one anywhere */
        for (uint32_t k = 0; k < WIRES; k++) {
            uint64_t any = chance(i, 10 + k);
            uint32_t apart = k ? (uint32_t)(any % 256) : (uint32_t)any;
            cells[i]->joined[k] = cells[(i + apart) & (count - 1)];
        }
    }
}

/* Of the wires, if the cell were at this place. */
static int64_t length_at(const struct cell *cell, const struct place *at)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < WIRES; k++) {
        const struct place *other = cell->joined[k]->place;
        sum += llabs((long long)at->x - other->x) + llabs((long long)at->y - other->y);
    }
    return sum;
}

static void pair_of(uint32_t number_of_pair, uint32_t round, struct cell *pair[2])
{
    pair[0] = cells[shuffled(2 * number_of_pair, round + 100)];
    pair[1] = cells[shuffled(2 * number_of_pair + 1, round + 100)];
}

static void weigh(uint32_t i, uint32_t round)
{
    struct cell *pair[2];
    pair_of(i, round, pair);
    int64_t before = length_at(pair[0], pair[0]->place) + length_at(pair[1], pair[1]->place);
    int64_t after = length_at(pair[0], pair[1]->place) + length_at(pair[1], pair[0]->place);
    int64_t heat = FIRST_HEAT / (1 + (int64_t)round / 16);
    swaps[i] = after < before || after - before < (int64_t)(chance(round, 1000 + i) % 1024) * heat / 65536;
}

static void swap(uint32_t i, uint32_t round)
{
    struct cell *pair[2];
    if (!swaps[i])
        return;
    pair_of(i, round, pair);
    struct place *place = pair[0]->place;
    pair[0]->place = pair[1]->place;
    pair[1]->place = place;
}

static void *work(void *number_of_thread)
{
    uint32_t thread = (uint32_t)(uintptr_t)number_of_thread;
    uint32_t first = first_of(PAIRS, thread, all.threads), end = first_of(PAIRS, thread + 1, all.threads);
    for (uint32_t round = 0; round < all.rounds; round++) {
        for (uint32_t i = first; i < end; i++)
            weigh(i, round);
        pthread_barrier_wait(&together);
        for (uint32_t i = first; i < end; i++)
            swap(i, round);
        pthread_barrier_wait(&together);
    }
    return NULL;
}

int main(int count, char **words)
{
    all = options(count, words, (struct options){.threads = 4, .size = 131072, .rounds = 4000});
    while (bits < 24 && (UINT32_C(1) << bits) < all.size)
        bits++;
    if ((UINT32_C(1) << bits) < 2 * PAIRS || (UINT32_C(1) << bits) != all.size) {
        fprintf(stderr, "--size: expected a power of two of at least %d\n", 2 * PAIRS);
        return 2;
    }
    make_netlist();
    run_threads(all.threads, work);
    uint64_t checksum = 0, length = 0;
    for (uint32_t i = 0; i < all.size; i++) {
        checksum = chance(checksum, (uint64_t)(cells[i]->place - places));
        length += (uint64_t)length_at(cells[i], cells[i]->place);
    }
    printf("wires of %llu, checksum %016llx\n", (unsigned long long)length, (unsigned long long)checksum);
    return 0;
}
