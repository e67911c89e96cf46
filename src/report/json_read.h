/* Reads JSON files that Heddle wrote. Where something is not there, it is NULL, and NULL has no members. */
#ifndef REPORT_JSON_READ_H
#define REPORT_JSON_READ_H

#include "base/err.h"

#include <stddef.h>

struct json_value; /* lives as long as the file's outermost one */

/* Ends with json_read_free. NULL: err says why. */
struct json_value *json_read(const char *path, struct err *err);
void json_read_free(struct json_value *value);

const struct json_value *json_member(const struct json_value *object, const char *name);
const struct json_value *json_at(const struct json_value *object, const char *path); /* "a.b.c" */
const struct json_value *json_element(const struct json_value *list, size_t number);
size_t json_length(const struct json_value *list);

bool json_number(const struct json_value *value, double *number); /* false: it is none */
const char *json_text(const struct json_value *value);            /* or NULL */

#endif
