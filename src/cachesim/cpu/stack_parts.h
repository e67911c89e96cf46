/* What stacks are made of; for this room only. */
#ifndef CACHESIM_CPU_STACK_PARTS_H
#define CACHESIM_CPU_STACK_PARTS_H

#include "cachesim/cpu/stack.h"
#include "cachesim/place.h"

enum { ROW = 16, ROWS_MOST = REPLACE_WAYS_MOST / ROW };

typedef uint8_t stack_row __attribute__((vector_size(ROW)));

/* All caches with this many sets and lines of this size. */
struct stack_level {
    uint32_t sets, depth;     /* the most ways of any */
    uint32_t rows, set_bytes; /* of a row of bytes each: marks, ways, ages */
};

/* Levels with lines of one size; the sets of each are sets of the next, cut into pieces. */
struct stack_chain {
    uint32_t line_shift;
    uint32_t first, count; /* of all levels */
};

/* What is counted: by the place in the stack that a line was found in (depth: in none). */
struct stack_counts {
    uint64_t found[2][REPLACE_WAYS_MOST + 1]; /* by reads, by writes */
    uint64_t stopped[2];                      /* on top here, and so at all further levels */
    uint64_t cold[REPLACE_WAYS_MOST + 1];     /* in none, by the number of lines there were */
    uint64_t write_backs[REPLACE_WAYS_MOST];  /* by the place it left: of caches that have one way more */
    stack_row recent[ROWS_MOST];              /* those not added to write_backs yet */
    uint32_t recent_accesses;
};

/* A tile's stacks of one chain, and the lines of one part of it. */
struct stack_walk {
    const struct stack_chain *chain;
    const struct stack_level *levels; /* of the chain */
    char *const *sets;                /* of each level */
    struct stack_counts *counts;      /* of each level */
    uint32_t part_mask, part;
    const struct trace_access *at;
    size_t count;
};

/* A set: the last access, then rows by place in the stack (the top is 0), then lines by way. */
enum { STACK_LAST_BYTES = 16 };

static inline uint8_t *stack_marks(const struct stack_level *level, char *set)
{
    (void)level;
    return (uint8_t *)set + STACK_LAST_BYTES;
}

static inline uint8_t *stack_ways(const struct stack_level *level, char *set)
{
    return stack_marks(level, set) + level->rows * ROW;
}

/* One more than the lowest place it came down to since it was last written; 0 where it was not. It is dirty
 * in caches that hold it since then: those of more ways than that place. */
static inline uint8_t *stack_ages(const struct stack_level *level, char *set)
{
    return stack_ways(level, set) + level->rows * ROW;
}

static inline uint64_t *stack_lines(const struct stack_level *level, char *set)
{
    return (uint64_t *)(void *)(stack_ages(level, set) + level->rows * ROW);
}

/* The same, compiled for several processors (stack_level.h). */
typedef void stack_fn(const struct stack_walk *walk);
stack_fn stack_walk_v1, stack_walk_v3;

void stack_add_recent(struct stack_counts *counts, uint32_t rows);

#endif
