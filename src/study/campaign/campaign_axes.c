/* Axes: that of workloads, that of systems, and those of the file, each with labelled variants. */
#include "study/campaign/campaign.h"
#include "base/mem.h"
#include "base/unit.h"
#include "workloads/run.h"

#include <string.h>

size_t campaign_axis_find(const struct campaign *campaign, const char *name)
{
    for (size_t i = 0; i < campaign->axis_count; i++) {
        if (!strcmp(campaign->axes[i].name, name))
            return i;
    }
    return NO_NAME;
}

size_t campaign_label_find(const struct campaign_axis *axis, const char *label)
{
    for (size_t i = 0; i < axis->count; i++) {
        if (!strcmp(axis->variants[i].label, label))
            return i;
    }
    return NO_NAME;
}

static struct campaign_axis *add_axis(struct campaign *campaign, const char *name, const char *where)
{
    mem_grow(campaign->axes, campaign->axis_count, campaign->axis_capacity);
    struct campaign_axis *axis = &campaign->axes[campaign->axis_count++];
    *axis = (struct campaign_axis){.name = campaign_keep(campaign, name), .where = where};
    axis->title = axis->name;
    return axis;
}

static struct campaign_variant *add_variant(struct campaign_axis *axis, const char *label, const char *where)
{
    mem_grow(axis->variants, axis->count, axis->capacity);
    struct campaign_variant *variant = &axis->variants[axis->count++];
    *variant = (struct campaign_variant){.label = label, .where = where};
    return variant;
}

/* Settings and options as words of a command line: PATH.KEY=VALUE is --set PATH.KEY=VALUE, and "-" is
 * nothing. */
static bool add_options(struct campaign *campaign, const char *text, const char *where,
                        struct campaign_words *options, struct err *err)
{
    struct campaign_words words = {0};
    struct err why;
    bool good = campaign_split(campaign, text, &words, &why) || err_set(err, "%s: %s", where, why.text);
    for (size_t i = 0; good && i < words.count; i++) {
        const char *word = words.at[i], *before = i ? words.at[i - 1] : "";
        bool is_value = !strncmp(before, "--", 2) && !strchr(before, '=');
        if (!strcmp(word, "-"))
            continue;
        if (!is_value && *word != '-' && strchr(word, '='))
            campaign_add_word(options, "--set");
        campaign_add_word(options,
                          is_value && !strcmp(before, "--system") ? campaign_beside(campaign, word) : word);
    }
    mem_free(words.at);
    return good;
}

/* ---- axes of the file ---- */

bool campaign_axis_set(struct campaign *campaign, const char *name, const char *key, const char *value,
                       const char *where, struct err *err)
{
    size_t number = campaign_axis_find(campaign, name);
    struct campaign_axis *axis =
        number == NO_NAME ? add_axis(campaign, name, where) : &campaign->axes[number];
    if (!strcmp(key, "title"))
        axis->title = value;
    else if (!strcmp(key, "set"))
        axis->set = value;
    else if (!strcmp(key, "values"))
        axis->values = value;
    else if (!strcmp(key, "quick"))
        axis->quick = value;
    else if (*key)
        return add_options(campaign, value, where,
                           &add_variant(axis, campaign_keep(campaign, key), where)->words, err);
    return true;
}

/* A variant for each of `values`, which is put behind `set`. */
static bool add_values(struct campaign *campaign, struct campaign_axis *axis, const char *section,
                       struct err *err)
{
    const char *where = campaign_where(campaign, section, "values");
    struct campaign_words values = {0};
    struct err why;
    if (!axis->set != !axis->values)
        return err_set(err, "%s: [%s] needs both set and values, or neither of them",
                       campaign_where(campaign, section, axis->set ? "set" : "values"), section);
    bool good = !axis->values || campaign_split(campaign, axis->values, &values, &why) ||
                err_set(err, "%s: %s", where, why.text);
    for (size_t i = 0; good && i < values.count; i++) {
        struct text words = {0};
        if (campaign_label_find(axis, values.at[i]) != NO_NAME)
            good =
                err_set(err, "%s: the axis %s has the label '%.120s' twice", where, axis->name, values.at[i]);
        text_add(&words, "%s%c'%s'", axis->set, *axis->set == '-' ? ' ' : '=', values.at[i]);
        good = good &&
               add_options(campaign, words.at, where, &add_variant(axis, values.at[i], where)->words, err);
        text_fini(&words);
    }
    mem_free(values.at);
    return good;
}

/* With --quick, only the labels that it names. */
static bool apply_quick(struct campaign *campaign, struct campaign_axis *axis, const char *section,
                        struct err *err)
{
    const char *where = campaign_where(campaign, section, "quick");
    struct campaign_words labels = {0};
    struct err why;
    bool good = !axis->quick || campaign_split(campaign, axis->quick, &labels, &why) ||
                err_set(err, "%s: %s", where, why.text);
    for (size_t i = 0; campaign->is_quick && labels.count && i < axis->count; i++)
        axis->variants[i].is_out = true;
    for (size_t i = 0; good && i < labels.count; i++) {
        size_t label = campaign_label_find(axis, labels.at[i]);
        if (label == NO_NAME)
            good = err_set(err, "%s: there is no label of the axis %s '%.120s'", where, axis->name,
                           labels.at[i]);
        else
            axis->variants[label].is_out = false;
    }
    mem_free(labels.at);
    return good;
}

