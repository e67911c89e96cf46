#ifndef PTX_SCHEDULE_PARTS_H
#define PTX_SCHEDULE_PARTS_H

#include "schedule.h"

enum { REGION_MOST = 768, MEMORY_MOST = 96 };

struct node { /* an instruction of the region */
    uint32_t inst;
    uint32_t first;  /* of the edges that leave it, plus 1 */
    uint32_t waits;  /* for so many others */
    uint32_t ready;  /* the cycle in which it could be issued */
    uint32_t height; /* cycles until the region's end, at the least */
    bool done;
};

struct edge {
    uint32_t to, next, latency;
};

/* What an instruction touches in memory. */
struct access {
    uint32_t node;
    uint8_t space;
    bool writes, strict, wall;
    bool is_symbol, is_known; /* the base is a symbol; there is one */
    uint32_t base, version;   /* register and who wrote it last, or symbol */
    int64_t offset;
    uint32_t bytes;
};

struct schedule {
    struct ptx_function *f;
    const struct flow *flow;
    struct values values;
    struct node *nodes;
    uint32_t count;
    struct edge *edges;
    uint32_t edge_count, edge_capacity;
    struct track {       /* by register, and one for the carry flag */
        uint32_t region; /* the rest holds in this region alone */
        uint32_t writer; /* node, plus 1 */
        uint32_t reader; /* the first of a list in links, plus 1 */
        uint32_t left;   /* reads in the region that are still to come */
        uint32_t reads;  /* in the region */
    } * tracks;
    struct link {
        uint32_t node, next;
    } * links;
    uint32_t link_count, link_capacity;
    uint32_t region;
    struct access accesses[MEMORY_MOST];
    uint32_t access_count;
    uint32_t lanes; /* the last that works with other lanes, plus 1 */
    struct sums {   /* by instruction: a sum's products, plus 1 (exec/contract.c) */
        uint32_t from[2];
    } * sums;
    uint32_t *uses;         /* by instruction: of a product, how many sums read it */
    bool *product_register; /* by register: a product writes it */
    uint32_t wall,
        shared_sum;      /* the last that ends a stretch of contraction; the last sum of shared products */
    struct link *pinned; /* nodes of contraction since the wall */
    uint32_t pinned_count;
    uint32_t inst; /* at hand */
    uint32_t node;
    struct ptx_inst *sorted; /* the function's instructions in their new order */
    uint32_t *ready;         /* nodes that wait for no other */
};

/* schedule_edges.c: who has to wait for whom */
void schedule_contraction(struct schedule *s);                  /* of the whole function, once */
void schedule_edges(struct schedule *s);                        /* of the region in nodes */
bool schedule_is_wall(const struct schedule *s, uint32_t inst); /* nothing moves past it */

#endif
