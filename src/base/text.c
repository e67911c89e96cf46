#include "base/text.h"
#include "base/bits.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

static void reserve(struct text *text, size_t more)
{
    size_t need = text->length + more + 1;
    if (need <= text->capacity)
        return;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    text->at = mem_resize(text->at, text->capacity, capacity, 1);
    text->capacity = capacity;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int bytes = vsnprintf(NULL, 0, format, args);
    va_end(args);
    reserve(text, (size_t)bytes);
    vsnprintf(text->at + text->length, (size_t)bytes + 1, format, again);
    va_end(again);
    text->length += (size_t)bytes;
}

void text_add_bytes(struct text *text, const char *bytes, size_t count)
{
    reserve(text, count);
    if (count)
        memcpy(text->at + text->length, bytes, count);
    text->length += count;
    text->at[text->length] = 0;
}

void text_add_quoted(struct text *text, const char *string)
{
    text_add_bytes(text, "\"", 1);
    while (*string) {
        size_t plain = 0;
        while (string[plain] >= ' ' && string[plain] <= '~' && string[plain] != '"' && string[plain] != '\\')
            plain++;
        text_add_bytes(text, string, plain);
        string += plain;
        if (*string)
            text_add(text, "\\u%04x", (unsigned char)*string++);
    }
    text_add_bytes(text, "\"", 1);
}

/* Those of UTF-8 that act as control characters of two bytes: U+0080 to U+009F. */
static bool is_late_control(const char *at)
{
    return (unsigned char)at[0] == 0xc2 && (unsigned char)at[1] >= 0x80 && (unsigned char)at[1] <= 0x9f;
}

void text_add_visible(struct text *text, const char *string)
{
    for (const char *at = string; *at; at++) {
        if (is_late_control(at)) {
            text_add(text, "\\xc2\\x%02x", (unsigned char)at[1]);
            at++;
        } else if (*at != '\n' && iscntrl((unsigned char)*at)) {
            text_add(text, "\\x%02x", (unsigned char)*at);
        } else {
            text_add_bytes(text, at, 1);
        }
    }
}

void text_fini(struct text *text)
{
    mem_free(text->at);
    *text = (struct text){0};
}

char *text_trim(char *string)
{
    while (isspace((unsigned char)*string))
        string++;
    char *end = string + strlen(string);
    while (end > string && isspace((unsigned char)end[-1]))
        end--;
    *end = 0;
    return string;
}

enum { LONGEST_NAME = 63 };

size_t text_distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    if (la > LONGEST_NAME || lb > LONGEST_NAME)
        return la > lb ? la : lb;
    size_t row[3][LONGEST_NAME + 1]; /* of the table: this one, the one before, the one before that */
    for (size_t j = 0; j <= lb; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *now = row[i % 3], *up = row[(i + 2) % 3], *upper = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = up[j - 1] + (a[i - 1] != b[j - 1]);
            best = min_u64(best, min_u64(up[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = min_u64(best, upper[j - 2] + 1);
            now[j] = best;
        }
    }
    return row[la % 3][lb];
}

void nearest_init(struct nearest *nearest, const char *wanted)
{
    size_t length = strlen(wanted);
    *nearest = (struct nearest){.wanted = wanted, .distance = length < 3 ? 2 : length / 3 + 2};
}

void nearest_try(struct nearest *nearest, const char *name)
{
    size_t distance = text_distance(nearest->wanted, name);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->best = name;
    }
}
