/* Any bytes as a study: refused with an error, or taken so that its points can be made, each with a command
 * line, and its tables, all of them empty, can be told. */
#include "base/mem.h"
#include "study/campaign/campaign.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 }; /* bytes of a study: keeps the combinations few */

/* Beside this name there is nothing to include. */
static const char name[] = "there is no such folder/fuzz.ini";

static bool check(int count, char **words, struct text *identity, struct err *err)
{
    (void)err;
    REQUIRE(count > 1 && !words[count]);
    for (int i = 0; i < count; i++)
        text_add(identity, "%s\n", words[i]);
    return true;
}

static void tell(const struct campaign *campaign)
{
    char *bytes = NULL;
    size_t count = 0;
    FILE *stream = open_memstream(&bytes, &count);
    campaign_print(campaign, stream);
    campaign_markdown(campaign, stream);
    campaign_csv(campaign, stream);
    campaign_json(campaign, stream);
    for (size_t i = 0; i < campaign->figure_count; i++)
        campaign_svg(campaign, &campaign->figures[i], stream);
    fclose(stream);
    free(bytes);
}

static size_t combinations(const struct campaign *campaign)
{
    size_t all = 1;
    for (size_t i = 0; i < campaign->axis_count; i++)
        all *= campaign->axes[i].count;
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    enum { TOLD_MOST = 64 };
    struct campaign campaign;
    struct err err;
    if (bytes > LONGEST || memmem(data, bytes, "include", 7)) /* which fuzz_ini tries */
        return 0;
    if (campaign_read_text(&campaign, name, (const char *)data, bytes, bytes % 2, NULL, &err) &&
        combinations(&campaign) <= TOLD_MOST &&
        campaign_points_make(&campaign, &(struct campaign_how){.check = check}, &err))
        tell(&campaign);
    campaign_fini(&campaign);
    return 0;
}
