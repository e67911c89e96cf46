#include "live/request.h"
#include "base/bits.h"
#include "base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct path_row {
    const char *path, *method;
} paths[] = {
#define P(id, path, method) {path, method},
    LIVE_PATHS(P)
#undef P
};

static const char *const orders[] = {
#define O(id, name, help) name,
    LIVE_ORDERS(O)
#undef O
};

/* In a time that does not tell how much of it is right. */
static bool is_token(const char *at, const char *token)
{
    unsigned differs = 0;
    for (size_t i = 0; i < LIVE_TOKEN_BYTES; i++) {
        if (!at[i])
            return false;
        differs |= (unsigned char)at[i] ^ (unsigned char)token[i];
    }
    return !differs;
}

unsigned live_route(const char *method, const char *url, const char *token, enum live_path *path,
                    const char **allowed)
{
    if (url[0] != '/' || !is_token(url + 1, token) || url[1 + LIVE_TOKEN_BYTES] != '/')
        return 403;
    const char *rest = url + LIVE_TOKEN_BYTES + 2;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        if (strcmp(paths[i].path, rest) != 0)
            continue;
        *path = (enum live_path)i;
        *allowed = paths[i].method;
        return strcmp(paths[i].method, method) ? 405 : 0;
    }
    return 404;
}

bool live_is_own(const char *host, const char *origin, unsigned port)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    bool own_host = false, own_origin = !origin;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char want[64];
        snprintf(want, sizeof want, "http://%s:%u", names[i], port);
        own_host |= host && !strcmp(host, want + strlen("http://"));
        own_origin |= origin && !strcmp(origin, want);
    }
    return own_host && own_origin;
}

bool live_wish_parse(const char *text, struct live_wish *wish, struct err *err)
{
    size_t length = strcspn(text, ",");
    char port[16];
    uint64_t number = 0;
    struct err why;
    snprintf(port, sizeof port, "%.*s", (int)length, text);
    bool is_port =
        length < sizeof port && unit_parse(UNIT_count, port, &number, &why) && number && number <= UINT16_MAX;
    *wish = (struct live_wish){is_port ? (unsigned)number : 0,
                               !strcmp(text, "paused") || (is_port && !strcmp(text + length, ",paused"))};
    return wish->paused || !strcmp(text, "auto") || (is_port && !text[length]) ||
           err_set(err, "--live: expected a port of 1 to 65535, or paused, or PORT,paused, not '%.80s'",
                   text);
}

/* ---- orders ---- */

struct reader {
    const char *at, *end;
};

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at)
        reader->at++;
}

static bool take(struct reader *reader, char what)
{
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != what)
        return false;
    reader->at++;
    return true;
}

/* A string without escapes: names have none. */
static bool take_string(struct reader *reader, char *text, size_t room)
{
    size_t length = 0;
    if (!take(reader, '"'))
        return false;
    while (reader->at < reader->end && *reader->at != '"') {
        if (length + 1 == room || *reader->at == '\\' || (unsigned char)*reader->at < ' ')
            return false;
        text[length++] = *reader->at++;
    }
    text[length] = 0;
    return take(reader, '"');
}

static bool take_number(struct reader *reader, uint64_t *number)
{
    static const uint64_t most = UINT64_C(1) << 53; /* of JavaScript's whole numbers */
    skip_blanks(reader);
    const char *from = reader->at;
    for (*number = 0; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        *number = *number * 10 + (uint64_t)(*reader->at - '0');
        if (*number > most)
            return false;
    }
    return reader->at > from;
}

static bool take_kind(struct reader *reader, enum live_order_kind *kind, struct err *err)
{
    char name[20];
    if (!take_string(reader, name, sizeof name))
        return err_set(err, "expected the name of an order");
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        *kind = (enum live_order_kind)i;
        if (!strcmp(orders[i], name))
            return true;
    }
    return err_set(err, "unknown order '%s'", name);
}

bool live_order_parse(struct live_order *order, const char *bytes, size_t count, struct err *err)
{
    struct reader reader = {bytes, bytes + count};
    bool has_kind = false, has_count = false;
    *order = (struct live_order){.count = 1};
    if (!take(&reader, '{'))
        return err_set(err, "expected an object, such as {\"order\":\"pause\"}");
    do {
        char key[20];
        if (!take_string(&reader, key, sizeof key) || !take(&reader, ':'))
            return err_set(err, "expected \"order\": or \"count\":");
        if (!strcmp(key, "order") && !has_kind) {
            has_kind = true;
            if (!take_kind(&reader, &order->kind, err))
                return false;
        } else if (!strcmp(key, "count") && !has_count) {
            has_count = true;
            if (!take_number(&reader, &order->count))
                return err_set(err, "count: expected a whole number");
        } else {
            return err_set(err, "unexpected '%s'", key);
        }
    } while (take(&reader, ','));
    bool ends = take(&reader, '}');
    skip_blanks(&reader);
    if (!ends || reader.at != reader.end)
        return err_set(err, "expected } and nothing behind it");
    if (!has_kind)
        return err_set(err, "expected an \"order\"");
    return has_count || order->kind != LIVE_DO_UNTIL || err_set(err, "until: expected \"count\":, a cycle");
}
