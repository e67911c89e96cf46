/* A mailbox between a program and a machine in another process: letters both ways, in shared memory.
 *
 * Each letter is a kind and a body. Some ask for an answer, of the same kind, and until it comes the program
 * sends no other letter that asks. What a body holds is written and read by one function (letters.h). */
#ifndef MAILBOX_MAILBOX_H
#define MAILBOX_MAILBOX_H

#include "base/archive.h"
#include "mailbox/ring.h"

#define LETTER_KINDS(L)                                                                                      \
    L(LOAD)         /* code: its number, instruction set and bytes */                                        \
    L(UNLOAD)       /* the number */                                                                         \
    L(RANGE)        /* that an image has from now on */                                                      \
    L(RANGE_GONE)   /* and no longer */                                                                      \
    L(SPARE)        /* image_set_spare */                                                                    \
    L(TEXTURE)      /* image_add_texture */                                                                  \
    L(TEXTURE_GONE) /* image_remove_texture */                                                               \
    L(MEMORY)       /* machine_set_memory */                                                                 \
    L(HEAP)         /* machine_set_heap */                                                                   \
    L(OPEN)         /* memory of another program, which its kernels may touch then */                        \
    L(CLOSE)        /* and no longer */                                                                      \
    L(SIGNAL)       /* something that other programs may wait for */                                         \
    L(BEGIN)        /* machine_begin */                                                                      \
    L(SYNC)         /* machine_sync_memory; answered */                                                      \
    L(PASS)         /* machine_pass; answered */                                                             \
    L(TURN)         /* what another program does is waited for, beside the machine; answered as PASS */      \
    L(BYE)          /* the program ends */

enum letter_kind {
#define L(name) LETTER_##name,
    LETTER_KINDS(L)
#undef L
        LETTER_KIND_COUNT
};

const char *letter_name(enum letter_kind kind);

/* What both processes map. */
struct mailbox {
    struct ring to_machine, to_program;
    _Atomic uint32_t stop; /* the program was interrupted: it wants an answer as soon as there can be one */
    /* While the program makes no call, and its CPU cores are simulated: tasks have ended, so many times; and
     * up to which of these the program has begun what can begin then. */
    struct gate ended, followed;
    /* Calls of the program that others may wait for, beside the machine (of MPI); and whether it is in one
     * that it cannot ask again for. */
    _Atomic uint32_t messages, is_away;
};

/* The body is what was written to the archive, which is empty afterwards. False: the other side has gone. */
bool letter_send(struct ring *ring, enum letter_kind kind, struct archive *body,
                 const struct ring_patience *patience);

/* The next one; the body replaces what is in the text. False: the other side has gone, or sends what is no
 * letter. */
bool letter_receive(struct ring *ring, enum letter_kind *kind, struct text *body,
                    const struct ring_patience *patience);

#endif
