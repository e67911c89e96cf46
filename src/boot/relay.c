#include "boot/relay.h"
#include "base/mem.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(sizeof(struct door_hello) <= WINDOW_HELLO_MOST, "a program's words have room");
_Static_assert(sizeof(struct door_welcome) <= WINDOW_WELCOME_MOST, "the machine's, too");
_Static_assert(sizeof(struct window) <= WINDOW_HEAD_BYTES, "all have");

/* ---- the device's server ---- */

static bool open_door(struct relay *relay, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    relay->door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (relay->path.length >= sizeof address.sun_path)
        return err_set(err, "boot: the path of the folder for temporary files is too long (TMPDIR)");
    memcpy(address.sun_path, relay->path.at, relay->path.length);
    return (!bind(relay->door, (struct sockaddr *)&address, sizeof address) && !listen(relay->door, 1)) ||
           err_set(err, "boot: cannot make %s: %s", relay->path.at, strerror(errno));
}

bool relay_init(struct relay *relay, const char *folder, uint64_t bytes, struct err *err)
{
    *relay = (struct relay){.door = -1, .guest = -1};
    for (int i = 0; i < WINDOW_SEATS; i++)
        relay->seats[i].socket = -1;
    text_add(&relay->path, "%s/device", folder);
    relay->file = memfd_create("heddle-window", MFD_CLOEXEC);
    relay->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    relay->guest_bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    void *at = relay->file >= 0 && !ftruncate(relay->file, (off_t)bytes)
                   ? mmap(NULL, WINDOW_HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, relay->file, 0)
                   : MAP_FAILED;
    if (at == MAP_FAILED || relay->bell < 0 || relay->guest_bell < 0)
        return err_set(err, "boot: cannot make the GPU's memory window: %s", strerror(errno));
    relay->window = at;
    relay->window->hello_bytes = sizeof(struct door_hello);
    relay->window->welcome_bytes = sizeof(struct door_welcome);
    relay->window->magic = WINDOW_MAGIC;
    return open_door(relay, err);
}

/* A number, and a file if there is one: all that the device's server ever says. */
static bool send_number(int socket, int64_t number, int file)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } space = {0};
    struct iovec part = {&number, sizeof number};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (file >= 0) {
        message.msg_control = space.bytes;
        message.msg_controllen = sizeof space.bytes;
        space.head = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&space.head), &file, sizeof file);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof number;
}

bool relay_accept(struct relay *relay, struct err *err)
{
    enum { PROTOCOL = 0, MEMORY = -1 };
    relay->guest = accept4(relay->door, NULL, NULL, SOCK_CLOEXEC);
    return (relay->guest >= 0 && send_number(relay->guest, PROTOCOL, -1) &&
            send_number(relay->guest, WINDOW_GUEST, -1) && send_number(relay->guest, MEMORY, relay->file) &&
            send_number(relay->guest, WINDOW_HEDDLE, relay->bell) &&
            send_number(relay->guest, WINDOW_GUEST, relay->guest_bell)) ||
           err_set(err, "boot: cannot give QEMU the GPU's memory window: %s", strerror(errno));
}

/* ---- programs ---- */

static void leave(struct relay_seat *seat)
{
    if (seat->mailbox)
        munmap(seat->mailbox, sizeof *seat->mailbox);
    if (seat->socket >= 0)
        close(seat->socket);
    *seat = (struct relay_seat){.socket = -1};
}

static void map_mailbox(const struct relay *relay, struct relay_seat *seat, uint64_t offset)
{
    void *at =
        mmap(NULL, sizeof *seat->mailbox, PROT_READ | PROT_WRITE, MAP_SHARED, relay->file, (off_t)offset);
    seat->mailbox = at == MAP_FAILED ? NULL : at;
}

/* A machine that does not answer refuses, too: the program says that it cannot attach. */
static void carry(struct relay *relay, struct relay_seat *seat, struct window_slot *slot)
{
    struct door_hello hello;
    struct door_welcome welcome = {.refusal = "the machine has gone"};
    memcpy(&hello, slot->hello, sizeof hello);
    memcpy(welcome.magic, hello.magic, sizeof welcome.magic);
    seat->socket = door_carry(relay->machine, &hello, &welcome, &slot->files);
    if (seat->socket >= 0 && !*welcome.refusal)
        map_mailbox(relay, seat, welcome.mailbox_offset);
    memcpy(slot->welcome, &welcome, sizeof welcome);
    atomic_store(&slot->state, SLOT_ANSWERED);
}

static void look_at(struct relay *relay, struct relay_seat *seat, struct window_slot *slot)
{
    uint32_t state = atomic_load(&slot->state);
    if (state == SLOT_KNOCKS && seat->socket < 0) {
        carry(relay, seat, slot);
    } else if (state == SLOT_LEFT) {
        leave(seat);
        atomic_store(&slot->state, SLOT_FREE);
    } else if (seat->mailbox) { /* the bell is for the machine, which sleeps at one of these */
        gate_wake(&seat->mailbox->to_machine.written);
        gate_wake(&seat->mailbox->to_program.read);
    }
}

void relay_poll(const struct relay *relay, struct pollfd *all)
{
    all[0] = (struct pollfd){.fd = relay->bell, .events = POLLIN};
    for (int i = 0; i < WINDOW_SEATS; i++)
        all[1 + i] = (struct pollfd){.fd = relay->seats[i].socket, .events = POLLRDHUP};
}

void relay_look(struct relay *relay, const struct pollfd *all)
{
    eventfd_t rung;
    if (all[0].revents && !eventfd_read(relay->bell, &rung)) {
        for (int i = 0; i < WINDOW_SEATS; i++)
            look_at(relay, &relay->seats[i], &relay->window->slots[i]);
    }
    for (int i = 0; i < WINDOW_SEATS; i++) {
        if (all[1 + i].revents && relay->seats[i].socket == all[1 + i].fd) {
            leave(&relay->seats[i]);
            atomic_store(&relay->window->slots[i].cut, 1);
        }
    }
}

void relay_fini(struct relay *relay)
{
    for (int i = 0; i < WINDOW_SEATS; i++)
        leave(&relay->seats[i]);
    int files[] = {relay->file, relay->bell, relay->guest_bell, relay->door, relay->guest};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i] >= 0)
            close(files[i]);
    }
    if (relay->window)
        munmap(relay->window, WINDOW_HEAD_BYTES);
    if (relay->path.length)
        unlink(relay->path.at);
    text_fini(&relay->path);
}
