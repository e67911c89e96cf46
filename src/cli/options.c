#include "cli/cli.h"
#include "base/host.h"
#include "base/text.h"
#include "base/unit.h"

#include <stdio.h>
#include <string.h>

static const struct option_row help_row = {"--help", NULL, "print this help"};

/* --latency-cycles and --latency_cycles are the same. */
static bool same_name(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char x = a[i] == '_' ? '-' : a[i], y = b[i] == '_' ? '-' : b[i];
        if (x != y || !x)
            return false;
    }
    return !b[length];
}

static const struct option_row *find_row(const struct option_row *rows, const char *word, size_t length)
{
    for (; rows && rows->name; rows++) {
        if (same_name(word, rows->name, length))
            return rows;
    }
    return same_name(word, help_row.name, length) || (length == 2 && !strncmp(word, "-h", 2)) ? &help_row
                                                                                              : NULL;
}

static bool is_number(const char *word)
{
    return *word && word[strspn(word, "0123456789")] == 0;
}

static bool unknown(const struct option_row *rows, const char *word, struct err *err)
{
    struct nearest nearest;
    char name[120]; /* without "=VALUE" */
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    nearest_init(&nearest, name);
    for (; rows && rows->name; rows++)
        nearest_try(&nearest, rows->name);
    err_set(err, "unknown option %s", name);
    if (nearest.best)
        err_add(err, "; did you mean %s?", nearest.best);
    return false;
}

bool options_parse(const struct option_row *rows, int count, char **words, void *user,
                   bool (*took)(void *user, const struct option_row *row, const char *value, struct err *err),
                   struct err *err)
{
    bool options_end = false;
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        if (options_end || word[0] != '-' || !word[1]) {
            if (!took(user, NULL, word, err))
                return false;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options_end = true;
            continue;
        }
        size_t length = strcspn(word, "=");
        const struct option_row *row = find_row(rows, word, length);
        if (!row)
            return unknown(rows, word, err);
        const char *value = word[length] ? word + length + 1 : NULL;
        if (!row->value && value)
            return err_set(err, "%s takes no value", row->name);
        bool may_have_one = row->value && row->value[0] == '['; /* a number may follow */
        if (may_have_one && !value && i + 1 < count && is_number(words[i + 1]))
            value = words[++i];
        if (row->value && !value && !may_have_one) {
            if (i + 1 == count)
                return err_set(err, "expected %s behind %s", row->value, row->name);
            value = words[++i];
        }
        if (!took(user, row, value, err))
            return false;
    }
    return true;
}

int options_own_words(const struct option_row *rows, int count, char **words)
{
    int i = 0;
    while (i < count && words[i][0] == '-' && words[i][1]) {
        if (!strcmp(words[i], "--"))
            return i + 1;
        const struct option_row *row = rows;
        while (row->name && strcmp(row->name, words[i]))
            row++;
        bool takes_next =
            row->name && row->value && (row->value[0] != '[' || (i + 1 < count && is_number(words[i + 1])));
        i += takes_next ? 2 : 1;
    }
    return i < count ? i : count;
}

void options_print(const struct option_row *rows)
{
    for (; rows && rows->name; rows++) {
        char left[80];
        if (!rows->help)
            continue;
        snprintf(left, sizeof left, "%s%s%s", rows->name, rows->value ? " " : "",
                 rows->value ? rows->value : "");
        printf("  %-26s %s\n", left, rows->help);
    }
}

bool options_gpus(const char *option, const char *text, uint64_t *gpus, struct err *err)
{
    enum { MOST_GPUS = 64 }; /* as the rows of [system] allow */
    struct err why;
    return (unit_parse(UNIT_count, text, gpus, &why) && *gpus >= 1 && *gpus <= MOST_GPUS) ||
           err_set(err, "%s: expected a whole number from 1 to %d, not '%.80s'", option, MOST_GPUS, text);
}

bool options_threads(const char *text, unsigned *threads, struct err *err)
{
    enum { MOST_THREADS = 1024 };
    uint64_t number;
    struct err why;
    if (strcmp(text, "all") == 0)
        number = host_cores();
    else if (!unit_parse(UNIT_count, text, &number, &why) || number < 1 || number > MOST_THREADS)
        return err_set(err, "--threads: expected a number from 1 to %d, or all, not '%.80s'", MOST_THREADS,
                       text);
    *threads = (unsigned)number;
    return true;
}
