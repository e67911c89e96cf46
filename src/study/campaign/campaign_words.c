/* Words of command lines, and paths in them. */
#include "study/campaign/campaign.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

const char *campaign_keep(struct campaign *campaign, const char *text)
{
    mem_grow(campaign->kept, campaign->kept_count, campaign->kept_capacity);
    return campaign->kept[campaign->kept_count++] = mem_text(text);
}

void campaign_add_word(struct campaign_words *words, const char *word)
{
    mem_grow(words->at, words->count, words->capacity);
    words->at[words->count++] = word;
}

void campaign_add_words(struct campaign_words *words, const struct campaign_words *more)
{
    for (size_t i = 0; i < more->count; i++)
        campaign_add_word(words, more->at[i]);
}

/* Takes the next word off the text; false: a quote has no end. */
static bool next_word(const char **text, struct text *word)
{
    char quote = 0;
    for (; **text && (quote || !isspace((unsigned char)**text)); ++*text) {
        if (quote ? **text == quote : **text == '\'' || **text == '"')
            quote = quote ? 0 : **text;
        else
            text_add_bytes(word, *text, 1);
    }
    return !quote;
}

bool campaign_split(struct campaign *campaign, const char *text, struct campaign_words *words,
                    struct err *err)
{
    bool good = true;
    for (const char *at = text; good;) {
        struct text word = {0};
        while (isspace((unsigned char)*at))
            at++;
        if (!*at)
            break;
        good = next_word(&at, &word) || err_set(err, "a quote has no end in '%.120s'", text);
        if (good)
            campaign_add_word(words, campaign_keep(campaign, word.at ? word.at : ""));
        text_fini(&word);
    }
    return good;
}

void campaign_print_words(const struct campaign_words *words, struct text *text)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->at[i];
        bool is_plain = *word && !word[strcspn(word, " '\"\\$^()[]{}|*?&;<>~#`!")];
        text_add(text, is_plain ? "%s%s" : "%s'%s'", i ? " " : "", word);
    }
}

static const char *expanded(struct campaign *campaign, const char *word)
{
    static const char name[] = "{gpus}";
    const char *at = strstr(word, name);
    if (!at || !campaign->spec.gpus)
        return word;
    struct text whole = {0};
    text_add(&whole, "%.*s%llu%s", (int)(at - word), word, (unsigned long long)campaign->spec.gpus,
             at + sizeof name - 1);
    const char *kept = campaign_keep(campaign, whole.at);
    text_fini(&whole);
    return kept;
}

void campaign_expand(struct campaign *campaign)
{
    for (size_t a = 0; a < campaign->axis_count; a++) {
        for (size_t v = 0; v < campaign->axes[a].count; v++) {
            struct campaign_words *words = &campaign->axes[a].variants[v].words;
            for (size_t i = 0; i < words->count; i++)
                words->at[i] = expanded(campaign, words->at[i]);
        }
    }
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 4 && !strcmp(name + length - 4, ".ini"));
}

const char *campaign_beside(struct campaign *campaign, const char *path)
{
    const char *slash = strrchr(campaign->path, '/');
    if (!slash || *path == '/' || !is_path(path))
        return path;
    struct text whole = {0};
    text_add(&whole, "%.*s%s", (int)(slash - campaign->path) + 1, campaign->path, path);
    const char *kept = campaign_keep(campaign, whole.at);
    text_fini(&whole);
    return kept;
}
