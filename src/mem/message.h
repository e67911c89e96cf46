/* The messages between SMs, caches and memory. A message is about one line of memory and carries its data.
 * Addresses are physical, packed (base/address.h). How long a line is, the description of the
 * GPU that asks says (l2.line). A home whose lines have another size cuts requests of peers (mem/cut.h).
 *
 * A kind of message is a row below. Handlers follow the row: whether a copy of the line can serve the
 * request, or it must go to the line's home; whether the old bytes must be present; how long it is. A
 * coherence protocol adds its kinds here: probes go to holders of copies, acknowledgements to the home,
 * ownership is granted to the requester. The effect of each is a case in perform.c. */
#ifndef MEM_MESSAGE_H
#define MEM_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    MEM_SECTOR = 32,     /* what masks have a bit for; a cache may fill several together */
    MEM_LINE_MOST = 128, /* bytes of a line, at most */
    MEM_SECTORS_MOST = MEM_LINE_MOST / MEM_SECTOR,
    MEM_ATOMS = 16
};

enum memsys_way {
    MEM_TO_HOME,      /* from who wants something: begins with struct memsys_request */
    MEM_TO_REQUESTER, /* the answer to that: begins with struct memsys_reply */
    MEM_TO_HOLDER     /* from home, to who may have a copy: begins with struct memsys_request */
};

/* id, name, way, reads, changes; bytes that follow for each sector, and for each lane */
#define MEM_KINDS(X)                                                                                         \
    X(READ, "read", MEM_TO_HOME, true, false, 0, 0)                                                          \
    X(WRITE, "write", MEM_TO_HOME, false, true, sizeof(struct memsys_write), 0)                              \
    X(ATOMIC, "atomic", MEM_TO_HOME, true, true, 0, sizeof(struct memsys_atom))                              \
    X(FETCH, "fetch", MEM_TO_HOME, true, false, 0, 0)                                                        \
    X(DATA, "data", MEM_TO_REQUESTER, false, false, MEM_SECTOR, 0)                                           \
    X(OLD, "old", MEM_TO_REQUESTER, false, false, 0, sizeof(struct memsys_old))                              \
    X(DONE, "done", MEM_TO_REQUESTER, false, false, 0, 0)                                                    \
    X(INVALIDATE, "invalidate", MEM_TO_HOLDER, false, true, 0, 0)                                            \
    X(FORGET, "forget", MEM_TO_HOME, false, false, 0, 0)                                                     \
    X(WANT, "want", MEM_TO_HOME, false, false, 0, 0)                                                         \
    X(RECALL, "recall", MEM_TO_HOLDER, false, false, 0, 0)                                                   \
    X(DROPPED, "dropped", MEM_TO_REQUESTER, false, false, 0, 0)                                              \
    X(PAGE, "page", MEM_TO_REQUESTER, false, false, sizeof(struct memsys_write), 0)                          \
    X(GRANT, "grant", MEM_TO_HOLDER, false, false, 0, 0)                                                     \
    X(GRANTED, "granted", MEM_TO_REQUESTER, false, false, 0, 0)                                              \
    X(WALK, "walk", MEM_TO_HOME, false, false, 0, 0)

/* MEM_READ is answered by MEM_DATA, MEM_WRITE by MEM_DONE, MEM_ATOMIC by MEM_OLD or, if nobody wants the old
 * values, by MEM_DONE. MEM_FETCH is a read by a cache that keeps a copy, which home takes note of. After
 * MEM_INVALIDATE the copy is gone. MEM_FORGET goes to the own gateway: lines of peers that it keeps may be
 * old (mem/peer_cache.h). MEM_DONE answers it.
 *
 * From MEM_WANT on they are about a page that moves between GPUs (mem/iommu.h): struct memsys_page follows
 * the head. A slice, and so its GPU, wants a page; the IOMMU recalls it from holders, which drop it or keep
 * it for reading, and send its lines, MEM_PAGE, if they are told to; it is granted to who wanted it. MEM_WALK
 * asks the IOMMU to walk through its tables for a page, whose number is in place of the line, and is its own
 * answer. */
enum memsys_kind {
#define X(id, ...) MEM_##id,
    MEM_KINDS(X)
#undef X
        MEM_KIND_COUNT
};

struct memsys_kind_row {
    const char *name;
    uint8_t way;                /* enum memsys_way */
    bool reads;                 /* needs the bytes of its sectors where it is done */
    bool changes;               /* them; so it is done at home */
    uint8_t of_sector, of_lane; /* bytes that follow the head */
};
extern const struct memsys_kind_row memsys_kinds[MEM_KIND_COUNT];
const char *memsys_kind_name(uint8_t kind); /* of any number that a message may have */

