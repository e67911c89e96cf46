/* An island of memory: some slices of the L2 and the DRAM channels behind them. For this folder only.
 *
 * With two partitions of the L2, a slice and its counterpart in the other partition are on the same island,
 * and only these two communicate. So traffic between partitions is events within the island, `cross_ps` later
 * and in order. */
#ifndef MEM_PARTITION_H
#define MEM_PARTITION_H

#include "base/err.h"
#include "mem/apart.h"
#include "mem/cache.h"
#include "mem/dram_timing.h"
#include "mem/frames.h"
#include "mem/map.h"
#include "mem/memsys.h"
#include "mem/rights.h"

enum {
    SLICES_HERE_MOST = 64,
    GPCS_MOST = 64,
    NO_GPC = GPCS_MOST - 1,
    NO_WORK = UINT32_MAX,
    NO_CLIENT = UINT32_MAX
};

/* All islands' common figures; const after set-up, but for where memory is, which changes between runs. */
struct memsys_shape {
    uint32_t home; /* the GPU's number */
    struct map map;
    uint32_t sides, per_side; /* slices of a side, which is a partition of the L2 */
    uint32_t clients, clients_of_sms;
    uint32_t gateway;    /* its number among clients; or NO_CLIENT */
    uint32_t pager;      /* likewise; NO_CLIENT: pages do not move */
    bool moves_own;      /* pages of GPUs' memory move, and not only managed ones */
    bool copies;         /* clients ask their own side */
    uint32_t line_shift; /* a line has 1 << line_shift bytes */
    uint32_t fill_sectors;
    uint64_t hit_ps, request_ps, sector_ps, sector_write_ps, sector_partial_ps;
    uint64_t atomic_ps, atomic_sector_ps, atomic_lane_ps, atomic_same_ps, atomic_float_ps;
    uint64_t cross_ps, cross_byte_fs;   /* femtoseconds, as bytes are short */
    uint64_t gpc_byte_fs, gpc_burst_ps; /* of a slice's share of a GPC's port; 0: no limit */
    uint32_t overhead_bytes;            /* of a message */
    uint8_t *gpc_of, *side_of;          /* by client */
    memsys_atomic_fn *atomic;
    memsys_atomic_wide_fn *atomic_wide;
    const struct probe *probe;
    const struct dram_model *dram;
    const struct dram_spec *dram_spec;
    struct dram_times times;
    uint32_t channels_per_slice;
    uint64_t l3_latency_ps, l3_sector_fs;
    struct home memory;  /* the bytes */
    struct home managed; /* those of managed memory, which stay where they are, whoever holds their page; */
    const struct apart *apart; /* but for a copy of all GPUs of this rank, where there are others; or NULL */
};

/* Slices send requests for the host's memory on, by their place among these lines: beyond all of the GPU's
 * own. Lines of other GPUs' pages that moved here lie beyond these and the SMs' local memory, home by home;
 * those of managed memory come last.
 */
#define HOST_LINES_FROM (UINT64_C(1) << 42)
enum { AWAY_SHIFT = 44, MANAGED_PAGE_SHIFT = 16 };
#define AWAY_FROM    (UINT64_C(2) << AWAY_SHIFT)
#define MANAGED_FROM (AWAY_FROM + ((uint64_t)PAGE_HOST << AWAY_SHIFT))

/* Whether pages of this memory move: local memory and what lies beyond memory do not. */
static inline bool pages_move(const struct memsys_shape *shape, uint64_t line)
{
    struct physical_address address = physical_unpack(line);
    return UNLIKELY(shape->pager != NO_CLIENT) &&
           (physical_is_managed(line) || (shape->moves_own && physical_home(address) != HOME_HOST &&
                                          physical_offset(address) < UINT64_C(1) << AWAY_SHIFT));
}

/* Where a line is among all that the GPU's memory can hold; and back. */
static inline uint64_t local_offset(const struct memsys_shape *shape, uint64_t line)
{
    struct physical_address address = physical_unpack(line);
    uint64_t offset = physical_offset(address);
    bool is_away = UNLIKELY(physical_home(address) != shape->home);
    uint64_t number = physical_is_managed(line) ? (uint64_t)PAGE_HOST : physical_home(address);
    return is_away ? AWAY_FROM + (number << AWAY_SHIFT) + offset : offset;
}

