/* Writes JSON to a stream, one member at a time, in the order of the calls and always in the same form.
 *
 * The values are jansson's. The outermost object, and lists that are its members, are written while they
 * grow; everything inside of these is written as a whole when it is closed. So a list of 100,000 launches
 * takes the memory of one launch. */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct config;
struct stat_table;
struct json_t; /* jansson's */

enum { JSON_DEPTH_MOST = 64, JSON_GROWING_MOST = 2 };

struct json_writer {
    FILE *stream;
    bool in_script;
    int depth;   /* objects and lists that are open */
    int growing; /* the outermost of them, which are written already */
    struct {
        bool is_list, is_filled;
    } grows[JSON_GROWING_MOST];
    struct json_t *open[JSON_DEPTH_MOST]; /* the others, by depth */
};

void json_begin(struct json_writer *json, FILE *stream);

/* The same for a script element of a page: short, numbers to 7 digits, and no text in it can end the element.
 */
void json_begin_in_script(struct json_writer *json, FILE *stream);

/* `name` is NULL for an element of a list, and for the outermost value. */
void json_open_object(struct json_writer *json, const char *name);
void json_open_list(struct json_writer *json, const char *name);
void json_close(struct json_writer *json); /* the object or list opened last */

/* Whole numbers from 2^63 on are written as decimal numbers, to 17 digits. */
void json_put_count(struct json_writer *json, const char *name, uint64_t value);
void json_put_real(struct json_writer *json, const char *name, double value); /* null if it is not finite */
void json_put_null(struct json_writer *json, const char *name);
void json_put_bool(struct json_writer *json, const char *name, bool value);
void json_put_text(struct json_writer *json, const char *name, const char *value);
void json_put_text_bytes(struct json_writer *json, const char *name, const char *at, size_t bytes);

/* What was read (json_read.h), as it is; nothing where it is NULL. */
struct json_value;
void json_put_value(struct json_writer *json, const char *name, const struct json_value *value);

/* ---- tables (json_tables.c): members of the object that is open ---- */

void json_put_stats(struct json_writer *json, const struct stat_table *table, const void *state);
void json_put_config(struct json_writer *json, const struct config *config); /* an object for each section */

#endif
