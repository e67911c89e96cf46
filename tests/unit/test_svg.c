/* Drawings and cells of tables. */
#include "check.h"
#include "report/cell.h"
#include "report/svg.h"

#include <stdlib.h>
#include <string.h>

static const struct svg_field field = {.left = 100, .top = 50, .width = 200, .height = 400};

static void groups_of_three_digits(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *cell;
    } rows[] = {{0, "0"}, {999, "999"}, {1000, "1,000"}, {1234567, "1,234,567"}};
    char cell[CELL];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(cell_whole(cell, rows[i].value), rows[i].cell);
    assert_string_equal(cell_whole(cell, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void fields_grow_to_the_right_and_upwards(void **state)
{
    (void)state;
    assert_true(svg_x(&field, 0) == 100 && svg_x(&field, 1) == 300);
    assert_true(svg_y(&field, 0) == 450 && svg_y(&field, 1) == 50);
}

static void scales_are_linear_or_logarithmic_and_have_ends(void **state)
{
    (void)state;
    struct svg_scale linear = {.to = 200}, powers = {.logarithmic = true, .from = 10, .to = 1000};
    assert_true(svg_share(&linear, 50) == 0.25);
    assert_true(svg_share(&powers, 10) == 0 && svg_share(&powers, 100) == 0.5);
    assert_true(svg_share(&powers, 1) == 0 && svg_share(&powers, 1e6) == 1);
    assert_true(svg_share(&linear, -1) == 0 && svg_share(&linear, 300) == 1);
}

static void scales_end_at_round_numbers(void **state)
{
    (void)state;
    assert_true(svg_round_up(1) == 1 && svg_round_up(1.1) == 2 && svg_round_up(4) == 5 &&
                svg_round_up(70) == 100);
}

static void names_cannot_break_the_drawing(void **state)
{
    (void)state;
    char *bytes;
    size_t length;
    FILE *f = open_memstream(&bytes, &length);
    assert_non_null(f);
    svg_label(f, 1, 2, SVG_END, "%s", "</text>&\n");
    svg_dot(f, (struct svg_point){3, 4}, "#888", "%s: %d", "<b>", 5);
    fclose(f);
    assert_string_equal(
        bytes, "<text x='1.0' y='2.0' text-anchor='end'>&#60;/text&#62;&#38;?</text>\n"
               "<circle cx='3.0' cy='4.0' r='3' fill='#888'><title>&#60;b&#62;: 5</title></circle>\n");
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_three_digits),
        cmocka_unit_test(fields_grow_to_the_right_and_upwards),
        cmocka_unit_test(scales_are_linear_or_logarithmic_and_have_ends),
        cmocka_unit_test(scales_end_at_round_numbers),
        cmocka_unit_test(names_cannot_break_the_drawing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
