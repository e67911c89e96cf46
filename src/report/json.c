#include "report/json.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { INDENT = 2 };

static void *allocate(size_t bytes)
{
    return mem_alloc(1, bytes);
}

void json_begin(struct json_writer *json, FILE *stream)
{
    json_set_alloc_funcs(allocate, mem_free);
    *json = (struct json_writer){.stream = stream};
}

void json_begin_in_script(struct json_writer *json, FILE *stream)
{
    json_begin(json, stream);
    json->in_script = true;
}

/* ---- jansson's values ---- */

/* Text may hold anything, such as the name of a file: bytes that are no UTF-8 become U+FFFD. */
static json_t *text_value(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    struct text clean = {0};
    for (size_t rest = strlen(text), bytes; rest; text += bytes, rest -= bytes) {
        json_t *letter = NULL;
        for (bytes = 1; bytes <= 4 && bytes <= rest && !letter; bytes++)
            letter = json_stringn(text, bytes);
        bytes = letter ? bytes - 1 : 1;
        text_add_bytes(&clean, letter ? text : "\xef\xbf\xbd", letter ? bytes : 3);
        json_decref(letter);
    }
    value = json_string(clean.at);
    text_fini(&clean);
    return value;
}

static bool is_ascii(const char *text)
{
    unsigned char all = 0;
    for (size_t i = 0, count = strlen(text); i < count; i++)
        all |= (unsigned char)text[i];
    return all < 0x80;
}

static void set_member(json_t *of, const char *name, json_t *value)
{
    if (json_is_array(of)) {
        json_array_append_new(of, value);
        return;
    }
    if (is_ascii(name)) { /* nearly all are, and jansson's own check is slower */
        json_object_set_new_nocheck(of, name, value);
        return;
    }
    json_t *key = text_value(name);
    json_object_set_new_nocheck(of, json_string_value(key), value);
    json_decref(key);
}

/* ---- writing ---- */

static void new_line(const struct json_writer *json)
{
    static const char line[] = "\n    ";
    _Static_assert(sizeof line == 2 + INDENT * JSON_GROWING_MOST, "");
    if (!json->in_script)
        fwrite_unlocked(line, 1, 1 + (size_t)(INDENT * json->growing), json->stream);
}

/* Every line break of jansson's is between values: what it writes is moved to the right. */
static int write_piece(const char *bytes, size_t count, void *user)
{
    const struct json_writer *json = user;
    for (const char *end; count && (end = memchr(bytes, '\n', count));) {
        size_t before = (size_t)(end - bytes);
        fwrite_unlocked(bytes, 1, before, json->stream);
        new_line(json);
        bytes += before + 1;
        count -= before + 1;
    }
    fwrite_unlocked(bytes, 1, count, json->stream);
    return 0;
}

/* In JSON, "<" is part of a text; there it can be written otherwise, and then begins no "</script>". */
static int write_script_piece(const char *bytes, size_t count, void *user)
{
    const struct json_writer *json = user;
    for (const char *sign; count && (sign = memchr(bytes, '<', count));) {
        size_t before = (size_t)(sign - bytes);
        fwrite_unlocked(bytes, 1, before, json->stream);
        fputs_unlocked("\\u003c", json->stream);
        bytes += before + 1;
        count -= before + 1;
    }
    fwrite_unlocked(bytes, 1, count, json->stream);
    return 0;
}

static void write_value(struct json_writer *json, json_t *value)
{
    enum { DIGITS = 7 };
    int failed = json->in_script
                     ? json_dump_callback(value, write_script_piece, json,
                                          JSON_COMPACT | JSON_REAL_PRECISION(DIGITS) | JSON_ENCODE_ANY)
                     : json_dump_callback(value, write_piece, json, JSON_INDENT(INDENT) | JSON_ENCODE_ANY);
    REQUIRE(!failed);
    json_decref(value);
}

/* Up to the value of a member of what is growing. */
static void begin_member(struct json_writer *json, const char *name)
{
    if (!json->growing)
        return;
    if (json->grows[json->growing - 1].is_filled)
        fputc(',', json->stream);
    json->grows[json->growing - 1].is_filled = true;
    new_line(json);
    if (!json->grows[json->growing - 1].is_list) {
        write_value(json, text_value(name));
        fputs(": ", json->stream);
    }
}

/* ---- members ---- */

static bool is_growing(const struct json_writer *json)
{
    return json->depth == json->growing;
}

static void open_value(struct json_writer *json, const char *name, bool is_list)
{
    REQUIRE(json->depth < JSON_DEPTH_MOST);
    bool grows = is_growing(json) && json->growing < JSON_GROWING_MOST && (!json->growing || is_list);
    if (is_growing(json))
        begin_member(json, name);
    if (grows) {
        json->grows[json->growing].is_list = is_list;
        json->grows[json->growing++].is_filled = false;
        fputc(is_list ? '[' : '{', json->stream);
    } else {
        json_t *value = is_list ? json_array() : json_object();
        if (!is_growing(json))
            set_member(json->open[json->depth - 1], name, value);
        json->open[json->depth] = value;
    }
    json->depth++;
}

void json_open_object(struct json_writer *json, const char *name)
{
    open_value(json, name, false);
}

void json_open_list(struct json_writer *json, const char *name)
{
    open_value(json, name, true);
}

void json_close(struct json_writer *json)
{
    REQUIRE(json->depth > 0);
    bool grew = is_growing(json);
    json->depth--;
    if (grew) {
        json->growing--;
        if (json->grows[json->growing].is_filled)
            new_line(json);
        fputc(json->grows[json->growing].is_list ? ']' : '}', json->stream);
    } else if (is_growing(json)) {
        write_value(json, json->open[json->depth]);
    }
    if (!json->depth)
        fputc('\n', json->stream);
}

static void put(struct json_writer *json, const char *name, json_t *value)
{
    if (is_growing(json)) {
        begin_member(json, name);
        write_value(json, value);
    } else {
        set_member(json->open[json->depth - 1], name, value);
    }
}

void json_put_count(struct json_writer *json, const char *name, uint64_t value)
{
    put(json, name, value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value));
}

void json_put_real(struct json_writer *json, const char *name, double value)
{
    enum { EXACT_BITS = 53 };
    bool is_whole = fabs(value) < (double)(INT64_C(1) << EXACT_BITS) && value == floor(value);
    json_t *real = is_whole ? json_integer((json_int_t)value) : json_real(value); /* 2, not 2.0 */
    put(json, name, real ? real : json_null());
}

void json_put_null(struct json_writer *json, const char *name)
{
    put(json, name, json_null());
}

void json_put_bool(struct json_writer *json, const char *name, bool value)
{
    put(json, name, json_boolean(value));
}

void json_put_text(struct json_writer *json, const char *name, const char *value)
{
    put(json, name, text_value(value));
}

void json_put_text_bytes(struct json_writer *json, const char *name, const char *at, size_t bytes)
{
    struct text text = {0};
    text_add_bytes(&text, at, bytes);
    json_put_text(json, name, bytes ? text.at : "");
    text_fini(&text);
}

void json_put_value(struct json_writer *json, const char *name, const struct json_value *value)
{
    if (value)
        put(json, name, json_incref((json_t *)(uintptr_t)value));
}
