/* What a follower keeps of the leader's program. For this room only. */
#ifndef RANKED_FOLLOWER_H
#define RANKED_FOLLOWER_H

#include "base/names.h"
#include "itrace/recorder.h"
#include "ranked/mirror.h"
#include "ranked/orders.h"
#include "serve/isas.h"

struct followed_task {
    struct followed_task *next;
    struct task task;
    struct launch launch;
    void *params, *places;
};

struct follower_gpu {
    struct image *image;
    struct heap *heap;
    struct texture **textures; /* kept to the end: kernels may still look at them */
    size_t texture_count, texture_capacity;
};

struct follower {
    struct ranks *ranks;
    struct system system;
    struct machine *machine;          /* NULL: there is none now */
    struct text resumed;              /* what is in the checkpoint that it goes on from */
    struct text placement, placed_by; /* the name of a file of load, and what is in it */
    struct mirror mirror;
    struct follower_gpu *gpus;
    uint32_t gpu_count;
    struct names names; /* of ranges */
    struct follower_object {
        uint64_t number;
        const struct serve_isa *isa;
        void *program;
    } * objects;
    size_t object_count, object_capacity;
    struct followed_task *tasks;      /* that run */
    struct itrace_recorder *recorder; /* of what the leader records; or NULL */
    bool is_dismissed;
};

/* Orders that change what is kept; false: err says why that could not be. */
bool follower_load(struct follower *follower, struct archive *body, struct err *err);
bool follower_unload(struct follower *follower, struct archive *body, struct err *err);
bool follower_add_range(struct follower *follower, struct archive *body, struct err *err);
bool follower_remove_range(struct follower *follower, struct archive *body, struct err *err);
bool follower_set_spare(struct follower *follower, struct archive *body, struct err *err);
bool follower_set_texture(struct follower *follower, struct archive *body, struct err *err);
bool follower_remove_texture(struct follower *follower, struct archive *body, struct err *err);
bool follower_set_heap(struct follower *follower, struct archive *body, struct err *err);
void follower_init_program(struct follower *follower);
void follower_fini_program(struct follower *follower);

/* Tasks. */
bool follower_begin(struct follower *follower, struct archive *body, struct err *err);
void follower_drop_ended(struct follower *follower, bool all);

#endif
