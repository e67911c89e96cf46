#include "report/json_read.h"
#include "base/mem.h"
#include "base/text.h"

#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

/* A json_value is jansson's json_t. */
static json_t *inner(const struct json_value *value)
{
    return (json_t *)(uintptr_t)value;
}

static void *allocate(size_t bytes)
{
    return mem_alloc(1, bytes);
}

struct json_value *json_read(const char *path, struct err *err)
{
    json_error_t why;
    struct stat status;
    if (!stat(path, &status) && S_ISDIR(status.st_mode)) {
        err_set(err, "%s is a folder", path);
        return NULL;
    }
    json_set_alloc_funcs(allocate, mem_free);
    json_t *value = json_load_file(path, 0, &why);
    if (!value)
        why.line < 0 ? err_set(err, "%s", why.text)
                     : err_set(err, "%s:%d: no JSON, or damaged: %s", path, why.line, why.text);
    return (struct json_value *)value;
}

struct json_value *json_read_bytes(const char *name, const char *bytes, size_t count, struct err *err)
{
    json_error_t why;
    json_set_alloc_funcs(allocate, mem_free);
    json_t *value = json_loadb(bytes, count, 0, &why);
    if (!value)
        err_set(err, "%s:%d: %s", name, why.line, why.text);
    return (struct json_value *)value;
}

void json_read_free(struct json_value *value)
{
    json_decref((json_t *)value);
}

const struct json_value *json_member(const struct json_value *object, const char *name)
{
    return (const struct json_value *)json_object_get(inner(object), name);
}

const struct json_value *json_at(const struct json_value *object, const char *path)
{
    while (object && *path) {
        size_t length = strcspn(path, ".");
        struct text name = {0};
        text_add_bytes(&name, path, length);
        object = json_member(object, name.at);
        text_fini(&name);
        path += length + (path[length] == '.');
    }
    return object;
}

const struct json_value *json_element(const struct json_value *list, size_t number)
{
    return (const struct json_value *)json_array_get(inner(list), number);
}

size_t json_length(const struct json_value *list)
{
    return json_array_size(inner(list));
}

bool json_number(const struct json_value *value, double *number)
{
    if (!json_is_number(inner(value)))
        return false;
    *number = json_number_value(inner(value));
    return true;
}

const char *json_text(const struct json_value *value)
{
    return json_string_value(inner(value));
}

double json_number_at(const struct json_value *object, const char *name, double otherwise)
{
    double number = otherwise;
    json_number(json_member(object, name), &number);
    return number;
}

const char *json_text_at(const struct json_value *object, const char *name, const char *otherwise)
{
    const char *text = json_text(json_member(object, name));
    return text ? text : otherwise;
}

void json_each_member(const struct json_value *object,
                      void (*take)(void *user, const char *name, const struct json_value *value), void *user)
{
    const char *name;
    json_t *value;
    json_object_foreach(inner(object), name, value) take(user, name, (const struct json_value *)value);
}

bool json_has_members(const struct json_value *value)
{
    return json_is_object(inner(value));
}

bool json_has_elements(const struct json_value *value)
{
    return json_is_array(inner(value));
}

void json_value_tell(const struct json_value *value, struct text *text)
{
    const char *words = json_text(value);
    char *written = words || !value ? NULL : json_dumps(inner(value), JSON_ENCODE_ANY | JSON_COMPACT);
    text_add(text, "%s", words ? words : written ? written : "nothing");
    mem_free(written);
}
