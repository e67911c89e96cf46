#include "base/lexicon.h"

#include <ctype.h>
#include <string.h>

enum { FAMILIES_MOST = 4 };

static struct family {
    const char *name;
    const char *words[LEXICON_MOST];
    uint32_t count;
} families[FAMILIES_MOST];

static struct family *find(const char *name, size_t length, bool makes)
{
    struct family *family = families;
    while (family < families + FAMILIES_MOST && family->name &&
           (strlen(family->name) != length || memcmp(family->name, name, length) != 0))
        family++;
    if (family == families + FAMILIES_MOST)
        return NULL;
    if (!family->name && !makes)
        return NULL;
    return family;
}

static bool is_word(const char *word)
{
    const char *at = word;
    if (!isalpha((unsigned char)*at))
        return false;
    while (isalnum((unsigned char)*at) || *at == '_' || *at == '-')
        at++;
    return !*at;
}

bool lexicon_add(const char *family, const char *word, struct err *err)
{
    struct family *to = find(family, strlen(family), true);
    if (!is_word(word))
        return err_set(err, "'%.80s' is no name: expected letters, digits, _ and -", word);
    REQUIRE(to);
    to->name = family;
    if (to->count == LEXICON_MOST)
        return err_set(err, "there is no room for %.80s: there can be %d of the kind", word, LEXICON_MOST);
    to->words[to->count++] = word;
    return true;
}

const char *lexicon_at(const char *family, size_t length, uint32_t number)
{
    const struct family *of = find(family, length, false);
    return of && number < of->count ? of->words[number] : NULL;
}
