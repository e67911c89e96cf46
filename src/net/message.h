/* What stands at the beginning of messages in a network. */
#ifndef NET_MESSAGE_H
#define NET_MESSAGE_H

#include <stdint.h>

struct net_head {
    uint16_t to, from; /* endpoints: numbers of nodes. `from` is filled in on the way */
    uint16_t tag;      /* the endpoints' own */
    uint8_t layer;     /* filled in on the way */
    uint8_t network;   /* the virtual network that it travels on; 0 where there is one */
};

/* Kinds of messages that endpoints may use are below this. */
enum { NET_KINDS = 0xff };

/* As the bytes of a message on the wire: it is a part of another one's, and takes nothing of its own. */
#define NET_RIDES UINT32_MAX

#endif
