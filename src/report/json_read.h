/* Reads JSON files that Heddle wrote. Where something is not there, it is NULL, and NULL has no members. */
#ifndef REPORT_JSON_READ_H
#define REPORT_JSON_READ_H

#include "base/err.h"

#include <stddef.h>

struct json_value; /* lives as long as the file's outermost one */

/* Ends with json_read_free. NULL: err says why. */
struct json_value *json_read(const char *path, struct err *err);
struct json_value *json_read_bytes(const char *name, const char *bytes, size_t count, struct err *err);
void json_read_free(struct json_value *value);

const struct json_value *json_member(const struct json_value *object, const char *name);
const struct json_value *json_at(const struct json_value *object, const char *path); /* "a.b.c" */
const struct json_value *json_element(const struct json_value *list, size_t number);
bool json_has_members(const struct json_value *value);  /* it is an object */
bool json_has_elements(const struct json_value *value); /* it is a list */

/* The members of an object, in their order. */
void json_each_member(const struct json_value *object,
                      void (*take)(void *user, const char *name, const struct json_value *value), void *user);
size_t json_length(const struct json_value *list);

bool json_number(const struct json_value *value, double *number); /* false: it is none */
const char *json_text(const struct json_value *value);            /* or NULL */

/* A number, text or word, as JSON has it; of others, their length. */
struct text;
void json_value_tell(const struct json_value *value, struct text *text);

/* Members of an object, or these if there are none. */
double json_number_at(const struct json_value *object, const char *name, double otherwise);
const char *json_text_at(const struct json_value *object, const char *name, const char *otherwise);

#endif
