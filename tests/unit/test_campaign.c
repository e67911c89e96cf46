/* Studies that files describe: their points, and what is made of their statistics. */
#include "check.h"
#include "base/mem.h"
#include "study/campaign/campaign.h"

#include <math.h>
#include <unistd.h>

/* The command line is all that a result depends on; one with "wrong" is refused. */
static bool check(int count, char **words, struct text *identity, struct err *err)
{
    for (int i = 0; i < count; i++) {
        text_add(identity, "%s\n", words[i]);
        if (strstr(words[i], "wrong"))
            return err_set(err, "no such setting");
    }
    return true;
}

static void read_points(struct campaign *campaign, const char *text)
{
    struct err err;
    if (!campaign_read_text(campaign, "x.ini", text, strlen(text), false, NULL, &err) ||
        !campaign_points_make(campaign, &(struct campaign_how){.check = check}, &err))
        fail_msg("%s", err.text);
}

static void expect_command(const struct campaign_point *point, const char *command)
{
    struct text text = {0};
    campaign_print_words(&point->words, &text);
    assert_string_equal(text.at, command);
    text_fini(&text);
}

static void points_are_combinations(void **state)
{
    (void)state;
    struct campaign campaign;
    read_points(&campaign, "[study]\nsystems = v100 sub/my.ini\noptions = --cold-caches\n"
                           "[workload.a]\nbench = fir\noptions = --n 64\n"
                           "[workload.b]\nrun = /bin/b 'two words'\n"
                           "[axis.l2]\nset = l2.bytes\nvalues = 1MiB 2MiB\n"
                           "[without]\nx = workload=a system=v100 l2=2MiB\n");
    assert_int_equal(campaign.point_count, 7);
    expect_command(&campaign.points[0],
                   "bench fir --mode timing --cold-caches --n 64 --system v100 --set l2.bytes=1MiB");
    expect_command(&campaign.points[6], "run --mode timing --cold-caches --system sub/my.ini --set "
                                        "l2.bytes=2MiB /bin/b 'two words'");
    assert_null(campaign_point_at(&campaign, (size_t[]){0, 0, 1}));
    assert_ptr_equal(campaign_point_at(&campaign, (size_t[]){1, 1, 1}), &campaign.points[6]);
    campaign_fini(&campaign);
}

static void gpus_are_put_into_words(void **state)
{
    (void)state;
    struct campaign campaign;
    struct err err;
    static const char text[] = "[study]\ngpus = 4\n[workload.fir]\n"
                               "[axis.model]\none = system.gpus=1\nall = --unified {gpus}\n";
    assert_true(campaign_read_text(&campaign, "x.ini", text, strlen(text), false, NULL, &err));
    assert_false(campaign_set_gpus(&campaign, "65", &err));
    assert_true(campaign_set_gpus(&campaign, "3", &err));
    assert_true(campaign_points_make(&campaign, &(struct campaign_how){.check = check}, &err));
    expect_command(&campaign.points[0], "bench fir --mode timing --set system.gpus=1");
    expect_command(&campaign.points[1], "bench fir --mode timing --unified 3");
    campaign_fini(&campaign);
    static const char none[] = "[workload.fir]\n";
    assert_true(campaign_read_text(&campaign, "x.ini", none, strlen(none), false, NULL, &err));
    assert_false(campaign_set_gpus(&campaign, "3", &err));
    campaign_fini(&campaign);
}

static void equal_points_run_once(void **state)
{
    (void)state;
    struct campaign campaign;
    read_points(&campaign, "[workload.fir]\n[axis.x]\na = -\nb = l2.bytes=1MiB\nc = l2.bytes=1MiB\n");
    assert_int_equal(campaign.points[1].same, 1);
    assert_int_equal(campaign.points[2].same, 1);
    campaign_fini(&campaign);
}

static void wrong_words_are_blamed_on_their_line(void **state)
{
    (void)state;
    struct campaign campaign;
    struct err err;
    static const char text[] = "[workload.fir]\n[axis.x]\na = -\n[axis.y]\nb = -\nc = --wrong\n";
    assert_true(campaign_read_text(&campaign, "x.ini", text, strlen(text), false, NULL, &err));
    assert_false(campaign_points_make(&campaign, &(struct campaign_how){.check = check}, &err));
    assert_string_equal(err.text, "x.ini:6: y=c: no such setting");
    campaign_fini(&campaign);
}

/* ---- results ---- */

static void set_time(struct campaign *campaign, size_t point, double time)
{
    const char *unused;
    size_t count = campaign_metric_count();
    struct campaign_point *of = &campaign->points[point];
    of->values = mem_alloc(count, sizeof *of->values);
    of->values[campaign_metric_find("gpu__time_duration.sum", &unused)] = time;
    of->state = CAMPAIGN_DONE;
}

