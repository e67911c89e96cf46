/* Axes, each with its labelled variants. */
#include "study/campaign/campaign.h"
#include "base/mem.h"
#include "base/unit.h"

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

struct campaign_axis *campaign_add_axis(struct campaign *campaign, const char *name, const char *where)
{
    mem_grow(campaign->axes, campaign->axis_count, campaign->axis_capacity);
    struct campaign_axis *axis = &campaign->axes[campaign->axis_count++];
    *axis = (struct campaign_axis){.name = campaign_keep(campaign, name), .where = where};
    axis->title = axis->name;
    return axis;
}

struct campaign_variant *campaign_add_variant(struct campaign_axis *axis, const char *label,
                                              const char *where)
{
    mem_grow(axis->variants, axis->count, axis->capacity);
    struct campaign_variant *variant = &axis->variants[axis->count++];
    *variant = (struct campaign_variant){.label = label, .where = where};
    return variant;
}

bool campaign_add_options(struct campaign *campaign, const char *text, const char *where,
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

bool campaign_axis_varies(const struct campaign_axis *axis)
{
    size_t wanted = 0;
    for (size_t i = 0; i < axis->count; i++)
        wanted += !axis->variants[i].is_out;
    return wanted > 1;
}

/* ---- axes of the file ---- */

bool campaign_axis_set(struct campaign *campaign, const char *name, const char *key, const char *value,
                       const char *where, struct err *err)
{
    size_t number = campaign_axis_find(campaign, name);
    struct campaign_axis *axis =
        number == NO_NAME ? campaign_add_axis(campaign, name, where) : &campaign->axes[number];
    if (!strcmp(key, "title"))
        axis->title = value;
    else if (!strcmp(key, "set"))
        axis->set = value;
    else if (!strcmp(key, "values"))
        axis->values = value;
    else if (!strcmp(key, "quick"))
        axis->quick = value;
    else if (*key)
        return campaign_add_options(campaign, value, where,
                                    &campaign_add_variant(axis, campaign_keep(campaign, key), where)->words,
                                    err);
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
        good = good && campaign_add_options(campaign, words.at, where,
                                            &campaign_add_variant(axis, values.at[i], where)->words, err);
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

/* ---- all ---- */

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
    struct campaign_axis *of_workloads = campaign_add_axis(campaign, ours[0], campaign->path);
    bool good = campaign->workload_count || err_set(err, "%s: there are no workloads", campaign->path);
    for (size_t i = 0; good && i < campaign->workload_count; i++)
        good = campaign_add_workload(campaign, of_workloads, &campaign->workloads[i], err);
    good = good && campaign_add_systems(campaign, err);
    for (size_t i = 0; i < count; i++) {
        good = good && complete_axis(campaign, &read[i], err);
        mem_grow(campaign->axes, campaign->axis_count, campaign->axis_capacity);
        campaign->axes[campaign->axis_count++] = read[i];
    }
    mem_free(read);
    return good;
}
