/* A part of the L2 for lines of other GPUs' memory, at the gateway (mem/gateway.h), where the description has
 * one (l2.peers). No clock, no messages: the gateway sends them.
 *
 * Nobody tells it when a peer writes. So only loads that may be as old as the L1 are served here; writes,
 * atomics and all other loads go to the home, and drop what is here of their sectors. When the program asks
 * for what is new (a fence for the system, an acquire, a kernel that begins), all of it is forgotten, and
 * lines that are under way are not kept. */
#ifndef MEM_PEER_CACHE_H
#define MEM_PEER_CACHE_H

#include "mem/message.h"

#include <stddef.h>

struct peer_cache;
struct archive;

struct peer_cache_spec {
    uint64_t bytes;
    uint32_t ways, line_bytes;
    uint32_t clients;           /* readers are below */
    uint64_t hit_ps, sector_fs; /* to a reply, at least; and for each sector of it */
};

struct peer_cache *peer_cache_new(const struct peer_cache_spec *spec);
void peer_cache_free(struct peer_cache *kept); /* may be NULL */
void peer_cache_archive(struct peer_cache *kept, struct archive *archive);

/* Who wants what. */
struct peer_reader {
    uint32_t client, id;
    uint8_t sectors, unused[7];
};

/* A read that may be served here. */
enum peer_answer {
    PEER_HIT,   /* its sectors are in `data`, side by side; the reply leaves `after_ps` later */
    PEER_WAITS, /* for the answer that another one has asked for */
    PEER_ASKS   /* the home; peer_cache_came is told of the answer */
};
struct peer_hit {
    uint64_t after_ps;
    unsigned char data[MEM_LINE_MOST];
};
enum peer_answer peer_cache_read(struct peer_cache *kept, uint32_t client,
                                 const struct memsys_request *request, uint64_t now, struct peer_hit *hit);

/* The home's answer to a client, with its data. Calls for each other one that waits for it. */
typedef void peer_reader_fn(void *user, const struct peer_reader *reader, const unsigned char *line);
void peer_cache_came(struct peer_cache *kept, uint32_t client, const struct memsys_reply *reply,
                     const unsigned char *data, peer_reader_fn *call, void *user);

/* These sectors may be other ones from now on; or all may be. */
void peer_cache_drop(struct peer_cache *kept, uint64_t line, uint32_t sectors);
void peer_cache_forget(struct peer_cache *kept);

/* The bytes of a reader's sectors, side by side, from the line that came. */
uint32_t peer_cache_pack(const struct peer_cache *kept, const unsigned char *line, uint32_t sectors,
                         unsigned char *packed);

#endif
