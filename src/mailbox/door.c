#include "mailbox/door.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mailbox/letters.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char magic[8] = "HEDDLE1";

enum { FILES_MOST = 3 + SEAT_GPUS_MOST, VISITOR_SECONDS = 5, BELL_BYTES = 4096 };

static bool address_of(const char *path, struct sockaddr_un *address, struct err *err)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (!length || length >= sizeof address->sun_path)
        return err_set(err, "%.100s: the path of a machine has 1 to %zu characters", path,
                       sizeof address->sun_path - 1);
    memcpy(address->sun_path, path, length);
    return true;
}

/* ---- files through the socket ---- */

union file_space {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(FILES_MOST * sizeof(int))];
};

static bool send_with_files(int socket, const void *bytes, size_t count, const int *files, size_t file_count)
{
    union file_space space = {0};
    struct iovec part = {(void *)(uintptr_t)bytes, count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (file_count) {
        message.msg_control = space.bytes;
        message.msg_controllen = CMSG_SPACE(file_count * sizeof *files);
        space.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(file_count * sizeof *files),
                                      .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&space.head), files, file_count * sizeof *files);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)count;
}

/* Gives how many files came. */
static bool receive_with_files(int socket, void *bytes, size_t count, int *files, size_t *file_count)
{
    union file_space space = {0};
    struct iovec part = {bytes, count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = space.bytes, .msg_controllen = sizeof space.bytes};
    *file_count = 0;
    ssize_t got;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_type != SCM_RIGHTS)
            continue;
        *file_count = (head->cmsg_len - CMSG_LEN(0)) / sizeof *files;
        memcpy(files, CMSG_DATA(head), *file_count * sizeof *files);
    }
    return got == (ssize_t)count;
}

static void close_files(const int *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        close(files[i]);
}

/* ---- the program's side ---- */

static void *map_shared(int file, uint64_t offset, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
    return at == MAP_FAILED ? NULL : at;
}

/* It stays until the process ends. */
static bool map_bell(int file, const struct door_welcome *welcome)
{
    char *at = map_shared(file, 0, BELL_BYTES);
    if (!at)
        return false;
    close(file);
    gate_use_bell((volatile uint32_t *)(void *)(at + welcome->bell_offset % BELL_BYTES), welcome->bell_value);
    return true;
}

static bool sit_down(struct seat *seat, const struct door_welcome *welcome, const int *files, size_t count,
                     struct err *err)
{
    if (memcmp(welcome->magic, magic, sizeof magic) != 0)
        return err_set(err, "what answers there is no machine of Heddle");
    if (*welcome->refusal)
        return err_set(err, "%.250s", welcome->refusal);
    if (welcome->gpu_count > SEAT_GPUS_MOST || count != 2 + welcome->gpu_count + welcome->has_bell)
        return err_set(err, "the machine's welcome makes no sense");
    seat->number = welcome->number;
    seat->gpu_count = welcome->gpu_count;
    seat->first_gpu = welcome->first_gpu;
    seat->node = welcome->node;
    seat->mailbox = map_shared(files[0], welcome->mailbox_offset, sizeof *seat->mailbox);
    seat->now_ps = welcome->now_ps;
    seat->untimed = welcome->untimed;
    if (!seat->mailbox)
        return err_set(err, "cannot map the machine's mailbox: %s", strerror(errno));
    seat->bounce = welcome->has_bell
                       ? map_shared(files[0], welcome->mailbox_offset + SEAT_MAILBOX_BYTES, SEAT_BOUNCE_BYTES)
                       : NULL;
    if (welcome->has_bell && !map_bell(files[count - 1], welcome))
        return err_set(err, "cannot map the machine's doorbell: %s", strerror(errno));
    close(files[0]);
    seat->host = welcome->host;
    seat->host.file = files[1];
    for (uint32_t i = 0; i < seat->gpu_count; i++) {
        seat->gpus[i] = welcome->gpus[i];
        seat->gpus[i].file = files[2 + i];
    }
    return true;
}

