/* Parameters. One row of a table is all there is to say about one: it makes the field of the spec, the
 * reader, the check, `--set`, `heddle params` and the dump of the effective configuration.
 *
 *   #define CACHE_PARAMS(P, S)                                                    \
 *       P(S, size,  bytes,   "256KiB", "1KiB..1GiB", "capacity")                  \
 *       P(S, count, ways,    "4",      "1..64",      "lines in a set")            \
 *       P(S, choice, policy, "lru",    "lru|random", "which line leaves")
 *   struct cache_spec { CACHE_PARAMS(PARAM_FIELD, cache_spec) };
 *   PARAM_GROUP(cache_params, "gpu.l2", "the L2 cache", cache_spec, CACHE_PARAMS);
 *
 * A row and a group may end with where a change of it shows (enum param_shows); a row's own word wins. */
#ifndef BASE_PARAM_H
#define BASE_PARAM_H

#include "base/err.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

/*    type    C type        expected */
#define PARAM_TYPES(T)                                                                                       \
    T(count, uint64_t)    /* a whole number */                                                               \
    T(size, uint64_t)     /* bytes; 256KiB */                                                                \
    T(time, uint64_t)     /* picoseconds; 50ns */                                                            \
    T(rate, uint64_t)     /* bytes per second; 4800GB/s */                                                   \
    T(freq, uint64_t)     /* hertz; 1980MHz */                                                               \
    T(real, double)       /* a decimal number */                                                             \
    T(flag, bool)         /* yes or no */                                                                    \
    T(choice, uint32_t)   /* index of a word in the row's range, "lru|random" */                             \
    T(text, const char *) /* anything; lives as long as the configuration */

enum param_type {
#define T(type, ctype) PARAM_##type,
    PARAM_TYPES(T)
#undef T
};

#define T(type, ctype) typedef ctype param_##type;
PARAM_TYPES(T)
#undef T

/* Where a change of a parameter shows. */
enum param_shows {
    SHOWS_AS_GROUP,            /* of a row: as its group says; of a group: anywhere */
    SHOWS_ANYWHERE,            /* in what programs do, too */
    SHOWS_IN_TIME,             /* in simulated time only */
    SHOWS_IN_QUERIES_AND_TIME, /* and in what programs can ask of a device */
};

struct param_row {
    const char *name;
    enum param_type type;
    const char *fallback; /* the default, written as a user would */
    const char
        *range; /* "least..most" (one may be missing; "0|least..most": or 0), the words of a choice,
                   maybe with those of a family at its end ("lru|fifo|+policies": base/lexicon.h), or "" */
    const char *help;
    size_t offset; /* of the field in the spec */
    enum param_shows shows;
};

struct param_group {
    const char *path; /* the section: "gpu.l2"; "link.*" stands for any number of sections link.NAME */
    const char *help;
    const struct param_row *rows;
    size_t row_count, spec_bytes;
    enum param_shows shows;
};

#define PARAM_FIELD(S, type, name, fallback, range, help, ...) param_##type name;
#define PARAM_ROW(S, type, name, fallback, range, help, ...)                                                 \
    {#name,                                                                                                  \
     PARAM_##type,                                                                                           \
     fallback,                                                                                               \
     range,                                                                                                  \
     help,                                                                                                   \
     offsetof(struct S, name),                                                                               \
     (enum param_shows)(__VA_ARGS__ + 0)},
#define PARAM_GROUP(variable, path, help, spec, PARAMS, ...)                                                 \
    static const struct param_row variable##_rows[] = {PARAMS(PARAM_ROW, spec)};                             \
    const struct param_group variable = {path,                                                               \
                                         help,                                                               \
                                         variable##_rows,                                                    \
                                         sizeof variable##_rows / sizeof *variable##_rows,                   \
                                         sizeof(struct spec),                                                \
                                         (enum param_shows)(__VA_ARGS__ + 0)}

/* Where a change of this row of the group shows. */
static inline enum param_shows param_shows(const struct param_group *group, const struct param_row *row)
{
    enum param_shows shows = row->shows ? row->shows : group->shows;
    return shows ? shows : SHOWS_ANYWHERE;
}

/* Checks a value against its row and, when `field` is not NULL, stores it there. */
bool param_parse(const struct param_row *row, const char *value, void *field, struct err *err);

/* The range as users read it: with the words of its family. */
void param_print_range(const struct param_row *row, struct text *text);

/* Writes a stored field as a user would. */
void param_print(const struct param_row *row, const void *field, struct text *text);

#endif
