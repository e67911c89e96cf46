#include "mailbox/door.h"
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

enum { FILES_MOST = 2 + SEAT_GPUS_MOST, VISITOR_SECONDS = 5 };

/* What a program says first, and what it hears. With a welcome come files: mailbox, host, GPUs. */
struct hello {
    char magic[8];
    char version[24]; /* of Heddle */
    uint64_t layout;  /* of what letters hold */
    uint32_t wanted;
};

struct welcome {
    char magic[8];
    char refusal[256]; /* "": welcome */
    uint32_t number, gpu_count;
    uint64_t now_ps;
    struct seat_memory host, gpus[SEAT_GPUS_MOST];
};

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

static void *map_shared(int file, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool sit_down(struct seat *seat, const struct welcome *welcome, const int *files, size_t count,
                     struct err *err)
{
    if (memcmp(welcome->magic, magic, sizeof magic) != 0)
        return err_set(err, "what answers there is no machine of Heddle");
    if (*welcome->refusal)
        return err_set(err, "%.250s", welcome->refusal);
    if (welcome->gpu_count > SEAT_GPUS_MOST || count != 2 + welcome->gpu_count)
        return err_set(err, "the machine's welcome makes no sense");
    seat->number = welcome->number;
    seat->gpu_count = welcome->gpu_count;
    seat->mailbox = map_shared(files[0], sizeof *seat->mailbox);
    seat->now_ps = welcome->now_ps;
    if (!seat->mailbox)
        return err_set(err, "cannot map the machine's mailbox: %s", strerror(errno));
    close(files[0]);
    seat->host = welcome->host;
    seat->host.file = files[1];
    for (uint32_t i = 0; i < seat->gpu_count; i++) {
        seat->gpus[i] = welcome->gpus[i];
        seat->gpus[i].file = files[2 + i];
    }
    return true;
}

bool door_enter(const char *path, uint32_t wanted, struct seat *seat, struct err *err)
{
    struct sockaddr_un address;
    struct welcome welcome = {0};
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
    struct hello hello = {.layout = letters_layout(), .wanted = wanted};
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
    struct welcome welcome = {0};
    memcpy(welcome.magic, magic, sizeof magic);
    snprintf(welcome.refusal, sizeof welcome.refusal, "%.250s", why);
    send_with_files(visitor, &welcome, sizeof welcome, NULL, 0);
    close(visitor);
}

int door_answer(const struct door *door, uint32_t *wanted)
{
    struct hello hello = {0};
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
    *wanted = hello.wanted < SEAT_ANY ? hello.wanted : SEAT_ANY;
    return visitor;
}

/* Seat 0 has the addresses that programs have which bring their own machine (arena_init's hints), unless that
 * many GPUs reach to where the kernel loads programs. Others are below, and below the machine's own
 * workspaces. */
static uint64_t seat_base(const struct seat_plan *plan, uint32_t number)
{
    enum { GPUS_BELOW_PROGRAMS = 5 };
    const uint64_t first = UINT64_C(0x4f0000000000), others = UINT64_C(0x4e0000000000);
    uint32_t place = number + (plan->gpu_count > GPUS_BELOW_PROGRAMS);
    return place ? others - place * (1 + plan->gpu_count) * SEAT_WINDOW : first;
}

uint32_t seat_plan_most(const struct seat_plan *plan)
{
    const uint64_t lowest = UINT64_C(0x080000000000), highest = UINT64_C(0x500000000000);
    uint32_t seats = 0;
    if (plan->gpu_count > SEAT_GPUS_MOST || plan->gpu_bytes > SEAT_WINDOW || plan->host_bytes > SEAT_WINDOW)
        return 0;
    while (seats < SEATS_MOST && seat_base(plan, seats) >= lowest && seat_base(plan, seats) <= highest)
        seats++;
    return seats;
}

static bool map_memory(struct seat_memory *memory, uint64_t at, uint64_t bytes, struct err *err)
{
    int file = memfd_create("heddle-seat", MFD_CLOEXEC);
    bool made = file >= 0 && !ftruncate(file, (off_t)bytes);
    void *mapped = made ? mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, file, 0)
                        : MAP_FAILED;
    if (mapped == MAP_FAILED) {
        err_set(err, "cannot make memory at 0x%llx that a program shares: %s", (unsigned long long)at,
                strerror(errno));
        if (file >= 0)
            close(file);
        return false;
    }
    *memory = (struct seat_memory){at, bytes, file};
    return true;
}

static bool make_seat(const struct seat_plan *plan, struct seat *seat, int *mailbox_file, struct err *err)
{
    uint64_t base = seat_base(plan, seat->number);
    *mailbox_file = memfd_create("heddle-mailbox", MFD_CLOEXEC);
    if (*mailbox_file < 0 || ftruncate(*mailbox_file, sizeof *seat->mailbox) ||
        !(seat->mailbox = map_shared(*mailbox_file, sizeof *seat->mailbox)))
        return err_set(err, "cannot make a mailbox: %s", strerror(errno));
    bool good = map_memory(&seat->host, base, plan->host_bytes, err);
    for (uint32_t i = 0; good && i < plan->gpu_count; i++)
        good = map_memory(&seat->gpus[i], base + (1 + i) * SEAT_WINDOW, plan->gpu_bytes, err);
    return good;
}

bool door_seat(int visitor, uint32_t number, uint64_t now_ps, const struct seat_plan *plan, struct seat *seat,
               struct err *err)
{
    int files[FILES_MOST] = {-1};
    struct welcome welcome = {.number = number, .gpu_count = plan->gpu_count, .now_ps = now_ps};
    *seat =
        (struct seat){.number = number, .gpu_count = plan->gpu_count, .socket = visitor, .now_ps = now_ps};
    bool good = make_seat(plan, seat, &files[0], err);
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
        door_refuse(visitor, err->text);
    }
    return good;
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
