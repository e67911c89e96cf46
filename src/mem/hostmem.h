/* The host's own memory: one home, on its own island, with a port for each GPU's link to it, or one for the
 * fabric that it and the GPUs are in. It is not cached in any L2, because the host accesses it without
 * notice.
 *
 * Copies from and to the host may use memory of the program that is not part of this home. For this, each
 * GPU's copies have a window on it, one for each direction: a range of physical addresses. */
#ifndef MEM_HOSTMEM_H
#define MEM_HOSTMEM_H

#include "mem/memsys.h"

struct hostmem;

/* For so many GPUs, with the links to them still to come (memsys_new plugs them in); or, in the fabric, with
 * hostmem_attach_fabric to come. */
struct hostmem *hostmem_new(struct engine *engine, uint32_t gpus, bool in_fabric, memsys_atomic_fn *atomic,
                            memsys_atomic_wide_fn *atomic_wide);

/* The IOMMU walks for all GPUs that ask it (tlb.walks_at): so many walks at a time, and how long one takes.
 */
void hostmem_walk(struct hostmem *host, uint64_t walkers, uint64_t walk_ps);

/* Pages move between GPUs, by the rules of this spec, which outlives it: before any GPU is made. */
struct iommu;
void hostmem_move_pages(struct hostmem *host, const struct paging_spec *spec);
struct iommu *hostmem_iommu(const struct hostmem *host); /* or NULL */
/* Who else has copies of the host's memory: caches of CPUs, which are kept coherent with what GPUs do.
 * `reach` is called for each line of HOST_CACHED_LINE bytes that a request of a GPU touches, on the host's
 * island, and gives the time from which it can be answered. Then a read gets its bytes from the GPU's copy,
 * and what is written is written there, too; NULL: it has none. Before any run; the struct outlives the
 * machine. */
enum { HOST_CACHED_LINE = 64 };
struct hostmem_caches {
    uint64_t (*reach)(void *user, uint32_t gpu, const unsigned char *line, bool writes, uint64_t time_ps);
    unsigned char *(*copy)(void *user, uint32_t gpu, const unsigned char *line);
    void *user;
};
void hostmem_share(struct hostmem *host, const struct hostmem_caches *caches);
bool hostmem_attach_fabric(struct hostmem *host, struct network *fabric, uint32_t node, struct err *err);
bool hostmem_is_in_fabric(const struct hostmem *host);
void hostmem_listen(struct hostmem *host, const struct probe *probe); /* who is told of requests */
void hostmem_free(struct hostmem *host);                              /* after the engine */
bool hostmem_is_here(const struct hostmem *host);                     /* on this rank */
struct component *hostmem_component(const struct hostmem *host);
struct port *hostmem_port(const struct hostmem *host, uint32_t gpu);

/* How many GPUs there are; and the memory of one, when that is made, with its link. */
uint32_t hostmem_gpus(const struct hostmem *host);
void hostmem_attach(struct hostmem *host, uint32_t gpu, const struct memsys *mem, uint64_t latency_ps);

/* Where it is; and where managed memory is. Between runs. */
void hostmem_set(struct hostmem *host, const struct home_range *ranges, uint32_t count);
char *hostmem_managed_bytes(const struct hostmem *host, uint64_t at); /* packed; NULL: there are none */
void hostmem_set_managed(struct hostmem *host, const struct home_range *ranges, uint32_t count);

/* Managed memory is apart from GPUs' (mem/apart.h): before any GPU is made. NULL: it is not. */
struct apart;
void hostmem_keep_apart(struct hostmem *host);
struct apart *hostmem_apart(const struct hostmem *host);

/* Bytes of a sector of managed memory that a GPU wrote have come; between runs, or on the host's island. */
void hostmem_take_news(struct hostmem *host, uint64_t offset, const unsigned char *sector, uint32_t mask);

/* From now on it is noted what requests write; and what they wrote since the last call: `tell` is called for
 * each piece, in the order of addresses. Between runs. */
void hostmem_note_writes(struct hostmem *host);
void hostmem_note(struct hostmem *host, char *at, uint64_t bytes); /* as if they had been written: sectors */
void hostmem_writes(struct hostmem *host, void (*tell)(void *user, const char *at, uint32_t bytes),
                    void *user);

/* Between runs: what a GPU's copies from the host (or to it) see is this memory of the program. Gives the
 * physical address of its first byte, which lies in a line as `phase` does, so that lines there and on the
 * GPU are the same bytes. */
#define HOST_WINDOW_MOST (UINT64_C(1) << 40) /* bytes, less a line */
struct physical_address hostmem_window(struct hostmem *host, uint32_t gpu, bool is_to_host, char *at,
                                       uint64_t phase);

/* Between runs: a copy from the host begins at this time. The host sends lines over the link, straight to the
 * slices that they are at home at, as fast as the link takes them. Nothing acknowledges them: a slice takes
 * them at once, so it is known when the last one is there. In a fabric, gateways count what has come. */
void hostmem_push(struct hostmem *host, uint32_t gpu, const struct copy_order *order, uint64_t time);
bool hostmem_has_pushed(const struct hostmem *host, uint32_t gpu, uint64_t now); /* and all is written */

/* Between runs: pieces of a copy that came from the GPU; and another copy begins. */
uint64_t hostmem_received(const struct hostmem *host, uint32_t gpu);
void hostmem_receive(struct hostmem *host, uint32_t gpu);

/* Whether the pieces that came from a GPU, and went on to others, are written there. */
bool hostmem_has_passed(const struct hostmem *host, uint32_t from, uint64_t now);

#endif