bool door_enter(const char *path, const struct seat_wish *wish, struct seat *seat, struct err *err)
{
    struct sockaddr_un address;
    struct door_welcome welcome = {0};
    int files[FILES_MOST];
    size_t count = 0;
    struct err why;
    *seat = (struct seat){0};
    if (!address_of(path, &address, err))
        return false;
    seat->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(seat->socket, (struct sockaddr *)&address, sizeof address)) {
        err_set(err, "cannot attach to %s: %s (`heddle serve %s` makes a machine there)", path,
                strerror(errno), path);
        close(seat->socket);
        return false;
    }
    struct door_hello hello = {.layout = letters_layout(), .wish = *wish};
    memcpy(hello.magic, magic, sizeof magic);
    snprintf(hello.version, sizeof hello.version, "%s", HEDDLE_VERSION);
    if (!send_with_files(seat->socket, &hello, sizeof hello, NULL, 0) ||
        !receive_with_files(seat->socket, &welcome, sizeof welcome, files, &count))
        err_set(&why, "it does not answer");
    else if (sit_down(seat, &welcome, files, count, &why))
        return true;
    err_set(err, "cannot attach to %s: %s", path, why.text);
    close_files(files, count);
    close(seat->socket);
    return false;
}

/* ---- the machine's ---- */

bool door_open(struct door *door, const char *path, struct err *err)
{
    struct sockaddr_un address;
    *door = (struct door){.socket = -1, .path = path};
    if (!address_of(path, &address, err))
        return false;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool taken = !connect(probe, (struct sockaddr *)&address, sizeof address);
    close(probe);
    if (taken)
        return err_set(err, "%s: another machine is there already", path);
    struct stat about;
    bool there = !lstat(path, &about);
    if (there && !S_ISSOCK(about.st_mode))
        return err_set(err, "%s is there already, and is no machine of before", path);
    door->is_stale = there; /* whoever made it has ended */
    if (there)
        unlink(path);
    door->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (!bind(door->socket, (struct sockaddr *)&address, sizeof address) && !listen(door->socket, 16))
        return true;
    err_set(err, "cannot make %s: %s", path, strerror(errno));
    close(door->socket);
    return false;
}

void door_close(struct door *door)
{
    close(door->socket);
    unlink(door->path);
}

void door_refuse(int visitor, const char *why)
{
    struct door_welcome welcome = {0};
    memcpy(welcome.magic, magic, sizeof magic);
    snprintf(welcome.refusal, sizeof welcome.refusal, "%.250s", why);
    send_with_files(visitor, &welcome, sizeof welcome, NULL, 0);
    close(visitor);
}

