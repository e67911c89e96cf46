#include "live/live.h"
#include "base/mem.h"
#include "live/page.h"
#include "live/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { CONNECTIONS_MOST = 16, PATIENCE_S = 5 };

struct live {
    const struct server_calls *calls;
    const struct live_ops *ops;
    void *user;
    struct MHD_Daemon *daemon;
    unsigned port;
    char token[LIVE_TOKEN_BYTES + 1];
    struct text url;
};

/* What a request sends, as it comes. */
struct body {
    char bytes[LIVE_ORDER_MOST];
    size_t count;
    bool is_too_long;
};

bool live_is_possible(struct err *err)
{
    return server_calls(err);
}

/* ---- answers ---- */

static enum MHD_Result send_bytes(const struct live *live, struct MHD_Connection *to, unsigned status,
                                  const char *type, const char *bytes, size_t count, const char *allowed)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
         "connect-src 'self'; base-uri 'none'; form-action 'none'; "
         "frame-ancestors 'none'"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Content-Type-Options", "nosniff"},
    };
    const struct server_calls *calls = live->calls;
    struct MHD_Response *response =
        calls->MHD_create_response_from_buffer(count, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        calls->MHD_add_response_header(response, headers[i][0], headers[i][1]);
    calls->MHD_add_response_header(response, "Content-Type", type);
    if (allowed)
        calls->MHD_add_response_header(response, "Allow", allowed);
    enum MHD_Result result = calls->MHD_queue_response(to, status, response);
    calls->MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_json(const struct live *live, struct MHD_Connection *to, bool good,
                                 struct text *json, const struct err *err)
{
    if (!good) {
        text_fini(json);
        *json = (struct text){0};
        text_add(json, "{\"error\":");
        text_add_quoted(json, err->text);
        text_add(json, "}");
    } else if (!json->length) {
        text_add(json, "{}");
    }
    enum MHD_Result result =
        send_bytes(live, to, good ? 200 : 400, "application/json", json->at, json->length, NULL);
    text_fini(json);
    return result;
}

static enum MHD_Result refuse(const struct live *live, struct MHD_Connection *to, unsigned status,
                              const char *allowed)
{
    const char *text = status == 403   ? "403: this needs the URL with its token\n"
                       : status == 404 ? "404: there is no such page\n"
                       : status == 413 ? "413: too long\n"
                       : status == 415 ? "415: expected application/json\n"
                                       : "405: another method is expected\n";
    return send_bytes(live, to, status, "text/plain", text, strlen(text), allowed);
}

static enum MHD_Result follow(const struct live *live, struct MHD_Connection *to, const struct body *body)
{
    struct live_order order;
    struct text json = {0};
    struct err err;
    bool good = live_order_parse(&order, body->bytes, body->count, &err) &&
                live->ops->order(live->user, &order, &err);
    return send_json(live, to, good, &json, &err);
}

static enum MHD_Result answer(const struct live *live, struct MHD_Connection *to, enum live_path path,
                              const struct body *body)
{
    const char *name;
    struct text json = {0};
    struct err err;
    bool good;
    switch (path) {
    case LIVE_STATE:
        good = live->ops->state(live->user, &json, &err);
        return send_json(live, to, good, &json, &err);
    case LIVE_COMPONENT:
        name = live->calls->MHD_lookup_connection_value(to, MHD_GET_ARGUMENT_KIND, "name");
        good = name && strlen(name) <= LIVE_NAME_MOST ? live->ops->component(live->user, name, &json, &err)
                                                      : err_set(&err, "expected ?name=, of a component");
        return send_json(live, to, good, &json, &err);
    case LIVE_PARAMETERS:
        good = live->ops->parameters(live->user, &json, &err);
        return send_json(live, to, good, &json, &err);
    case LIVE_ORDER:
        return follow(live, to, body);
    default:;
        struct live_file file = live_file(path);
        return send_bytes(live, to, 200, file.type, file.bytes, file.count, NULL);
    }
}

/* ---- requests ---- */

static const char *header_of(const struct live *live, struct MHD_Connection *from, const char *name)
{
    return live->calls->MHD_lookup_connection_value(from, MHD_HEADER_KIND, name);
}

/* Why not; 0: it may. */
static unsigned check(const struct live *live, struct MHD_Connection *from, const char *method,
                      const char *url, enum live_path *path, const char **allowed)
{
    if (!live_is_own(header_of(live, from, "Host"), header_of(live, from, "Origin"), live->port))
        return 403;
    unsigned status = live_route(method, url, live->token, path, allowed);
    const char *type = header_of(live, from, "Content-Type");
    bool is_order = !status && *path == LIVE_ORDER;
    return is_order && (!type || strncmp(type, "application/json", 16) != 0) ? 415 : status;
}

/* Called first when the headers are there, then for each piece of the body, and at its end. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *from, const char *url,
                                  const char *method, const char *version, const char *bytes, size_t *count,
                                  void **kept)
{
    const struct live *live = user;
    enum live_path path;
    const char *allowed = NULL;
    struct body *body = *kept;
    (void)version;
    if (!body) {
        *kept = mem_alloc(1, sizeof *body);
        return MHD_YES;
    }
    if (*count) {
        body->is_too_long |= *count > sizeof body->bytes - body->count;
        if (!body->is_too_long) {
            memcpy(body->bytes + body->count, bytes, *count);
            body->count += *count;
        }
        *count = 0;
        return MHD_YES;
    }
    unsigned status = check(live, from, method, url, &path, &allowed);
    if (!status && body->is_too_long)
        status = 413;
    return status ? refuse(live, from, status, status == 405 ? allowed : NULL)
                  : answer(live, from, path, body);
}

static void on_end(void *user, struct MHD_Connection *connection, void **kept,
                   enum MHD_RequestTerminationCode why)
{
    (void)user, (void)connection, (void)why;
    mem_free(*kept);
    *kept = NULL;
}

/* ---- life ---- */

static bool make_token(char *token, struct err *err)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[LIVE_TOKEN_BYTES / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_set(err, "the live view: no random bytes: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++) {
        token[2 * i] = digits[bytes[i] >> 4];
        token[2 * i + 1] = digits[bytes[i] & 15];
    }
    return true;
}

/* Its thread hears no signals: they are for the program. */
static struct MHD_Daemon *start(struct live *live, unsigned port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct MHD_Daemon *daemon = live->calls->MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD, (uint16_t)port, NULL, NULL, on_request, live, MHD_OPTION_SOCK_ADDR,
        (struct sockaddr *)&address, MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MOST, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)PATIENCE_S, MHD_OPTION_END);
    int number = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return daemon;
}

struct live *live_new(unsigned port, const struct live_ops *ops, void *user, struct err *err)
{
    const struct server_calls *calls = server_calls(err);
    if (!calls)
        return NULL;
    struct live *live = mem_alloc(1, sizeof *live);
    *live = (struct live){.calls = calls, .ops = ops, .user = user, .port = port};
    bool good = make_token(live->token, err);
    live->daemon = good ? start(live, port) : NULL;
    if (!live->daemon) {
        if (good)
            err_set(err, "--live: port %u of 127.0.0.1 cannot be used: %s", port, strerror(errno));
        mem_free(live);
        return NULL;
    }
    const union MHD_DaemonInfo *facts = calls->MHD_get_daemon_info(live->daemon, MHD_DAEMON_INFO_BIND_PORT);
    live->port = port ? port : facts->port;
    text_add(&live->url, "http://127.0.0.1:%u/%s/", live->port, live->token);
    return live;
}

const char *live_url(const struct live *live)
{
    return live->url.at;
}

void live_free(struct live *live)
{
    if (!live)
        return;
    live->calls->MHD_stop_daemon(live->daemon);
    text_fini(&live->url);
    mem_free(live);
}
