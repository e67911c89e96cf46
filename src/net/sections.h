/* Switches and links as sections of a description: [fabric.switch.NAME], [fabric.link.NAME]. */
#ifndef NET_SECTIONS_H
#define NET_SECTIONS_H

#include "base/config.h"
#include "net/graph.h"

#define NET_SWITCH_PARAMS(P, S)                                                                              \
    P(S, time, latency, "100ns", "0..1ms", "from one of its links to another")                               \
    P(S, count, ports, "0", "0..256", "links that it can have; 0: any number")

#define NET_LINK_PARAMS(P, S)                                                                                \
    P(S, text, ends, "", "",                                                                                 \
      "the two that it connects: gpu0, host, or a switch's name. gpu*: a link of each GPU")                  \
    P(S, time, latency, "100ns", "0..1ms", "from end to end")                                                \
    P(S, rate, bandwidth, "25GB/s", "1MB/s..", "each way; of a half-duplex link, both ways together")        \
    P(S, count, count, "1", "1..64", "such links side by side, which are used as one")                       \
    P(S, choice, duplex, "full", "full|half", "whether both ways can be used at a time")                     \
    P(S, count, overhead_bytes, "16", "0..1024", "of a message, beside its payload")                         \
    P(S, size, flit, "1B", "1B..1KiB", "messages are a whole number of these")                               \
    P(S, count, credits, "0", "0..1000000", "flits that its end has room for; 0: as many as keep it busy")

struct net_switch_spec {
    NET_SWITCH_PARAMS(PARAM_FIELD, net_switch_spec)
};
struct net_link_spec {
    NET_LINK_PARAMS(PARAM_FIELD, net_link_spec)
};

extern const struct param_group net_switch_params, net_link_params;

/* Adds them to a graph that has the endpoints already. An end NAME* stands for NAME0, NAME1 and so on, as far
 * as there are endpoints: a link of each. `expected` says in errors what an end may be. */
bool net_from_sections(const struct config *config, const char *expected, struct net_graph *graph,
                       struct err *err);

/* Whether some link ends there. */
bool net_sections_name(const struct config *config, const char *name);

#endif
