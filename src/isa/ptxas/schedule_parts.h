#ifndef PTXAS_SCHEDULE_PARTS_H
#define PTXAS_SCHEDULE_PARTS_H

#include "ptxas/lives.h"
#include "ptxas/schedule.h"

enum { REGION_MOST = 768, MEMORY_MOST = 96 };

struct node { /* an instruction of the region */
    uint32_t inst;
    uint32_t first;  /* of the edges that leave it, plus 1 */
    uint32_t waits;  /* for so many others */
    uint32_t ready;  /* the cycle in which it could be issued */
    uint32_t height; /* cycles until the region's end, at the least */
    bool is_far_load;
    uint32_t cost;              /* machine instructions */
    uint32_t latency;           /* cycles until its result can be read */
    uint32_t names, name_count; /* registers of the machine that it reads and writes: in s->names */
};

struct schedule_name {
    uint32_t index;
    bool written;
};

struct edge {
    uint32_t to, next, latency;
};

/* What an instruction touches in memory. */
struct schedule_access {
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
    struct plan plan;
    struct lives lives;
    struct node *nodes;
    uint32_t count;
    struct edge *edges;
    uint32_t edge_count, edge_capacity;
    struct track {       /* by register, and one for the carry flag */
        uint32_t region; /* the rest holds in this region alone */
        uint32_t writer; /* node, plus 1 */
        uint32_t reader; /* the first of a list in links, plus 1 */
    } * tracks;
    struct held { /* by register, as the machine has them */
        uint32_t region;
        uint32_t left;    /* reads in the region that are still to come */
        bool now, behind; /* it holds a value; it will at the region's end */
    } * held;
    struct schedule_name *names;
    uint32_t name_count, name_capacity;
    bool *live;                                         /* by register: behind the region at hand */
    uint32_t *touched, touched_count, touched_capacity; /* registers whose live may be set */
    uint32_t *shared;                                   /* by bit of the sets of lives: the register */
    int32_t pressure; /* before the instructions that were passed, going back */
    int32_t running;  /* at the place that is being filled, going forward */
    int32_t limit;    /* of running */
    int32_t most;     /* it ever was */
    struct link {
        uint32_t node, next;
    } * links;
    uint32_t link_count, link_capacity;
    uint32_t region;
    struct schedule_access accesses[MEMORY_MOST];
    uint32_t access_count;
    uint32_t lanes; /* the last that works with other lanes, plus 1 */
    struct sums {   /* by instruction: a sum's products, plus 1 (contract.c) */
        uint32_t from[2];
    } * sums;
    uint32_t *uses;         /* by instruction: of a product, how many sums read it */
    bool *product_register; /* by register: a product writes it */
    uint32_t shared_sum;    /* the last sum of shared products, plus 1 */
    struct group {          /* of nodes */
        uint32_t *nodes, count;
    } pinned, ends; /* the last products and sums together; the last that end a stretch of contraction */
    bool last_ends; /* which of the two groups is the later */
    uint32_t inst;  /* at hand */
    uint32_t node;
    struct ptx_inst *sorted; /* the function's instructions in their new order */
    uint32_t *ready;         /* nodes that wait for no other */
};

/* schedule_edges.c: who has to wait for whom */
void schedule_contraction(struct schedule *s);                  /* of the whole function, once */
void schedule_edges(struct schedule *s);                        /* of the region in nodes */
bool schedule_is_wall(const struct schedule *s, uint32_t inst); /* nothing moves past it */

/* schedule_pressure.c: how many registers are in use. Regions of a block are done from its end. */
void pressure_begin_block(struct schedule *s, uint32_t block);
void pressure_begin_region(struct schedule *s);                             /* with its nodes */
void pressure_pass(struct schedule *s, uint32_t inst);                      /* what is in no region */
int32_t pressure_change(const struct schedule *s, const struct node *node); /* when it is issued */
void pressure_issue(struct schedule *s, const struct node *node);

#endif