/* How a request wants to be kept in caches. */
enum memsys_policy {
    MEM_NORMAL,
    MEM_EVICT_FIRST,
    MEM_EVICT_LAST,
    MEM_NO_ALLOCATE,
    MEM_AROUND, /* of copies: in none, and goes to the slice that is the line's home (memsys_copy_target) */
    MEM_MOVED,  /* the same, of a page that moves: whatever the GPU may do with it */
};

struct memsys_request {
    uint64_t line;     /* its physical address, packed; a multiple of its size */
    uint32_t id;       /* the requester's own; comes back in the reply */
    uint8_t sectors;   /* a bit for each that is read or written */
    uint8_t policy;    /* enum memsys_policy */
    uint8_t operation; /* MEM_ATOMIC: as memsys_config.atomic knows it. The high bit: on floats */
    uint8_t count;     /* MEM_ATOMIC: of struct memsys_atom that follow. The high bit: the old values are
                          wanted. MEM_READ: MEM_MAY_BE_OLD, or 0 */
};
#define MEM_WIDE       16
#define MEM_WANTS_OLD  0x80
#define MEM_MAY_BE_OLD 1 /* as what the L1 has may be */
#define MEM_ON_FLOATS  0x80

struct memsys_write { /* follows, one for each sector written, in order */
    uint32_t mask;    /* a bit for each byte */
    unsigned char data[MEM_SECTOR];
};

/* Follows, one for each lane; of an operation on MEM_WIDE bytes two, for the lower half and the upper one. */
struct memsys_atom {
    uint64_t operand, compare;
    uint8_t offset; /* in the line */
    uint8_t lane;
    uint8_t bytes;     /* that it changes; of an upper half 0: the one before says so */
    uint8_t unused[5]; /* zero */
};

struct memsys_reply {
    uint64_t line;
    uint32_t id;
    uint8_t sectors;
    uint8_t count;     /* of an atomic operation: its lanes */
    uint8_t hit;       /* where the data was: 0 L2, 1 the other partition's L2, 2 memory */
    uint8_t unused[1]; /* zero */
};

struct memsys_old {
    uint64_t value;
    uint8_t lane;
    uint8_t unused[7]; /* zero */
};

struct memsys_page { /* follows the head of messages about pages, whose line is the page's first; of MEM_PAGE,
                        whose line is the one that it has, before what is written */
    uint8_t shift;   /* the page has 1 << shift bytes */
    uint8_t right;   /* that the addressee wants, keeps or gets: enum page_right */
    uint8_t to;      /* of MEM_RECALL: who gets the bytes; or PAGE_NOBODY */
    uint8_t to_right; /* and may do what with them */
    uint32_t turn;    /* of MEM_PAGE, of managed memory that is apart (mem/apart.h); else zero */
};

/* The id of such a message is the number of the IOMMU's move; or this, and nobody waits for an answer. */
#define PAGE_NO_MOVE UINT32_MAX

enum { MEM_PAYLOAD_MOST = sizeof(struct memsys_request) + MEM_ATOMS * sizeof(struct memsys_atom) };

/* Stands at the end of a request that is forwarded with another id: its origin (probe_request_id). It is
 * there for listeners alone, so it takes nothing on the wire. */
static inline uint64_t memsys_origin(const unsigned char *payload, uint32_t bytes)
{
    uint64_t origin;
    memcpy(&origin, payload + bytes - sizeof origin, sizeof origin);
    return origin;
}

/* How many sectors these are; faster than counting on hosts of old. */
static inline uint32_t sector_count(uint32_t sectors)
{
    return (uint32_t)(UINT64_C(0x4332322132212110) >> (sectors & 15) * 4) & 15;
}
_Static_assert(MEM_SECTORS_MOST == 4, "sector_count");

/* Bytes that follow the head of a message: a struct memsys_request or memsys_reply with these in it. */
static inline uint32_t memsys_payload_bytes(enum memsys_kind kind, uint32_t sectors, uint32_t count)
{
    const struct memsys_kind_row *row = &memsys_kinds[kind];
    return sector_count(sectors) * row->of_sector + (count & ~(uint32_t)MEM_WANTS_OLD) * row->of_lane;
}

/* And those of all of it. */
static inline uint32_t memsys_message_bytes(enum memsys_kind kind, uint32_t sectors, uint32_t count)
{
    return (uint32_t)sizeof(struct memsys_request) + memsys_payload_bytes(kind, sectors, count);
}
_Static_assert(sizeof(struct memsys_request) == sizeof(struct memsys_reply), "a head is as long either way");

#endif
