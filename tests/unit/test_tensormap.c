/* Tensor maps: 591 descriptions, and what an H200's driver said to them (tensormaps/h200.txt): the first
 * words of the map, or "-" for an invalid value. A row is what cuTensorMapEncodeTiled or
 * cuTensorMapEncodeIm2col was given, in their order. */
#include "check.h"
#include "exec/tensormap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "64,32,1": so many numbers at most. */
static uint32_t read_numbers(const char *text, int64_t to[], uint32_t most)
{
    uint32_t count = 0;
    for (char *end = NULL; count < most; text = end + 1) {
        to[count++] = (int64_t)strtoull(text, &end, 10);
        if (*end != ',')
            break;
    }
    return count;
}

static bool next(char **rest, int64_t to[], uint32_t most)
{
    char *word = strsep(rest, " ");
    return word && read_numbers(word, to, most);
}

static void read_row(char **rest, struct tensormap *map, bool *has_fill)
{
    int64_t numbers[8] = {0};
    *map = (struct tensormap){.is_im2col = !strcmp(strsep(rest, " "), "im2col")};
    assert_true(next(rest, numbers, 1));
    map->type = (uint32_t)numbers[0];
    assert_true(next(rest, numbers, 1));
    map->rank = (uint32_t)numbers[0];
    map->address = strtoull(strsep(rest, " "), NULL, 16);
    assert_true(next(rest, numbers, 5));
    for (int i = 0; i < 5; i++)
        map->dim[i] = (uint64_t)numbers[i];
    assert_true(next(rest, numbers, 4));
    for (int i = 1; i < 5; i++)
        map->stride[i] = (uint64_t)numbers[i - 1];
    assert_true(next(rest, numbers, 5));
    for (int i = 0; i < 5 && !map->is_im2col; i++)
        map->box[i] = (uint32_t)numbers[i];
    for (int i = 0; i < 3 && map->is_im2col; i++)
        map->lower[i] = (int32_t)numbers[i];
    if (map->is_im2col) {
        assert_true(next(rest, numbers, 3));
        for (int i = 0; i < 3; i++)
            map->upper[i] = (int32_t)numbers[i];
        assert_true(next(rest, numbers, 1));
        map->box[0] = (uint32_t)numbers[0];
        assert_true(next(rest, numbers, 1));
        map->pixels = (uint32_t)numbers[0];
    }
    assert_true(next(rest, numbers, 5));
    for (int i = 0; i < 5; i++)
        map->step[i] = (uint32_t)numbers[i];
    uint32_t *const modes[] = {&map->interleave, &map->swizzle, &map->promotion};
    for (int i = 0; i < 3; i++) {
        assert_true(next(rest, numbers, 1));
        *modes[i] = (uint32_t)numbers[0];
    }
    assert_true(next(rest, numbers, 1));
    *has_fill = numbers[0] == 0 || numbers[0] == 1;
    map->fills_nan = numbers[0] == 1;
}

static void check_words(const struct tensormap *map, char *words)
{
    unsigned char bits[TENSORMAP_BYTES];
    struct tensormap again;
    tensormap_encode(map, bits);
    for (int i = 0; i < TENSORMAP_BYTES / 8; i++) {
        char *word = strsep(&words, " ");
        uint64_t expected = word ? strtoull(word, NULL, 16) : 0, got;
        memcpy(&got, bits + 8 * i, 8);
        if (got != expected)
            fail_msg("word %d is 0x%" PRIx64 ", not 0x%" PRIx64, i, got, expected);
    }
    assert_true(tensormap_decode(&again, bits));
    unsigned char same[TENSORMAP_BYTES];
    tensormap_encode(&again, same);
    assert_memory_equal(bits, same, sizeof bits);
}

static void an_h200_says_the_same(void **state)
{
    FILE *file = fopen(TENSORMAPS_FILE, "r");
    char *line = NULL;
    size_t capacity = 0;
    uint32_t count = 0;
    (void)state;
    assert_non_null(file);
    for (; getline(&line, &capacity, file) > 0; count++) {
        struct tensormap map;
        char *rest = line, *copy = strdup(line);
        bool has_fill;
        line[strcspn(line, "\n")] = 0;
        read_row(&rest, &map, &has_fill);
        bool is_valid = has_fill && tensormap_is_valid(&map);
        if (is_valid != (*rest != '-'))
            fail_msg("%s: %s", is_valid ? "valid" : "invalid", copy);
        if (is_valid)
            check_words(&map, rest);
        free(copy);
    }
    assert_int_equal(count, 591);
    free(line);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_h200_says_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
