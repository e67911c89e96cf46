/* The accesses of a tile through its stacks. LEVEL is the processor that this is compiled for. */
#include "base/bits.h"
#include "cachesim/cpu/stack_parts.h"
#include "cachesim/lines.h"

static inline stack_row row_load(const uint8_t *at)
{
    stack_row row;
    memcpy(&row, at, sizeof row);
    return row;
}

static inline void row_store(uint8_t *at, stack_row row)
{
    memcpy(at, &row, sizeof row);
}

static inline stack_row row_all(uint32_t value)
{
    return (stack_row){0} + (uint8_t)value;
}

/* One place further down; from the row before it comes the first. */
static inline stack_row row_down(stack_row before, stack_row row)
{
    return __builtin_shufflevector(before, row, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
                                   30);
}

static inline stack_row row_choose(stack_row mask, stack_row yes, stack_row no)
{
    return (yes & mask) | (no & ~mask);
}

static inline stack_row row_places(uint32_t number)
{
    stack_row places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return places + (uint8_t)(number * ROW);
}

/* The place a line is in, or the depth. */
static inline uint32_t find(const struct stack_level *level, char *set, uint64_t line, uint8_t mark)
{
    const uint8_t *marks = stack_marks(level, set), *ways = stack_ways(level, set);
    const uint64_t *lines = stack_lines(level, set);
    for (uint32_t row = 0; row < level->rows; row++) {
        uint32_t same = bytes_equal(marks + row * ROW, mark);
        for (; same; same &= same - 1) {
            uint32_t place = row * ROW + lowest_bit(same);
            if (lines[ways[place]] == line)
                return place;
        }
    }
    return level->depth;
}

/* How many lines there are. */
static inline uint32_t occupied(const struct stack_level *level, char *set)
{
    for (uint32_t row = 0; row < level->rows; row++) {
        uint32_t empty = bytes_equal(stack_marks(level, set) + row * ROW, 0);
        if (empty)
            return (uint32_t)min_u64(row * ROW + lowest_bit(empty), level->depth);
    }
    return level->depth;
}

/* A line comes to the top; those above its place go down by one, and leave the caches that they are in the
 * last place of. Gives its age there. */
static inline uint8_t to_top(const struct stack_level *level, char *set, struct stack_counts *counts,
                             uint32_t place, uint64_t line, uint8_t mark, bool writes)
{
    uint8_t *marks = stack_marks(level, set), *ways = stack_ways(level, set), *ages = stack_ages(level, set);
    bool is_new = place == level->depth;
    uint32_t last = is_new ? level->depth - 1 : place;
    uint8_t way = ways[last], age = writes ? 1 : is_new ? 0 : ages[last];
    if (is_new)
        stack_lines(level, set)[way] = line;
    stack_row mark_before = row_all(mark), way_before = row_all(way), age_before = row_all(age);
    for (uint32_t row = 0; row < level->rows && row * ROW <= last; row++) {
        stack_row places = row_places(row), old_age = row_load(ages + row * ROW);
        stack_row old_mark = row_load(marks + row * ROW), old_way = row_load(ways + row * ROW);
        stack_row leaves = (stack_row)(old_age == places + 1) & (stack_row)(places < row_all(place));
        stack_row moves = (stack_row)(places <= row_all(last));
        stack_row new_age = old_age - leaves;
        counts->recent[row] -= leaves;
        row_store(ages + row * ROW, row_choose(moves, row_down(age_before, new_age), new_age));
        row_store(marks + row * ROW, row_choose(moves, row_down(mark_before, old_mark), old_mark));
        row_store(ways + row * ROW, row_choose(moves, row_down(way_before, old_way), old_way));
        age_before = new_age;
        mark_before = old_mark;
        way_before = old_way;
    }
    if (++counts->recent_accesses == 255)
        stack_add_recent(counts, level->rows);
    return age;
}

/* At one level; true when it was on top, and all is as it was. */
static inline bool step(const struct stack_level *level, char *sets, struct stack_counts *counts,
                        uint64_t line, uint8_t mark, bool writes)
{
    uint32_t mask = level->sets - 1;
    uint64_t number = level->sets & mask ? line % level->sets : line & mask;
    char *set = sets + number * level->set_bytes;
    uint64_t *last = (uint64_t *)(void *)set, word = line << 2 | 1;
    if ((*last | 2) == (word | 2) && (!writes || (*last & 2))) {
        counts->stopped[writes]++;
        return true;
    }
    uint32_t place = find(level, set, line, mark);
    counts->found[writes][place]++;
    if (place == level->depth)
        counts->cold[occupied(level, set)]++;
    uint8_t age = to_top(level, set, counts, place, line, mark, writes);
    *last = word | (uint64_t)(age == 1) << 1;
    return false;
}

/* `rows`: of all levels, a constant where it is known; or 0. */
static inline void walk_all(const struct stack_walk *walk, uint32_t rows)
{
    uint32_t shift = walk->chain->line_shift;
    for (size_t i = 0; i < walk->count; i++) {
        struct trace_access access = walk->at[i];
        struct lines lines = lines_of(shift, access);
        for (uint64_t line = lines.first; line <= lines.last; line++) {
            if (((uint32_t)line & walk->part_mask) != walk->part)
                continue;
            uint8_t mark = coherent_mark(line);
            for (uint32_t k = 0; k < walk->chain->count; k++) {
                struct stack_level level = walk->levels[k];
                level.rows = rows ? rows : level.rows;
                if (step(&level, walk->sets[k], &walk->counts[k], line, mark, trace_writes(access)))
                    break;
            }
        }
    }
}

#define NAMED(level) stack_walk_##level
#define NAME(level)  NAMED(level)

__attribute__((flatten)) void NAME(LEVEL)(const struct stack_walk *walk)
{
    bool all_one = true;
    for (uint32_t i = 0; i < walk->chain->count; i++)
        all_one &= walk->levels[i].rows == 1;
    if (all_one)
        walk_all(walk, 1);
    else
        walk_all(walk, 0);
}
