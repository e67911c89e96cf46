#include "base/json.h"
#include "base/err.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_init(struct json *json, FILE *stream)
{
    *json = (struct json){.stream = stream};
}

static void quoted(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(stream, "\\%c", *at);
        else if (*at < 0x20)
            fprintf(stream, "\\u%04x", *at);
        else
            fputc(*at, stream);
    }
    fputc('"', stream);
}

static uint64_t depth_bit(const struct json *json)
{
    return UINT64_C(1) << json->depth;
}

static void line(struct json *json)
{
    fprintf(json->stream, "\n%*s", 2 * json->depth, "");
}

static void begin(struct json *json, const char *name)
{
    if (json->filled & depth_bit(json))
        fputc(',', json->stream);
    json->filled |= depth_bit(json);
    if (json->depth)
        line(json);
    if (name) {
        quoted(json->stream, name);
        fputs(": ", json->stream);
    }
}

static void open(struct json *json, const char *name, bool array)
{
    begin(json, name);
    fputc(array ? '[' : '{', json->stream);
    json->depth++;
    REQUIRE(json->depth < 64);
    json->filled &= ~depth_bit(json);
    json->arrays = (json->arrays & ~depth_bit(json)) | (array ? depth_bit(json) : 0);
}

void json_object(struct json *json, const char *name)
{
    open(json, name, false);
}

void json_array(struct json *json, const char *name)
{
    open(json, name, true);
}

void json_end(struct json *json)
{
    bool filled = json->filled & depth_bit(json), array = json->arrays & depth_bit(json);
    REQUIRE(json->depth > 0);
    json->depth--;
    if (filled)
        line(json);
    fputc(array ? ']' : '}', json->stream);
    if (!json->depth)
        fputc('\n', json->stream);
}

void json_u64(struct json *json, const char *name, uint64_t value)
{
    begin(json, name);
    fprintf(json->stream, "%" PRIu64, value);
}

void json_real(struct json *json, const char *name, double value)
{
    begin(json, name);
    if (isfinite(value))
        fprintf(json->stream, "%.17g", value);
    else
        fputs("null", json->stream);
}

void json_bool(struct json *json, const char *name, bool value)
{
    begin(json, name);
    fputs(value ? "true" : "false", json->stream);
}

void json_text(struct json *json, const char *name, const char *value)
{
    begin(json, name);
    quoted(json->stream, value);
}
