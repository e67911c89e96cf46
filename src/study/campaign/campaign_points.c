/* The points of a study: all combinations of labels that are not left out. */
#include "study/campaign/campaign.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

enum { POINTS_MOST = 1000000 };

/* ---- numbers of combinations: the last axis counts fastest ---- */

static size_t number_of(const struct campaign *campaign, const size_t *labels)
{
    size_t number = 0;
    for (size_t i = 0; i < campaign->axis_count; i++)
        number = number * campaign->axes[i].count + labels[i];
    return number;
}

static void labels_of(const struct campaign *campaign, size_t number, size_t *labels)
{
    for (size_t i = campaign->axis_count; i-- > 0;) {
        labels[i] = number % campaign->axes[i].count;
        number /= campaign->axes[i].count;
    }
}

static bool count_all(const struct campaign *campaign, size_t *all, struct err *err)
{
    *all = 1;
    for (size_t i = 0; i < campaign->axis_count; i++) {
        *all *= campaign->axes[i].count;
        if (*all > POINTS_MOST)
            return err_set(err, "%s: more than %d points", campaign->path, POINTS_MOST);
    }
    return true;
}

const struct campaign_point *campaign_point_at(const struct campaign *campaign, const size_t *labels)
{
    size_t point = campaign->by_labels[number_of(campaign, labels)];
    return point == NO_NAME ? NULL : &campaign->points[point];
}

void campaign_point_name(const struct campaign *campaign, const struct campaign_point *point,
                         struct text *text)
{
    for (size_t i = 0; i < campaign->axis_count; i++) {
        const struct campaign_axis *axis = &campaign->axes[i];
        const char *label = axis->variants[point->labels[i]].label;
        if (i == CAMPAIGN_WORKLOADS)
            text_add(text, "%s", label);
        else if (campaign_axis_varies(axis))
            text_add(text, ", %s=%s", axis->name, label);
    }
}

/* ---- one point ---- */

static bool is_wanted(const struct campaign *campaign, const size_t *labels)
{
    for (size_t i = 0; i < campaign->axis_count; i++) {
        if (campaign->axes[i].variants[labels[i]].is_out)
            return false;
    }
    for (size_t i = 0; i < campaign->without_count; i++) {
        if (campaign_rule_covers(&campaign->withouts[i].rule, labels))
            return false;
    }
    return true;
}

/* Its command line with the words of the first axes: all of them, or fewer to find out which are wrong. */
static void add_words(const struct campaign *campaign, const size_t *labels, size_t axes,
                      const struct campaign_how *how, struct campaign_words *words)
{
    for (size_t i = 0; i < axes; i++)
        campaign_add_words(words, &campaign->axes[i].variants[labels[i]].words);
    if (axes == campaign->axis_count) {
        for (const char *const *setting = how->settings; setting && *setting; setting++) {
            campaign_add_word(words, "--set");
            campaign_add_word(words, *setting);
        }
    }
    campaign_add_words(words,
                       &campaign->axes[CAMPAIGN_WORKLOADS].variants[labels[CAMPAIGN_WORKLOADS]].behind);
}

static bool check_words(struct campaign_words *words, const struct campaign_how *how, struct text *identity,
                        struct err *err)
{
    campaign_add_word(words, NULL);
    words->count--;
    return how->check((int)words->count, (char **)(uintptr_t)words->at, identity, err);
}

/* Tells what is wrong with a command line by the axis whose words made it so. */
static bool blame(const struct campaign *campaign, const size_t *labels, const struct campaign_how *how,
                  const struct err *why, struct err *err)
{
    for (size_t axes = 1; axes <= campaign->axis_count; axes++) {
        struct campaign_words words = {0};
        struct text identity = {0};
        const struct campaign_variant *variant = &campaign->axes[axes - 1].variants[labels[axes - 1]];
        struct err first;
        add_words(campaign, labels, axes, how, &words);
        bool good = check_words(&words, how, &identity, &first);
        mem_free(words.at);
        text_fini(&identity);
        bool is_files = axes < campaign->axis_count || variant->words.count;
        if (!good && is_files)
            return err_set(err, "%s: %s=%s: %s", variant->where, campaign->axes[axes - 1].name,
                           variant->label, first.text);
    }
    return err_set(err, "%s", why->text); /* of the command line */
}

static bool add_point(struct campaign *campaign, const size_t *labels, const struct campaign_how *how,
                      struct names *digests, struct err *err)
{
    struct text identity = {0}, digest = {0};
    struct err why;
    mem_grow(campaign->points, campaign->point_count, campaign->point_capacity);
    struct campaign_point *point = &campaign->points[campaign->point_count++];
    *point = (struct campaign_point){.labels = mem_alloc(campaign->axis_count, sizeof *labels)};
    memcpy(point->labels, labels, campaign->axis_count * sizeof *labels);
    add_words(campaign, labels, campaign->axis_count, how, &point->words);
    bool good = check_words(&point->words, how, &identity, &why) || blame(campaign, labels, how, &why, err);
    if (good) {
        point->digest = digest_bytes(0, identity.at, identity.length);
        text_add(&digest, "%016llx", (unsigned long long)point->digest);
        point->same = campaign->point_count - 1;
        size_t known = digests->count, number = names_add(digests, digest.at);
        for (size_t i = 0; number < known && i < campaign->point_count; i++) {
            if (campaign->points[i].digest == point->digest) {
                point->same = i;
                break;
            }
        }
    }
    text_fini(&identity);
    text_fini(&digest);
    return good;
}

bool campaign_points_make(struct campaign *campaign, const struct campaign_how *how, struct err *err)
{
    size_t all, *labels = mem_alloc(campaign->axis_count, sizeof *labels);
    struct names digests = {0};
    bool good = count_all(campaign, &all, err);
    campaign_expand(campaign);
    if (good)
        campaign->by_labels = mem_alloc(all, sizeof *campaign->by_labels);
    for (size_t i = 0; good && i < all; i++) {
        labels_of(campaign, i, labels);
        campaign->by_labels[i] = is_wanted(campaign, labels) ? campaign->point_count : NO_NAME;
        if (campaign->by_labels[i] != NO_NAME)
            good = add_point(campaign, labels, how, &digests, err);
    }
    names_fini(&digests);
    mem_free(labels);
    return good && (campaign->point_count || err_set(err, "%s: all points are left out", campaign->path));
}
