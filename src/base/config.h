/* A configuration: the settings from descriptions and from the command line, each checked against its row the
 * moment it is read. Later settings win over earlier ones. */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include "base/names.h"
#include "base/param.h"

#include <stdio.h>

struct config {
    const struct param_group *const *groups; /* what may be set; ends in NULL */
    struct names paths;                      /* of the sections that were set, by number */
    struct config_section *sections;         /* by the same number */
    size_t section_capacity;
    const char *folder;               /* where files look for what they include, beside their own; or NULL */
    const struct config_moved *moved; /* keys that are no more, for errors; ends in {NULL}, or NULL */
};

struct config_moved {
    const char *path, *key, *now; /* "gpu", "l2", "l2.bytes" */
};

void config_init(struct config *config, const struct param_group *const *groups);
void config_fini(struct config *config);

bool config_read(struct config *config, const char *file, struct err *err);
bool config_read_text(struct config *config, const char *name, const char *text, size_t bytes,
                      struct err *err);

/* One setting as --set takes it: "path.key=value". */
bool config_set(struct config *config, const char *assignment, struct err *err);

/* The same in parts; `where` says in errors who set it. */
bool config_set_key(struct config *config, const char *path, const char *key, const char *value,
                    const char *where, struct err *err);

/* Another default than the row's, where it follows from other settings; in dumps and statistics, too. Later
 * calls win; a NULL value: the row's again. The value must be a good one. */
void config_set_default(struct config *config, const char *path, const char *key, const char *value);

/* Fills a spec with the defaults and then the settings of this section. */
void config_fill(const struct config *config, const struct param_group *group, const char *path, void *spec);

/* The sections of a "link.*" group in the order they came in: config_next(config, group, NULL) is the first,
 * and config_next(config, group, path) the one behind it; NULL at the end. */
const char *config_next(const struct config *config, const struct param_group *group, const char *path);

/* Whether this key of the section was set, and is not just the default. */
bool config_is_set(const struct config *config, const char *path, const struct param_row *row);

/* "file:line" where the section came first, or --set. */
const char *config_where(const struct config *config, const char *path);

/* "file:line" where this key was set last, or --set; empty: nobody set it. */
const char *config_where_key(const struct config *config, const char *path, const char *key);

/* Every section of the effective configuration: one for a plain group, those set for a family. */
void config_each(const struct config *config,
                 void (*take)(const struct param_group *group, const char *path, const void *spec,
                              void *user),
                 void *user);

/* The effective configuration as a description that can be read again. config_dump_marked has a comment
 * behind what was not set. */
void config_dump(const struct config *config, struct text *text);
void config_dump_marked(const struct config *config, const char *mark, struct text *text);

#endif