int door_answer(const struct door *door, struct seat_wish *wish)
{
    struct door_hello hello = {0};
    int visitor = accept4(door->socket, NULL, NULL, SOCK_CLOEXEC);
    if (visitor < 0)
        return -1;
    struct timeval patience = {.tv_sec = VISITOR_SECONDS};
    setsockopt(visitor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (recv(visitor, &hello, sizeof hello, MSG_WAITALL) != sizeof hello ||
        memcmp(hello.magic, magic, sizeof magic) != 0) {
        close(visitor);
        return -1;
    }
    hello.version[sizeof hello.version - 1] = 0;
    if (strcmp(hello.version, HEDDLE_VERSION) != 0 || hello.layout != letters_layout()) {
        door_refuse(visitor, "program and machine are of different builds of Heddle");
        return -1;
    }
    *wish = hello.wish;
    return visitor;
}

/* Seat 0 has the addresses that programs have which bring their own machine (arena_init's hints), unless that
 * many GPUs reach to where the kernel loads programs. Others are below, and below the machine's own
 * workspaces. */
static const uint64_t first_base = UINT64_C(0x4f0000000000), other_bases = UINT64_C(0x4e0000000000),
                      lowest_base = UINT64_C(0x080000000000);

static uint64_t seat_base(const struct seat_plan *plan, uint32_t number)
{
    enum { GPUS_BELOW_PROGRAMS = 5 };
    uint32_t place = number + (plan->gpu_count > GPUS_BELOW_PROGRAMS);
    return place ? other_bases - place * (1 + plan->gpu_count) * plan->step : first_base;
}

uint32_t seat_plan_most(const struct seat_plan *plan)
{
    const uint64_t highest = UINT64_C(0x500000000000);
    uint32_t seats = 0;
    if (plan->gpu_count > SEAT_GPUS_MOST || plan->gpu_bytes > plan->step || plan->host_bytes > plan->step)
        return 0;
    while (seats < SEATS_MOST && seat_base(plan, seats) >= lowest_base && seat_base(plan, seats) <= highest)
        seats++;
    return seats;
}

void seat_plan_share(struct seat_plan *plan, uint32_t seats)
{
    const uint64_t large = UINT64_C(1) << 30; /* pages, for which page tables have an entry */
    uint64_t windows = (uint64_t)(1 + seats) * (1 + plan->gpu_count);
    plan->step = min_u64(SEAT_WINDOW, (other_bases - lowest_base) / windows / large * large);
    plan->host_bytes = min_u64(plan->host_bytes, plan->step);
    plan->gpu_bytes = min_u64(plan->gpu_bytes, plan->step);
}

/* At this offset of the window's file, or, where there is no window, in a file of its own. */
static bool map_memory(struct seat_memory *memory, const struct seat_window *window, uint64_t offset,
                       uint64_t at, uint64_t bytes, struct err *err)
{
    int file = window ? dup(window->file) : memfd_create("heddle-seat", MFD_CLOEXEC);
    bool made = file >= 0 && (window || !ftruncate(file, (off_t)bytes));
    void *mapped = made ? mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, file, (off_t)offset)
                        : MAP_FAILED;
    if (mapped == MAP_FAILED) {
        err_set(err, "cannot make memory at 0x%llx that a program shares: %s", (unsigned long long)at,
                strerror(errno));
        if (file >= 0)
            close(file);
        return false;
    }
    *memory = (struct seat_memory){at, bytes, offset, file};
    return true;
}

/* A part of the window that a program has left is zero for the next one. */
static bool clear_part(const struct seat_window *window, uint64_t first)
{
    return !fallocate(window->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)first,
                      (off_t)window->seat_bytes);
}

static int open_mailbox(const struct seat_window *window, uint64_t first)
{
    int file = window ? dup(window->file) : memfd_create("heddle-mailbox", MFD_CLOEXEC);
    bool good =
        file >= 0 && (window ? clear_part(window, first) : !ftruncate(file, (off_t)sizeof(struct mailbox)));
    if (file >= 0 && !good)
        close(file);
    return good ? file : -1;
}

_Static_assert(sizeof(struct mailbox) <= SEAT_MAILBOX_BYTES, "a mailbox has room in a window");

static bool make_seat(const struct seat_plan *plan, struct seat *seat, int *mailbox_file,
                      uint64_t *mailbox_offset, struct err *err)
{
    const struct seat_window *window = plan->window;
    uint64_t base = seat_base(plan, seat->number);
    uint64_t first = window ? window->first + seat->number * window->seat_bytes : 0;
    uint64_t at = window ? first + SEAT_HEAD_BYTES : 0;
    *mailbox_offset = first;
    *mailbox_file = open_mailbox(window, first);
    if (*mailbox_file < 0 ||
        !(seat->mailbox = map_shared(*mailbox_file, *mailbox_offset, sizeof *seat->mailbox)))
        return err_set(err, "cannot make a mailbox: %s", strerror(errno));
    seat->bounce = window ? map_shared(*mailbox_file, first + SEAT_MAILBOX_BYTES, SEAT_BOUNCE_BYTES) : NULL;
    bool good = map_memory(&seat->host, window, at, base, plan->host_bytes, err);
    for (uint32_t i = 0; good && i < plan->gpu_count; i++) {
        uint64_t offset = window ? at + plan->host_bytes + i * plan->gpu_bytes : 0;
        good = map_memory(&seat->gpus[i], window, offset, base + (1 + i) * plan->step, plan->gpu_bytes, err);
    }
    return good;
}

