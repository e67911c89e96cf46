#include "base/choice.h"
#include "base/demangle.h"
#include "base/mem.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct choice_item {
    const char *pattern; /* NULL: numbers */
    uint64_t first, last;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next item ends at a comma that is not inside of brackets: "kernel<8, float>" is one. */
static char *take_item(char **rest)
{
    char *item = *rest;
    int depth = 0;
    for (char *at = item; *at; at++) {
        depth += (*at == '<' || *at == '[') - (*at == '>' || *at == ']');
        if (*at == ',' && depth <= 0) {
            *at = 0;
            *rest = at + 1;
            return item;
        }
    }
    *rest = NULL;
    return item;
}

static bool read_numbers(const char *text, struct choice_item *item)
{
    char *end;
    item->first = item->last = strtoull(text, &end, 10);
    if (*end == '-' && !end[1])
        item->last = UINT64_MAX;
    else if (*end == '-' && is_digit(end[1]))
        item->last = strtoull(end + 1, &end, 10);
    else
        return !*end;
    return (item->last == UINT64_MAX || !*end) && item->last >= item->first;
}

bool choice_init(struct choice *choice, const char *option, const char *text, struct err *err)
{
    *choice = (struct choice){0};
    if (!text)
        return true;
    choice->text = mem_text(text);
    for (char *rest = choice->text, *item; rest;) {
        item = take_item(&rest);
        mem_grow(choice->items, choice->count, choice->capacity);
        struct choice_item *made = &choice->items[choice->count++];
        *made = (struct choice_item){.pattern = is_digit(*item) ? NULL : item};
        if (!*item || *item == '-' || (is_digit(*item) && !read_numbers(item, made))) {
            choice_fini(choice);
            return err_set(
                err,
                "%s: expected numbers of launches from 0, such as 3-5, 3 or 3-, or names of kernels, such "
                "as 'scale*', with commas between, not '%.80s'",
                option, text);
        }
    }
    return true;
}

void choice_fini(struct choice *choice)
{
    mem_free(choice->text);
    mem_free(choice->items);
    *choice = (struct choice){0};
}

static bool is_named(const char *pattern, const char *kernel)
{
    struct text name = {0};
    demangle_whole(kernel, &name);
    bool found = !fnmatch(pattern, kernel, 0) || !fnmatch(pattern, name.at, 0);
    char *arguments = strchr(name.at, '<');
    if (arguments)
        *arguments = 0;
    const char *colon = strrchr(name.at, ':');
    found = found || !fnmatch(pattern, name.at, 0) || (colon && !fnmatch(pattern, colon + 1, 0));
    text_fini(&name);
    return found;
}

bool choice_has(const struct choice *choice, uint64_t launch, const char *kernel)
{
    for (size_t i = 0; i < choice->count; i++) {
        const struct choice_item *item = &choice->items[i];
        if (item->pattern ? is_named(item->pattern, kernel) : launch >= item->first && launch <= item->last)
            return true;
    }
    return !choice->count;
}
