/* The parameters and counters of memory, as rows. The defaults are the H200's; systems/h200.ini has their
 * sources. */
#ifndef MEM_SPEC_H
#define MEM_SPEC_H

#include "base/param.h"
#include "base/stat.h"

#define L2_PARAMS(P, S)                                                                                      \
    P(S, size, bytes, "60MiB", "64KiB..64GiB", "capacity, over all partitions", SHOWS_IN_QUERIES_AND_TIME)   \
    P(S, flag, reported, "yes", "",                                                                          \
      "device queries report its size; no: they report 0, as slices stand for memory controllers",           \
      SHOWS_IN_QUERIES_AND_TIME)                                                                             \
    P(S, freq, clock, "1703MHz", "1MHz..100GHz", "of the L2: its cycles are these")                          \
    P(S, count, partitions, "2", "1..2", "parts that are nearer to some SMs than to others")                 \
    P(S, flag, copies, "yes", "", "an SM asks its own partition, which keeps copies of the other's lines")   \
    P(S, count, slices, "94", "1..1024", "over all partitions")                                              \
    P(S, count, islands, "24", "1..1024", "of Heddle's that slices are on, to run at the same time")         \
    P(S, size, line, "128B", "64B..128B", "bytes of a line: 64 or 128")                                      \
    P(S, count, ways, "16", "1..64", "lines in a set")                                                       \
    P(S, size, peers, "0B", "0|64KiB..1GiB", "more, for lines of other GPUs' memory; 0: they are not kept")  \
    P(S, flag, scattered, "yes", "", "lines fall to sets by a hash, not quite evenly")                       \
    P(S, choice, policy, "lru", "lru|fifo|random|tree|srrip|+replacement", "which line leaves")              \
    P(S, count, fill_sectors, "2", "1..4", "neighbours that come from memory together: 1, 2 or 4")           \
    P(S, count, misses, "512", "8..65536", "lines that a slice waits for at once")                           \
    P(S, count, requests, "1024", "8..65536", "requests that wait in a slice before others queue up")        \
    P(S, count, hit_cycles, "15", "0..10000", "in a slice, from a request to its reply")                     \
    P(S, real, request_cycles, "1.25", "0..1000", "a slice takes for a request, at least")                   \
    P(S, real, bytes_per_cycle, "54", "1..4096", "a slice gives")                                            \
    P(S, real, write_bytes_per_cycle, "40", "1..4096", "a slice takes")                                      \
    P(S, real, partial_write_cycles, "1.6", "0..1000", "a slice takes for a sector written in part")         \
    P(S, count, atomic_cycles, "3", "0..10000", "from an atomic operation to its reply")                     \
    P(S, real, atomic_sector_cycles, "1.5", "0..1000", "a slice takes for atomic operations on a sector,")   \
    P(S, real, atomic_lane_cycles, "0.22", "0..1000", "and for each lane,")                                  \
    P(S, real, atomic_same_cycles, "1.24", "0..1000", "but for each lane of one word so many,")              \
    P(S, real, atomic_float_cycles, "2.99", "0..1000", "or so many of floats")                               \
    P(S, count, cross_cycles, "70", "1..10000", "from one partition to the other")                           \
    P(S, real, cross_bytes_per_cycle, "32", "1..4096", "between a slice and its counterpart, each way")

#define L3_PARAMS(P, S)                                                                                      \
    P(S, size, bytes, "0B", "0|64KiB..64GiB", "capacity, over all slices of the L2; 0: there is no L3")      \
    P(S, count, ways, "16", "1..64", "lines in a set, of which the least recently used leaves")              \
    P(S, time, latency, "60ns", "0..1ms", "from a miss of the L2 to its data, when the L3 has it")           \
    P(S, rate, bandwidth, "10TB/s", "1MB/s..", "that the L2 gets from it, over all slices")

#define DRAM_PARAMS(P, S)                                                                                    \
    P(S, choice, model, "banks", "banks|simple|fixed", "how it is modelled")                                 \
    P(S, choice, timing, "hbm3e", "gddr5|gddr6|gddr6x|hbm|hbm2|hbm2e|hbm3|hbm3e",                            \
      "banks: the set of timings")                                                                           \
    P(S, count, channels_per_slice, "2", "1..16", "behind a slice (of HBM: pseudo channels); 1, 2, 4 ...")   \
    P(S, rate, bandwidth, "4814GB/s", "1MB/s..", "of all channels together")                                 \
    P(S, time, latency, "115ns", "0..1ms", "of controllers and wires; simple and fixed: of all")             \
    P(S, count, writes, "64", "1..4096", "a channel holds before slices must wait")                          \
    P(S, count, writes_high, "32", "1..4096", "banks: writes that make a channel turn to writing")           \
    P(S, count, writes_low, "8", "0..4096", "banks: and back to reading")                                    \
    P(S, count, lookout, "24", "1..1024", "banks: requests among which the best is chosen")

