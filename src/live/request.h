/* What the page asks for: paths and orders, taken apart. No HTTP is in it; any bytes are safe. */
#ifndef LIVE_REQUEST_H
#define LIVE_REQUEST_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { LIVE_TOKEN_BYTES = 32, LIVE_NAME_MOST = 200, LIVE_ORDER_MOST = 1024 };

/*    id, path behind the token, method */
#define LIVE_PATHS(P)                                                                                        \
    P(PAGE, "", "GET")                                                                                       \
    P(STYLE, "style.css", "GET")                                                                             \
    P(LOOKS, "live.css", "GET")                                                                              \
    P(SCRIPT, "live.js", "GET")                                                                              \
    P(ICON, "icon.svg", "GET")                                                                               \
    P(STATE, "state", "GET")                                                                                 \
    P(COMPONENT, "component", "GET")                                                                         \
    P(PARAMETERS, "parameters", "GET")                                                                       \
    P(ORDER, "order", "POST")

enum live_path {
#define P(id, path, method) LIVE_##id,
    LIVE_PATHS(P)
#undef P
        LIVE_PATH_COUNT
};

/* 0, and *path; or the HTTP status of the refusal: 403 without the token, 404, 405 (whose method was to be
 * *allowed). */
unsigned live_route(const char *method, const char *url, const char *token, enum live_path *path,
                    const char **allowed);

/* Whether the headers are those of the page itself: the host it was asked at, and, if it is there, the
 * origin; either may be NULL. */
bool live_is_own(const char *host, const char *origin, unsigned port);

/* What the user asks for: "auto", a port, "paused", or both with a comma. */
struct live_wish {
    unsigned port; /* 0: any */
    bool paused;   /* from the beginning */
};
bool live_wish_parse(const char *text, struct live_wish *wish, struct err *err);

/*    id, name, what it does */
#define LIVE_ORDERS(O)                                                                                       \
    O(PAUSE, "pause", "at the end of the window")                                                            \
    O(GO, "go", "on")                                                                                        \
    O(STEP, "step", "one window, or so many")                                                                \
    O(UNTIL, "until", "a cycle is reached")                                                                  \
    O(CHECKPOINT, "checkpoint", "is written now")

enum live_order_kind {
#define O(id, name, help) LIVE_DO_##id,
    LIVE_ORDERS(O)
#undef O
        LIVE_ORDER_COUNT
};

struct live_order {
    enum live_order_kind kind;
    uint64_t count; /* windows; cycle */
};

/* {"order":"until","count":12000}: an object of these two, once each; only until needs a count. */
bool live_order_parse(struct live_order *order, const char *bytes, size_t count, struct err *err);

#endif