static inline struct physical_address local_physical(const struct memsys_shape *shape, uint64_t offset)
{
    if (LIKELY(offset < AWAY_FROM))
        return physical_at(shape->home, offset);
    uint32_t home = offset < MANAGED_FROM ? (uint32_t)((offset - AWAY_FROM) >> AWAY_SHIFT) : HOME_MANAGED;
    return physical_at(home, offset & ((UINT64_C(1) << AWAY_SHIFT) - 1));
}

/* For who chooses a slice. */
static inline uint64_t local_line_number(const struct memsys_shape *shape, uint64_t line)
{
    struct physical_address address = physical_unpack(line);
    uint64_t offset = physical_home(address) == HOME_HOST ? physical_offset(address) + HOST_LINES_FROM
                                                          : local_offset(shape, line);
    return offset >> shape->line_shift;
}

/* What a request is, wherever it is. */
struct head {
    struct memsys_request request;
    uint64_t origin; /* whose it is, for listeners: probe_request_id */
    uint32_t client; /* of MEM_FETCH: the entry among the misses that it is for */
    uint32_t work;   /* where it is kept while it waits, or NO_WORK */
    uint8_t kind;    /* enum memsys_kind */
    uint8_t entry;   /* the slice it came in by; of MEM_FETCH: that wants a copy */
    uint8_t hit;     /* for the reply */
    uint8_t unused[5];
};

struct work {
    struct head head;
    uint32_t next, unused;
};

/* What follows a request that waits; or a fetch's data. Apart from it, as most have none. */
struct work_payload {
    unsigned char at[MEM_ATOMS * sizeof(struct memsys_atom)];
};

/* Lines of a slice's cache are keys: place.index << 1, + 1 for copies. */
static inline bool key_is_copy(uint64_t key)
{
    return key & 1;
}

/* Sectors of a slot that the counterpart may have copies of. */
static inline uint8_t *copied(const struct cache *cache, uint32_t slot)
{
    return cache_note(cache, slot);
}

struct slice {
    uint64_t free_at; /* when it can give or take data again */
    uint64_t atomics_free_at;
    uint64_t cross_free_at; /* of the way to its counterpart; with what is left of a picosecond: */
    uint64_t cross_fs;
    uint64_t l3_free_at, l3_fs;      /* likewise, of the L3 */
    uint64_t gpc_paid_at[GPCS_MOST]; /* when the share of a GPC's port will have moved all that was sent */
    uint64_t invalidated_at;         /* until then the counterpart may have stale copies */
    uint32_t late_first, late_last;  /* works that came across and found no room */
    uint32_t copies_coming;          /* misses under way to home */
    bool blocked;                    /* its first request found no room */
};

/* The component's state. */
struct partition {
    struct memsys_counters count; /* first */
    uint32_t free_work, works_free;
    uint32_t works_begun, unused; /* from here on works are free, and were never touched */
    uint64_t pushed_until;        /* when all that the host sent to slices here has been taken */
    bool freed;                   /* something that a request may wait for */
    uint64_t waiting;             /* slices with such requests, a bit each */
    struct slice slices[SLICES_HERE_MOST];
};

/* Its spec: what leads to all the rest. */
struct partition_spec {
    const struct memsys_shape *shape;
    uint32_t first_pair, pairs, here;  /* slices of one side on this island, and of all sides */
    uint32_t global[SLICES_HERE_MOST]; /* slices by their number among all */
    struct cache *caches;              /* of each slice here */
    struct cache *l3;                  /* likewise: the tags of what is behind it; NULL: there is no L3 */
    struct work *works;
    struct work_payload *payloads;   /* of works */
    uint32_t work_count, works_kept; /* kept for fetches */
    uint32_t *distance_ps;           /* [client][slice here] */
    struct dram *dram;
    struct pages_here *pages; /* NULL: pages do not move */
};

/* A request that waits for its page. */
struct parked {
    struct head head;
    uint32_t slice;
    bool is_pushed; /* by the host: it gets no reply */
    unsigned char payload[MEM_ATOMS * sizeof(struct memsys_atom)];
};

/* A page that is to be given up, when what is under way for it is done. */
struct recall {
    struct head head;
    struct memsys_page page;
};

