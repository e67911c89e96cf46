/* A program that is attached: its seat, and what the machine keeps of it. */
#ifndef SERVE_GUEST_H
#define SERVE_GUEST_H

#include "base/names.h"
#include "mailbox/door.h"
#include "mailbox/letters.h"
#include "serve/isas.h"

/* A task of a guest. */
struct job {
    struct job *next;
    uint64_t number; /* the program's */
    bool begun;      /* by the machine */
    bool counted;    /* in serve_live */
    bool shown;      /* that it failed, to who looks */
    struct task task;
    struct task asked;    /* as the program said it: sides that are carried are elsewhere in `task` */
    struct launch launch; /* of a kernel */
    void *params, *places;
    FILE *print;         /* of a kernel: goes to */
    struct text printed; /* what was not told yet */
    char *carried;       /* of a copy: memory for the side that only the program sees; or NULL */
    struct task_side *carried_side;
    char *bounce; /* where it comes from, or goes to; NULL: in letters */
};

struct loaded {
    uint64_t number;
    const struct serve_isa *isa;
    void *program;
};

struct guest_gpu {
    struct image *image;
    struct heap *heap;
    struct texture **textures; /* by handle, less the first one's */
    size_t texture_count, texture_capacity;
};

/* Memory of another program that this one has opened. */
struct opened {
    const struct guest *owner;
    uint32_t gpu; /* of the machine */
    uint64_t at, bytes;
};

enum guest_state {
    GUEST_NONE,  /* the seat is free */
    GUEST_RUNS,  /* its program does not wait */
    GUEST_WAITS, /* for time to pass, until_ps at most */
    GUEST_GONE,  /* but some of its tasks are under way */
};

struct guest {
    enum guest_state state;
    struct seat seat;
    uint64_t until_ps;
    uint32_t sm_count; /* of each GPU */
    bool told_silent;  /* that others wait for it was told */
    struct guest_gpu *gpus;
    struct names names; /* of ranges */
    struct loaded *objects;
    size_t object_count, object_capacity;
    struct job *jobs; /* in the order they were begun */
    struct memory_range *ranges;
    uint32_t range_count;
    struct opened *opened;
    size_t opened_count, opened_capacity;
    bool woken;                 /* another program has signalled since it was answered last */
    bool is_looking;            /* it waits for messages, and looks for them when it is answered */
    uint32_t looks, looks_left; /* for each time that others do something; and of this time */
    bool away;                  /* it was silent for long: time passes without it until it sends a letter */
};

void guest_init(struct guest *guest); /* its seat is set */
void guest_fini(struct guest *guest); /* it has no tasks; the seat is free */

/* Letters that change what is kept of it; false: it makes no sense. */
bool guest_take_letter(struct guest *guest, enum letter_kind kind, const struct text *body, struct err *err);

/* Whether all of these bytes are memory of this GPU, by the program's number of it, that the program has, or
 * has opened; guest_has: of any, also of other nodes, or the host's. */
bool guest_holds(const struct guest *guest, uint32_t gpu, uint64_t at, uint64_t bytes);
bool guest_has(const struct guest *guest, uint64_t at, uint64_t bytes);
/* The owner is to stay until it is closed. */
void guest_open(struct guest *guest, const struct opened *opened);
void guest_close(struct guest *guest, uint64_t at);

/* job.c: the letter BEGIN becomes a job; one that cannot be begun has failed already. NULL: it makes no
 * sense. */
struct job *job_new(struct guest *guest, const struct text *body);
/* Right before it begins: the machine has other numbers for kernels that it depends on than the guest. */
void job_find_after(const struct guest *guest, struct job *job);
void job_free(struct job *job);
bool job_has_news(struct job *job);
void job_tell(struct job *job, struct archive *archive); /* writes a letter_news */

#endif
