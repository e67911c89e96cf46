#include "cli/check.h"
#include "base/file.h"
#include "base/unit.h"
#include "checks/findings.h"
#include "driver/driver.h"
#include "report/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t note_most = (size_t)1 << 30;

static bool take_checks(struct check_request *request, const char *name, const char *value, struct err *err)
{
    struct err why;
    uint32_t checks;
    request->checks = value;
    return checks_parse(value, &checks, &why) || err_set(err, "%s: %s", name, why.text);
}

bool cmd_check_from_environment(struct check_request *request, struct err *err)
{
    const char *checks = getenv("HEDDLE_CHECK");
    request->show_count = CHECK_SHOW;
    return !checks || !*checks || take_checks(request, "HEDDLE_CHECK", checks, err);
}

bool cmd_check_took(struct check_request *request, const struct option_row *row, const char *value,
                    bool *mine, struct err *err)
{
    struct err why;
    *mine = true;
    if (!strcmp(row->name, "--check"))
        return take_checks(request, "--check", value, err);
    if (!strcmp(row->name, "--check-show")) {
        request->show = value;
        return unit_parse(UNIT_count, value, &request->show_count, &why) ||
               err_set(err, "--check-show: %s", why.text);
    }
    *mine = false;
    return true;
}

bool cmd_check_goes(const struct check_request *request, const struct timing_request *timing,
                    const char *trace_mem, struct err *err)
{
    if (!request->checks)
        return !request->show || err_set(err, "--check-show: expected --check LIST with it");
    if (timing->attach || timing->shared || ranks_job().count > 1)
        return err_set(err, "--check does not go with --attach, --shared or --ranks: kernels are checked in "
                            "their own process");
    const char *alone = timing->mode ? NULL : timing_alone(timing);
    if (timing_is_on(timing) && alone)
        return err_set(err, "--check has no timing, so it does not go with %.120s", alone);
    if (timing_is_on(timing))
        return err_set(err, "--check has no timing: use --mode functional");
    if (timing->record || trace_mem)
        return err_set(err, "--check does not go with %s: each wants to see every instruction",
                       timing->record ? "--record" : "--trace-mem");
    return true;
}

/* ---- what processes left ---- */

static void each(const char *folder, void (*take)(void *user, const struct finding *finding), void *user)
{
    bool there = true;
    for (unsigned number = 0; there; number++) {
        struct text path = {0}, note = {0};
        struct err unused;
        text_add(&path, "%s/check.%u", folder, number);
        there = !access(path.at, F_OK) && file_read(path.at, note_most, &note, &unused);
        char *at = there ? note.at : NULL, *line;
        while ((line = strsep(&at, "\n"))) {
            struct finding finding;
            if (*line && finding_read(line, &finding))
                take(user, &finding);
        }
        text_fini(&path);
        text_fini(&note);
    }
}

static void count_one(void *user, const struct finding *finding)
{
    (void)finding;
    ++*(uint64_t *)user;
}

uint64_t cmd_check_count(const char *folder)
{
    uint64_t count = 0;
    each(folder, count_one, &count);
    return count;
}

static void write_one(void *user, const struct finding *finding)
{
    struct json_writer *json = user;
    const struct {
        const char *name, *text;
    } texts[] = {{"kernel", finding->kernel},
                 {"first", finding->first},
                 {"second", finding->second},
                 {"detail", finding->detail}};
    json_open_object(json, NULL);
    json_put_text(json, "check", checks_names[finding->check]);
    json_put_text(json, "what", finding->what);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text)
            json_put_text(json, texts[i].name, texts[i].text);
    if (finding->kernel)
        json_put_count(json, "launch", finding->launch);
    json_put_count(json, "count", finding->count);
    json_close(json);
}

void cmd_check_write(const char *folder, struct json_writer *json)
{
    json_open_list(json, "findings");
    each(folder, write_one, json);
    json_close(json);
}
