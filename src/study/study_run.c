/* The workloads that studies run: those of MGPUSim's paper (table 2). */
#include "study/study.h"
#include "base/progress.h"
#include "driver/driver.h"

#include <regex.h>

const struct study_row study_rows[STUDY_ROWS] = {
    {"aes", "n=32768"},
    {"bitonic", "log=14"},
    {"fir", "n=131072"},
    {"kmeans", "n=16000"},
    {"transpose", "width=768 height=512"},
    {"matmul_tiled", "m=192 n=192 k=192"},
    {"simpleconvolution", "width=512 height=384"},
};

static bool select_rows(const struct study_how *how, bool wanted[STUDY_ROWS], struct err *err)
{
    regex_t only;
    bool any = false;
    if (regcomp(&only, how->only ? how->only : "", REG_EXTENDED | REG_NOSUB) != 0)
        return err_set(err, "--only: '%.120s' is no regular expression", how->only);
    for (size_t i = 0; i < STUDY_ROWS; i++) {
        wanted[i] = regexec(&only, study_rows[i].workload, 0, NULL, 0) == 0;
        any |= wanted[i];
    }
    regfree(&only);
    return any || err_set(err, "--only: no workload of a study is like '%.120s'", how->only);
}

bool study_each(const struct study_how *how, study_make_fn *make, void *user, struct err *err)
{
    struct progress progress;
    bool wanted[STUDY_ROWS], good = select_rows(how, wanted, err);
    uint64_t made = 0;
    progress_init(&progress, "study", "workloads");
    for (size_t i = 0; good && i < STUDY_ROWS; i++) {
        if (wanted[i]) {
            good = make(user, &study_rows[i], how, err);
            made++;
        }
        if (!how->no_progress)
            progress_update(&progress, (double)(i + 1) / STUDY_ROWS, made);
    }
    progress_fini(&progress);
    return good;
}

static void add_cycles(void *user, struct driver *driver)
{
    uint64_t *cycles = user;
    struct launch_record record;
    for (size_t i = 0; driver_launch(driver, i, &record); i++) {
        if (record.timing)
            *cycles += record.timing->cycles;
    }
}

bool study_run(const struct study_row *row, const struct study_how *how, struct study_run *run,
               struct err *err)
{
    uint64_t values[WORKLOAD_OPTIONS_MOST];
    struct workload_result result;
    const struct workload *workload = workload_find(row->workload);
    REQUIRE(workload);
    workload_options_of(workload, row->options, values);
    struct driver_options options = {.system = how->system,
                                     .settings = how->settings,
                                     .threads = run->threads,
                                     .interrupt = how->interrupt,
                                     .keep_launches = true,
                                     .timing = {.on = run->is_timed, .windows = run->windows}};
    run->cycles = 0;
    bool good = workload_run_driven(workload, values, &options, add_cycles, &run->cycles, &result, err);
    if (*how->interrupt)
        return err_set(err, "interrupted");
    if (!good)
        return false;
    run->seconds = result.seconds;
    run->instructions = result.counts.warp_instructions;
    return true;
}