/* Numbers, all with units of one kind, make an axis that lines can be drawn over. */
static void find_numbers(struct campaign_axis *axis)
{
    for (int kind = UNIT_count; kind <= UNIT_freq && !axis->is_numeric; kind++) {
        size_t i = 0;
        struct err unused;
        for (uint64_t number; i < axis->count; i++) {
            if (!unit_parse((enum unit_kind)kind, axis->variants[i].label, &number, &unused))
                break;
            axis->variants[i].number = (double)number;
        }
        axis->is_numeric = axis->count > 1 && i == axis->count;
    }
}

static bool complete_axis(struct campaign *campaign, struct campaign_axis *axis, struct err *err)
{
    struct text section = {0};
    text_add(&section, "axis.%s", axis->name);
    bool good = add_values(campaign, axis, section.at, err) && apply_quick(campaign, axis, section.at, err) &&
                (axis->count || err_set(err, "%s: the axis %s has no labels", axis->where, axis->name));
    text_fini(&section);
    find_numbers(axis);
    return good;
}

/* ---- workloads and systems ---- */

static bool unknown_workload(const char *name, const char *where, struct err *err)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = 0; workloads[i]; i++)
        nearest_try(&nearest, workloads[i]->name);
    err_set(err, "%s: there is no workload '%.120s'", where, name);
    if (nearest.best)
        err_add(err, "; did you mean %s?", nearest.best);
    else
        err_add(err, " (`heddle help bench` lists them)");
    return false;
}

static bool add_program(struct campaign *campaign, const struct campaign_workload *workload,
                        const char *where, struct campaign_variant *variant, struct err *err)
{
    const struct campaign_workload_spec *spec = &workload->spec;
    bool is_quick = campaign->is_quick && *spec->quick_run;
    struct err why;
    if (*spec->bench)
        return err_set(err, "%s: a workload has bench or run, not both", where);
    campaign_add_word(&variant->words, "run");
    if (!campaign_split(campaign, is_quick ? spec->quick_run : spec->run, &variant->behind, &why))
        return err_set(err, "%s: %s", where, why.text);
    if (strchr(variant->behind.at[0], '/'))
        variant->behind.at[0] = campaign_beside(campaign, variant->behind.at[0]);
    return true;
}

static bool add_workload(struct campaign *campaign, struct campaign_axis *axis,
                         const struct campaign_workload *workload, struct err *err)
{
    const struct campaign_workload_spec *spec = &workload->spec;
    const char *name = *spec->bench ? spec->bench : workload->label;
    bool is_quick = campaign->is_quick && *spec->quick;
    struct text section = {0};
    text_add(&section, "workload.%s", workload->label);
    const char *where = campaign_where(campaign, section.at, is_quick ? "quick" : "options");
    const char *named = campaign_where(campaign, section.at, *spec->run ? "run" : "bench");
    text_fini(&section);
    if (where == campaign->path)
        where = named = workload->where;
    struct campaign_variant *variant = add_variant(axis, workload->label, where);
    if (*spec->run) {
        if (!add_program(campaign, workload, named, variant, err))
            return false;
    } else if (*spec->quick_run) {
        return err_set(err, "%s: quick_run needs run", named);
    } else if (!workload_find(name)) {
        return unknown_workload(name, named, err);
    } else {
        campaign_add_word(&variant->words, "bench");
        campaign_add_word(&variant->words, name);
    }
    campaign_add_word(&variant->words, "--mode");
    campaign_add_word(&variant->words, "timing");
    return add_options(campaign, campaign->spec.options, campaign_where(campaign, "study", "options"),
                       &variant->words, err) &&
           add_options(campaign, is_quick ? spec->quick : spec->options, where, &variant->words, err);
}

static bool add_systems(struct campaign *campaign, struct err *err)
{
    const char *where = campaign_where(campaign, "study", "systems");
    struct campaign_axis *axis = add_axis(campaign, "system", where);
    struct campaign_words names = {0};
    struct err why;
    bool good = campaign_split(campaign, campaign->spec.systems, &names, &why) ||
                err_set(err, "%s: %s", where, why.text);
    for (size_t i = 0; good && i < names.count; i++) {
        if (campaign_label_find(axis, names.at[i]) != NO_NAME)
            good = err_set(err, "%s: the system '%.120s' comes twice", where, names.at[i]);
        struct campaign_variant *variant = add_variant(axis, names.at[i], where);
        campaign_add_word(&variant->words, "--system");
        campaign_add_word(&variant->words, campaign_beside(campaign, names.at[i]));
    }
    if (!names.count) /* what the commands take by themselves */
        add_variant(axis, "default", where);
    mem_free(names.at);
    return good;
}

bool campaign_axes_make(struct campaign *campaign, struct err *err)
{
    static const char *const ours[] = {"workload", "system"};
    struct campaign_axis *read = campaign->axes;
    size_t count = campaign->axis_count;
    for (size_t i = 0; i < count * 2; i++) {
        if (!strcmp(read[i / 2].name, ours[i % 2]))
            return err_set(err, "%s: the axis %s is there already, from [study]", read[i / 2].where,
                           ours[i % 2]);
    }
    campaign->axes = NULL;
    campaign->axis_count = campaign->axis_capacity = 0;
    struct campaign_axis *of_workloads = add_axis(campaign, ours[0], campaign->path);
    bool good = campaign->workload_count || err_set(err, "%s: there are no workloads", campaign->path);
    for (size_t i = 0; good && i < campaign->workload_count; i++)
        good = add_workload(campaign, of_workloads, &campaign->workloads[i], err);
    good = good && add_systems(campaign, err);
    for (size_t i = 0; i < count; i++) {
        good = good && complete_axis(campaign, &read[i], err);
        mem_grow(campaign->axes, campaign->axis_count, campaign->axis_capacity);
        campaign->axes[campaign->axis_count++] = read[i];
    }
    mem_free(read);
    return good;
}
