/* Which slice a line belongs to. Of two adjacent pieces of 4 KiB, one has its home on each side (partition)
 * of the L2, as observed on an H200; a hash decides which. On a side, each run of as many lines as it has
 * slices uses all of them, in an order that differs from run to run, so that no stride uses only a few
 * slices. */
#ifndef MEM_MAP_H
#define MEM_MAP_H

#include "base/bits.h"

enum { MAP_PIECE_SHIFT = 5 }; /* lines of a piece, by their logarithm */

struct map {
    uint64_t reciprocal;       /* of a side's slices; 0 when there is one */
    uint32_t slices, per_side; /* slices of all sides, and of one */
};

/* A line is named by its slice and its place among the lines of that slice. */
struct map_place {
    uint32_t slice;
    uint64_t index;
};

static inline struct map map_make(uint32_t slices, uint32_t sides)
{
    uint32_t per_side = slices / sides;
    return (struct map){
        .slices = slices, .per_side = per_side, .reciprocal = per_side > 1 ? UINT64_MAX / per_side + 1 : 0};
}

/* How far the run is turned. */
static inline uint32_t map_turn(const struct map *map, uint64_t run)
{
    uint64_t mixed = (run ^ run >> 15) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)((mixed >> 32) * map->per_side >> 32);
}

/* The side that the first piece of a pair is on. */
static inline uint32_t map_first_side(uint64_t pair)
{
    return (uint32_t)(pair * UINT64_C(0x9e3779b97f4a7c15) >> 63);
}

/* Exact for lines below 2^54 / slices. */
static inline struct map_place map_place(const struct map *map, uint64_t line)
{
    uint32_t side = 0;
    if (map->per_side != map->slices) {
        uint64_t pair = line >> (MAP_PIECE_SHIFT + 1), in_piece = line & ((1 << MAP_PIECE_SHIFT) - 1);
        side = map_first_side(pair) ^ (line >> MAP_PIECE_SHIFT & 1);
        line = pair << MAP_PIECE_SHIFT | in_piece;
    }
    if (map->per_side == 1)
        return (struct map_place){side, line};
    uint64_t run = (uint64_t)((unsigned __int128)line * map->reciprocal >> 64);
    uint32_t slice = (uint32_t)(line - run * map->per_side) + map_turn(map, run);
    slice = slice < map->per_side ? slice : slice - map->per_side;
    return (struct map_place){side * map->per_side + slice, run};
}

/* And back. */
static inline uint64_t map_line_number(const struct map *map, struct map_place place)
{
    uint32_t side = place.slice >= map->per_side, slice = place.slice - side * map->per_side;
    uint32_t turn = map->per_side == 1 ? 0 : map_turn(map, place.index);
    uint32_t in_run = slice >= turn ? slice - turn : slice + map->per_side - turn;
    uint64_t line = place.index * map->per_side + in_run;
    if (map->per_side == map->slices)
        return line;
    uint64_t pair = line >> MAP_PIECE_SHIFT, in_piece = line & ((1 << MAP_PIECE_SHIFT) - 1);
    uint64_t piece = pair << 1 | (side ^ map_first_side(pair));
    return piece << MAP_PIECE_SHIFT | in_piece;
}

#endif
