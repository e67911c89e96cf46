/* Access to other GPUs' memory, and from other GPUs: a component of each GPU that has peers, between its
 * crossbar and the fabric, a network (net/network.h) of all gateways.
 *
 *   SM -> own crossbar -> gateway -> fabric -> the home's gateway -> the home's crossbar -> slice, and back
 *
 * Requests of peers enter the home's crossbar like those of one more client. So all requests for a line have
 * one order, whoever sends them, and atomics are performed at the home. A peer's memory is not cached in the
 * own L2, unless the description gives it a part of its own (mem/peer_cache.h). Where pages move
 * (mem/iommu.h), no request goes to a peer, only lines of pages do.
 *
 * This cannot deadlock: slices hold only requests for their own GPU's memory and the host's, and need nothing
 * from the fabric to make progress; replies are accepted at once everywhere. */
#ifndef MEM_GATEWAY_H
#define MEM_GATEWAY_H

#include "engine/engine.h"
#include "mem/message.h"
#include "net/message.h"

struct memsys;
struct gateway;

/* Before requests and replies on the fabric stands a struct net_head: endpoints are homes, the tag is the
 * number of the client whose request it is, on the crossbar of its GPU. */
enum {
    FABRIC_PAYLOAD_MOST = sizeof(struct net_head) + MEM_PAYLOAD_MOST + sizeof(uint64_t) /* memsys_origin */
};

enum gateway_port {
    GATEWAY_REQUESTS,
    GATEWAY_REPLIES,
    GATEWAY_ASKS,
    GATEWAY_ANSWERS,
    GATEWAY_FABRIC,
    GATEWAY_HOST /* if the host is in the fabric, too: here is this GPU's end of its link to the host */
};

/* `client`: the number it has on the GPU's crossbar. `host`: the host's number in the fabric; NO_HOST. */
enum { NO_HOST = UINT32_MAX };
struct gateway *gateway_new(struct engine *engine, const char *path, const struct memsys *mem,
                            uint32_t client, uint32_t host);
void gateway_free(struct gateway *gateway); /* after the engine */

/* Lines of peers are kept here, from the beginning on. It belongs to the gateway then. */
struct peer_cache;
void gateway_keep_in(struct gateway *gateway, struct peer_cache *kept);
void gateway_forget_kept(struct gateway *gateway);            /* between runs; if there are any */
uint64_t gateway_sectors_kept(const struct gateway *gateway); /* that SMs were given from there */
struct island *gateway_island(const struct gateway *gateway);
struct port *gateway_port(const struct gateway *gateway, enum gateway_port port);
uint64_t gateway_pushed(const struct gateway *gateway);     /* lines that came from the host's copies */
uint64_t gateway_peer_bytes(const struct gateway *gateway); /* asked for and written, of peers, by this GPU */

#endif
