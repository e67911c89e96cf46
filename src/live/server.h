/* libmicrohttpd, loaded when it is needed: programs that do not look at a run do not load it. For this room
 * only. */
#ifndef LIVE_SERVER_H
#define LIVE_SERVER_H

#include <microhttpd.h>

#include <stdbool.h>

struct err;

#define SERVER_CALLS(C)                                                                                      \
    C(MHD_start_daemon)                                                                                      \
    C(MHD_stop_daemon)                                                                                       \
    C(MHD_get_daemon_info)                                                                                   \
    C(MHD_create_response_from_buffer)                                                                       \
    C(MHD_add_response_header)                                                                               \
    C(MHD_queue_response)                                                                                    \
    C(MHD_destroy_response)                                                                                  \
    C(MHD_lookup_connection_value)

struct server_calls {
#define C(name) __typeof__(&name) name;
    SERVER_CALLS(C)
#undef C
};

/* NULL: it is not there. */
const struct server_calls *server_calls(struct err *err);

#endif