bool door_seat(int visitor, const struct seat_place *place, const struct seat_plan *plan, struct seat *seat,
               struct err *err)
{
    int files[FILES_MOST] = {-1};
    struct door_welcome welcome = {.number = place->number,
                                   .gpu_count = plan->gpu_count,
                                   .first_gpu = place->node * plan->gpu_count,
                                   .node = place->node,
                                   .now_ps = place->now_ps};
    *seat = (struct seat){.number = place->number,
                          .gpu_count = plan->gpu_count,
                          .first_gpu = welcome.first_gpu,
                          .node = place->node,
                          .socket = visitor,
                          .now_ps = place->now_ps};
    welcome.untimed = plan->untimed;
    bool good = make_seat(plan, seat, &files[0], &welcome.mailbox_offset, err);
    if (good && plan->window) {
        welcome.has_bell = 1;
        welcome.bell_offset = plan->window->bell_offset;
        welcome.bell_value = plan->window->bell_value;
    }
    if (good) {
        memcpy(welcome.magic, magic, sizeof magic);
        welcome.host = seat->host;
        memcpy(welcome.gpus, seat->gpus, sizeof welcome.gpus);
        files[1] = seat->host.file;
        for (uint32_t i = 0; i < plan->gpu_count; i++)
            files[2 + i] = seat->gpus[i].file;
        good = send_with_files(visitor, &welcome, sizeof welcome, files, 2 + plan->gpu_count) ||
               err_set(err, "the program went away");
    }
    if (files[0] >= 0)
        close(files[0]);
    if (!good) {
        seat_unmap(seat);
        if (seat->mailbox)
            munmap(seat->mailbox, sizeof *seat->mailbox);
        if (seat->bounce)
            munmap(seat->bounce, SEAT_BOUNCE_BYTES);
        door_refuse(visitor, err->text);
    }
    return good;
}

/* ---- who carries words ---- */

int door_carry(const char *path, const struct door_hello *hello, struct door_welcome *welcome,
               uint32_t *files)
{
    struct sockaddr_un address;
    struct err unused;
    int came[FILES_MOST];
    size_t count = 0;
    if (!address_of(path, &address, &unused))
        return -1;
    int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = !connect(own, (struct sockaddr *)&address, sizeof address) &&
                send_with_files(own, hello, sizeof *hello, NULL, 0) &&
                receive_with_files(own, welcome, sizeof *welcome, came, &count);
    close_files(came, count);
    *files = (uint32_t)count;
    if (!good) {
        close(own);
        return -1;
    }
    return own;
}

/* ---- both ---- */

bool seat_holds(const struct seat_memory *memory, uint64_t at, uint64_t bytes)
{
    return at >= memory->at && at - memory->at <= memory->bytes && bytes <= memory->bytes - (at - memory->at);
}

bool seat_has(const struct seat *seat, uint64_t at, uint64_t bytes)
{
    bool found = seat_holds(&seat->host, at, bytes);
    for (uint32_t i = 0; i < seat->gpu_count && !found; i++)
        found = seat_holds(&seat->gpus[i], at, bytes);
    return found;
}

bool seat_is_alive(const struct seat *seat)
{
    struct pollfd one = {.fd = seat->socket, .events = POLLRDHUP};
    return poll(&one, 1, 0) <= 0;
}

void seat_leave(struct seat *seat)
{
    munmap(seat->mailbox, sizeof *seat->mailbox);
    if (seat->bounce)
        munmap(seat->bounce, SEAT_BOUNCE_BYTES);
    close(seat->socket);
}

static void unmap_memory(const struct seat_memory *memory)
{
    if (memory->bytes) {
        munmap((void *)(uintptr_t)memory->at, memory->bytes);
        close(memory->file);
    }
}

void seat_unmap(const struct seat *seat)
{
    unmap_memory(&seat->host);
    for (uint32_t i = 0; i < seat->gpu_count; i++)
        unmap_memory(&seat->gpus[i]);
}
