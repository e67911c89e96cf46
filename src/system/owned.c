#include "system/owned.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/memsys.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* ---- which bytes: those of a rank, in pages that this process has touched; all others are zero ---- */

typedef void run_fn(void *user, char *at, uint64_t bytes);

struct walk {
    uint32_t rank; /* whose */
    int map;       /* of this process's pages */
    run_fn *call;
    void *user;
};

/* A page, or a part of one. */
static void walk_page(const struct walk *walk, const struct machine_piece *piece, uint64_t from, uint64_t end)
{
    uint32_t whole = memsys_rank(piece->mem), line_bytes = memsys_line_bytes(piece->mem);
    if (whole == walk->rank)
        walk->call(walk->user, piece->host + from, end - from);
    for (uint64_t at = from, next; at < end && whole == (uint32_t)MEMSYS_SOME_RANKS; at = next) {
        uint64_t offset = piece->offset + at;
        next = min_u64(at + line_bytes - offset % line_bytes, end);
        if (memsys_line_rank(piece->mem, offset) == walk->rank)
            walk->call(walk->user, piece->host + at, next - at);
    }
}

/* Pages that are in the host's memory, or in its swap. */
static void walk_piece(void *user, const struct machine_piece *piece)
{
    enum { TOGETHER = 4096 };
    static const uint64_t is_there = UINT64_C(3) << 62;
    const struct walk *walk = user;
    uint64_t host = (uintptr_t)piece->host, end = host + piece->bytes, known[TOGETHER];
    for (uint64_t page = host / PAGE; page * PAGE < end; page += TOGETHER) {
        uint64_t count = min_u64(TOGETHER, (end + PAGE - 1) / PAGE - page);
        size_t want = count * sizeof *known;
        bool all =
            walk->map < 0 || pread(walk->map, known, want, (off_t)(page * sizeof *known)) != (ssize_t)want;
        for (uint64_t i = 0; i < count; i++)
            if (all || known[i] & is_there)
                walk_page(walk, piece, max_u64(host, (page + i) * PAGE) - host,
                          min_u64(end, (page + i + 1) * PAGE) - host);
    }
}

static void walk_all(struct machine *machine, uint64_t at, uint64_t bytes, uint32_t rank, run_fn *call,
                     void *user)
{
    struct walk walk = {rank, open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), call, user};
    machine_each_piece(machine, at, bytes, walk_piece, &walk);
    if (walk.map >= 0)
        close(walk.map);
}

/* ---- from one rank to another: where, how many, and the bytes ---- */

static bool is_zero(const char *at, uint64_t bytes)
{
    static const char zeroes[PAGE];
    return !memcmp(at, zeroes, bytes);
}

static void write_run(void *user, char *at, uint64_t bytes)
{
    if (is_zero(at, bytes))
        return;
    archive_number(user, (uintptr_t)at, UINT64_MAX);
    archive_number(user, bytes, PAGE);
    archive_bytes(user, at, bytes);
}

static void clear_run(void *user, char *at, uint64_t bytes)
{
    (void)user;
    if (!is_zero(at, bytes))
        memset(at, 0, bytes);
}

static void read_runs(struct archive *archive)
{
    while (archive->good && archive->at < archive->end) {
        uint64_t at = archive_number(archive, 0, UINT64_MAX), bytes = archive_number(archive, 0, PAGE);
        if (archive->good)
            archive_bytes(archive, (char *)(uintptr_t)at, bytes);
    }
}

static bool send_bytes(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes,
                       uint32_t owner, uint32_t to, struct err *err)
{
    struct archive archive = archive_writer();
    walk_all(machine, at, bytes, owner, write_run, &archive);
    bool good = ranks_send(ranks, to, archive.text.at ? archive.text.at : "", archive.text.length, err);
    text_fini(&archive.text);
    return good;
}

static bool receive_bytes(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes,
                          uint32_t owner, uint32_t from, struct err *err)
{
    struct text text = {0};
    bool good = ranks_await(ranks, from, &text, err);
    if (good) {
        struct archive archive = archive_reader(text.at, text.length);
        walk_all(machine, at, bytes, owner, clear_run, NULL);
        read_runs(&archive);
    }
    text_fini(&text);
    return good;
}

/* ---- all of it ---- */

static void note_ranks(void *user, const struct machine_piece *piece)
{
    bool *has = user;
    uint32_t whole = memsys_rank(piece->mem), line_bytes = memsys_line_bytes(piece->mem);
    enum { LINES_SURE = 65536 }; /* by then every rank of a memory has had one */
    if (whole != (uint32_t)MEMSYS_SOME_RANKS) {
        has[whole] = true;
        return;
    }
    uint64_t end = piece->offset + min_u64(piece->bytes, (uint64_t)LINES_SURE * line_bytes);
    for (uint64_t at = piece->offset / line_bytes * line_bytes; at < end; at += line_bytes)
        has[memsys_line_rank(piece->mem, at)] = true;
}

static bool move_all(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes,
                     bool to_leader, struct err *err)
{
    uint32_t self = ranks_number(ranks);
    bool *has = mem_alloc(ranks_count(ranks), sizeof *has), good = true;
    machine_each_piece(machine, at, bytes, note_ranks, has);
    for (uint32_t owner = 1; owner < ranks_count(ranks) && good; owner++) {
        uint32_t from = to_leader ? owner : 0, to = to_leader ? 0 : owner;
        if (has[owner] && self == from)
            good = send_bytes(ranks, machine, at, bytes, owner, to, err);
        else if (has[owner] && self == to)
            good = receive_bytes(ranks, machine, at, bytes, owner, from, err);
    }
    mem_free(has);
    return good;
}

bool owned_fetch(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes, struct err *err)
{
    return move_all(ranks, machine, at, bytes, true, err);
}

bool owned_bring(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes, struct err *err)
{
    return move_all(ranks, machine, at, bytes, false, err);
}
