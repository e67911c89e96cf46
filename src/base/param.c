#include "base/param.h"
#include "base/bits.h"
#include "base/unit.h"
#include "base/lexicon.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static enum unit_kind unit_of(enum param_type type)
{
    switch (type) {
    case PARAM_size:
        return UNIT_size;
    case PARAM_time:
        return UNIT_time;
    case PARAM_rate:
        return UNIT_rate;
    case PARAM_freq:
        return UNIT_freq;
    default:
        return UNIT_count;
    }
}

/* Whether 0 is allowed beside the range. */
static bool or_zero(const char *range)
{
    return strncmp(range, "0|", strlen("0|")) == 0;
}

/* Splits "least..most"; a missing side is an empty string. */
static bool split_range(const char *range, char least[64], char most[64])
{
    range += or_zero(range) ? strlen("0|") : 0;
    const char *dots = strstr(range, "..");
    if (!dots)
        return false;
    snprintf(least, 64, "%.*s", (int)(dots - range), range);
    snprintf(most, 64, "%s", dots + 2);
    return true;
}

static bool parse_real(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value) && !strpbrk(text, "xXpP \t");
}

static bool outside(const struct param_row *row, const char *value, struct err *err)
{
    return err_set(err, "expected %s, not %s", row->range, value);
}

static bool parse_unit(const struct param_row *row, const char *value, uint64_t *result, struct err *err)
{
    enum unit_kind kind = unit_of(row->type);
    if (!unit_parse(kind, value, result, err))
        return false;
    char least[64], most[64];
    if (!split_range(row->range, least, most))
        return true;
    uint64_t low = 0, high = UINT64_MAX;
    if ((*least && !unit_parse(kind, least, &low, err)) || (*most && !unit_parse(kind, most, &high, err)))
        BUG("parameter %s has the broken range %s", row->name, row->range);
    return (*result >= low && *result <= high) || (!*result && or_zero(row->range)) ||
           outside(row, value, err);
}

static bool parse_in_range(const struct param_row *row, const char *value, double *result, struct err *err)
{
    if (!parse_real(value, result))
        return err_set(err, "expected a number, such as 0.25, not '%.80s'", value);
    char least[64], most[64];
    if (!split_range(row->range, least, most))
        return true;
    double low = -INFINITY, high = INFINITY;
    if ((*least && !parse_real(least, &low)) || (*most && !parse_real(most, &high)))
        BUG("parameter %s has the broken range %s", row->name, row->range);
    return (*result >= low && *result <= high) || (*result == 0 && or_zero(row->range)) ||
           outside(row, value, err);
}

static bool parse_flag(const char *value, bool *result, struct err *err)
{
    bool yes = !strcmp(value, "yes") || !strcmp(value, "true") || !strcmp(value, "on") || !strcmp(value, "1");
    bool no = !strcmp(value, "no") || !strcmp(value, "false") || !strcmp(value, "off") || !strcmp(value, "0");
    *result = yes;
    return yes || no || err_set(err, "expected yes or no, not '%.80s'", value);
}

/* One of the words of a choice: of its range, and then of the range's family. */
struct choice_word {
    const char *at;
    size_t length;
};

/* False: behind the last. */
static bool word_at(const struct param_row *row, uint32_t number, struct choice_word *word)
{
    const char *at = row->range;
    for (;; number--) {
        size_t length = strcspn(at, "|");
        if (*at == '+') {
            at = lexicon_at(at + 1, length - 1, number);
            *word = (struct choice_word){at, at ? strlen(at) : 0};
            return at;
        }
        *word = (struct choice_word){at, length};
        if (!number || !at[length])
            return !number;
        at += length + 1;
    }
}

void param_print_range(const struct param_row *row, struct text *text)
{
    struct choice_word word;
    if (row->type != PARAM_choice)
        text_add(text, "%s", row->range);
    for (uint32_t i = 0; row->type == PARAM_choice && word_at(row, i, &word); i++)
        text_add(text, "%s%.*s", i ? "|" : "", (int)word.length, word.at);
}

static bool parse_choice(const struct param_row *row, const char *value, uint32_t *result, struct err *err)
{
    struct choice_word word;
    struct text range = {0};
    for (*result = 0; word_at(row, *result, &word); ++*result)
        if (strlen(value) == word.length && !memcmp(value, word.at, word.length))
            return true;
    param_print_range(row, &range);
    err_set(err, "expected one of %s, not '%.80s'", range.at, value);
    text_fini(&range);
    return false;
}

/* Only what a description can hold: the dump of a configuration must read again as it was. */
static bool parse_text(const char *value, struct err *err)
{
    enum { LONGEST_TEXT = 3072 };
    size_t length = strlen(value);
    if (length > LONGEST_TEXT)
        return err_set(err, "expected at most %d bytes of text, not %zu", LONGEST_TEXT, length);
    bool holds = !length || !isspace((unsigned char)value[length - 1]);
    bool after_blank = true;
    for (const char *at = value; *at; at++) {
        bool blank = isspace((unsigned char)*at);
        holds &= *at != '\n' && !(blank && at == value) && !(after_blank && strchr("#;", *at));
        after_blank = blank;
    }
    return holds || err_set(err,
                            "expected one line of text, without blanks at its ends and without # or ; "
                            "at its start or after a blank, not '%.80s'",
                            value);
}

static void store(void *field, const void *value, size_t bytes)
{
    if (field)
        memcpy(field, value, bytes);
}

bool param_parse(const struct param_row *row, const char *value, void *field, struct err *err)
{
    uint64_t number;
    double real;
    bool flag;
    uint32_t choice = 0;
    switch (row->type) {
    case PARAM_real:
        if (!parse_in_range(row, value, &real, err))
            return false;
        store(field, &real, sizeof real);
        return true;
    case PARAM_flag:
        if (!parse_flag(value, &flag, err))
            return false;
        store(field, &flag, sizeof flag);
        return true;
    case PARAM_choice:
        if (!parse_choice(row, value, &choice, err))
            return false;
        store(field, &choice, sizeof choice);
        return true;
    case PARAM_text:
        if (!parse_text(value, err))
            return false;
        store(field, &value, sizeof value);
        return true;
    default:
        if (!parse_unit(row, value, &number, err))
            return false;
        store(field, &number, sizeof number);
        return true;
    }
}

/* With as few digits as read back to the same number. */
static void print_real(double real, struct text *text)
{
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, real);
        if (strtod(digits, NULL) == real)
            break;
    }
    text_add(text, "%s", digits);
}

void param_print(const struct param_row *row, const void *field, struct text *text)
{
    switch (row->type) {
    case PARAM_real:
        print_real(*(const double *)field, text);
        break;
    case PARAM_flag:
        text_add(text, "%s", *(const bool *)field ? "yes" : "no");
        break;
    case PARAM_text:
        text_add(text, "%s", *(const char *const *)field);
        break;
    case PARAM_choice: {
        struct choice_word word;
        REQUIRE(word_at(row, *(const uint32_t *)field, &word));
        text_add(text, "%.*s", (int)word.length, word.at);
        break;
    }
    default:
        unit_print(unit_of(row->type), *(const uint64_t *)field, text);
    }
}