/* What an island knows of pages that move. Parked requests are few, or the run is slow anyway. */
struct pages_here {
    struct rights rights;
    struct frames frames;   /* of lines away from home */
    struct news news;       /* of managed memory, where it is apart */
    struct index written;   /* managed pages that were written to, by offset >> MANAGED_PAGE_SHIFT */
    uint64_t *managed;      /* slots of caches that may have lines of managed memory, a bit each, by slice; */
    uint32_t managed_words; /* so many of each slice */
    struct parked *parked;
    size_t parked_count, parked_capacity;
    struct recall *recalls;
    size_t recall_count, recall_capacity;
    size_t pushes_parked;
    bool has_refused; /* a slice had no room for a parked request whose page is there */
};

/* What handlers pass around. */
struct here {
    struct component *self;
    struct partition *state;
    const struct partition_spec *spec;
    const struct memsys_shape *shape;
    uint64_t now;
};

enum partition_event {
    EVENT_AT_HOME,    /* a work has come across */
    EVENT_FETCHED,    /* and back, with data */
    EVENT_INVALIDATE, /* a copy is stale */
    EVENT_FILLED,     /* from DRAM */
    EVENT_DRAM,       /* the DRAM model's own */
};

struct filled {
    uint32_t entry;
    uint8_t slice, sectors, unused[2];
};

struct invalidate {
    uint64_t key;
    uint8_t slice, sectors, unused[6];
};

extern const struct component_ops partition_ops;
void partition_archive(struct component *self, void *state, struct archive *archive); /* memsys_archive.c */

static inline uint32_t counterpart(const struct partition_spec *spec, uint32_t slice)
{
    return slice < spec->pairs ? slice + spec->pairs : slice - spec->pairs;
}

/* ---- partition.c ---- */

/* Sends the reply from the slice the request came in by; it is complete there at `at`. */
void partition_reply(const struct here *here, const struct head *head, uint64_t at, uint8_t kind,
                     const void *payload, uint32_t bytes);

/* When `bytes` that are ready at `ready` arrive at the counterpart of this slice, behind all sent before. */
uint64_t partition_cross(const struct here *here, uint32_t slice, uint64_t ready, uint32_t bytes);

/* Keeps a request that has to wait. There is room when work_room says so; fetches have room always. */
bool work_room(const struct here *here);
uint32_t work_keep(const struct here *here, const struct head *head, const unsigned char *payload);
static inline uint32_t work_payload_bytes(const struct head *head)
{
    return memsys_payload_bytes((enum memsys_kind)head->kind, head->request.sectors, head->request.count);
}
void work_free(const struct here *here, uint32_t work);

/* ---- slice.c ---- */

/* Does the request, or has it wait for data: false when it cannot even wait. The work, if it is one, belongs
 * to the slice from then on. */
bool slice_take(const struct here *here, uint32_t slice, const struct head *head,
                const unsigned char *payload);

/* Data has come for a miss: from memory (data NULL), or from home. */
void slice_filled(const struct here *here, uint32_t slice, uint32_t entry, uint32_t sectors,
                  const unsigned char *data, uint8_t hit);

void slice_invalidate(const struct here *here, const struct invalidate *what);

/* The offset (local_offset) of the line that a cache knows by this key. */
uint64_t slice_line_offset(const struct partition_spec *spec, uint32_t slice, uint64_t key);

/* Between runs: writes what is dirty of lines first..last (offsets) to memory, and forgets them. */
void slice_sync(const struct partition_spec *spec, uint32_t slice, uint64_t first, uint64_t last,
                bool forget);
void slice_sync_line(const struct partition_spec *spec, uint32_t slice, uint64_t key, bool forget);

/* Calls for each slot that has a line of managed memory, with the line's offset, in the order of slots. */
typedef void slice_managed_fn(void *user, const struct partition_spec *spec, uint32_t slice, uint32_t slot,
                              uint64_t offset);
void slice_each_managed(const struct partition_spec *spec, uint32_t slice, slice_managed_fn *call,
                        void *user);
void slice_sync_managed(const struct partition_spec *spec, uint32_t slice); /* writes what is dirty of them */

/* Whether bytes of a line are on their way there. */
bool slice_waits_for(const struct partition_spec *spec, uint32_t slice, uint64_t key);

/* ---- slice_tell.c: who listens; only for when somebody does ---- */

/* A request passes a slice. */
void slice_tell_pass(const struct here *here, uint32_t slice, const struct head *head, const char *what);

/* It passes memory, with bytes that may be altered, or NULL. */
void slice_tell_dram(const struct here *here, uint32_t slice, const struct head *head, const char *what,
                     unsigned char *data, uint32_t bytes);

