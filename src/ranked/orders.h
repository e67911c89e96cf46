/* What the leader tells the others. An order is its kind and a body, which one function writes and reads. For
 * this room only. */
#ifndef RANKED_ORDERS_H
#define RANKED_ORDERS_H

#include "mailbox/letters.h"
#include "ranks/ranks.h"

#define ORDER_KINDS(O)                                                                                       \
    O(MACHINE)      /* ranked_new: struct told_machine */                                                    \
    O(END)          /* and its end */                                                                        \
    O(DISMISS)      /* no other follows */                                                                   \
    O(LOAD)         /* code: struct letter_load */                                                           \
    O(UNLOAD)       /* its number */                                                                         \
    O(RANGE)        /* of an image: struct letter_range */                                                   \
    O(RANGE_GONE)   /* likewise */                                                                           \
    O(SPARE)        /* likewise */                                                                           \
    O(TEXTURE)      /* struct letter_texture */                                                              \
    O(TEXTURE_GONE) /* likewise */                                                                           \
    O(MEMORY)       /* machine_set_memory: struct letter_memory */                                           \
    O(HEAP)         /* machine_set_heap: struct letter_heap */                                               \
    O(LIMIT)        /* machine_set_limit */                                                                  \
    O(BEGIN)        /* machine_begin: struct letter_begin */                                                 \
    O(SYNC)         /* machine_sync_memory: struct letter_sync */                                            \
    O(PASS)         /* machine_pass: ps */                                                                   \
    O(LINKS)        /* machine_links */                                                                      \
    O(LISTEN)       /* machine_listen: its kinds */                                                          \
    O(WRITE_LOAD)   /* machine_write_load */                                                                 \
    O(INTERRUPTED)  /* machine_interrupted */                                                                \
    O(BRING)        /* bytes that the leader has changed follow: struct letter_open */                       \
    O(MANAGE)       /* machine_manage: struct managed_order */

enum order {
#define O(name) ORDER_##name,
    ORDER_KINDS(O)
#undef O
        ORDER_COUNT
};

struct told_machine {
    uint64_t layout; /* letters_layout */
    struct text config;
    uint64_t threads;
    struct task_wishes wishes;
    uint64_t checkpoint_at, checkpoint_every; /* cycles */
    bool writes, stops, resumes, measures;
    bool is_placed; /* by what is in this file: */
    struct text placement, placed_by;
    struct text resumed; /* what is in the file that is resumed */
};
void told_machine_archive(struct told_machine *machine, struct archive *archive);
void told_machine_fini(struct told_machine *machine);

#endif
