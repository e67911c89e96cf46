/* The data structures of the host's memory. For hostmem.c and hostmem_copies.c only. */
#ifndef MEM_HOSTMEM_PARTS_H
#define MEM_HOSTMEM_PARTS_H

#include "mem/hostmem.h"
#include "mem/iommu.h"

#include <string.h>

/* Of each GPU, beside the component's state. */
struct host_link {
    const struct memsys *mem;
    uint64_t latency_ps;
    struct copy_list list; /* the copy from the host */
    struct host_window {
        char *at;
        uint64_t first; /* its place in a line */
    } windows[2];       /* from the host, to it */
};

/* The component's state: of each GPU. */
struct host_channel {
    struct copy_course course; /* of the copy from the host */
    uint64_t there_at;         /* when all that was sent of it is there */
    uint64_t received;         /* pieces of the copy to the host, or by way of it; */
    uint64_t passed_at;        /* when those that went on to other GPUs are there */
    uint64_t pushed;           /* pieces that were sent to this GPU, of all copies; */
    uint64_t homes;            /* a bit for each GPU that pieces of the copy from the host went to; */
    uint64_t passed_homes;     /* and of that by way of it */
};

struct hostmem {
    struct hostmem *self; /* what the component's spec points to: state is reached through it */
    struct engine *engine;
    struct island *island;
    struct component *component;
    bool in_fabric;
    struct home memory, managed;
    struct apart *apart; /* or NULL */
    memsys_atomic_fn *atomic;
    memsys_atomic_wide_fn *atomic_wide;
    const struct probe *probe;
    uint32_t gpus;
    struct host_link *links; /* by GPU */
    struct iommu *iommu;     /* NULL: pages do not move */
    struct host_walkers {    /* of the IOMMU, for translations */
        uint64_t walk_ps, count;
        uint64_t *free_at;
    } walkers;
    const struct hostmem_caches *caches;                     /* or NULL */
    unsigned char *copies[MEM_LINE_MOST / HOST_CACHED_LINE]; /* of the line that is asked for now */
    bool notes_writes;
    struct host_write { /* sectors that were written; the host's own island adds to it, while it runs */
        char *at;
        uint32_t mask;
    } * writes;
    size_t write_count, write_capacity;
};

/* To a plug of a GPU's link to the host: over that link, or the fabric. */
enum { HOST_AS_LONG = UINT32_MAX }; /* on the wire: as the message is, and its overhead */
void hostmem_to_gpu(struct hostmem *host, uint32_t gpu, uint32_t plug, uint8_t kind, const void *message,
                    uint16_t bytes, uint32_t wire_bytes);

/* ---- hostmem_apart.c ---- */

/* A line of managed memory goes to a GPU, with its bytes; or comes from one. */
void hostmem_read_apart(struct hostmem *host, uint64_t line, uint32_t sectors, struct memsys_page *page,
                        struct memsys_write *writes);
void hostmem_take_apart(struct hostmem *host, const struct memsys_request *request, uint32_t turn,
                        const unsigned char *writes);

/* ---- hostmem_copies.c ---- */
void hostmem_copies_event(struct component *self, void *state, const struct event *event);
void hostmem_copies_receive(struct hostmem *host, uint32_t gpu, const unsigned char *message);
void hostmem_copies_archive(struct component *self, void *state, struct archive *archive);

#endif
