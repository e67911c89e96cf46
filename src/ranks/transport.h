/* What carries bytes between ranks: a table of functions in a library of its own, which is loaded when ranks
 * are asked for. So heddle itself needs no MPI (src/ranks/mpi has the one there is). */
#ifndef RANKS_TRANSPORT_H
#define RANKS_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

enum { RANKS_TRANSPORT_VERSION = 1, TRANSPORT_ANY = -1 };

/* Messages of one tag between two ranks arrive in the order they were sent in. */
struct ranks_transport {
    uint32_t version;

    /* Joins the other ranks. NULL, or why not. */
    const char *(*start)(uint32_t *number, uint32_t *count);
    void (*end)(void);        /* all ranks call it */
    void (*kill)(int status); /* ends all ranks, this one too */

    /* Begins to send or to receive; `bytes` stay as they are until it is done. Gives a number for `done`, or
     * a negative one: it failed. */
    int (*send)(uint32_t to, int tag, const void *bytes, size_t count);
    int (*receive)(uint32_t from, int tag, void *bytes, size_t most);
    int (*done)(int number); /* 1: the number is free again; 0: not yet; below 0: it failed */

    /* Whether a message waits: from whom (TRANSPORT_ANY: from anyone) and of how many bytes. */
    int (*waits)(int from, int tag, uint32_t *who, size_t *count);
};

/* The library has this function. */
#define RANKS_TRANSPORT_NAME "heddle_transport"
typedef const struct ranks_transport *ranks_transport_fn(void);

#endif
