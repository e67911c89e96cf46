#include "system/bytes.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* ---- pages: most of a large piece may never have been touched, and is zero ---- */

static bool is_zero(const char *at, uint64_t bytes)
{
    static const char zeroes[PAGE];
    return !memcmp(at, zeroes, bytes);
}

/* Which pages of a piece the host has, in memory or in its swap: a byte each; where it has none it is zero.
 */
static unsigned char *list_pages(const char *at, uint64_t bytes)
{
    enum { SMALL_PAGES = 64, TOGETHER = 512 };
    static const uint64_t is_there = UINT64_C(3) << 62;
    uint64_t first = (uintptr_t)at / PAGE, pages = ((uintptr_t)at + bytes - 1) / PAGE - first + 1;
    uint64_t known[TOGETHER];
    unsigned char *there = mem_alloc(pages, 1);
    int map = pages > SMALL_PAGES ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
    for (uint64_t i = 0, n; i < pages; i += n) {
        n = min_u64(TOGETHER, pages - i);
        ssize_t want = (ssize_t)(n * sizeof *known);
        bool all = map < 0 || pread(map, known, (size_t)want, (off_t)((first + i) * sizeof *known)) != want;
        for (uint64_t k = 0; k < n; k++)
            there[i + k] = all || known[k] & is_there;
    }
    if (map >= 0)
        close(map);
    return there;
}

typedef void page_fn(void *user, char *at, uint64_t bytes, bool is_there);

static void each_page(char *at, uint64_t bytes, page_fn *call, void *user)
{
    unsigned char *there = list_pages(at, bytes);
    uint64_t first = (uintptr_t)at / PAGE;
    for (uint64_t done = 0, step; done < bytes; done += step) {
        uint64_t here = (uintptr_t)at + done;
        step = min_u64(PAGE - here % PAGE, bytes - done);
        call(user, at + done, step, there[here / PAGE - first]);
    }
    mem_free(there);
}

/* ---- a rank's bytes: runs in the order of addresses; of each, pages that are not zero ---- */

static void write_page(void *user, char *at, uint64_t bytes, bool is_there)
{
    struct archive *archive = user;
    bool some = is_there && !is_zero(at, bytes);
    archive_number(archive, some, 1);
    if (some)
        archive_bytes(archive, at, bytes);
}

static void read_page(void *user, char *at, uint64_t bytes, bool is_there)
{
    struct archive *archive = user;
    if (archive_number(archive, 0, 1))
        archive_bytes(archive, at, bytes);
    else if (is_there && !is_zero(at, bytes))
        memset(at, 0, bytes);
}

struct moving {
    uint32_t rank; /* whose runs */
    struct archive *archive;
};

static void move_run(void *user, uint32_t rank, char *host, uint64_t bytes)
{
    const struct moving *moving = user;
    if (rank == moving->rank && moving->archive->good)
        each_page(host, bytes, moving->archive->reading ? read_page : write_page, moving->archive);
}

static void note_rank(void *user, uint32_t rank, char *host, uint64_t bytes)
{
    bool *has = user;
    (void)host, (void)bytes;
    has[rank] = true;
}

/* From one rank to another: the runs of `owner`. */
static bool move(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes, uint32_t owner,
                 bool to_leader, struct err *err)
{
    uint32_t self = ranks_number(ranks), from = to_leader ? owner : 0, to = to_leader ? 0 : owner;
    bool good = true;
    if (self == from) {
        struct archive archive = archive_writer();
        machine_each_owner(machine, at, bytes, move_run, &(struct moving){owner, &archive});
        good = ranks_send(ranks, to, archive.text.at ? archive.text.at : "", archive.text.length, err);
        text_fini(&archive.text);
    } else if (self == to) {
        struct text text = {0};
        good = ranks_receive(ranks, from, -1, &text, NULL, err);
        struct archive archive = archive_reader(text.at, text.length);
        if (good)
            machine_each_owner(machine, at, bytes, move_run, &(struct moving){owner, &archive});
        if (good && !archive_at_end(&archive))
            BUG("rank %u has memory of the GPUs elsewhere than rank %u", from, to);
        text_fini(&text);
    }
    return good;
}

static bool move_all(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes,
                     bool to_leader, struct err *err)
{
    bool *has = mem_alloc(ranks_count(ranks), sizeof *has), good = true;
    machine_each_owner(machine, at, bytes, note_rank, has);
    for (uint32_t i = 1; i < ranks_count(ranks) && good; i++)
        good = !has[i] || move(ranks, machine, at, bytes, i, to_leader, err);
    mem_free(has);
    return good;
}

bool bytes_fetch(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes, struct err *err)
{
    return move_all(ranks, machine, at, bytes, true, err);
}

bool bytes_bring(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes, struct err *err)
{
    return move_all(ranks, machine, at, bytes, false, err);
}
