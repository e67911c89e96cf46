/* Writes JSON to a stream, one member at a time, in the order of the calls and always in the same form. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *stream;
    int depth;
    uint64_t filled, arrays; /* a bit per depth: has members already; is an array */
};

void json_init(struct json *json, FILE *stream);

/* `name` is NULL for an element of an array, and for the outermost value. */
void json_object(struct json *json, const char *name);
void json_array(struct json *json, const char *name);
void json_end(struct json *json); /* of the object or array opened last */

void json_u64(struct json *json, const char *name, uint64_t value);
void json_real(struct json *json, const char *name, double value);
void json_bool(struct json *json, const char *name, bool value);
void json_text(struct json *json, const char *name, const char *value);

#endif