#define NOC_PARAMS(P, S)                                                                                     \
    P(S, count, latency_cycles, "95", "1..100000", "from an SM to an L2 slice, and back: the SM's cycles")   \
    P(S, count, spread_cycles, "62", "0..10000", "more, from the slice farthest away")                       \
    P(S, real, request_bytes_per_cycle, "44", "0|1..4096", "an SM sends; 0: no limit")                       \
    P(S, real, reply_bytes_per_cycle, "152", "0|1..4096", "an SM gets; 0: no limit")                         \
    P(S, text, gpc_partitions, "01110001", "",                                                               \
      "the partition of L2 that each GPC is near to; empty: in turn")                                        \
    P(S, real, gpc_bytes_per_cycle, "762", "0|1..65536", "the SMs of a GPC get together; 0: no limit")       \
    P(S, count, gpc_burst_cycles, "100", "0..10000", "as much as it gets in so many may come at once")       \
    P(S, count, overhead_bytes, "16", "0..1024", "of a message, beside its payload")                         \
    P(S, count, credits, "0", "0..65535", "requests an SM may have queued at a slice; 0: no limit")          \
    P(S, time, host_latency, "500ns", "1ns..1s", "from the GPU to the host's memory, and back")              \
    P(S, rate, host_bandwidth, "55GB/s", "1MB/s..", "between them, each way")                                \
    P(S, time, copy_start, "1150ns", "0..1ms", "before a copy on the GPU, or to another one, begins")        \
    P(S, time, staged_start, "13us", "0..10ms",                                                              \
      "the same, of a copy to another GPU by way of the host: without peer access")                          \
    P(S, rate, staged_bandwidth, "37GB/s", "1MB/s..", "of such a copy, at most")

#define TLB_PARAMS(P, S)                                                                                     \
    P(S, size, page, "2MiB", "4KiB..16GiB", "that an SM's entry is for")                                     \
    P(S, count, l1_entries, "0", "0..1048576", "of an SM; 0: it has none")                                   \
    P(S, count, l1_ways, "16", "1..64", "of them in a set")                                                  \
    P(S, size, l2_page, "2MiB", "4KiB..16GiB", "that an entry of the GPU's is for")                          \
    P(S, count, l2_entries, "0", "0..16777216", "of the GPU, that all SMs ask; 0: every miss is walked for") \
    P(S, count, l2_ways, "16", "1..64", "of them in a set")                                                  \
    P(S, count, l2_cycles, "80", "2..100000", "from an SM's miss to the answer, in cycles of the SM")        \
    P(S, count, walk_cycles, "500", "0..1000000", "more, for a walk through the tables")                     \
    P(S, count, walkers, "8", "1..64", "walks at a time")                                                    \
    P(S, choice, walks_at, "gpu", "gpu|host",                                                                \
      "who walks: the GPU; or the host's IOMMU, which all GPUs reach over their links and share")

/* policy: as PAGE_POLICIES of paging/policy.h has them, and then those of plugins */
#define PAGING_PARAMS(P, S)                                                                                  \
    P(S, choice, policy, "none", "none|pm|esi|ps|+page policies",                                            \
      "what moves pages between GPUs; none: they stay, and others reach over the fabric")                    \
    P(S, size, page, "4KiB", "4KiB..2MiB", "of a page, at first: a power of two")                            \
    P(S, size, page_least, "1KiB", "1KiB..2MiB", "ps: pages are split down to this: a power of two")         \
    P(S, size, room, "0B", "0|64KiB..16TiB",                                                                 \
      "of a GPU for pages of others; when it is full, the oldest goes to the host. 0: enough for all")       \
    P(S, time, iommu_time, "100ns", "0..1ms", "the IOMMU takes to look up a page and decide")                \
    P(S, choice, managed, "uvm", "remote|uvm",                                                               \
      "managed memory stays at the host, and GPUs reach it there; or it moves on demand: [uvm]")

