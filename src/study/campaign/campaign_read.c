/* Reads the sections of a file; what they refer to is looked up once all of it is known. */
#include "study/campaign/campaign.h"
#include "base/ini.h"
#include "base/mem.h"

#include <string.h>

PARAM_GROUP(campaign_study_params, "study", "a study as a whole", campaign_study_spec, CAMPAIGN_STUDY_PARAMS);
PARAM_GROUP(campaign_workload_params, "workload.*", "a workload of a study", campaign_workload_spec,
            CAMPAIGN_WORKLOAD_PARAMS);
PARAM_GROUP(campaign_figure_params, "figure.*", "a table and a plot of a study", campaign_figure_spec,
            CAMPAIGN_FIGURE_PARAMS);

static void fill(const struct param_group *group, void *spec)
{
    struct err unused;
    for (size_t i = 0; i < group->row_count; i++) {
        const struct param_row *row = &group->rows[i];
        char *field = (char *)spec + row->offset;
        if (row->type == PARAM_text)
            memcpy(field, &row->fallback, sizeof row->fallback);
        else
            REQUIRE(param_parse(row, row->fallback, field, &unused));
    }
}

/* `value` is kept already. */
static bool set_row(const struct param_group *group, void *spec, const char *key, const char *value,
                    const char *where, struct err *err)
{
    struct nearest nearest;
    struct err why;
    nearest_init(&nearest, key);
    for (size_t i = 0; i < group->row_count; i++) {
        const struct param_row *row = &group->rows[i];
        nearest_try(&nearest, row->name);
        if (!strcmp(row->name, key))
            return param_parse(row, value, (char *)spec + row->offset, &why) ||
                   err_set(err, "%s: %s: %s", where, key, why.text);
    }
    err_set(err, "%s: [%s] has no key '%.120s'", where, group->path, key);
    if (nearest.best)
        err_add(err, "; did you mean %s?", nearest.best);
    return false;
}

static struct campaign_workload *workload_of(struct campaign *campaign, const char *label, const char *where)
{
    for (size_t i = 0; i < campaign->workload_count; i++) {
        if (!strcmp(campaign->workloads[i].label, label))
            return &campaign->workloads[i];
    }
    mem_grow(campaign->workloads, campaign->workload_count, campaign->workload_capacity);
    struct campaign_workload *workload = &campaign->workloads[campaign->workload_count++];
    *workload = (struct campaign_workload){.label = campaign_keep(campaign, label), .where = where};
    fill(&campaign_workload_params, &workload->spec);
    return workload;
}

static struct campaign_figure *figure_of(struct campaign *campaign, const char *name, const char *where)
{
    for (size_t i = 0; i < campaign->figure_count; i++) {
        if (!strcmp(campaign->figures[i].name, name))
            return &campaign->figures[i];
    }
    mem_grow(campaign->figures, campaign->figure_count, campaign->figure_capacity);
    struct campaign_figure *figure = &campaign->figures[campaign->figure_count++];
    *figure = (struct campaign_figure){.name = campaign_keep(campaign, name), .where = where};
    fill(&campaign_figure_params, &figure->spec);
    return figure;
}

static bool list_workloads(struct campaign *campaign, const char *value, const char *where, struct err *err)
{
    struct campaign_words words = {0};
    struct err why;
    bool good = campaign_split(campaign, value, &words, &why) || err_set(err, "%s: %s", where, why.text);
    for (size_t i = 0; good && i < words.count; i++)
        workload_of(campaign, words.at[i], where);
    mem_free(words.at);
    return good;
}

/* The name behind "axis." and the like; NULL: the section is no such one. */
static const char *member(const char *section, const char *family)
{
    size_t length = strlen(family);
    return !strncmp(section, family, length) && section[length] ? section + length : NULL;
}

static const char *note_place(struct campaign *campaign, const char *section, const char *key,
                              const char *where)
{
    struct text place = {0};
    text_add(&place, "%s\n%s", section, key);
    size_t known = campaign->places.count, number = names_add(&campaign->places, place.at);
    text_fini(&place);
    if (number == known)
        mem_grow(campaign->wheres, known, campaign->where_capacity);
    return campaign->wheres[number] = campaign_keep(campaign, where);
}

