#include "study/campaign/campaign.h"
#include "base/mem.h"

static void fini_axis(struct campaign_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++) {
        mem_free(axis->variants[i].words.at);
        mem_free(axis->variants[i].behind.at);
    }
    mem_free(axis->variants);
}

static void fini_point(struct campaign_point *point)
{
    mem_free(point->labels);
    mem_free(point->words.at);
    mem_free(point->values);
}

void campaign_fini(struct campaign *campaign)
{
    for (size_t i = 0; i < campaign->axis_count; i++)
        fini_axis(&campaign->axes[i]);
    for (size_t i = 0; i < campaign->point_count; i++)
        fini_point(&campaign->points[i]);
    for (size_t i = 0; i < campaign->without_count; i++)
        campaign_rule_fini(&campaign->withouts[i].rule);
    for (size_t i = 0; i < campaign->kept_count; i++)
        mem_free(campaign->kept[i]);
    for (size_t i = 0; i < campaign->figure_count; i++)
        campaign_rule_fini(&campaign->figures[i].baseline);
    campaign_rule_fini(&campaign->baseline);
    names_fini(&campaign->places);
    mem_free(campaign->wheres);
    mem_free(campaign->workloads);
    mem_free(campaign->axes);
    mem_free(campaign->figures);
    mem_free(campaign->withouts);
    mem_free(campaign->points);
    mem_free(campaign->by_labels);
    mem_free(campaign->kept);
    *campaign = (struct campaign){0};
}