#define UVM_PARAMS(P, S)                                                                                     \
    P(S, count, batch_faults, "256", "1..4096", "faults that the driver takes at a time")                    \
    P(S, time, linger, "2500ns", "0..1s", "a fault so soon after the last batch finds the driver awake")     \
    P(S, time, wake, "12us", "0..1s", "else it wakes up, which takes this")                                  \
    P(S, real, sleep, "0.045", "0..1", "and more: this part of the time that it was idle,")                  \
    P(S, time, sleep_most, "120us", "0..1s", "at most this")                                                 \
    P(S, time, batch, "8us", "0..1s", "of a batch: fetching faults, and the replay")                         \
    P(S, time, fault, "350ns", "0..1s", "of each fault in it")                                               \
    P(S, time, fault_copy, "50ns", "0..1s", "more, if bytes of its page have to move")                       \
    P(S, time, stale, "200ns", "0..1s", "of each whose page has come meanwhile")                             \
    P(S, time, block, "2500ns", "0..1s", "of each block of 2 MiB in it")                                     \
    P(S, time, block_first, "5500ns", "0..1s", "more, if the GPU has nothing of the block yet")              \
    P(S, time, block_copy, "7300ns", "0..1s", "more, if bytes have to move")                                 \
    P(S, time, page, "1700ns", "0..1s", "of each 64 KiB that were wanted, beside the link's time")           \
    P(S, time, page_along, "2600ns", "0..1s", "of each 64 KiB that come along with them, likewise")          \
    P(S, time, map, "2900ns", "0..1s", "of each fault on a page that is only mapped where it is")            \
    P(S, time, evict, "60us", "0..1s", "of a block that leaves for another, beside the link's time")         \
    P(S, time, prefetch, "2us", "0..1s", "of a prefetch")                                                    \
    P(S, time, prefetch_first, "15us", "0..1s", "more, if something has to move to a GPU,")                  \
    P(S, time, prefetch_first_home, "11us", "0..1s", "or to the host")                                       \
    P(S, time, prefetch_there, "2us", "0..1s", "of each block that is there already")                        \
    P(S, time, prefetch_block, "3us", "0..1s", "of each other block, beside the link's time")                \
    P(S, time, prefetch_clear, "5us", "0..1s", "more, if the GPU has to clear pages of it")                  \
    P(S, time, prefetch_home, "270ns", "0..1s", "more, of each 4 KiB that are to go to the host")            \
    P(S, flag, access_counters, "no", "",                                                                    \
      "what a GPU often reaches at the host comes to it: off in the driver, but for machines with ATS")      \
    P(S, choice, counter_granularity, "2MiB", "64KiB|2MiB|16MiB",                                            \
      "accesses are counted by regions of this size; of one, the 32nds move that were accessed")             \
    P(S, count, counter_threshold, "256", "1..65535", "so many requests of a GPU to a region are often")     \
    P(S, count, counter_batch, "256", "1..4096", "such regions that the driver takes at a time")             \
    P(S, flag, thrashing, "yes", "", "pages that bounce between processors are slowed down, or pinned")      \
    P(S, count, thrashing_threshold, "3", "1..7", "a page bounces when it moved so often, each time within") \
    P(S, time, thrashing_lapse, "500us", "0..1s", "this since the last")                                     \
    P(S, count, thrashing_nap, "1", "1..100",                                                                \
      "it then waits so many lapses, for one processor after another")                                       \
    P(S, count, thrashing_pin_threshold, "10", "1..255", "after so many waits it is pinned at the host,")    \
    P(S, count, thrashing_pin, "300", "0..100000", "for so many lapses; 0: for ever")                        \
    P(S, count, thrashing_epoch, "2000", "1..100000",                                                        \
      "so many lapses without all that, and it is forgotten,")                                               \
    P(S, count, thrashing_max_resets, "4", "0..1000", "so often, for a block")                               \
    P(S, time, cpu_fault, "13us", "0..1s",                                                                   \
      "the host's CPU takes for a fault of its own: not in simulated time, but to see what bounces,")        \
    P(S, time, cpu_page, "6us", "0..1s", "and for each 64 KiB that it gets back,")                           \
    P(S, time, cpu_turn, "20us", "0..1s", "and to begin a kernel, a copy or a prefetch when none runs,")     \
    P(S, time, cpu_alloc, "80us", "0..1s", "and to allocate managed memory, or to free it")