/* The same of a line that comes for a miss: for the first that waits for these sectors. */
void slice_tell_fill(const struct here *here, uint32_t slice, uint32_t entry, uint32_t sectors,
                     uint64_t offset, unsigned char *line);

/* ---- around.c ---- */

/* Does a request of a copy, which goes around the L2; and one that the host sends, which gets no reply. */
void around_take(const struct here *here, uint32_t slice, const struct head *head,
                 const unsigned char *payload);
void around_pushed(const struct here *here, const struct event *event);
void around_take_pushed(const struct here *here, uint32_t slice, const struct head *head,
                        const unsigned char *payload); /* the page is there */

/* ---- perform.c ---- */

/* Takes the slice's data path for so long, at least for a request; gives when it is through. */
uint64_t slice_occupy(const struct here *here, uint32_t slice, uint64_t takes);

/* Does a request for which all that it needs is in the slot, or passes it on to its home. True when its work
 * lives on elsewhere. */
bool slice_perform(const struct here *here, uint32_t slice, uint32_t slot, const struct head *head,
                   const unsigned char *payload, bool moves_on);

/* Tells the counterpart that its copies of these sectors are stale. */
void slice_recall(const struct here *here, uint32_t slice, uint64_t key, uint32_t sectors);

void pages_write_managed(const struct partition_spec *spec, uint64_t offset, const unsigned char *sector,
                         uint32_t mask);

/* ---- the bytes of lines that the GPU holds, wherever their home is ---- */

static inline void held_read_line(const struct partition_spec *spec, uint64_t offset, unsigned char *line)
{
    uint32_t bytes = UINT32_C(1) << spec->shape->line_shift;
    if (LIKELY(offset < AWAY_FROM))
        home_read_line(&spec->shape->memory, offset, line, bytes);
    else if (offset >= MANAGED_FROM)
        home_read_line(&spec->shape->managed, offset - MANAGED_FROM, line, bytes);
    else
        memcpy(line, frames_line(&spec->pages->frames, offset >> spec->shape->line_shift), bytes);
}

static inline unsigned char *frame_sector(const struct partition_spec *spec, uint64_t offset)
{
    uint32_t shift = spec->shape->line_shift;
    return frames_line(&spec->pages->frames, offset >> shift) + (offset & ((UINT64_C(1) << shift) - 1));
}

static inline void held_read(const struct partition_spec *spec, uint64_t offset, unsigned char *sector)
{
    if (LIKELY(offset < AWAY_FROM))
        home_read(&spec->shape->memory, offset, sector);
    else if (offset >= MANAGED_FROM)
        home_read(&spec->shape->managed, offset - MANAGED_FROM, sector);
    else
        memcpy(sector, frame_sector(spec, offset), MEM_SECTOR);
}

static inline void held_write(const struct partition_spec *spec, uint64_t offset, const unsigned char *sector,
                              uint32_t mask)
{
    if (LIKELY(offset < AWAY_FROM)) {
        home_write(&spec->shape->memory, offset, sector, mask);
        return;
    }
    if (offset >= MANAGED_FROM) {
        pages_write_managed(spec, offset - MANAGED_FROM, sector, mask);
        return;
    }
    unsigned char *to = frame_sector(spec, offset);
    for (; mask; mask &= mask - 1)
        to[__builtin_ctz(mask)] = sector[__builtin_ctz(mask)];
}

/* ---- slice_pages.c: pages that move ---- */

/* Whether a request that came in waits for its page; it is then kept, and the page asked for. */
bool pages_hold(const struct here *here, uint32_t slice, const struct head *head,
                const unsigned char *payload, bool is_pushed);

/* Whether a request for this line, which was let in, goes on to the host's memory. */
bool pages_are_far(const struct here *here, uint64_t line);

/* Where managed memory is apart: a line of a page that moves comes; and what follows one that goes. */
void pages_take_apart(const struct partition_spec *spec, const struct memsys_request *request,
                      const unsigned char *payload);
struct apart_tail pages_apart_tail(const struct partition_spec *spec, const struct memsys_request *request);

/* MEM_RECALL and MEM_GRANT. */
void pages_take_order(const struct here *here, const struct head *head, const unsigned char *payload);

/* Something that a recall or a parked request may wait for is done. */
void pages_go_on(const struct here *here);

/* ---- hostmem.c ---- */

/* Sends a request on to the host's memory; and what comes back from there. */
void hostmem_send(const struct here *here, const struct head *head, const unsigned char *payload);
void hostmem_replied(const struct here *here, struct port *port);

#endif
