/* The GPU's driver, in userspace: finds the PCI device (QEMU's ivshmem), maps its registers and the window,
 * and opens a door for programs as `heddle serve` does. What they say there is carried to heddle through the
 * head of the window (boot/window.h); the files that they get are the device's memory and its doorbell. */
#include "guest/inside.h"
#include "boot/window.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define DEVICES "/sys/bus/pci/devices"
enum { FILES_MOST = 80, REGISTER_BYTES = 4096, WAIT_MS = 50, ASK_MS = 1, TRIES = 3000 };

static int memory, registers; /* files of the device */
static volatile uint32_t *bell;
static struct window *window;
static int clients[WINDOW_SEATS] = {-1, -1, -1, -1}; /* sockets; -1: none */

/* ---- the device ---- */

static bool has_text(const char *device, const char *name, const char *text)
{
    char path[400], read_text[32] = "";
    snprintf(path, sizeof path, DEVICES "/%s/%s", device, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, read_text, sizeof read_text - 1);
    close(file);
    return got > 0 && !strncmp(read_text, text, strlen(text));
}

static bool find_device(char *name, size_t bytes)
{
    bool found = false;
    DIR *folder = opendir(DEVICES);
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        if (has_text(entry->d_name, "vendor", "0x1af4") && has_text(entry->d_name, "device", "0x1110")) {
            snprintf(name, bytes, "%s", entry->d_name);
            found = true;
        }
    }
    if (folder)
        closedir(folder);
    return found;
}

static int open_part(const char *device, const char *name, int how)
{
    char path[400];
    snprintf(path, sizeof path, DEVICES "/%s/%s", device, name);
    return open(path, how | O_CLOEXEC);
}

static bool open_device(const char *device)
{
    int enable = open_part(device, "enable", O_WRONLY);
    if (enable < 0 || write(enable, "1", 1) != 1)
        return false;
    close(enable);
    registers = open_part(device, "resource0", O_RDWR);
    memory = open_part(device, "resource2", O_RDWR);
    if (registers < 0 || memory < 0)
        return false;
    char *at = mmap(NULL, REGISTER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, registers, 0);
    window = mmap(NULL, WINDOW_HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (at == MAP_FAILED || window == MAP_FAILED)
        return false;
    bell = (volatile uint32_t *)(void *)(at + WINDOW_BELL_OFFSET);
    return window->magic == WINDOW_MAGIC;
}

/* ---- programs ---- */

static void ring(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    *bell = WINDOW_BELL_VALUE;
}

/* The device's memory as often as the machine sent files, and the doorbell. */
static bool send_answer(int client, const struct window_slot *slot)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(FILES_MOST * sizeof(int))];
    } space = {0};
    struct iovec part = {(void *)(uintptr_t)slot->welcome, window->welcome_bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    size_t count = slot->files && slot->files < FILES_MOST ? slot->files + 1 : 0;
    int files[FILES_MOST];
    for (size_t i = 0; i < count; i++)
        files[i] = i + 1 < count ? memory : registers;
    if (count) {
        message.msg_control = space.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof *files);
        space.head = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(count * sizeof *files), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&space.head), files, count * sizeof *files);
    }
    return sendmsg(client, &message, MSG_NOSIGNAL) == (ssize_t)window->welcome_bytes;
}

static void leave(int seat)
{
    close(clients[seat]);
    clients[seat] = -1;
    atomic_store(&window->slots[seat].state, SLOT_LEFT);
    ring();
}

/* The next slot that heddle has freed; programs beyond that number wait. */
static int free_slot(void)
{
    for (int i = 0; i < WINDOW_SEATS; i++) {
        if (clients[i] < 0 && atomic_load(&window->slots[i].state) == SLOT_FREE)
            return i;
    }
    return -1;
}

static void greet(int door, int seat)
{
    struct window_slot *slot = &window->slots[seat];
    int client = accept4(door, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0)
        return;
    struct timeval patience = {.tv_sec = 1};
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (recv(client, slot->hello, window->hello_bytes, MSG_WAITALL) != (ssize_t)window->hello_bytes) {
        close(client);
        return;
    }
    clients[seat] = client;
    atomic_store(&slot->cut, 0);
    atomic_store(&slot->state, SLOT_KNOCKS);
    ring();
    for (int i = 0; i < TRIES && atomic_load(&slot->state) == SLOT_KNOCKS; i++)
        nanosleep(&(struct timespec){.tv_nsec = ASK_MS * 1000 * 1000}, NULL);
    if (atomic_load(&slot->state) != SLOT_ANSWERED || !send_answer(client, slot))
        leave(seat);
}

static _Noreturn void serve(int door)
{
    for (;;) {
        struct pollfd all[WINDOW_SEATS + 1];
        int seat = free_slot();
        for (int i = 0; i < WINDOW_SEATS; i++)
            all[i] = (struct pollfd){.fd = clients[i], .events = POLLRDHUP};
        all[WINDOW_SEATS] = (struct pollfd){.fd = seat < 0 ? -1 : door, .events = POLLIN};
        poll(all, WINDOW_SEATS + 1, WAIT_MS);
        for (int i = 0; i < WINDOW_SEATS; i++) {
            if (clients[i] >= 0 && (all[i].revents || atomic_load(&window->slots[i].cut)))
                leave(i);
        }
        if (all[WINDOW_SEATS].revents & POLLIN)
            greet(door, seat);
    }
}

bool inside_start_gpu(void)
{
    char device[256];
    int tries = 0;
    while (!find_device(device, sizeof device)) {
        if (++tries == TRIES)
            return inside_say("the GPU's PCI device does not appear"), false;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    if (!open_device(device))
        return inside_say("cannot use the GPU's PCI device %s: %s", device, strerror(errno)), false;
    int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = INSIDE_SOCKET};
    if (bind(door, (struct sockaddr *)&address, sizeof address) || listen(door, 16))
        return inside_say("cannot make " INSIDE_SOCKET ": %s", strerror(errno)), false;
    symlink(INSIDE_JOB "/gpu.ini", INSIDE_SOCKET ".ini");
    if (!fork()) {
        prctl(PR_SET_NAME, "heddle-gpu");
        serve(door);
    }
    close(door);
    return true;
}
