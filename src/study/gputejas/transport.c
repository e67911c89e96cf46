/* Figure 4: how fast packets of a trace come from the process that makes them to one that simulates them. */
#include "study/gputejas/gputejas.h"
#include "base/bits.h"
#include "base/gate.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PACKET = 1500, PIECE = 64 << 10, RING = 1 << 20, SPINS = 1000, PATIENCE_S = 30 };

static bool write_all(int file, const char *bytes, size_t count)
{
    while (count) {
        ssize_t wrote = write(file, bytes, count);
        if (wrote <= 0 && errno != EINTR)
            return false;
        bytes += wrote > 0 ? wrote : 0;
        count -= (size_t)(wrote > 0 ? wrote : 0);
    }
    return true;
}

/* So many bytes, in pieces; *sum keeps the reader from being idle. */
static bool read_all(int file, uint64_t count, size_t piece, uint64_t *sum)
{
    static char buffer[PIECE];
    while (count) {
        ssize_t got = read(file, buffer, min_u64(piece, count));
        if (got <= 0 && errno != EINTR)
            return false;
        count -= (uint64_t)(got > 0 ? got : 0);
        *sum += (unsigned char)buffer[0];
    }
    return true;
}

static bool write_pieces(int file, uint64_t count, size_t piece)
{
    static char buffer[PIECE];
    memset(buffer, 1, sizeof buffer);
    for (; count; count -= min_u64(count, piece))
        if (!write_all(file, buffer, min_u64(count, piece)))
            return false;
    return true;
}

static bool child_ended_well(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Files: all is written, then all is read, 64 KiB at a time. */
static bool by_file(const char *folder, uint64_t bytes, uint64_t *sum)
{
    struct text path = {0};
    text_add(&path, "%s/transport", folder);
    pid_t child = fork();
    if (!child) {
        int file = open(path.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        _exit(file < 0 || !write_pieces(file, bytes, PIECE));
    }
    bool good = child > 0 && child_ended_well(child);
    int file = open(path.at, O_RDONLY | O_CLOEXEC);
    good = good && file >= 0 && read_all(file, bytes, PIECE, sum);
    if (file >= 0)
        close(file);
    unlink(path.at);
    text_fini(&path);
    return good;
}

/* Shared memory: a ring of packets, which its reader takes while the writer goes on. */
struct shared_ring {
    struct gate written, taken; /* packets, modulo 2^32 */
    char packets[RING / PACKET][PACKET];
};

static void write_ring(struct shared_ring *ring, uint64_t packets)
{
    for (uint64_t i = 0; i < packets; i++) {
        uint32_t taken;
        while ((uint32_t)i - (taken = gate_number(&ring->taken)) >= RING / PACKET)
            gate_wait(&ring->taken, taken, SPINS);
        memset(ring->packets[i % (RING / PACKET)], (int)i, PACKET);
        gate_set(&ring->written, (uint32_t)(i + 1));
    }
}

static bool by_memory(const char *folder, uint64_t bytes, uint64_t *sum)
{
    static char buffer[PACKET];
    (void)folder;
    uint64_t packets = bytes / PACKET;
    struct shared_ring *ring =
        mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED)
        return false;
    pid_t child = fork();
    if (!child) {
        write_ring(ring, packets);
        _exit(0);
    }
    bool comes = child > 0;
    for (uint64_t i = 0; i < packets && comes; i++) {
        if (gate_number(&ring->written) == (uint32_t)i)
            comes = gate_wait_for(&ring->written, (uint32_t)i, SPINS, PATIENCE_S);
        memcpy(buffer, ring->packets[i % (RING / PACKET)], PACKET);
        *sum += (unsigned char)buffer[0];
        gate_set(&ring->taken, (uint32_t)(i + 1));
    }
    bool good = comes && child_ended_well(child);
    munmap(ring, sizeof *ring);
    return good;
}

/* A socket: TCP on this machine, packets of 1500 bytes. */
static bool by_socket(const char *folder, uint64_t bytes, uint64_t *sum)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    (void)folder;
    int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = door >= 0 && !bind(door, (struct sockaddr *)&address, length) && !listen(door, 1) &&
                !getsockname(door, (struct sockaddr *)&address, &length);
    struct timeval patience = {.tv_sec = PATIENCE_S};
    good = good && !setsockopt(door, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    pid_t child = good ? fork() : -1;
    if (!child) {
        int out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        _exit(out < 0 || connect(out, (struct sockaddr *)&address, length) ||
              !write_pieces(out, bytes, PACKET));
    }
    int in = child > 0 ? accept(door, NULL, NULL) : -1;
    good = in >= 0 && read_all(in, bytes, PIECE, sum);
    if (in >= 0)
        close(in);
    if (door >= 0)
        close(door);
    return child > 0 && child_ended_well(child) && good;
}

bool tejas_measure_ways(const char *folder, uint64_t bytes, struct tejas_way ways[TEJAS_WAYS],
                        struct err *err)
{
    static const struct {
        const char *name;
        bool (*move)(const char *folder, uint64_t bytes, uint64_t *sum);
    } known[TEJAS_WAYS] = {{"file", by_file}, {"shared memory", by_memory}, {"socket", by_socket}};
    uint64_t sum = 0;
    for (size_t i = 0; i < TEJAS_WAYS; i++) {
        double began = host_seconds();
        ways[i].name = known[i].name;
        if (!known[i].move(folder, bytes, &sum))
            return err_set(err, "a transfer by %s failed: %s", known[i].name, strerror(errno));
        ways[i].mb_per_s = (double)bytes / 1e6 / (host_seconds() - began);
    }
    return true;
}
