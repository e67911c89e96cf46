/* What the environment says of a simulation in time, before the command line does. */
#include "cli/timing.h"
#include "base/mem.h"
#include "plugin/plugin.h"

#include <stdlib.h>
#include <string.h>

/* Variables that are as an option; `word`: a switch, which this value of the variable turns on. */
static const struct {
    const char *variable, *option, *word, *other;
} rows[] = {
    {"HEDDLE_SYSTEM", "--system", NULL, NULL},
    {"HEDDLE_MODE", "--mode", NULL, NULL},
    {"HEDDLE_ATTACH", "--attach", NULL, NULL},
    {"HEDDLE_SEAT", "--seat", NULL, NULL},
    {"HEDDLE_KERNELS", "--kernels", NULL, NULL},
    {"HEDDLE_MAX_CYCLES", "--max-cycles", NULL, NULL},
    {"HEDDLE_REGION", "--region", NULL, NULL},
    {"HEDDLE_CACHES", "--cold-caches", "cold", "warm"},
    {"HEDDLE_PROGRESS", "--no-progress", "no", "yes"},
    {"HEDDLE_TIMELINE", "--timeline", NULL, NULL},
    {"HEDDLE_LIVE", "--live", NULL, NULL},
    {"HEDDLE_TIMELINE_DETAIL", "--timeline-detail", NULL, NULL},
    {"HEDDLE_TIMELINE_WINDOW", "--timeline-window", NULL, NULL},
};

/* NULL: not set. */
static const char *text_of(const char *variable)
{
    const char *text = getenv(variable);
    return text && *text ? text : NULL;
}

static bool take(struct timing_request *request, const char *option, const char *value, const char *variable,
                 struct err *err)
{
    struct err why;
    bool mine;
    if (timing_took(request, &(struct option_row){.name = option}, value, &mine, &why))
        return true;
    const char *said = strstr(why.text, ": "); /* behind the option's name */
    return err_set(err, "%s: %s", variable, said ? said + 2 : why.text);
}

bool timing_from_environment(struct timing_request *request, struct err *err)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *value = text_of(rows[i].variable);
        if (!value || (rows[i].other && !strcmp(value, rows[i].other)))
            continue;
        if (rows[i].word && strcmp(value, rows[i].word) != 0)
            return err_set(err, "%s: expected %s or %s, not '%.80s'", rows[i].variable, rows[i].other,
                           rows[i].word, value);
        if (!take(request, rows[i].option, value, rows[i].variable, err))
            return false;
    }
    if (!plugin_load_from_environment(err))
        return false;
    const char *settings = text_of("HEDDLE_SETTINGS");
    request->own = settings ? mem_text(settings) : NULL;
    for (char *at = request->own, *line; (line = strsep(&at, "\n"));) {
        if (*line && !take(request, "--set", line, "HEDDLE_SETTINGS", err))
            return false;
    }
    return true;
}
