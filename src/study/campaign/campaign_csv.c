/* A line for each point: its labels, how it ended, and what each figure shows of it. */
#include "study/campaign/campaign.h"

#include <math.h>
#include <string.h>

static void put(FILE *f, const char *text)
{
    if (!text[strcspn(text, ",\"\n")]) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++)
        fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', f);
}

static const char *const states[] = {"waits", "done", "failed"};

void campaign_csv(const struct campaign *campaign, FILE *f)
{
    for (size_t i = 0; i < campaign->axis_count; i++) {
        put(f, campaign->axes[i].name);
        fputc(',', f);
    }
    fputs("state", f);
    for (size_t i = 0; i < campaign->figure_count; i++) {
        fputc(',', f);
        put(f, campaign->figures[i].name);
    }
    fputc('\n', f);
    for (size_t p = 0; p < campaign->point_count; p++) {
        const struct campaign_point *point = &campaign->points[p];
        for (size_t i = 0; i < campaign->axis_count; i++) {
            put(f, campaign->axes[i].variants[point->labels[i]].label);
            fputc(',', f);
        }
        fputs(states[point->state], f);
        for (size_t i = 0; i < campaign->figure_count; i++) {
            double value = campaign_figure_value(campaign, &campaign->figures[i], point->labels);
            fprintf(f, isnan(value) ? "," : ",%.12g", value);
        }
        fputc('\n', f);
    }
}