const char *campaign_where(const struct campaign *campaign, const char *section, const char *key)
{
    const char *const keys[] = {key, ""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct text place = {0};
        text_add(&place, "%s\n%s", section, keys[i]);
        size_t number = names_find(&campaign->places, place.at);
        text_fini(&place);
        if (number != NO_NAME)
            return campaign->wheres[number];
    }
    return campaign->path;
}

static bool set_study(struct campaign *campaign, const char *key, const char *value, const char *where,
                      struct err *err)
{
    return set_row(&campaign_study_params, &campaign->spec, key, value, where, err) &&
           (strcmp(key, "workloads") || list_workloads(campaign, value, where, err));
}

static bool setting(void *user, const char *section, const char *key, const char *value, const char *where,
                    struct err *err)
{
    struct campaign *campaign = user;
    const char *name;
    where = note_place(campaign, section, key, where);
    value = campaign_keep(campaign, value);
    if (!strcmp(section, "study"))
        return !*key || set_study(campaign, key, value, where, err);
    if ((name = member(section, "axis.")))
        return campaign_axis_set(campaign, name, key, value, where, err);
    if ((name = member(section, "workload."))) {
        struct campaign_workload *workload = workload_of(campaign, name, where);
        return !*key || set_row(&campaign_workload_params, &workload->spec, key, value, where, err);
    }
    if ((name = member(section, "figure."))) {
        struct campaign_figure *figure = figure_of(campaign, name, where);
        return !*key || set_row(&campaign_figure_params, &figure->spec, key, value, where, err);
    }
    if (strcmp(section, "without"))
        return err_set(err,
                       "%s: a study has no section [%.120s]: it has [study], [workload.NAME], [axis.NAME], "
                       "[figure.NAME] and [without]",
                       where, section);
    if (*key) {
        mem_grow(campaign->withouts, campaign->without_count, campaign->without_capacity);
        campaign->withouts[campaign->without_count++] =
            (struct campaign_without){.text = value, .where = where};
    }
    return true;
}

bool campaign_set_gpus(struct campaign *campaign, const char *count, struct err *err)
{
    return campaign->spec.gpus
               ? set_row(&campaign_study_params, &campaign->spec, "gpus", count, "--gpus", err)
               : err_set(err, "--gpus: %s has no number of GPUs; --set system.gpus=N is for all points",
                         campaign->path);
}

static bool parse_rules(struct campaign *campaign, struct err *err)
{
    for (size_t i = 0; i < campaign->without_count; i++) {
        struct campaign_without *without = &campaign->withouts[i];
        if (!campaign_rule_parse(campaign, without->text, without->where, &without->rule, err))
            return false;
    }
    return campaign_rule_parse(campaign, campaign->spec.baseline,
                               campaign_where(campaign, "study", "baseline"), &campaign->baseline, err);
}

static void begin(struct campaign *campaign, const char *path, bool is_quick, const char *system)
{
    *campaign = (struct campaign){.is_quick = is_quick, .system = system};
    campaign->path = campaign_keep(campaign, path);
    fill(&campaign_study_params, &campaign->spec);
}

static bool complete(struct campaign *campaign, struct err *err)
{
    return campaign_axes_make(campaign, err) && parse_rules(campaign, err) &&
           campaign_figures_make(campaign, err);
}

bool campaign_read(struct campaign *campaign, const char *path, bool is_quick, const char *system,
                   struct err *err)
{
    begin(campaign, path, is_quick, system);
    return ini_read_file(path, NULL, setting, campaign, err) && complete(campaign, err);
}

bool campaign_read_text(struct campaign *campaign, const char *name, const char *text, size_t bytes,
                        bool is_quick, const char *system, struct err *err)
{
    begin(campaign, name, is_quick, system);
    return ini_read_text(name, text, bytes, setting, campaign, err) && complete(campaign, err);
}
