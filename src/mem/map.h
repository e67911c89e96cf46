/* Which slice a line belongs to. Each run of as many lines as there are slices goes to all slices, in an
 * order that differs from run to run, so that no stride meets few of them only. */
#ifndef MEM_MAP_H
#define MEM_MAP_H

#include "base/bits.h"

struct map {
    uint64_t reciprocal; /* of slices; 0 when there is one */
    uint32_t slices;
};

/* A line is named by its slice and its place among the lines of that slice. */
struct place {
    uint32_t slice;
    uint64_t index;
};

static inline struct map map_make(uint32_t slices)
{
    return (struct map){.slices = slices, .reciprocal = slices > 1 ? UINT64_MAX / slices + 1 : 0};
}

/* How far the run is turned. */
static inline uint32_t map_turn(const struct map *map, uint64_t run)
{
    uint64_t mixed = (run ^ run >> 15) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)((mixed >> 32) * map->slices >> 32);
}

/* Exact for lines below 2^54 / slices. */
static inline struct place map_place(const struct map *map, uint64_t line_number)
{
    if (map->slices == 1)
        return (struct place){0, line_number};
    uint64_t run = (uint64_t)((unsigned __int128)line_number * map->reciprocal >> 64);
    uint32_t slice = (uint32_t)(line_number - run * map->slices) + map_turn(map, run);
    return (struct place){slice < map->slices ? slice : slice - map->slices, run};
}

/* And back. */
static inline uint64_t map_line_number(const struct map *map, struct place place)
{
    uint32_t turn = map->slices == 1 ? 0 : map_turn(map, place.index);
    uint32_t in_run = place.slice >= turn ? place.slice - turn : place.slice + map->slices - turn;
    return place.index * map->slices + in_run;
}

#endif
