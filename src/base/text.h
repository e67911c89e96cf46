/* Strings: a growing buffer, and the nearest of some names to what the user typed. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *at; /* always ends in a zero byte once something was added */
    size_t length, capacity;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(__printf__, 2, 3)));
void text_add_bytes(struct text *text, const char *bytes, size_t count);
/* As JSON has it: in quotes. Bytes that are not of ASCII are taken as Latin-1. */
void text_add_quoted(struct text *text, const char *string);
/* Control characters, of ASCII or UTF-8, as "\x1b"; line breaks stay. */
void text_add_visible(struct text *text, const char *string);
void text_fini(struct text *text);

/* The string without the blanks at both its ends, cut in place. */
char *text_trim(char *string);

/* The number of letters to insert, delete, replace or swap with their neighbour to turn a into b. */
size_t text_distance(const char *a, const char *b);

/* Keeps the nearest name seen so far; `best` stays NULL while none is near enough to suggest. */
struct nearest {
    const char *wanted, *best;
    size_t distance;
};

void nearest_init(struct nearest *nearest, const char *wanted);
void nearest_try(struct nearest *nearest, const char *name);

#endif
