#include "base/json.h"
#include "base/err.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_init(struct json *json, FILE *stream)
{
    *json = (struct json){.stream = stream};
}

/* The length of the UTF-8 sequence that starts here; 0 when there is none. */
static int utf8_length(const unsigned char *at)
{
    int length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    for (int i = 1; i < length; i++) {
        if (at[i] >> 6 != 2)
            return 0;
    }
    return length;
}

static void quoted(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int length = utf8_length(at);
        if (!length)
            fputs("\\ufffd", stream); /* a stray byte, such as in the name of a file */
        else if (*at == '"' || *at == '\\')
            fprintf(stream, "\\%c", *at);
        else if (*at < 0x20)
            fprintf(stream, "\\u%04x", *at);
        else
            fwrite(at, 1, (size_t)length, stream);
        at += length ? length : 1;
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
