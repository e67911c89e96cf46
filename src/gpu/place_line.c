#include "gpu/place_line.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts may be missing, numbers may not. */
#define PLACE_TEXTS(T)                                                                                       \
    T(file)                                                                                                  \
    T(function)                                                                                              \
    T(kernel)                                                                                                \
    T(module)                                                                                                \
    T(instruction)
#define PLACE_NUMBERS(N)                                                                                     \
    N(line)                                                                                                  \
    N(ptx_line)

/* ---- places ---- */

static bool needs_escape(char letter)
{
    return (unsigned char)letter < 0x20 || letter == '"' || letter == '\\';
}

/* Names of files and programs may hold anything. */
static void add_quoted(struct text *line, const char *name, const char *value)
{
    if (!value)
        return;
    text_add(line, ",\"%s\":\"", name);
    while (*value) {
        size_t plain = 0;
        while (value[plain] && !needs_escape(value[plain]))
            plain++;
        text_add_bytes(line, value, plain);
        value += plain;
        if (*value)
            text_add(line, "\\u%04x", (unsigned)*value++);
    }
    text_add(line, "\"");
}

void place_line_add(struct text *line, const struct code_place *place)
{
#define T(name) add_quoted(line, #name, place->name);
    PLACE_TEXTS(T)
#undef T
#define N(name) text_add(line, ",\"" #name "\":%u", (unsigned)place->name);
    PLACE_NUMBERS(N)
#undef N
    text_add(line, ",\"steps\":[");
    for (int i = 0, any = 0; i < UNIT_COUNT; i++) { /* those that there are, with their units */
        if (place->steps[i])
            text_add(line, "%s%d,%u", any++ ? "," : "", i, place->steps[i]);
    }
    text_add(line, "]");
}

/* Where the value of a member begins, or NULL. No value can hold what looks like a name: its quotes have
 * backslashes before them. */
static const char *value_of(const char *line, const char *name)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, ",\"%s\":", name);
    const char *at = strstr(line, quoted);
    return at ? at + strlen(quoted) : NULL;
}

static const char *read_quoted(struct names *words, const char *line, const char *name)
{
    const char *at = value_of(line, name);
    struct text text = {0};
    if (!at || *at != '"')
        return NULL;
    for (at++; *at && *at != '"'; at++) {
        char letter = *at;
        unsigned code;
        if (letter == '\\' && at[1] == 'u' && sscanf(at + 2, "%4x", &code) == 1) {
            letter = (char)code;
            at += 5;
        } else if (letter == '\\' && at[1]) {
            letter = *++at;
        }
        text_add_bytes(&text, &letter, 1);
    }
    size_t number = names_add(words, text.length ? text.at : ""); /* may move `at` of it, but no text */
    text_fini(&text);
    return words->at[number];
}

static bool read_fields(struct names *words, const char *line, struct code_place *place)
{
    const char *value;
#define T(name) place->name = read_quoted(words, line, #name);
    PLACE_TEXTS(T)
#undef T
#define N(name)                                                                                              \
    if (!(value = value_of(line, #name)))                                                                    \
        return false;                                                                                        \
    place->name = (uint32_t)strtoul(value, NULL, 10);
    PLACE_NUMBERS(N)
#undef N
    value = value_of(line, "steps");
    if (!value || *value++ != '[')
        return false;
    while (*value != ']') {
        char *end;
        unsigned long unit = strtoul(value, &end, 10);
        if (*end != ',' || unit >= UNIT_COUNT)
            return false;
        place->steps[unit] = (uint8_t)strtoul(end + 1, &end, 10);
        value = end + (*end == ',');
    }
    return place->kernel && place->module && place->instruction;
}

const struct code_place *place_list_read(struct place_list *list, const char *line)
{
    struct code_place place = {0};
    const char *key = strchr(line, ',');
    size_t known = list->keys.count;
    if (!key || !read_fields(&list->words, line, &place))
        return NULL;
    size_t number = names_add(&list->keys, key);
    if (number == known) {
        mem_grow(list->at, known, list->capacity);
        list->at[number] = mem_alloc(1, sizeof place);
        *list->at[number] = place;
    }
    return list->at[number];
}

void place_list_fini(struct place_list *list)
{
    for (size_t i = 0; i < list->keys.count; i++)
        mem_free(list->at[i]);
    mem_free(list->at);
    names_fini(&list->keys);
    names_fini(&list->words);
}

/* ---- what was counted there ---- */

void profile_line_add(struct text *line, size_t place, const struct op_profile *counts)
{
    text_add(line, "[%zu", place);
#define X(name, help) text_add(line, ",%llu", (unsigned long long)counts->name);
    OP_COUNTERS(X)
#undef X
    for (int i = 0; i < STALL_COUNT; i++)
        text_add(line, ",%llu", (unsigned long long)counts->stalls[i]);
    text_add(line, "]");
}

/* The next number, with a comma before it. */
static bool read_next(const char **at, uint64_t *number)
{
    char *end;
    if (**at != ',')
        return false;
    *number = strtoull(*at + 1, &end, 10);
    bool good = end != *at + 1;
    *at = end;
    return good;
}

const char *profile_line_read(const char *at, uint64_t *place, struct op_profile *counts)
{
    char *end;
    if (*at != '[')
        return NULL;
    *place = strtoull(at + 1, &end, 10);
    at = end;
#define X(name, help)                                                                                        \
    if (!read_next(&at, &counts->name))                                                                      \
        return NULL;
    OP_COUNTERS(X)
#undef X
    for (int i = 0; i < STALL_COUNT; i++) {
        if (!read_next(&at, &counts->stalls[i]))
            return NULL;
    }
    return *at == ']' ? at + 1 : NULL;
}
