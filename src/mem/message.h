/* What SMs and memory say to each other. A message is about one line of memory; its data travels with it.
 *
 *   MEM_READ    request                                    -> MEM_DATA
 *   MEM_WRITE   request, mem_write of each sector          -> MEM_DONE
 *   MEM_ATOMIC  request, mem_atom of each lane             -> MEM_DATA with mem_old of each lane, or MEM_DONE
 *
 * Addresses are physical, packed (base/address.h). */
#ifndef MEM_MESSAGE_H
#define MEM_MESSAGE_H

#include <stdint.h>

enum { MEM_SECTOR = 32, MEM_LINE = 128, MEM_SECTORS = MEM_LINE / MEM_SECTOR, MEM_ATOMS = 16 };

enum mem_kind { MEM_READ, MEM_WRITE, MEM_ATOMIC, MEM_DATA, MEM_DONE };

/* How a request wants to be kept in caches. */
enum mem_policy { MEM_NORMAL, MEM_EVICT_FIRST, MEM_EVICT_LAST, MEM_NO_ALLOCATE };

struct mem_request {
    uint64_t line;     /* its physical address, packed; a multiple of MEM_LINE */
    uint32_t id;       /* the requester's own; comes back in the reply */
    uint8_t sectors;   /* a bit for each that is read or written */
    uint8_t policy;    /* enum mem_policy */
    uint8_t operation; /* MEM_ATOMIC: as mem_config.atomic knows it. The high bit: on floats */
    uint8_t count; /* MEM_ATOMIC: of struct mem_atom that follow. The high bit: the old values are wanted */
};
#define MEM_WANTS_OLD 0x80
#define MEM_ON_FLOATS 0x80

struct mem_write { /* follows, one for each sector written, in order */
    uint32_t mask; /* a bit for each byte */
    unsigned char data[MEM_SECTOR];
};

struct mem_atom { /* follows, one for each lane */
    uint64_t operand, compare;
    uint8_t offset; /* in the line */
    uint8_t lane;
    uint8_t unused[6]; /* zero */
};

struct mem_reply { /* MEM_DATA: 32 bytes of each sector of `sectors` follow, in order; or for an atomic, */
    uint64_t line; /* struct mem_old of each lane */
    uint32_t id;
    uint8_t sectors;
    uint8_t count;     /* of an atomic: its lanes */
    uint8_t hit;       /* where the data was: 0 L2, 1 the other partition's L2, 2 memory */
    uint8_t unused[1]; /* zero */
};

struct mem_old {
    uint64_t value;
    uint8_t lane;
    uint8_t unused[7]; /* zero */
};

enum { MEM_PAYLOAD_MOST = sizeof(struct mem_request) + MEM_ATOMS * sizeof(struct mem_atom) };

#endif
