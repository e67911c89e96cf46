/* Any bytes as what a page asks of a live view: the method, the URL and the order, one a line; the rest is
 * the order. Refused, or taken: then the same bytes written plainly are taken as the same. */
#include "base/err.h"
#include "live/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char token[] = "0123456789abcdef0123456789abcdef";
static const char *const names[] = {
#define O(id, name, help) name,
    LIVE_ORDERS(O)
#undef O
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static char *line_of(const char **at, const char *end)
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    size_t length = (size_t)((stop ? stop : end) - *at);
    char *line = malloc(length + 1);
    memcpy(line, *at, length);
    line[length] = 0;
    *at += length + (stop != NULL);
    return line;
}

static void try_route(const char *method, const char *url)
{
    enum live_path path = LIVE_PATH_COUNT;
    const char *allowed = NULL;
    unsigned status = live_route(method, url, token, &path, &allowed);
    if (status != 403 && (url[0] != '/' || strncmp(url + 1, token, LIVE_TOKEN_BYTES) != 0))
        abort(); /* without the token nothing else may be known */
    if ((!status || status == 405) && (path >= LIVE_PATH_COUNT || !allowed))
        abort();
    if (!status && strcmp(allowed, method) != 0)
        abort();
    if (live_is_own(method, url, 8080) && strcmp(url, "http://127.0.0.1:8080") &&
        strcmp(url, "http://localhost:8080"))
        abort();
}

static void try_order(const char *bytes, size_t count)
{
    struct live_order order, again;
    struct err err;
    char plain[200];
    char *copy = malloc(count ? count : 1); /* without a byte behind it */
    memcpy(copy, bytes, count);
    if (live_order_parse(&order, copy, count, &err)) {
        int length = snprintf(plain, sizeof plain, "{\"order\":\"%s\",\"count\":%llu}", names[order.kind],
                              (unsigned long long)order.count);
        if (!live_order_parse(&again, plain, (size_t)length, &err) || again.kind != order.kind ||
            again.count != order.count)
            abort();
    } else if (!err.text[0]) {
        abort();
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const char *at = (const char *)bytes, *end = at + count;
    char *method = line_of(&at, end), *url = line_of(&at, end);
    struct live_wish wish;
    struct err err;
    try_route(method, url);
    live_wish_parse(url, &wish, &err);
    try_order(at, (size_t)(end - at));
    free(method);
    free(url);
    return 0;
}
