#include "cache/replace.h"
#include "base/err.h"
#include "base/lexicon.h"

#include <string.h>

_Static_assert((int)REPLACE_OWN_MOST == (int)LEXICON_MOST, "each has a word");

struct replace_own replace_owns[REPLACE_OWN_MOST];

const char *replace_name(uint32_t policy)
{
    static const char *const names[] = {
#define X(name, text, help) text,
        REPLACE_POLICIES(X)
#undef X
    };
    return policy < REPLACE_OWN ? names[policy]
                                : lexicon_at(REPLACE_FAMILY, strlen(REPLACE_FAMILY), policy - REPLACE_OWN);
}

bool replace_find(const char *name, uint32_t *policy)
{
    const char *there;
    for (*policy = 0; (there = replace_name(*policy)); ++*policy)
        if (!strcmp(there, name))
            return true;
    return false;
}

bool replace_own_add(const struct replace_own *own, struct err *err)
{
    uint32_t number;
    if (replace_find(own->name, &number))
        return err_set(err, "there is a replacement policy %.80s already", own->name);
    if (!own->used || !own->came || !own->choose)
        return err_set(err, "the replacement policy %.80s lacks a function", own->name);
    for (number = 0; number < REPLACE_OWN_MOST && replace_owns[number].name;)
        number++;
    if (!lexicon_add(REPLACE_FAMILY, own->name, err))
        return false;
    replace_owns[number] = *own;
    return true;
}

uint32_t replace_own_choose(uint32_t policy, uint64_t *row, uint32_t ways, uint64_t from, uint64_t seed)
{
    const struct replace_own *own = &replace_owns[policy - REPLACE_OWN];
    uint32_t way = own->choose((uint8_t *)row, ways, from, seed);
    if (way >= ways || !(from >> way & 1))
        err_of_plugin("%s chose way %u of %u, whose line may not leave (those that may: 0x%llx)", own->name,
                      way, ways, (unsigned long long)from);
    return way;
}
