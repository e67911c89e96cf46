/* Conditions on labels: "AXIS=LABEL,LABEL AXIS=LABEL". */
#include "study/campaign/campaign.h"
#include "base/mem.h"

#include <string.h>

static bool unknown(const char *where, const char *what, const char *name, const struct nearest *nearest,
                    struct err *err)
{
    err_set(err, "%s: there is no %s '%.120s'", where, what, name);
    if (nearest->best)
        err_add(err, "; did you mean %s?", nearest->best);
    return false;
}

static bool find_axis(const struct campaign *campaign, const char *name, const char *where, size_t *number,
                      struct err *err)
{
    struct nearest nearest;
    *number = campaign_axis_find(campaign, name);
    nearest_init(&nearest, name);
    for (size_t i = 0; i < campaign->axis_count; i++)
        nearest_try(&nearest, campaign->axes[i].name);
    return *number != NO_NAME || unknown(where, "axis", name, &nearest, err);
}

static bool add_label(const struct campaign *campaign, size_t axis, const char *label, const char *where,
                      struct campaign_rule *rule, struct err *err)
{
    const struct campaign_axis *of = &campaign->axes[axis];
    size_t number = campaign_label_find(of, label);
    struct nearest nearest;
    nearest_init(&nearest, label);
    for (size_t i = 0; i < of->count; i++)
        nearest_try(&nearest, of->variants[i].label);
    if (number == NO_NAME) {
        struct text what = {0};
        text_add(&what, "label of the axis %s", of->name);
        unknown(where, what.at, label, &nearest, err);
        text_fini(&what);
        return false;
    }
    mem_grow(rule->pairs, rule->count, rule->capacity);
    rule->pairs[rule->count++] = (struct campaign_pair){axis, number};
    return true;
}

/* `word` is "AXIS=LABEL,LABEL", and is cut up. */
static bool add_word(const struct campaign *campaign, char *word, const char *where,
                     struct campaign_rule *rule, struct err *err)
{
    char *labels = strchr(word, '=');
    size_t axis;
    if (!labels)
        return err_set(err, "%s: expected AXIS=LABEL, not '%.120s'", where, word);
    *labels++ = 0;
    if (!find_axis(campaign, word, where, &axis, err))
        return false;
    for (char *label; (label = strsep(&labels, ","));) {
        if (!add_label(campaign, axis, label, where, rule, err))
            return false;
    }
    return true;
}

bool campaign_rule_parse(struct campaign *campaign, const char *text, const char *where,
                         struct campaign_rule *rule, struct err *err)
{
    struct campaign_words words = {0};
    struct err why;
    bool good = campaign_split(campaign, text, &words, &why) || err_set(err, "%s: %s", where, why.text);
    for (size_t i = 0; good && i < words.count; i++) {
        char *word = mem_text(words.at[i]);
        good = add_word(campaign, word, where, rule, err);
        mem_free(word);
    }
    mem_free(words.at);
    return good;
}

bool campaign_rule_covers(const struct campaign_rule *rule, const size_t *labels)
{
    for (size_t i = 0; i < rule->count; i++) {
        bool has_one = false;
        for (size_t k = 0; k < rule->count; k++)
            has_one |= rule->pairs[k].axis == rule->pairs[i].axis &&
                       rule->pairs[k].label == labels[rule->pairs[i].axis];
        if (!has_one)
            return false;
    }
    return rule->count;
}

void campaign_rule_fini(struct campaign_rule *rule)
{
    mem_free(rule->pairs);
    *rule = (struct campaign_rule){0};
}

bool campaign_pick(struct campaign *campaign, const char *text, struct err *err)
{
    struct campaign_rule rule = {0};
    bool good = campaign_rule_parse(campaign, text, "--only", &rule, err);
    for (size_t i = 0; good && i < rule.count; i++) {
        struct campaign_axis *axis = &campaign->axes[rule.pairs[i].axis];
        for (size_t label = 0; label < axis->count; label++) {
            bool is_picked = false;
            for (size_t k = 0; k < rule.count; k++)
                is_picked |= rule.pairs[k].axis == rule.pairs[i].axis && rule.pairs[k].label == label;
            axis->variants[label].is_out |= !is_picked;
        }
    }
    campaign_rule_fini(&rule);
    return good;
}