static void figures_may_have_a_baseline(void **state)
{
    (void)state;
    struct campaign campaign;
    read_points(&campaign, "[study]\nbaseline = x=1\n[workload.fir]\n[axis.x]\nset = s.s\nvalues = 1 2 3\n"
                           "[figure.f]\nshows = speedup\n[figure.g]\nshows = ratio\nbaseline = x=2\n");
    for (size_t i = 0; i < campaign.point_count; i++)
        set_time(&campaign, i, (double[]){8, 4, 2}[i]);
    const size_t labels[] = {0, 0, 2};
    assert_float_equal(campaign_figure_value(&campaign, &campaign.figures[0], labels), 4, 0);
    assert_float_equal(campaign_figure_value(&campaign, &campaign.figures[1], labels), 0.5, 0);
    campaign_fini(&campaign);
}

/* b has failed with one of the two labels, so the mean is that of a and c. */
static void mean_is_over_whole_rows(void **state)
{
    (void)state;
    static const double times[] = {8, 4, 6, NAN, 27, 3};
    struct campaign campaign;
    struct campaign_table table;
    read_points(&campaign, "[study]\nworkloads = fir aes bfs\nbaseline = x=old\n"
                           "[axis.x]\nold = -\nnew = l2.bytes=1MiB\n[figure.f]\nshows = speedup\n");
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (!isnan(times[i]))
            set_time(&campaign, i, times[i]);
    }
    campaign_table_init(&table, &campaign, &campaign.figures[0]);
    assert_int_equal(table.row_count, 4);
    assert_float_equal(table.rows[0].cells[1], 2, 1e-9);
    assert_true(isnan(table.rows[1].cells[1]));
    assert_true(table.rows[3].is_mean);
    assert_string_equal(table.rows[3].name, "mean of 2");
    assert_float_equal(table.rows[3].cells[1], sqrt(2 * 9), 1e-9);
    campaign_table_fini(&table);
    campaign_fini(&campaign);
}

static double *read_statistics(const char *text, struct err *err)
{
    char path[] = "/tmp/campaign-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    double *values = campaign_metrics_read(path, "", err);
    unlink(path);
    return values;
}

static double value_of(const double *values, const char *name)
{
    const char *unused;
    size_t metric = campaign_metric_find(name, &unused);
    assert_true(metric != NO_NAME);
    return values[metric];
}

static void counts_are_added_and_rates_weighted(void **state)
{
    (void)state;
    struct err err;
    double *values = read_statistics(
        "{\"state\": \"complete\", \"time_ps\": 7, \"copies\": {\"peer\": {\"bytes\": 5}}, \"kernels\": ["
        "{\"metrics\": {\"gpc__cycles_elapsed.max\": 100, \"dram__bytes.sum\": 1, \"TCC_HIT\": 2,"
        " \"lts__t_sector_hit_rate.pct\": 50}},"
        "{\"metrics\": {\"gpc__cycles_elapsed.max\": 300, \"dram__bytes.sum\": 2, \"TCC_HIT\": 3,"
        " \"lts__t_sector_hit_rate.pct\": 90}}]}",
        &err);
    assert_non_null(values);
    assert_float_equal(value_of(values, "gpc__cycles_elapsed.max"), 400, 0);
    assert_float_equal(value_of(values, "dram__bytes.sum"), 3, 0);
    assert_float_equal(value_of(values, "TCC_HIT"), 5, 0);
    assert_float_equal(value_of(values, "lts__t_sector_hit_rate.pct"), 80, 1e-9);
    assert_float_equal(value_of(values, "time_ps"), 7, 0);
    assert_float_equal(value_of(values, "copies.peer.bytes"), 5, 0);
    assert_true(isnan(value_of(values, "launches_total")));
    mem_free(values);
}

static void incomplete_statistics_are_refused(void **state)
{
    (void)state;
    struct err err;
    assert_null(read_statistics("{\"state\": \"failed\", \"kernels\": [{}]}", &err));
    assert_null(read_statistics("{\"state\": \"complete\", \"kernels\": []}", &err));
    assert_string_equal(err.text, "no kernel was launched");
    assert_null(read_statistics("{\"state\": ", &err));
    assert_null(read_statistics("[1]", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_combinations),
        cmocka_unit_test(gpus_are_put_into_words),
        cmocka_unit_test(equal_points_run_once),
        cmocka_unit_test(wrong_words_are_blamed_on_their_line),
        cmocka_unit_test(figures_may_have_a_baseline),
        cmocka_unit_test(mean_is_over_whole_rows),
        cmocka_unit_test(counts_are_added_and_rates_weighted),
        cmocka_unit_test(incomplete_statistics_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
