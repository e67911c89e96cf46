#include "driver/ledger_places.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Fields in this order. A text that is missing is empty. */
#define PLACE_TEXTS(T)                                                                                       \
    T(file)                                                                                                  \
    T(function)                                                                                              \
    T(kernel)                                                                                                \
    T(module)                                                                                                \
    T(instruction)
#define PLACE_NUMBERS(N)                                                                                     \
    N(line)                                                                                                  \
    N(ptx_line)                                                                                              \
    N(code_at)                                                                                               \
    N(is_atomic)                                                                                             \
    N(is_shared)

/* ---- to text ---- */

/* Names of files and programs may hold anything: what would end a field has a backslash before it. */
static void add_field(struct text *text, const char *value)
{
    while (value && *value) {
        size_t plain = strcspn(value, "\t\\");
        text_add_bytes(text, value, plain);
        value += plain;
        if (*value) {
            text_add_bytes(text, "\\", 1);
            text_add_bytes(text, value++, 1);
        }
    }
    text_add_bytes(text, "\t", 1);
}

/* A kernel has thousands of places with dozens of numbers: printf would take longer than the kernel. */
static void add_number(struct text *text, uint32_t value)
{
    char digits[11];
    uint32_t at = sizeof digits - 1;
    digits[at] = '\t';
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    text_add_bytes(text, digits + at, sizeof digits - at);
}

void ledger_place_text_add(struct text *text, const struct code_place *place)
{
#define T(name) add_field(text, place->name);
    PLACE_TEXTS(T)
#undef T
#define N(name) add_number(text, place->name);
    PLACE_NUMBERS(N)
#undef N
    for (int i = 0; i < UNIT_COUNT; i++)
        add_number(text, place->steps[i]);
}

/* ---- and back ---- */

/* Takes a field off the text; false: there is none. */
static bool take_field(const char **text, struct text *field)
{
    field->length = 0;
    text_add_bytes(field, "", 0);
    for (; **text && **text != '\t'; ++*text) {
        *text += **text == '\\' && (*text)[1];
        text_add_bytes(field, *text, 1);
    }
    return *(*text)++ == '\t';
}

static const char *word_of(struct names *words, const struct text *field)
{
    size_t number = field->length ? names_add(words, field->at) : 0; /* may move `at` of it, but no text */
    return field->length ? words->at[number] : NULL;
}

static bool read_fields(struct names *words, const char *text, struct text *field, struct code_place *place)
{
#define T(name)                                                                                              \
    if (!take_field(&text, field))                                                                           \
        return false;                                                                                        \
    place->name = word_of(words, field);
    PLACE_TEXTS(T)
#undef T
#define N(name)                                                                                              \
    if (!take_field(&text, field))                                                                           \
        return false;                                                                                        \
    place->name = (uint32_t)strtoul(field->at, NULL, 10);
    PLACE_NUMBERS(N)
#undef N
    for (int i = 0; i < UNIT_COUNT; i++) {
        if (!take_field(&text, field))
            return false;
        place->steps[i] = (uint8_t)strtoul(field->at, NULL, 10);
    }
    return place->kernel && place->module && place->instruction;
}

const struct code_place *ledger_place_list_read(struct ledger_place_list *list, const char *text)
{
    size_t number = names_find(&list->keys, text);
    if (number != NO_NAME)
        return list->at[number];
    struct code_place place = {0};
    struct text field = {0};
    bool good = read_fields(&list->words, text, &field, &place);
    text_fini(&field);
    if (!good)
        return NULL;
    mem_grow(list->at, list->keys.count, list->capacity);
    number = names_add(&list->keys, text);
    list->at[number] = mem_alloc(1, sizeof place);
    *list->at[number] = place;
    return list->at[number];
}

void ledger_place_list_fini(struct ledger_place_list *list)
{
    for (size_t i = 0; i < list->keys.count; i++)
        mem_free(list->at[i]);
    mem_free(list->at);
    names_fini(&list->keys);
    names_fini(&list->words);
}
