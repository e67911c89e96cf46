/* The axes that every study has: that of workloads and that of systems. */
#include "study/campaign/campaign.h"
#include "base/mem.h"
#include "workloads/run.h"

#include <string.h>

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

bool campaign_add_workload(struct campaign *campaign, struct campaign_axis *axis,
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
    if (named == campaign->path) /* it has no section */
        where = named = workload->where;
    else if (!*(is_quick ? spec->quick : spec->options))
        where = named;
    struct campaign_variant *variant = campaign_add_variant(axis, workload->label, where);
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
    return campaign_add_options(campaign, campaign->spec.options,
                                campaign_where(campaign, "study", "options"), &variant->words, err) &&
           campaign_add_options(campaign, is_quick ? spec->quick : spec->options, where, &variant->words,
                                err);
}

static bool add_system(struct campaign_axis *axis, const char *label, const char *name, const char *where,
                       struct err *err)
{
    if (campaign_label_find(axis, label) != NO_NAME)
        return err_set(err, "%s: the system '%.120s' comes twice", where, label);
    struct campaign_variant *variant = campaign_add_variant(axis, label, where);
    campaign_add_word(&variant->words, "--system");
    campaign_add_word(&variant->words, name);
    return true;
}

bool campaign_add_systems(struct campaign *campaign, struct err *err)
{
    const char *where = campaign_where(campaign, "study", "systems");
    struct campaign_axis *axis = campaign_add_axis(campaign, "system", where);
    struct campaign_words names = {0};
    struct err why;
    if (campaign->system)
        return add_system(axis, campaign->system, campaign->system, "--system", err);
    bool good = campaign_split(campaign, campaign->spec.systems, &names, &why) ||
                err_set(err, "%s: %s", where, why.text);
    for (size_t i = 0; good && i < names.count; i++)
        good = add_system(axis, names.at[i], campaign_beside(campaign, names.at[i]), where, err);
    if (!names.count) /* what the commands take by themselves */
        campaign_add_variant(axis, "default", where);
    mem_free(names.at);
    return good;
}
