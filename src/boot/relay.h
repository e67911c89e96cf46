/* The GPU's PCI device, from outside: the server that QEMU's ivshmem talks to, and the carrier of words
 * between programs in the guest and the machine's door (boot/window.h). */
#ifndef BOOT_RELAY_H
#define BOOT_RELAY_H

#include "boot/window.h"
#include "mailbox/door.h"

#include <poll.h>

struct relay_seat {
    int socket; /* at the machine's door, for a program of the guest; -1: none */
    struct mailbox *mailbox;
};

struct relay {
    const char *machine; /* the path of its door */
    struct text path;    /* of the socket that QEMU connects to */
    int file;            /* the window */
    struct window *window;
    int door, guest;      /* sockets: for QEMU, and QEMU's */
    int bell, guest_bell; /* eventfds: of ours, which the guest rings, and of the guest's */
    struct relay_seat seats[WINDOW_SEATS];
};

/* Makes a window of so many bytes, a power of two, and the socket in this folder. */
bool relay_init(struct relay *relay, const char *folder, uint64_t bytes, struct err *err);
void relay_fini(struct relay *relay);

/* QEMU has connected: it is given the window and the bells. */
bool relay_accept(struct relay *relay, struct err *err);

/* What to wait for; relay_look when some of it has come. */
enum { RELAY_POLLS = 1 + WINDOW_SEATS };
void relay_poll(const struct relay *relay, struct pollfd *all);
void relay_look(struct relay *relay, const struct pollfd *all);

#endif
