/* The door of a machine that programs attach to: a socket, by which they get their seat. A seat is a mailbox,
 * and memory for the host and each GPU, mapped at the same addresses in both processes. No two seats of a
 * machine share any address, so one page table serves them all. */
#ifndef MAILBOX_DOOR_H
#define MAILBOX_DOOR_H

#include "base/err.h"
#include "mailbox/mailbox.h"

enum {
    SEATS_MOST = 72,
    SEATS_USUAL = 8, /* of a machine that is one computer; others have more: for 64 ranks and some helpers */
    SEAT_GPUS_MOST = 64
};
#define SEAT_ANY UINT32_MAX

/* What a program asks for. */
struct seat_wish {
    uint32_t seat;        /* this number, or SEAT_ANY */
    uint32_t rank, ranks; /* of a job of MPI, of so many; 0 ranks: it is in none */
};

struct seat_memory {
    uint64_t at, bytes;
    uint64_t offset; /* in the file */
    int file;
};

struct seat {
    uint32_t number;
    uint32_t gpu_count, first_gpu; /* of the machine's: those of its node */
    uint32_t node;
    int socket; /* open as long as the other side is there */
    struct mailbox *mailbox;
    char
        *bounce; /* of a device: SEAT_BOUNCE_BYTES for copies of memory that only the program sees; or NULL */
    uint64_t now_ps; /* the machine's time when the program sat down */
    bool untimed;    /* that machine keeps no time */
    struct seat_memory host, gpus[SEAT_GPUS_MOST];
};

/* What a program says first, and what it hears. With a welcome come files: mailbox, host, GPUs, and the
 * doorbell if it has one. */
struct door_hello {
    char magic[8];
    char version[24]; /* of Heddle */
    uint64_t layout;  /* of what letters hold */
    struct seat_wish wish;
};

struct door_welcome {
    char magic[8];
    char refusal[256]; /* "": welcome */
    uint32_t number, gpu_count, first_gpu, node;
    uint64_t now_ps;
    uint64_t mailbox_offset; /* in its file */
    uint32_t untimed;
    uint32_t has_bell; /* the memory is a device's: there is a doorbell, to be rung as: */
    uint32_t bell_offset, bell_value;
    struct seat_memory host, gpus[SEAT_GPUS_MOST];
};

/* ---- the program's side ---- */

/* Knocks at the door of this path and waits for a seat. Memory is not mapped yet. */
bool door_enter(const char *path, const struct seat_wish *wish, struct seat *seat, struct err *err);

/* ---- the machine's ---- */

struct door {
    int socket;
    const char *path;
    bool is_stale; /* a machine of before has left its files there */
};

bool door_open(struct door *door, const char *path, struct err *err);
void door_close(struct door *door);

/* Memory that all seats have parts of, one after another: a device's, which a guest of an emulator sees. */
struct seat_window {
    int file;
    uint64_t first, seat_bytes; /* where the first part begins */
    uint32_t bell_offset, bell_value;
};
/* Such a part begins with the mailbox, then come bytes of copies, the host's memory, and the GPUs'. */
#define SEAT_MAILBOX_BYTES (UINT64_C(4) << 20)
#define SEAT_BOUNCE_BYTES  (UINT64_C(64) << 20)
#define SEAT_HEAD_BYTES    (SEAT_MAILBOX_BYTES + SEAT_BOUNCE_BYTES)

/* Where things are: how much memory the host and every GPU have, and how far apart they begin. */
struct seat_plan {
    uint64_t host_bytes, gpu_bytes;
    uint64_t step;                    /* at most SEAT_WINDOW */
    uint32_t gpu_count;               /* of a node */
    const struct seat_window *window; /* or NULL: files of their own */
    bool untimed;
};
/* Seats that the host has addresses for. */
uint32_t seat_plan_most(const struct seat_plan *plan);
/* Makes what each seat has as large as can be for so many of them. */
void seat_plan_share(struct seat_plan *plan, uint32_t seats);

/* Someone who stands at the door, or -1. One who is of another version, or no program at all, is sent away.
 */
int door_answer(const struct door *door, struct seat_wish *wish);

/* Makes a seat for him on this node, memory mapped, and tells him; or sends him away with a reason. */
struct seat_place {
    uint32_t number, node;
    uint64_t now_ps;
};
bool door_seat(int visitor, const struct seat_place *place, const struct seat_plan *plan, struct seat *seat,
               struct err *err);
void door_refuse(int visitor, const char *why);

/* ---- who carries words between a program that cannot come to the door, and the machine ---- */

/* Says this at the door, and hears the answer; what files come with it is closed, and counted. Gives the
 * socket, which stands for the program; -1: nobody answers. */
int door_carry(const char *path, const struct door_hello *hello, struct door_welcome *welcome,
               uint32_t *files);

/* ---- both ---- */

/* Whether all of these bytes are in this memory of a seat; or in any. */
bool seat_holds(const struct seat_memory *memory, uint64_t at, uint64_t bytes);
bool seat_has(const struct seat *seat, uint64_t at, uint64_t bytes);

bool seat_is_alive(const struct seat *seat); /* the other side is */
void seat_leave(struct seat *seat);          /* memory that was mapped is not unmapped */

/* Addresses and memory of a seat, in this process. */
#define SEAT_WINDOW (UINT64_C(1) << 40) /* of the host, and of each GPU */

/* Addresses for a GPU's memory: for gaps, and for freed ones that rest, too. */
#define SEAT_GPU_BYTES(memory) (2 * (memory) + (UINT64_C(64) << 30))
void seat_unmap(const struct seat *seat);

#endif