struct l2_spec {
    L2_PARAMS(PARAM_FIELD, l2_spec)
};
struct l3_spec {
    L3_PARAMS(PARAM_FIELD, l3_spec)
};
struct dram_spec {
    DRAM_PARAMS(PARAM_FIELD, dram_spec)
};
struct noc_spec {
    NOC_PARAMS(PARAM_FIELD, noc_spec)
};
struct tlb_spec {
    TLB_PARAMS(PARAM_FIELD, tlb_spec)
};
struct paging_spec {
    PAGING_PARAMS(PARAM_FIELD, paging_spec)
};
struct uvm_spec {
    UVM_PARAMS(PARAM_FIELD, uvm_spec)
};
/* With entries at no level, it takes none. */
static inline bool tlb_takes_time(const struct tlb_spec *spec)
{
    return spec->l1_entries || spec->l2_entries;
}

extern const struct param_group l2_params, l3_params, dram_params, noc_params, tlb_params, paging_params,
    uvm_params;

#define MEM_COUNTERS(X, S)                                                                                   \
    X(S, l2_requests, "requests", "requests that came to slices from SMs")                                   \
    X(S, l2_sectors_read, "sectors", "sectors that requests asked to read")                                  \
    X(S, l2_sectors_written, "sectors", "sectors that requests wrote")                                       \
    X(S, l2_sectors_atomic, "sectors", "sectors that atomic operations went to")                             \
    X(S, l2_sectors_hit, "sectors",                                                                          \
      "sectors of these that were there when asked for; all that were written")                              \
    X(S, l2_sectors_far, "sectors", "sectors that came across to their home: read, written or atomic")       \
    X(S, l2_sectors_far_hit, "sectors", "sectors of these that were there, or were written")                 \
    X(S, l2_atomics, "lanes", "atomic operations done")                                                      \
    X(S, l2_atomic_wait_ps, "ps",                                                                            \
      "atomic operations waited for others before them in their slice, over all")                            \
    X(S, l2_evictions, "lines", "lines that left for others to come")                                        \
    X(S, l2_sectors_written_back, "sectors", "changed sectors that left for memory")                         \
    X(S, l2_cross_bytes, "bytes", "between the partitions")                                                  \
    X(S, l2_copies_invalidated, "lines", "copies told to go because their home changed")                     \
    X(S, l2_busy_ps, "ps", "slices were giving or taking data, over all slices")                             \
    X(S, l3_sectors_read, "sectors", "sectors that the L2 read from the L3")                                 \
    X(S, l3_sectors_hit, "sectors", "sectors of these that it had")                                          \
    X(S, l3_sectors_written, "sectors", "sectors that the L2 wrote to the L3")                               \
    X(S, dram_bytes_read, "bytes", "bytes read from memory")                                                 \
    X(S, dram_bytes_written, "bytes", "bytes written to memory")                                             \
    X(S, dram_row_hits, "accesses", "accesses that found their row open")                                    \
    X(S, dram_row_misses, "accesses", "accesses that had to open a row")                                     \
    X(S, dram_refreshes, "commands", "refreshes")                                                            \
    X(S, dram_busy_ps, "ps", "channels were moving data, over all channels")                                 \
    X(S, tlb_walks, "walks", "walks through tables, for pages that it did not have")                         \
    X(S, host_bytes, "bytes", "read from or written to the host's memory")                                   \
    X(S, peer_bytes, "bytes", "read from or written to other GPUs' memory, or sent to them as pages")        \
    X(S, peer_sectors_kept, "sectors", "sectors of other GPUs' memory that were kept here (l2.peers)")       \
    X(S, pages_wanted, "requests", "requests to the IOMMU for pages that were not here, or not to write")    \
    X(S, pages_received, "pages", "pages that came from elsewhere")                                          \
    X(S, pages_dropped, "pages", "pages that left, as others wanted them")                                   \
    X(S, page_bytes, "bytes", "bytes of the pages that came")                                                \
    X(S, managed_faults, "faults", "faults on managed memory that the driver handled")                       \
    X(S, managed_batches, "batches", "batches that it took them in")                                         \
    X(S, managed_bytes_in, "bytes", "bytes of managed memory that came to the GPU")                          \
    X(S, managed_bytes_out, "bytes", "bytes of managed memory that left the GPU")                            \
    X(S, managed_evictions, "blocks", "blocks of it that had to leave, as the GPU had no room")              \
    X(S, managed_counted, "pages",                                                                           \
      "pages of 64 KiB that came as the GPU had often reached them at the host")                             \
    X(S, managed_throttled, "faults", "faults that had to wait, as their page bounces between processors")   \
    X(S, managed_pinned, "pages", "pages that were pinned at the host for that, as this GPU wanted them")

struct memsys_counters {
    MEM_COUNTERS(STAT_FIELD, memsys_counters)
};
#endif
